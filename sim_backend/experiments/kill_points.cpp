// SPDX-License-Identifier: Apache-2.0
// One trial: settle, order, kill, restart, judge, apply again, judge.
#include "sim_backend/experiments/kill_points.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "core/fabric/dark_time.hpp"
#include "core/text/format_text.hpp"
#include "sim_backend/experiments/swarm_fabric.hpp"
#include "sim_backend/simulation.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLook = milliseconds{5};
constexpr Duration kOrderBound = seconds{10};  ///< longer than every stage's deadline that a calm commit can meet, robots aside
constexpr Duration kSecondApply = seconds{2};

/// The longest that a switch of the fabric moves, if that is more than what the times below leave room for: robots.
Duration extra_of(const Fabric& fabric) {
  Duration slowest{};
  for (const Element& element : fabric.elements) {
    slowest = std::max(slowest, settle_time_of(element));
  }
  return slowest < milliseconds{500} ? Duration{} : slowest * 4;
}

Scenario scenario_of(const KillExperiment& experiment) {
  const Duration extra = extra_of(*experiment.fabric);
  Scenario scenario;
  scenario.name = "kill_points";
  scenario.fabric = experiment.fabric;
  scenario.algorithm = algorithm_of(*experiment.fabric);
  JobSubmission stays;
  stays.name = "stays";
  stays.workload = "vgg19";
  stays.nodes = std::min(4U, static_cast<std::uint32_t>(experiment.fabric->nodes.size()) / 2);
  stays.at = milliseconds{500};
  JobSubmission changes = stays;
  changes.name = "changes";
  if (experiment.change == IntentChange::submit) {
    changes.at = seconds{2} + extra;
  } else {
    changes.at = milliseconds{1'200} + extra;
    changes.runs_for = seconds{1} + extra;
  }
  scenario.jobs = {stays, changes};
  return scenario;
}

/// A world at the instant before the order, all of it as desired.
class Trial {
 public:
  /// `watch`: told of every step of the controller, before its effects are carried out.
  static Result<std::unique_ptr<Trial>> at_order(const KillExperiment& experiment,
                                                 std::function<void(Instant, EffectSink&)> watch = {}) {
    const Scenario scenario = scenario_of(experiment);
    auto jobs = script_of(scenario);
    if (!jobs) {
      return std::unexpected(std::move(jobs).error());
    }
    WorldOptions options;
    options.seed = experiment.seed;
    options.devices.keep_actuations = true;
    options.controller_saboteur = std::move(watch);
    options.operator_patience = kForever;  // what was not answered stays so: either way is right, and the judge looks which
    auto trial = std::make_unique<Trial>(experiment, scenario, std::move(*jobs), options);
    LOOM_TRY(trial->world_.start());
    LOOM_TRY(trial->reach_order());
    return trial;
  }

  Trial(const KillExperiment& experiment, const Scenario& scenario, std::vector<ScriptedJob> jobs, const WorldOptions& options)
      : experiment_(experiment), world_(scenario, std::move(jobs), options) {}

  World& world() { return world_; }

  /// Without a kill: until the order is confirmed and the controller idle.
  Result<void> finish_calmly() {
    const std::uint64_t confirmed = world_.confirmed();
    const Instant bound = world_.loop_now() + kOrderBound + extra_of(*experiment_.fabric);
    while (world_.confirmed() == confirmed || !world_.controller().is_idle()) {
      if (!world_.loop().run_next(bound)) {
        return fail(ErrorCode::internal, "the change was not confirmed in time, though nobody was killed");
      }
    }
    return {};
  }

  KillTrial kill(Peer machine, std::uint64_t kill_point) {
    trial_.kill_point = kill_point;
    world_.crash_at(machine, kill_point, experiment_.down_for);
    const Instant bound = world_.loop_now() + kOrderBound + extra_of(*experiment_.fabric);
    while (world_.crashes() == 0 && world_.loop().run_next(bound)) {
    }
    if (world_.crashes() == 0) {
      trial_.findings.push_back(format_text("kill point {} was never reached", kill_point));
      return std::move(trial_);
    }
    const Instant restart = world_.loop_now() + experiment_.down_for;
    world_.run_until(restart);
    const Duration bound_of_rest = experiment_.bound + extra_of(*experiment_.fabric);
    await_rest(restart, bound_of_rest, "after the restart");
    world_.run_until(restart + bound_of_rest);
    judge("after the restart");
    apply_again();
    return std::move(trial_);
  }

  KillTrial cycle_power(DeviceId device, std::uint64_t point, Duration after) {
    trial_.kill_point = point;
    world_.run_until(world_.loop_now() + after);
    std::erase_if(unchanged_, [&](const LitWindow& window) { return passes(window, device); });
    const Instant power = world_.loop_now() + experiment_.down_for;
    power_returns_ = power;
    ScenarioFault fault;
    fault.at = world_.loop_now().time_since_epoch();
    fault.device = device;
    fault.kind = DeviceFaultKind::reboot;
    fault.lasts = experiment_.down_for;
    world_.begin_fault(fault);
    world_.run_until(power);
    const Duration bound = experiment_.power_bound + extra_of(*experiment_.fabric);
    await_rest(power, bound, "after the power cycle");
    world_.run_until(power + bound);
    judge("after the power cycle");
    apply_again();
    return std::move(trial_);
  }

 private:
  /// Is the device on the way of this light, or does it make it?
  bool passes(const LitWindow& window, DeviceId device) const {
    const Fabric& fabric = *experiment_.fabric;
    const std::vector<ElementId>& elements = fabric.device(device).elements;
    const auto is_of_device = [&](ElementId element) { return std::ranges::find(elements, element) != elements.end(); };
    for (const Reach& reach : world_.light().reached()) {
      if (reach.source != window.source || reach.destination != window.destination) {
        continue;
      }
      const auto path = world_.light().path_of(reach.transmitter);
      if (is_of_device(reach.transmitter) || std::ranges::any_of(path, [&](const LightHop& hop) {
            return is_of_device(fabric.fibres[hop.fibre.value].to.element);
          })) {
        return true;
      }
    }
    return false;
  }

  /// As the world says, and by what the controller itself knows of drift.
  std::vector<std::string> unsettled() const {
    std::vector<std::string> left = world_.unsettled();
    if (left.empty() && world_.controller().drift().counts() != DriftCounts{}) {
      left.emplace_back("devices drift still");
    }
    return left;
  }

  Result<void> reach_order() {
    const OperatorScript::Entry& entry = world_.script().entries().back();
    const Instant submission{entry.scripted.submission.at};
    const Duration until_order = experiment_.change == IntentChange::submit ? Duration{} : entry.scripted.submission.runs_for;
    world_.run_until(submission + until_order - milliseconds{100});
    const Instant order = experiment_.change == IntentChange::submit ? submission : entry.ends_at;
    if (order == kNever || !world_.unsettled().empty()) {
      return fail(ErrorCode::internal, "the world was not at rest before the order");
    }
    world_.run_until(order - Duration{1});
    for (const LitWindow& window : world_.light().timeline()) {
      if (window.end == kNever && window.begin < submission) {
        unchanged_.push_back(window);  // the first job's: it was lit before the second one was asked for
      }
    }
    return unchanged_.empty() ? fail(ErrorCode::internal, "no light stays through the change") : Result<void>{};
  }

  void await_rest(Instant since, Duration bound, const std::string& when) {
    std::vector<std::string> left = unsettled();
    while (!left.empty() && world_.loop_now() < since + bound) {
      world_.run_until(world_.loop_now() + kLook);
      left = unsettled();
    }
    trial_.settled_after = left.empty() ? world_.loop_now() - since : kForever;
    for (const std::string& sentence : left) {
      trial_.findings.push_back(format_text("{}, not at rest: {}", when, sentence));
    }
  }

  void judge(const std::string& when) {
    for (std::size_t i = judged_; i < world_.checker().violations().size(); ++i) {
      const Violation& violation = world_.checker().violations()[i];
      if (violation.rule == SafetyRule::moving_port && violation.at < power_returns_) {
        continue;  // a switch that loses its power moves under whatever light passes it
      }
      trial_.findings.push_back(format_text("{}, {} at {} s: {}", when, to_string(violation.rule),
                                            std::to_string(seconds_of(violation.at.time_since_epoch())), violation.evidence));
    }
    judged_ = world_.checker().violations().size();
    const LightTimeline light = world_.light().timeline();
    for (const LitWindow& window : unchanged_) {
      if (std::find(light.begin(), light.end(), window) == light.end()) {
        trial_.findings.push_back(format_text("{}, the light from node {} to node {}, which did not change, was interrupted",
                                              when, window.source.value, window.destination.value));
      }
    }
    if (world_.bus().blind_writes() > 0) {
      trial_.findings.push_back(when + ", a device was written before it was read");
    }
    judge_intent(when);
  }

  /// An order that was answered stands; one that was not, stands or never came.
  void judge_intent(const std::string& when) {
    if (!world_.is_up(controller_peer())) {
      return;
    }
    const OperatorScript::Entry& entry = world_.script().entries().back();
    const auto& jobs = world_.controller().intent().jobs;
    const bool stands = std::any_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.spec.name == "changes"; });
    if (entry.state == OperatorScript::State::running && !stands) {
      const JobRecord* job = world_.controller().jobs().find(entry.job);
      const bool says_why = job != nullptr && job->state == JobState::refused && !job->reason.empty();
      refused_ = refused_ || (power_returns_ != Instant{} && says_why);
      if (refused_) {
        return;  // its device failed in the middle of the commit: the job was given back with the device's name
      }
      trial_.findings.push_back(
          format_text("{}, the job whose submission was answered is gone{}", when, job == nullptr ? "" : ": " + job->reason));
    } else if (entry.state == OperatorScript::State::ended && stands) {
      trial_.findings.push_back(when + ", the job whose end was answered is back");
    } else if (entry.state == OperatorScript::State::refused) {
      trial_.findings.push_back(format_text("{}, the order was refused: {}", when, entry.reason));
    }
    if (std::none_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.spec.name == "stays"; })) {
      trial_.findings.push_back(when + ", the job that was not ordered to change is gone");
    }
  }

  /// Everybody starts again and is given the same plan: all devices are as they shall be, so not one register is written.
  void apply_again() {
    const std::string when = "at the second apply";
    const std::uint64_t writes = world_.bus().register_writes();
    const Duration settled_after = trial_.settled_after;
    world_.crash(controller_peer(), experiment_.down_for);
    for (const Node& node : experiment_.fabric->nodes) {
      world_.crash(agent_peer(node.id), experiment_.down_for);
    }
    const Instant restart = world_.loop_now() + experiment_.down_for;
    world_.run_until(restart);
    await_rest(restart, experiment_.bound + extra_of(*experiment_.fabric), when);
    trial_.settled_after = std::max(settled_after, trial_.settled_after);
    world_.run_until(restart + kSecondApply);
    judge(when);
    if (world_.bus().register_writes() != writes) {
      trial_.findings.push_back(format_text("{}, {} registers were written", when, world_.bus().register_writes() - writes));
    }
  }

  const KillExperiment& experiment_;
  World world_;
  std::vector<LitWindow> unchanged_;
  std::size_t judged_ = 0;   ///< violations that are in findings already
  Instant power_returns_{};  ///< of the device whose power is cut, if any is
  bool refused_ = false;     ///< the job, by name of the device that failed
  KillTrial trial_;
};

}  // namespace

std::string_view to_string(IntentChange change) { return change == IntentChange::submit ? "submit" : "cancel"; }

Result<std::uint64_t> count_kill_points(const KillExperiment& experiment, Peer machine) {
  auto trial = Trial::at_order(experiment);
  if (!trial) {
    return std::unexpected(std::move(trial).error());
  }
  (*trial)->world().crash_at(machine, World::kNoKillPoint, {});
  LOOM_TRY((*trial)->finish_calmly());
  return (*trial)->world().kill_points(machine);
}

Result<KillSpan> points_while_going(const KillExperiment& experiment) {
  KillSpan span;
  World* world = nullptr;
  const auto watch = [&](Instant, EffectSink& sink) {
    if (world == nullptr) {
      return;  // before the order
    }
    const std::uint64_t passed = world->kill_points(controller_peer());
    for (std::size_t i = 0; i < sink.effects().size() && span.end == 0; ++i) {
      const auto* send = std::get_if<Send>(&sink.effects()[i]);
      if (send != nullptr && span.first == 0 && std::holds_alternative<Go>(send->envelope.body)) {
        span.first = passed;
      } else if (send != nullptr && std::holds_alternative<Proceed>(send->envelope.body)) {
        span.end = passed + i + 1;  // the point before the send itself is the last one
      }
    }
  };
  auto trial = Trial::at_order(experiment, watch);
  if (!trial) {
    return std::unexpected(std::move(trial).error());
  }
  world = &(*trial)->world();
  world->crash_at(controller_peer(), World::kNoKillPoint, {});
  LOOM_TRY((*trial)->finish_calmly());
  return span;
}

Result<KillTrial> try_kill_point(const KillExperiment& experiment, Peer machine, std::uint64_t kill_point) {
  auto trial = Trial::at_order(experiment);
  if (!trial) {
    return std::unexpected(std::move(trial).error());
  }
  return (*trial)->kill(machine, kill_point);
}

namespace {

Result<KillReport> try_kills(const KillExperiment& experiment, Peer machine, KillSpan span, std::uint64_t stride) {
  KillReport report;
  report.machine = machine;
  report.points = span.end - span.first;
  for (std::uint64_t point = span.first; point < span.end; point += stride) {
    Result<KillTrial> trial = try_kill_point(experiment, machine, point);
    if (!trial) {
      return std::unexpected(std::move(trial).error());
    }
    ++report.covered;
    if (trial->findings.empty()) {
      report.slowest = std::max(report.slowest, trial->settled_after);
    } else {
      report.failures.push_back(std::move(*trial));
    }
  }
  return report;
}

}  // namespace

Result<KillReport> try_kill_points(const KillExperiment& experiment, Peer machine, std::uint64_t stride) {
  const Result<std::uint64_t> points = count_kill_points(experiment, machine);
  return points ? try_kills(experiment, machine, {0, *points}, stride) : Result<KillReport>(std::unexpected(points.error()));
}

Result<KillReport> try_kill_span(const KillExperiment& experiment, Peer machine, KillSpan span) {
  return try_kills(experiment, machine, span, 1);
}

namespace {

Result<std::set<DeviceId>> devices_written(const KillExperiment& experiment) {
  auto trial = Trial::at_order(experiment);
  if (!trial) {
    return std::unexpected(std::move(trial).error());
  }
  World& world = (*trial)->world();
  std::vector<std::size_t> writes;
  for (const Device& device : experiment.fabric->devices) {
    writes.push_back(world.bus().model(device.id).actuations().size());
  }
  LOOM_TRY((*trial)->finish_calmly());
  std::set<DeviceId> written;
  for (const Device& device : experiment.fabric->devices) {
    if (world.bus().model(device.id).actuations().size() > writes[device.id.value]) {
      written.insert(device.id);
    }
  }
  return written;
}

}  // namespace

Result<std::vector<DeviceId>> devices_of_changes(KillExperiment experiment) {
  std::set<DeviceId> devices;
  for (const IntentChange change : {IntentChange::submit, IntentChange::cancel}) {
    experiment.change = change;
    const auto written = devices_written(experiment);
    if (!written) {
      return std::unexpected(written.error());
    }
    devices.insert(written->begin(), written->end());
  }
  return std::vector(devices.begin(), devices.end());
}

Result<PowerReport> try_power_cycles(const KillExperiment& experiment, DeviceId device, Duration step, std::uint64_t stride) {
  PowerReport report;
  report.device = device;
  auto calm = Trial::at_order(experiment);
  if (!calm) {
    return std::unexpected(std::move(calm).error());
  }
  const Instant order = (*calm)->world().loop_now();
  LOOM_TRY((*calm)->finish_calmly());
  report.points = static_cast<std::uint64_t>(((*calm)->world().loop_now() - order) / step) + 1;
  for (std::uint64_t point = 0; point < report.points; point += stride) {
    auto trial = Trial::at_order(experiment);
    if (!trial) {
      return std::unexpected(std::move(trial).error());
    }
    KillTrial outcome = (*trial)->cycle_power(device, point, step * static_cast<std::int64_t>(point));
    ++report.covered;
    if (outcome.findings.empty()) {
      report.slowest = std::max(report.slowest, outcome.settled_after);
    } else {
      report.failures.push_back(std::move(outcome));
    }
  }
  return report;
}

}  // namespace loom
