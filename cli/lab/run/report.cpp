// SPDX-License-Identifier: Apache-2.0
// Tables of a lab's jobs.
#include "cli/lab/run/report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "cli/render/json.hpp"
#include "cli/render/term.hpp"
#include "controller/predict/prediction_text.hpp"
#include "core/text/format_text.hpp"
#include "sim_backend/experiments/grant_lab.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string milliseconds_text(Duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", milliseconds_of(duration));
  return text.data();
}

/// How far apart the windows begin that one relight opened since `begin`: its light skew, from ground truth. What was kept lit
/// began earlier and does not count.
Duration light_skew(const LightTimeline& light, Instant begin) {
  Instant first = kNever;
  Instant last{};
  for (const LitWindow& window : light) {
    if (window.end == kNever && window.begin >= begin) {
      first = std::min(first, window.begin);
      last = std::max(last, window.begin);
    }
  }
  return first == kNever ? Duration{0} : last - first;
}

std::string comparison(const JobOutcome& outcome) {
  Table table({"fabric", "iteration ms", "compute ms", "exposed ms", "dark ms", "to ideal"});
  const double ideal = milliseconds_of(outcome.beside.front().iteration);
  const auto ratio = [&](Duration iteration) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3f", milliseconds_of(iteration) / ideal);
    return std::string(text.data());
  };
  const auto row = [&](const std::string& name, Duration iteration, Duration compute, Duration exposed, Duration dark) {
    table.add({name, milliseconds_text(iteration), milliseconds_text(compute), milliseconds_text(exposed),
               milliseconds_text(dark), ratio(iteration)});
  };
  const Prediction& predicted = outcome.predicted;
  const std::string own = label_of(predicted.fabric, predicted.qualifier);
  row(own + ", predicted", predicted.iteration, predicted.compute, predicted.exposed, predicted.dark);
  if (const auto& replayed = outcome.replayed) {
    row(own + ", replayed in light", replayed->iteration, replayed->compute, replayed->exposed, replayed->dark);
  }
  for (const Prediction& other : outcome.beside) {  // the ideal switch has nothing to be calibrated
    row(other.fabric + (&other == &outcome.beside.front() ? ", predicted" : " (uncalibrated), predicted"), other.iteration,
        other.compute, other.exposed, other.dark);
  }
  return table.text();
}

std::string stages(const std::vector<CommitReport>& commits) {
  Table table({"revision", "outcome", "agents", "touched", "switches", "plan", "prepare", "arm", "wait", "darken", "move",
               "relight", "total", "slowest device needs"});
  for (const CommitReport& row : commits) {
    table.add({std::to_string(row.revision.value), std::string(to_string(row.outcome)), std::to_string(row.agents),
               std::to_string(row.touched), std::to_string(row.switches_moved), text_of(row.plan), text_of(row.prepare),
               text_of(row.arm), text_of(row.wait), text_of(row.darken), text_of(row.move), text_of(row.relight),
               text_of(row.total), row.slowest.empty() ? "-" : text_of(row.slowest_time)});
  }
  return table.text();
}

std::string precision(const std::vector<CommitReport>& commits) {
  Table table({"revision", "prepare+ack p50", "p99", "slack min", "p50", "lateness p50", "p99", "fire skew", "dark p50", "max",
               "predicted", "resent"});
  for (const CommitReport& row : commits) {
    table.add({std::to_string(row.revision.value), text_of(row.prepare_ack.p50), text_of(row.prepare_ack.p99),
               text_of(row.slack.min), text_of(row.slack.p50), text_of(row.lateness.p50), text_of(row.lateness.p99),
               text_of(row.lateness.max - row.lateness.min), text_of(row.dark.p50), text_of(row.dark.max),
               row.dark_predicted > Duration{} ? text_of(row.dark_predicted) : "-", std::to_string(row.resent)});
  }
  return table.text();
}

std::vector<std::string> assumptions_of(const JobOutcome& outcome) {
  std::vector<std::string> all;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& one : more) {
      if (std::find(all.begin(), all.end(), one) == all.end()) {
        all.push_back(one);
      }
    }
  };
  add(outcome.predicted.assumptions);
  for (const Prediction& other : outcome.beside) {
    add(other.assumptions);
  }
  return all;
}

/// The efficiency of docs/systems/oddl.md#grants with the control time that was measured, none of it hidden, and the fast
/// lasers of the reconstruction.
double efficiency_of(const ControlTimes& control, Duration measured) {
  GrantTimings timings;  // 100 ns of tuning, 50 ns of lock: ours, uncalibrated
  timings.control = measured;
  return control.stream_mean.count > 0 ? grant_efficiency(timings, control.stream_mean, Duration::zero()) : 0;
}

std::string number_text(double value, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string control_text(const ControlTimes& control) {
  std::string text =
      format_text("grants {} ({} never lit), mean {}\n", control.grants, control.dark, text_of(control.stream_mean));
  text += format_text(
      "control time, measured: REQ to the arbiter's first message p50 {}, p99 {}; REQ to GNT p50 {}, p99 {} (with the wait for "
      "others)\n",
      text_of(control.answer_p50), text_of(control.answer_p99), text_of(control.grant_p50), text_of(control.grant_p99));
  if (control.answers_across > 0) {
    text += format_text("of these between two processes ({}): REQ to the arbiter's first message p50 {}, p99 {}\n",
                        control.answers_across, text_of(control.across_p50), text_of(control.across_p99));
  }
  text += format_text(
      "efficiency that follows (docs/systems/oddl.md#grants, tuning 100 ns and lock 50 ns assumed, nothing hidden): {} at p50, "
      "{} at p99; of the time from request to darkness, with this lab's lasers: {}\n",
      number_text(efficiency_of(control, control.answer_p50), 4), number_text(efficiency_of(control, control.answer_p99), 4),
      number_text(control.used, 4));
  return text;
}

Json control_json(const ControlTimes& control) {
  return {{"grants", control.grants},
          {"grants_never_lit", control.dark},
          {"answer_p50_ns", control.answer_p50.count()},
          {"answer_p99_ns", control.answer_p99.count()},
          {"answers_across", control.answers_across},
          {"across_p50_ns", control.across_p50.count()},
          {"across_p99_ns", control.across_p99.count()},
          {"grant_p50_ns", control.grant_p50.count()},
          {"grant_p99_ns", control.grant_p99.count()},
          {"stream_mean_bytes", control.stream_mean.count},
          {"efficiency_p50", efficiency_of(control, control.answer_p50)},
          {"efficiency_p99", efficiency_of(control, control.answer_p99)},
          {"used", control.used}};
}

std::string tables_of(const JobOutcome& outcome) {
  std::string text =
      format_text("\n{}: {} on {} nodes, {} a circuit, {} a node, one iteration\n", outcome.row.name, outcome.row.workload,
                  outcome.row.nodes.size(), text_of(outcome.predicted.rate), text_of(outcome.node_rate));
  text += format_text("{}\n{}\n{}", comparison(outcome), stages(outcome.commits), precision(outcome.commits));
  text += format_text("light skew {} (ground truth, begin of standing light); timeslots left dark: {}\n",
                      text_of(light_skew(outcome.light, outcome.begin)), outcome.row.underflows);
  if (outcome.transmit == Transmit::grants) {
    text += control_text(outcome.control);
  }
  text += "\nassumptions\n";
  for (const std::string& assumption : assumptions_of(outcome)) {
    text += format_text("  - {}\n", assumption);
  }
  return text;
}

std::string footprint_text(const LabFootprint& footprint) {
  std::string text = format_text("\nagents joined in {}; memory: controller {}, agent processes", text_of(footprint.join),
                                 text_of(Bytes{footprint.controller_bytes}));
  for (const long long bytes : footprint.agent_bytes) {
    text += " " + text_of(Bytes{bytes});
  }
  return text + "\n";
}

Json violation_json(const Violation& violation) {
  return {{"at_s", seconds_of(violation.at.time_since_epoch())},
          {"rule", to_string(violation.rule)},
          {"evidence", violation.evidence}};
}

void add_tables(Json& job, const JobOutcome& outcome) {
  Json beside = Json::array();
  for (const Prediction& other : outcome.beside) {
    beside.push_back(predict_json(other));
  }
  job["job"] = outcome.job.value;
  job["predicted"] = predict_json(outcome.predicted);
  job["replayed"] = outcome.replayed ? Json(replay_json(*outcome.replayed)) : Json();
  job["beside"] = std::move(beside);
  job["revisions"] = json_of(outcome.commits)["revisions"];
  job["light_skew_ns"] = light_skew(outcome.light, outcome.begin).count();
  job["underflows"] = outcome.row.underflows;
  if (outcome.transmit == Transmit::grants) {
    job["control"] = control_json(outcome.control);
  }
}

}  // namespace

BitRate rate_of(const Fabric& fabric) {
  for (const Element& element : fabric.elements) {
    if (const auto* transmitter = std::get_if<Transmitter>(&element.kind)) {
      return transmitter->rate;
    }
  }
  return {};
}

BitRate node_rate_of(const Fabric& fabric) {
  BitRate total;
  for (const ElementId transmitter : fabric.nodes.empty() ? std::vector<ElementId>{} : fabric.nodes.front().transmitters) {
    const auto* kind = std::get_if<Transmitter>(&fabric.element(transmitter).kind);
    total.bits_per_second += kind == nullptr ? 0 : kind->rate.bits_per_second;
  }
  return total;
}

std::string text_of(const LabReport& report) {
  std::string text;
  for (const auto& outcome : report.outcomes) {
    text += outcome ? tables_of(*outcome) : "";
  }
  text += "\n" + text_of(report.account);
  text += format_text("violations {}, and {} that injected faults excuse (ground truth: the devices' light logs)\n",
                      report.safety.violations.size(), report.safety.excused_count);
  for (const Violation& violation : report.safety.violations) {
    text += format_text("  at {}: {}: {}\n", text_of(violation.at.time_since_epoch()), to_string(violation.rule),
                        violation.evidence);
  }
  return text + footprint_text(report.footprint);
}

Json json_of(const LabReport& report) {
  Json object = answer();
  Json jobs = Json::array();
  for (std::size_t i = 0; i < report.account.jobs.size(); ++i) {
    Json job = Json::parse(json_of(report.account.jobs[i]));
    if (report.outcomes[i]) {
      add_tables(job, *report.outcomes[i]);
    }
    jobs.push_back(std::move(job));
  }
  object["as_expected"] = report.is_as_expected();
  object["violations"] = Json::array();
  for (const Violation& violation : report.safety.violations) {
    object["violations"].push_back(violation_json(violation));
  }
  object["excused"] = Json::array();
  for (const ExcusedViolation& excused : report.safety.excused) {
    object["excused"].push_back(violation_json(excused.violation));
    object["excused"].back()["fault"] = excused.fault;
  }
  object["excused_count"] = report.safety.excused_count;
  object["jobs"] = std::move(jobs);
  object["actions"] = Json::array();
  for (const ActionAccount& action : report.account.actions) {
    object["actions"].push_back(Json::parse(json_of(action)));
  }
  object["join_ns"] = report.footprint.join.count();
  object["controller_bytes"] = report.footprint.controller_bytes;
  object["agent_bytes"] = report.footprint.agent_bytes;
  return object;
}

}  // namespace loom::cli
