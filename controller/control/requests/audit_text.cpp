// One overload a kind of order.
#include "controller/control/requests/audit_text.hpp"

#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "core/fabric/grid.hpp"
#include "core/limits.hpp"
#include "core/time.hpp"

namespace loom {
namespace {

/// Of a list, before it is counted.
constexpr std::size_t kNamed = 16;

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string nodes_text(const std::vector<NodeId>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size() && i < kNamed; ++i) {
    text += (i == 0 ? "" : ",") + number(nodes[i].value);
  }
  return nodes.size() > kNamed ? text + ",... (" + number(nodes.size()) + ")" : text;
}

std::string slot_text(FrequencySlot slot) { return std::to_string(slot.n) + "/" + std::to_string(slot.m); }

std::string options_text(const JobOptions& options) {
  std::string text;
  for (const auto& [key, value] : options) {
    text += " --set " + key + "=" + value;
  }
  return text;
}

std::string spec_text(const JobSpec& spec) {
  std::uint64_t bytes = 0;
  for (const Collective& collective : spec.collectives) {
    bytes += static_cast<std::uint64_t>(collective.bytes.count) * collective.count;
  }
  return spec.workload + " --name " + spec.name + " " + number(spec.node_count) + " nodes" +
         (spec.placement.empty() ? "" : " on " + nodes_text(spec.placement)) + ", " + number(spec.collectives.size()) +
         " collectives of " + number(bytes) + " bytes a rank and iteration" + options_text(spec.options) +
         (spec.transmit == Transmit::slots ? "" : " --transmit grants") + (spec.adapt ? " --adapt" : "");
}

struct SetpointText {
  std::string operator()(const TransmitterSetpoint& laser) const {
    return "frequency=" + to_string(centre_of(laser.slot)) + " power=" + to_string(laser.power) +
           (laser.emit ? " emit=on" : " emit=off");
  }
  std::string operator()(const FilterSetpoint& heater) const {
    std::string text = number(heater.rings.size()) + " rings";
    for (std::size_t i = 0; i < heater.rings.size() && i < kNamed; ++i) {
      text += " ring." + number(heater.rings[i].channel) + "=" + to_string(heater.rings[i].resonance);
    }
    return text;
  }
  std::string operator()(const WavelengthSwitchSetpoint& wss) const {
    std::string text = number(wss.routes.size()) + " routes";
    for (std::size_t i = 0; i < wss.routes.size() && i < kNamed; ++i) {
      const WssRoute& route = wss.routes[i];
      text += " route=" + slot_text(route.slot) + ":" + number(route.input) + "-" + number(route.output);
    }
    return text;
  }
  std::string operator()(const CircuitSwitchSetpoint& ocs) const {
    std::string text = number(ocs.connects.size()) + " connects";
    for (std::size_t i = 0; i < ocs.connects.size() && i < kNamed; ++i) {
      text += " connect=" + number(ocs.connects[i].input) + "-" + number(ocs.connects[i].output);
    }
    return text;
  }
};

std::string circuits_text(const std::vector<ScheduledCircuit>& circuits) {
  std::string text = number(circuits.size()) + " circuits";
  for (std::size_t i = 0; i < circuits.size() && i < kNamed; ++i) {
    const ScheduledCircuit& circuit = circuits[i];
    text += (i == 0 ? ": job " : ", job ") + number(circuit.job.value) + " " + number(circuit.source.value) + "-" +
            number(circuit.destination.value) + " on " + slot_text(circuit.slot);
  }
  return circuits.size() > kNamed ? text + ", ..." : text;
}

std::string seconds_text(Duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3gs", std::chrono::duration<double>(duration).count());
  return text.data();
}

const char* dry(bool is_dry) { return is_dry ? " --dry-run" : ""; }

struct AskText {
  std::string operator()(const Query& query) const {
    return query.id ? "show one row (" + number(*query.id) + ")" : "show rows";
  }
  std::string operator()(const SubmitJob& ask) const { return "job submit " + spec_text(ask.spec) + dry(ask.dry_run); }
  std::string operator()(const CancelJob& ask) const { return "job cancel " + number(ask.job.value) + dry(ask.dry_run); }
  std::string operator()(const ChangeJob& ask) const {
    return "job change " + number(ask.job.value) + " to " + spec_text(ask.spec) + dry(ask.dry_run);
  }
  std::string operator()(const ResizeJob& ask) const {
    return "job resize " + number(ask.job.value) + " " + number(ask.nodes) + " nodes" + dry(ask.dry_run);
  }
  std::string operator()(const AttendJob& ask) const {
    return "job attend " + number(ask.job.value) +
           (ask.quiet_for == Revision{} ? "" : ", quiet for revision " + number(ask.quiet_for.value));
  }
  std::string operator()(const LasersRequest& ask) const { return ask.on ? "lasers rearm" : "lasers off"; }
  std::string operator()(const NodeRequest& ask) const {
    const std::string word(to_string(ask.order));  // "drain", "maintenance on"
    const std::size_t space = word.find(' ');
    return "node " + word.substr(0, space) + " " + number(ask.node.value) +
           (space == std::string::npos ? "" : word.substr(space)) + (ask.force ? " --force" : "") + dry(ask.dry_run);
  }
  std::string operator()(const DeviceRequest& ask) const {
    return "device set " + number(ask.device.value) + " " +
           (ask.setpoint ? std::visit(SetpointText{}, *ask.setpoint) : std::string("--clear")) + dry(ask.dry_run);
  }
  std::string operator()(const ResetRequest& ask) const { return "device reset " + number(ask.device.value); }
  std::string operator()(const AcknowledgeAlarm& ask) const { return "alarm ack " + number(ask.alarm.value); }
  std::string operator()(const ApplySchedule& ask) const {
    return "schedule apply --mode " + std::string(to_string(ask.mode)) + " " + circuits_text(ask.circuits) +
           (ask.confirm_within > Duration{} ? " --confirm-within " + seconds_text(ask.confirm_within) : "") + dry(ask.dry_run);
  }
  std::string operator()(const ConfirmSchedule&) const { return "schedule confirm"; }
  std::string operator()(const RollBackSchedule& ask) const {
    return "schedule rollback" + (ask.to == Revision{} ? "" : " " + number(ask.to.value)) + dry(ask.dry_run);
  }
  std::string operator()(const DiffSchedule&) const { return "schedule diff"; }
};

/// Without the letters that end a JSON string.
std::string in_json(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : printable(text)) {
    quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return quoted + "\"";
}

}  // namespace

std::string sentence_of(const OperatorAsk& ask) {
  constexpr std::size_t kMost = limits::kTextBytes / 2;
  std::string text = std::visit(AskText{}, ask);
  if (text.size() > kMost) {
    text.resize(kMost - 3);
    text += "...";
  }
  return text;
}

std::string printable(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      ascii += "\\\\";
    } else if (byte < 0x20 || byte > 0x7E) {
      ascii += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
    } else {
      ascii += c;
    }
  }
  return ascii;
}

std::string log_line(const AuditRecord& record) {
  std::string line = "audit: {\"record\":" + number(record.number) + ",\"at\":" + in_json(to_string(record.at)) +
                     ",\"principal\":" + in_json(record.principal) + ",\"role\":" + in_json(to_string(record.role)) +
                     ",\"request\":" + number(record.request.value) + ",\"asked\":" + in_json(record.asked) +
                     ",\"refused\":" + (record.outcome.ok() ? "false" : "true");
  if (!record.outcome.ok()) {
    line +=
        ",\"code\":" + in_json(to_string(record.outcome.error->code)) + ",\"answer\":" + in_json(record.outcome.error->message);
  }
  return line + ",\"job\":" + number(record.job.value) + ",\"revision\":" + number(record.revision.value) + "}";
}

}  // namespace loom
