// Reports to tables.
#include "cli/render/rows.hpp"

#include <array>

#include "cli/render/term.hpp"
#include "core/grid.hpp"

namespace loom::cli {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string nodes_text(const std::vector<NodeId>& nodes) {
  std::string text;
  for (std::size_t begin = 0; begin < nodes.size();) {
    std::size_t end = begin;
    while (end + 1 < nodes.size() && nodes[end + 1].value == nodes[end].value + 1) {
      ++end;
    }
    text += (text.empty() ? "" : ",") + number(nodes[begin].value) + (end > begin ? "-" + number(nodes[end].value) : "");
    begin = end + 1;
    if (text.size() > 40 && begin < nodes.size()) {
      return text + ",... (" + number(nodes.size()) + ")";
    }
  }
  return text;
}

std::string jobs_text(const std::vector<JobId>& jobs) {
  std::string text;
  for (const JobId job : jobs) {
    text += (text.empty() ? "" : ",") + number(job.value);
  }
  return text.empty() ? "-" : text;
}

struct ReadingText {
  std::string operator()(std::monostate) const { return "never read"; }
  std::string operator()(const LaserObservation& laser) const {
    return loom::to_string(laser.frequency) + (laser.emitting ? ", " + loom::to_string(laser.power) : ", dark") +
           (laser.locked ? "" : ", unlocked");
  }
  std::string operator()(const HeaterObservation& heater) const {
    std::string text;
    for (const std::int32_t millivolts : heater.millivolts) {
      text += (text.empty() ? "" : " ") + std::to_string(millivolts);
    }
    return text + " mV";
  }
  std::string operator()(const WssObservation& wss) const {
    return number(wss.routes.size()) + " routes" + (wss.settled ? "" : ", moving");
  }
  std::string operator()(const OcsObservation& ocs) const {
    return number(ocs.connects.size()) + " connects" + (ocs.settled ? "" : ", moving");
  }
};

std::string health_text(DeviceHealth health) {
  static constexpr std::array<const char*, 4> kWords{"unknown", "ready", "moving", "FAILED"};
  return kWords.at(static_cast<std::size_t>(health));
}

}  // namespace

std::string_view to_string(DeviceKind kind) {
  static constexpr std::array<std::string_view, 4> kWords{"laser", "heater", "wss", "ocs"};
  return kWords.at(static_cast<std::size_t>(kind));
}

/// "3900 over_quota, 2 foreign"; empty: nothing was refused.
static std::string refusals_word(const RefusalCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      text += (text.empty() ? "" : ", ") + number(counts[i]) + " " + std::string(to_string(static_cast<RefusalKind>(i)));
    }
  }
  return text;
}

std::string text_of(const StatusReport& status) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += std::string(name) + std::string(12 - name.size(), ' ') + value + "\n";
  };
  line("fabric", status.fabric + ", " + number(status.nodes) + " nodes");
  line("revision", number(status.revision.value) + " (term " + number(status.term.value) + ")");
  if (status.stage != CommitStage::idle) {
    line("under way", "revision " + number(status.under_way.value) + ", " + std::string(to_string(status.stage)) + " " +
                          number(status.stage_done) + "/" + number(status.stage_total));
  }
  line("agents", number(status.live) + " live, " + number(status.suspect) + " suspect, " + number(status.dead) + " dead");
  line("jobs", number(status.jobs) + ", " + number(status.circuits) + " circuits");
  line("isolation", isolation_word(status.certificate));
  line("lasers", status.lasers_off ? "OFF, latched (loom lasers rearm)" : "on");
  const DriftCounts& drift = status.drift;
  line("drift", number(drift.missing) + " missing, " + number(drift.foreign) + " foreign, " + number(drift.detuned) +
                    " detuned, " + number(drift.dim) + " dim, " + number(drift.stale) + " stale");
  line("alarms", number(status.alarms) + (status.alarms > 0 ? " (loom alarm list)" : ""));
  if (status.awaiting_confirm.value != 0) {
    line("on trial", "revision " + number(status.awaiting_confirm.value) + " returns in " + text_of(status.confirm_left) +
                         " (loom schedule confirm)");
  }
  if (const std::string refused = refusals_word(status.refusals); !refused.empty()) {
    line("refused", refused + " (since the controller's start)");
  }
  return text;
}

std::string text_of(const std::vector<NodeReport>& rows) {
  Table table({"node", "name", "session", "applied", "silence", "lasers", "devices", "jobs", "use"});
  for (const NodeReport& row : rows) {
    table.add({number(row.node.value), row.name, row.session, number(row.applied.value),
               row.silence < Duration{0} ? "never heard" : text_of(row.silence), row.lasers_latched_off ? "LATCHED OFF" : "on",
               number(row.devices), jobs_text(row.jobs),
               row.maintenance ? "MAINTENANCE"
               : row.drained   ? "drained"
                               : "open"});
  }
  std::string text = table.text();
  for (const NodeReport& row : rows) {
    if (!row.dark_because.empty()) {
      text += "node " + number(row.node.value) + ": " + row.dark_because + "\n";
    }
  }
  return text;
}

/// Of a circuit switch: "8 of 12 wires"; the rest is dark: idle, or wired ahead.
std::string lit_text(const DeviceReport& row) {
  const auto* ocs = row.desired ? std::get_if<OcsSetpoint>(&*row.desired) : nullptr;
  return ocs == nullptr ? "" : number(row.lit_ways) + " of " + number(ocs->connects.size()) + " wires";
}

std::string text_of(const std::vector<DeviceReport>& rows) {
  Table table({"device", "name", "kind", "node", "health", "reading", "lit", "set by", "drift", "fault"});
  for (const DeviceReport& row : rows) {
    table.add({number(row.device.value), row.name, std::string(to_string(row.kind)), number(row.agent.value),
               health_text(row.observation.health), std::visit(ReadingText{}, row.observation.reading), lit_text(row),
               row.adopted   ? "ADOPTED"
               : row.by_hand ? "HAND"
                             : "plan",
               row.drift == Drift::none ? "" : std::string(loom::to_string(row.drift)),
               row.observation.fault.empty() ? row.unusable : row.observation.fault});
  }
  return table.text();
}

std::string text_of(const std::vector<CircuitReport>& rows) {
  Table table({"circuit", "job", "from", "to", "frequency", "rate", "timeslot", "light", "age", "why"});
  for (const CircuitReport& row : rows) {
    table.add({number(row.circuit.id.value), number(row.circuit.job.value), number(row.circuit.source.value),
               number(row.circuit.destination.value), loom::to_string(centre_of(row.circuit.slot)), text_of(row.circuit.rate),
               number(row.timeslot), std::string(loom::to_string(row.light)), row.age < Duration{} ? "-" : text_of(row.age),
               row.light == LightState::lit ? "" : row.why});
  }
  return table.text();
}

/// "30 pairs, 3 hops; 64 circuits wait for panels"
std::string forwarding_text(const JobReport& row) {
  std::string text =
      row.forwarded_pairs == 0 ? "-" : number(row.forwarded_pairs) + " pairs, " + number(row.hops_most) + " hops at most";
  return row.waiting_circuits == 0 ? text : text + "; " + number(row.waiting_circuits) + " circuits wait for look-ahead panels";
}

/// Measured against declared demand, and what is made of it.
std::string adaptation_text(const JobReport& row) {
  return "job " + number(row.job.value) + " adapts, light made for " + row.made_for + " demand\n  declared  " + row.declared +
         "\n  measured  " + (row.measured.empty() ? "-" : row.measured) + "\n  decision  " + row.decision + "\n";
}

std::string text_of(const std::vector<JobReport>& rows) {
  Table table(
      {"job", "name", "workload", "state", "stage", "nodes", "revision", "underflows", "forwarding", "schedule", "why"});
  for (const JobReport& row : rows) {
    table.add({number(row.job.value), row.name, row.workload, row.state,
               row.stages == 0 ? "-" : number(row.stage + 1) + " of " + number(row.stages), nodes_text(row.nodes),
               number(row.revision.value), number(row.underflows), forwarding_text(row), row.note, row.reason});
  }
  std::string text = table.text();
  for (const JobReport& row : rows) {
    text += row.adapts ? adaptation_text(row) : "";
  }
  return text;
}

std::string text_of(const std::vector<CommitReport>& rows) {
  Table table({"revision", "started", "outcome", "agents", "touched", "plan", "prepare", "arm", "wait", "darken", "move",
               "relight", "total", "resent", "isolation", "link margin", "crosstalk", "ordered by", "reason"});
  for (const CommitReport& row : rows) {
    const LightMargins& light = row.certificate.light;
    const bool has_light = light.circuits > 0;
    table.add({number(row.revision.value), loom::to_string(row.started_wall), std::string(to_string(row.outcome)),
               number(row.agents), number(row.touched), text_of(row.plan), text_of(row.prepare), text_of(row.arm),
               text_of(row.wait), text_of(row.darken), text_of(row.move), text_of(row.relight), text_of(row.total),
               number(row.resent), isolation_word(row.certificate), has_light ? loom::to_string(light.link_margin) : "-",
               has_light ? loom::to_string(light.crosstalk) : "-", row.ordered_by.empty() ? "-" : row.ordered_by, row.reason});
  }
  return table.text();
}

}  // namespace loom::cli
