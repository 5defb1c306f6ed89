// SPDX-License-Identifier: Apache-2.0
// One overload a kind of order.
#include "controller/control/requests/audit_text.hpp"

#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "core/fabric/grid.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"
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
  return nodes.size() > kNamed ? format_text("{},... ({})", text, nodes.size()) : text;
}

std::string slot_text(FrequencySlot slot) { return format_text("{}/{}", slot.n, slot.m); }

std::string options_text(const JobOptions& options) {
  std::string text;
  for (const auto& [key, value] : options) {
    text += format_text(" --set {}={}", key, value);
  }
  return text;
}

std::string spec_text(const JobSpec& spec) {
  std::uint64_t bytes = 0;
  for (const Collective& collective : spec.collectives) {
    bytes += static_cast<std::uint64_t>(collective.bytes.count) * collective.count;
  }
  return format_text("{} --name {} {} nodes{}, {} collectives of {} bytes a rank and iteration{}{}{}", spec.workload, spec.name,
                     spec.node_count, spec.placement.empty() ? "" : " on " + nodes_text(spec.placement),
                     spec.collectives.size(), bytes, options_text(spec.options),
                     spec.transmit == Transmit::slots ? "" : " --transmit grants", spec.adapt ? " --adapt" : "",
                     spec.paced_by == PacedBy::training ? " --paced-by-training" : "");
}

struct SetpointText {
  std::string operator()(const TransmitterSetpoint& laser) const {
    return format_text("frequency={} power={}{}", to_string(centre_of(laser.slot)), to_string(laser.power),
                       laser.emit ? " emit=on" : " emit=off");
  }
  std::string operator()(const FilterSetpoint& heater) const {
    std::string text = format_text("{} rings", heater.rings.size());
    for (std::size_t i = 0; i < heater.rings.size() && i < kNamed; ++i) {
      text += format_text(" ring.{}={}", heater.rings[i].channel, to_string(heater.rings[i].resonance));
    }
    return text;
  }
  std::string operator()(const WavelengthSwitchSetpoint& wss) const {
    std::string text = format_text("{} routes", wss.routes.size());
    for (std::size_t i = 0; i < wss.routes.size() && i < kNamed; ++i) {
      const WssRoute& route = wss.routes[i];
      text += format_text(" route={}:{}-{}", slot_text(route.slot), route.input, route.output);
    }
    return text;
  }
  std::string operator()(const CircuitSwitchSetpoint& ocs) const {
    std::string text = format_text("{} connects", ocs.connects.size());
    for (std::size_t i = 0; i < ocs.connects.size() && i < kNamed; ++i) {
      text += format_text(" connect={}-{}", ocs.connects[i].input, ocs.connects[i].output);
    }
    return text;
  }
  std::string operator()(const MonitorSetpoint&) const { return "nothing to set"; }
  std::string operator()(const GainSetpoint& stage) const { return format_text("gain={}", to_string(stage.gain)); }
};

std::string circuits_text(const std::vector<ScheduledCircuit>& circuits) {
  std::string text = format_text("{} circuits", circuits.size());
  for (std::size_t i = 0; i < circuits.size() && i < kNamed; ++i) {
    const ScheduledCircuit& circuit = circuits[i];
    text += format_text("{}{} {}-{} on {}", i == 0 ? ": job " : ", job ", circuit.job.value, circuit.source.value,
                        circuit.destination.value, slot_text(circuit.slot));
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
    return query.id ? format_text("show one row ({})", *query.id) : "show rows";
  }
  std::string operator()(const SubmitJob& ask) const {
    return format_text("job submit {}{}", spec_text(ask.spec), dry(ask.dry_run));
  }
  std::string operator()(const CancelJob& ask) const { return format_text("job cancel {}{}", ask.job.value, dry(ask.dry_run)); }
  std::string operator()(const ChangeJob& ask) const {
    return format_text("job change {} to {}{}", ask.job.value, spec_text(ask.spec), dry(ask.dry_run));
  }
  std::string operator()(const ResizeJob& ask) const {
    return format_text("job resize {} {} nodes{}", ask.job.value, ask.nodes, dry(ask.dry_run));
  }
  std::string operator()(const AdaptJob& ask) const {
    return format_text("job adapt {}{}", ask.job.value, ask.on ? "" : " --off");
  }
  std::string operator()(const AttendJob& ask) const {
    return format_text("job attend {}{}", ask.job.value,
                       ask.quiet_for == Revision{} ? "" : format_text(", quiet for revision {}", ask.quiet_for.value));
  }
  std::string operator()(const LasersRequest& ask) const { return ask.on ? "lasers rearm" : "lasers off"; }
  std::string operator()(const NodeRequest& ask) const {
    const std::string word(to_string(ask.order));  // "drain", "maintenance on"
    const std::size_t space = word.find(' ');
    return format_text("node {} {}{}{}{}", word.substr(0, space), ask.node.value,
                       space == std::string::npos ? "" : word.substr(space), ask.force ? " --force" : "", dry(ask.dry_run));
  }
  std::string operator()(const DeviceRequest& ask) const {
    std::string volts;
    for (const HeaterByHand& heater : ask.heaters) {
      volts += format_text(" volts.{}={}mV", heater.channel, heater.millivolts);
    }
    return format_text("device set {} {}{}{}", ask.device.value,
                       ask.setpoint ? std::visit(SetpointText{}, *ask.setpoint) : std::string("--clear"), volts,
                       dry(ask.dry_run));
  }
  std::string operator()(const ResetRequest& ask) const { return format_text("device reset {}", ask.device.value); }
  std::string operator()(const ProbeLight& ask) const {
    return format_text("measure by {} lights and {} heaters", ask.probes.size(), ask.drives.size());
  }
  std::string operator()(const Calibrate& ask) const {
    std::string text = "device calibrate";
    for (std::size_t i = 0; i < ask.banks.size() && i < kNamed; ++i) {
      text += format_text(" {}{}", ask.banks[i].device.value, ask.banks[i].is_empty() ? " --forget" : "");
    }
    const std::string lasers = ask.channels.empty() ? "" : format_text(" --lasers: {} channels", ask.channels.size());
    return text + (ask.banks.size() > kNamed ? " ..." : "") + lasers + dry(ask.dry_run);
  }
  std::string operator()(const AcknowledgeAlarm& ask) const { return format_text("alarm ack {}", ask.alarm.value); }
  std::string operator()(const ApplySchedule& ask) const {
    return format_text("schedule apply --mode {} {}{}{}", to_string(ask.mode), circuits_text(ask.circuits),
                       ask.confirm_within > Duration{} ? " --confirm-within " + seconds_text(ask.confirm_within) : "",
                       dry(ask.dry_run));
  }
  std::string operator()(const ConfirmSchedule&) const { return "schedule confirm"; }
  std::string operator()(const RollBackSchedule& ask) const {
    return format_text("schedule rollback{}{}", ask.to == Revision{} ? "" : format_text(" {}", ask.to.value), dry(ask.dry_run));
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
  std::string line =
      format_text("audit: {{\"record\":{},\"at\":{},\"principal\":{},\"role\":{},\"request\":{},\"asked\":{},\"refused\":{}",
                  record.number, in_json(to_string(record.at)), in_json(record.principal), in_json(to_string(record.role)),
                  record.request.value, in_json(record.asked), record.outcome.ok() ? "false" : "true");
  if (!record.outcome.ok()) {
    line += format_text(",\"code\":{},\"answer\":{}", in_json(to_string(record.outcome.error->code)),
                        in_json(record.outcome.error->message));
  }
  return format_text("{},\"job\":{},\"revision\":{}}}", line, record.job.value, record.revision.value);
}

}  // namespace loom
