// SPDX-License-Identifier: Apache-2.0
// One line a row, flow maps for rows: the form that people write them in.
#include "core/config/scenario/scenario_text.hpp"

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "core/config/yaml/quantity.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string text_of(Duration duration) { return print_quantity(duration.count(), kDurationUnits); }

/// `{key: value, ...}`.
class Row {
 public:
  Row& add(std::string_view key, std::string_view value) {
    text_ += format_text("{}{}: {}", text_.empty() ? "{" : ", ", key, value);
    return *this;
  }
  Row& add(std::string_view key, Duration value) { return add(key, text_of(value)); }
  Row& add(std::string_view key, std::uint64_t value) { return add(key, std::to_string(value)); }
  /// Not where it is the default.
  template <class Value>
  Row& add_unless(const Value& otherwise, std::string_view key, const Value& value) {
    return value == otherwise ? *this : add(key, value);
  }
  bool is_empty() const { return text_.empty(); }
  std::string text() const { return text_ + "}"; }

 private:
  std::string text_;
};

std::string settings_text(const std::map<std::string, std::string>& settings) {
  Row row;
  for (const auto& [key, value] : settings) {
    row.add(key, value);
  }
  return row.text();
}

std::string head(std::string_view kind, const std::string& name) {
  return format_text("schema_version: 1\nkind: {}\nname: {}\n", kind, name);
}

template <class Rows, class Text>
std::string list_text(std::string_view key, const Rows& rows, Text text) {
  std::string lines;
  for (const auto& row : rows) {
    lines += format_text("  - {}\n", text(row));
  }
  return lines.empty() ? lines : format_text("{}:\n{}", key, lines);
}

/// The fewest digits that are read back as the same probability.
std::string exact(double value) {
  std::array<char, 64> text{};
  const auto [end, code] = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return code == std::errc{} ? std::string(text.data(), end) : std::to_string(value);
}

std::string controller_text(const ControllerTimings& timings) {
  const ControllerTimings usual;
  Row row;
  row.add_unless(usual.debounce, "debounce", timings.debounce)
      .add_unless(usual.retry_interval, "retry_interval", timings.retry_interval)
      .add_unless(usual.stage_deadline, "stage_deadline", timings.stage_deadline)
      .add_unless(usual.lead_margin, "lead_margin", timings.lead_margin)
      .add_unless(usual.clock_error, "clock_error", timings.clock_error)
      .add_unless(usual.beat_interval, "beat_interval", timings.beat_interval)
      .add_unless(usual.suspect_after, "suspect_after", timings.suspect_after)
      .add_unless(usual.dead_after, "dead_after", timings.dead_after)
      .add_unless(usual.report_interval, "report_interval", timings.report_interval)
      .add_unless<std::uint64_t>(usual.late_attempts, "late_attempts", timings.late_attempts)
      .add_unless(usual.attend_lease, "attend_lease", timings.attend_lease)
      .add_unless(usual.probe_lease, "probe_lease", timings.probe_lease)
      .add_unless(usual.quiesce_deadline, "quiesce_deadline", timings.quiesce_deadline)
      .add_unless(usual.plan_steps, "plan_steps", timings.plan_steps)
      .add_unless(usual.plan_deadline, "plan_deadline", timings.plan_deadline);
  return row.is_empty() ? "" : format_text("controller: {}\n", row.text());
}

std::string reconcile_text(const ControllerTimings& timings, const DriftPolicy& policy) {
  const ControllerTimings usual;
  const DriftPolicy usually;
  Row row;
  row.add_unless(usual.audit_round, "audit_round", timings.audit_round)
      .add_unless(usual.reconcile_interval, "interval", timings.reconcile_interval)
      .add_unless(usual.stale_after, "stale_after", timings.stale_after)
      .add_unless<std::uint64_t>(usual.repair_attempts, "attempts", timings.repair_attempts)
      .add_unless(usual.repair_backoff, "backoff", timings.repair_backoff)
      .add_unless(usual.repair_quiet, "quiet", timings.repair_quiet)
      .add_unless(to_string(usually.missing), "missing", to_string(policy.missing))
      .add_unless(to_string(usually.foreign), "foreign", to_string(policy.foreign))
      .add_unless(to_string(usually.detuned), "detuned", to_string(policy.detuned))
      .add_unless(to_string(usually.dim), "dim", to_string(policy.dim));
  return row.is_empty() ? "" : format_text("reconcile: {}\n", row.text());
}

std::string adaptation_text(const AdaptPolicy& policy) {
  const AdaptPolicy usual;
  Row row;
  row.add_unless(exact(usual.tolerance), "tolerance", exact(policy.tolerance))
      .add_unless(exact(usual.margin), "margin", exact(policy.margin))
      .add_unless(std::to_string(usual.hold_times), "hold_times", std::to_string(policy.hold_times))
      .add_unless<std::uint64_t>(usual.restless, "restless", policy.restless)
      .add_unless(usual.fresh, "fresh", policy.fresh);
  return row.is_empty() ? "" : format_text("adaptation: {}\n", row.text());
}

std::string training_text(const TrainingHabits& habits) {
  const TrainingHabits usual;
  Row row;
  row.add_unless(exact(usual.jitter), "jitter", exact(habits.jitter))
      .add_unless(exact(usual.slow), "slow", exact(habits.slow))
      .add_unless(usual.slow_by, "slow_by", habits.slow_by)
      .add_unless(exact(usual.lost), "lost", exact(habits.lost))
      .add_unless(exact(usual.doubled), "doubled", exact(habits.doubled));
  return row.is_empty() ? "" : format_text("training: {}\n", row.text());
}

std::string rings_text(const RingHabits& habits) {
  const RingHabits usual;
  Row row;
  row.add_unless(exact(usual.resistance), "resistance", exact(habits.resistance))
      .add_unless(print_quantity(usual.cold.mhz, kFrequencyOffsetUnits), "cold",
                  print_quantity(habits.cold.mhz, kFrequencyOffsetUnits))
      .add_unless(exact(usual.crosstalk), "crosstalk", exact(habits.crosstalk))
      .add_unless(exact(usual.substrate), "substrate", exact(habits.substrate))
      .add_unless(usual.substrate_time, "substrate_time", habits.substrate_time);
  return row.is_empty() ? "" : format_text("simulated_rings: {}\n", row.text());
}

std::string traffic_text(const std::vector<TrueTraffic>& traffic) {
  std::string text;
  for (const TrueTraffic& entry : traffic) {
    Row row;
    row.add("at", entry.at).add("workload", entry.workload).add("groups", entry.groups).add("every", entry.every);
    if (!entry.settings.empty()) {
      row.add("settings", settings_text(entry.settings));
    }
    text += (text.empty() ? "[" : ", ") + row.text();
  }
  return text + "]";
}

std::string job_text(const JobSubmission& job) {
  Row row;
  row.add("name", job.name).add("workload", job.workload).add("nodes", job.nodes).add("at", job.at);
  if (!job.settings.empty()) {
    row.add("settings", settings_text(job.settings));
  }
  row.add_unless(std::string{}, "after", job.after)
      .add_unless(kForever, "runs_for", job.runs_for)
      .add_unless<std::uint64_t>(0, "iterations", job.iterations)
      .add_unless(std::string{}, "changes", job.changes);
  if (job.transmit == Transmit::grants) {
    row.add("transmit", "grants");
  }
  if (job.adapt) {
    row.add("adapt", "true");
  }
  if (job.paced_by == PacedBy::training) {
    row.add("paced_by", "training");
  }
  if (!job.traffic.empty()) {
    row.add("traffic", traffic_text(job.traffic));
  }
  return row.text();
}

std::string action_text(const Fabric& fabric, const ScenarioAction& action) {
  const std::string verb(to_string(action.kind));
  Row row;
  row.add("at", action.at);
  switch (action.kind) {
    case ActionKind::cancel:
      row.add(verb, action.job);
      break;
    case ActionKind::resize:
      row.add(verb, action.job).add("nodes", action.nodes);
      break;
    case ActionKind::lasers:
      row.add(verb, action.lasers_on ? "rearm" : "off");
      break;
    case ActionKind::schedule:
      row.add(verb, action.rolls_back ? "rollback" : "pin");
      break;
    case ActionKind::reset:
    case ActionKind::darken:
    case ActionKind::clear:
      row.add(verb, fabric.device(action.device).name);
      break;
    default:
      row.add(verb, fabric.nodes[action.node.value].name);
  }
  if (action.force) {
    row.add("force", "true");
  }
  return row.text();
}

std::string churn_text(const Churn& churn) {
  if (churn.revisions == 0) {
    return "";
  }
  std::string sizes;
  for (const std::uint32_t nodes : churn.job_nodes) {
    sizes += (sizes.empty() ? "[" : ", ") + std::to_string(nodes);
  }
  Row row;
  row.add("revisions", churn.revisions).add("job_nodes", sizes + "]").add("live_jobs", churn.live_jobs);
  row.add("workload", churn.workload).add("start", churn.start).add("period", churn.period);
  if (!churn.settings.empty()) {
    row.add("settings", settings_text(churn.settings));
  }
  return format_text("churn: {}\n", row.text());
}

std::string network_text(const NetworkFaults& network) {
  const NetworkFaults usual;
  Row row;
  row.add("delay_min", network.delay_min).add("delay_max", network.delay_max);
  row.add_unless(exact(usual.loss), "loss", exact(network.loss))
      .add_unless(exact(usual.duplicate), "duplicate", exact(network.duplicate))
      .add_unless(exact(usual.reorder), "reorder", exact(network.reorder))
      .add_unless(usual.until, "until", network.until);
  return network == usual ? "" : format_text("network: {}\n", row.text());
}

std::string device_fault_text(const Fabric& fabric, const ScenarioFault& fault) {
  Row row;
  const Device& device = fabric.device(fault.device);
  const FaultName* name = fault_of(fault.kind, device.role);
  LOOM_ASSERT(name != nullptr);
  row.add("at", fault.at).add("device", device.name).add("kind", name->name);
  switch (name->value) {
    case FaultValue::none:
      break;
    case FaultValue::offset:
      row.add("offset", print_quantity(fault.offset.mhz, kFrequencyOffsetUnits));
      break;
    case FaultValue::loss:
      row.add("loss", print_quantity(fault.loss.centi, kRatioUnits));
      break;
    case FaultValue::delay:
      row.add("delay", fault.delay);
      break;
    case FaultValue::factor:
      row.add("factor", std::to_string(fault.factor));
      break;
    case FaultValue::percent:
      row.add_unless(std::string("100"), "percent", std::to_string(fault.percent));
      break;
    case FaultValue::channel:
      row.add("channel", std::to_string(fault.channel));
      break;
  }
  return row.add_unless(kForever, "lasts", fault.lasts).text();
}

std::string machine_fault_text(const Fabric& fabric, const MachineFault& fault) {
  Row row;
  row.add("at", fault.at).add("machine", fault.node ? fabric.nodes[fault.node->value].name : "controller");
  row.add("kind", to_string(fault.kind)).add("lasts", fault.lasts);
  if (fault.kind == MachineFaultKind::slow) {
    row.add("delay", fault.delay);
  } else if (fault.kind == MachineFaultKind::clock_step) {
    row.add("offset", fault.offset);
  } else if (fault.kind == MachineFaultKind::clock_drift) {
    row.add("drift_ppm", std::to_string(fault.drift_ppm));
  }
  return row.text();
}

std::string end_text(const Fabric& fabric, FibreId fibre) {
  const PortRef& end = fabric.fibres[fibre.value].to;
  return format_text("'{}:{}'", fabric.element(end.element).name, end.port);
}

std::string fibre_fault_text(const Fabric& fabric, const FibreFault& fault) {
  Row row;
  row.add("at", fault.at).add("kind", to_string(fault.kind));
  const std::string first = end_text(fabric, fault.first);
  row.add("ends", fault.kind == FibreFaultKind::swap ? format_text("[{}, {}]", first, end_text(fabric, fault.second))
                                                     : format_text("[{}]", first));
  if (fault.kind == FibreFaultKind::dirty) {
    row.add("loss", print_quantity(fault.loss.centi, kRatioUnits));
  }
  return row.add_unless(kForever, "lasts", fault.lasts).text();
}

}  // namespace

std::string scenario_text(const Scenario& scenario, const std::string& fabric) {
  std::string text = format_text("{}mode: {}\nfabric: {}\nalgorithm: {}\nseed: {}\n", head("scenario", scenario.name),
                                 to_string(scenario.mode), fabric, scenario.algorithm, scenario.seed);
  if (scenario.duration != kForever) {
    text += format_text("duration: {}\n", text_of(scenario.duration));
  }
  text += controller_text(scenario.controller) + reconcile_text(scenario.controller, scenario.drift) +
          adaptation_text(scenario.adapt) + training_text(scenario.training) + rings_text(scenario.rings);
  return text + list_text("jobs", scenario.jobs, job_text) + churn_text(scenario.churn) +
         list_text("actions", scenario.actions,
                   [&](const ScenarioAction& action) { return action_text(*scenario.fabric, action); });
}

std::string fault_text(const Scenario& scenario) {
  const Fabric& fabric = *scenario.fabric;
  return head("faults", scenario.name + "-faults") + network_text(scenario.network) +
         list_text("device_faults", scenario.device_faults,
                   [&](const ScenarioFault& fault) { return device_fault_text(fabric, fault); }) +
         list_text("machine_faults", scenario.machine_faults,
                   [&](const MachineFault& fault) { return machine_fault_text(fabric, fault); }) +
         list_text("fibre_faults", scenario.fibre_faults,
                   [&](const FibreFault& fault) { return fibre_fault_text(fabric, fault); });
}

}  // namespace loom
