// SPDX-License-Identifier: Apache-2.0
// Rows, and how they are written.
#include "cli/plan/plan_tables.hpp"

#include <utility>

#include "cli/output_file.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMetresPerSecond = 299'792'458;  ///< light in vacuum, as wavelengths of the ITU grid are counted

double thz_of(Frequency frequency) { return static_cast<double>(frequency.mhz) / 1e6; }
double nanometres_of(Frequency frequency) { return kMetresPerSecond / (static_cast<double>(frequency.mhz) * 1e6) * 1e9; }
double gbps_of(BitRate rate) { return static_cast<double>(rate.bits_per_second) / 1e9; }
double microseconds_of(Duration duration) { return static_cast<double>(duration.count()) / 1e3; }

/// Quoted where a comma, a quote or a line's end is in it (RFC 4180).
std::string csv_of(const Json& cell) {
  if (cell.is_null()) {
    return {};
  }
  if (!cell.is_string()) {
    return cell.dump();
  }
  const auto& text = cell.get_ref<const std::string&>();
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char each : text) {
    quoted += each == '"' ? "\"\"" : std::string(1, each);
  }
  return quoted + "\"";
}

std::string text_of(const PlanTable& table, bool is_json) {
  if (is_json) {
    Json all = Json::array();
    for (const auto& row : table.rows) {
      Json object;
      for (std::size_t i = 0; i < row.size(); ++i) {
        object[table.columns[i]] = row[i];
      }
      all.push_back(std::move(object));
    }
    return all.dump(1) + "\n";
  }
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    text += (i == 0 ? "" : ",") + table.columns[i];
  }
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += (i == 0 ? "\n" : ",") + csv_of(row[i]);
    }
  }
  return text + "\n";
}

const std::vector<std::string>& circuit_columns() {
  static const std::vector<std::string> kColumns{"job",     "stage",  "timeslot",      "guard_us",      "hold_us",
                                                 "circuit", "source", "destination",   "transmitter",   "receiver",
                                                 "slot_n",  "slot_m", "frequency_thz", "wavelength_nm", "rate_gbps"};
  return kColumns;
}

std::vector<Json> row_of(const Fabric& fabric, const Circuit& circuit, std::size_t stage, std::size_t index,
                         const Timeslot& timeslot) {
  const Frequency centre = centre_of(circuit.slot);
  return {circuit.job.value,
          stage,
          index,
          microseconds_of(timeslot.guard),
          timeslot.hold == kForever ? Json() : Json(microseconds_of(timeslot.hold)),
          circuit.id.value,
          circuit.source.value,
          circuit.destination.value,
          fabric.element(circuit.transmitter).name,
          fabric.element(circuit.receiver).name,
          circuit.slot.n,
          circuit.slot.m,
          thz_of(centre),
          nanometres_of(centre),
          gbps_of(circuit.rate)};
}

}  // namespace

PlanTable circuit_table(const Fabric& fabric, const Schedule& schedule) {
  PlanTable table{circuit_columns(), {}};
  for (const JobSchedule& job : schedule.jobs) {
    for (std::size_t stage = 0; stage < job.stages.size(); ++stage) {
      const auto& timeslots = job.stages[stage].timeslots;
      for (std::size_t slot = 0; slot < timeslots.size(); ++slot) {
        for (const Circuit& circuit : timeslots[slot].circuits) {
          table.rows.push_back(row_of(fabric, circuit, stage, slot, timeslots[slot]));
        }
      }
    }
  }
  return table;
}

PlanTable circuit_table(const DirectTopology& topology, BitRate link) {
  PlanTable table{circuit_columns(), {}};
  std::uint64_t number = 0;
  for (const DirectLink& each : topology.links()) {
    for (std::uint32_t parallel = 0; parallel < each.count; ++parallel) {
      table.rows.push_back(
          {1, 0, 0, 0, Json(), ++number, each.from, each.to, Json(), Json(), Json(), Json(), Json(), Json(), gbps_of(link)});
    }
  }
  return table;
}

PlanTable forwarding_table(const Schedule& schedule) {
  PlanTable table{{"job", "mode", "source", "destination", "through"}, {}};
  for (const JobSchedule& job : schedule.jobs) {
    const ForwardingTable& forwarding = job.forwarding;
    const char* mode = forwarding.mode == ForwardingMode::cut_through ? "cut_through" : "store_and_forward";
    forwarding.for_each([&](std::uint32_t source, std::uint32_t destination, std::span<const std::uint32_t> between) {
      std::string through;
      for (const std::uint32_t rank : between) {
        through += format_text("{}{}", through.empty() ? "" : " ", forwarding.nodes[rank].value);
      }
      table.rows.push_back({job.job.value, mode, forwarding.nodes[source].value, forwarding.nodes[destination].value, through});
    });
  }
  return table;
}

PlanTable wiring_table(const Fabric& fabric, const Plan& plan) {
  PlanTable table{{"switch", "set_by", "input", "output"}, {}};
  for (const Element& element : fabric.elements) {
    if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
      for (std::size_t input = 0; input < panel->wiring.size(); ++input) {
        table.rows.push_back({element.name, "hand", input, panel->wiring[input]});
      }
    }
  }
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      for (const TimedSetpoint& timed : device.timeline) {
        const auto* wires = std::get_if<CircuitSwitchSetpoint>(&timed.setpoint);
        for (const CrossConnect& each : wires == nullptr ? std::vector<CrossConnect>{} : wires->connects) {
          table.rows.push_back({fabric.device(device.device).name, "controller", each.input, each.output});
        }
      }
    }
  }
  return table;
}

Result<void> write_table(const std::string& path, const PlanTable& table) {
  return write_text(path, text_of(table, path.ends_with(".json")), "");
}

}  // namespace loom::cli
