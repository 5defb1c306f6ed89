// One trial: settle, order, kill, restart, judge, apply again, judge.
#include "sim_backend/kill_points.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim_backend/simulation.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLook = milliseconds{5};
constexpr Duration kOrderBound = seconds{10};  ///< longer than every stage's deadline that a calm commit can meet
constexpr Duration kSecondApply = seconds{2};

Scenario scenario_of(const KillExperiment& experiment) {
  Scenario scenario;
  scenario.name = "kill_points";
  scenario.fabric = experiment.fabric;
  JobSubmission stays;
  stays.name = "stays";
  stays.workload = "vgg19";
  stays.nodes = 4;
  stays.at = milliseconds{500};
  JobSubmission changes = stays;
  changes.name = "changes";
  if (experiment.change == IntentChange::submit) {
    changes.at = seconds{2};
  } else {
    changes.at = milliseconds{1'200};
    changes.runs_for = seconds{1};
  }
  scenario.jobs = {stays, changes};
  return scenario;
}

/// A world at the instant before the order, all of it as desired.
class Trial {
 public:
  static Result<std::unique_ptr<Trial>> at_order(const KillExperiment& experiment) {
    const Scenario scenario = scenario_of(experiment);
    auto jobs = script_of(scenario);
    if (!jobs) {
      return std::unexpected(std::move(jobs).error());
    }
    WorldOptions options;
    options.seed = experiment.seed;
    options.devices.keep_actuations = true;
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
    const Instant bound = world_.loop_now() + kOrderBound;
    while (world_.confirmed() == confirmed || !world_.controller().is_idle()) {
      if (!world_.loop().run_next(bound)) {
        return fail(ErrorCode::internal, "the change was not confirmed within 10 s, though nobody was killed");
      }
    }
    return {};
  }

  KillTrial kill(Peer machine, std::uint64_t kill_point) {
    trial_.kill_point = kill_point;
    world_.crash_at(machine, kill_point, experiment_.down_for);
    const Instant bound = world_.loop_now() + kOrderBound;
    while (world_.crashes() == 0 && world_.loop().run_next(bound)) {
    }
    if (world_.crashes() == 0) {
      trial_.findings.push_back("kill point " + std::to_string(kill_point) + " was never reached");
      return std::move(trial_);
    }
    const Instant restart = world_.loop_now() + experiment_.down_for;
    world_.run_until(restart);
    await_rest(restart, "after the restart");
    world_.run_until(restart + experiment_.bound);
    judge("after the restart");
    apply_again();
    return std::move(trial_);
  }

 private:
  Result<void> reach_order() {
    world_.run_until(Instant{milliseconds{1'900}});
    const OperatorScript::Entry& entry = world_.script().entries().back();
    const Instant order = experiment_.change == IntentChange::submit ? Instant{entry.scripted.submission.at} : entry.ends_at;
    if (order == kNever || !world_.unsettled().empty()) {
      return fail(ErrorCode::internal, "the world was not at rest before the order");
    }
    world_.run_until(order - Duration{1});
    for (const LitWindow& window : world_.light().timeline()) {
      if (window.end == kNever && window.begin < Instant{seconds{1}}) {
        unchanged_.push_back(window);  // the first job's: it was lit before the second one was asked for
      }
    }
    return unchanged_.empty() ? fail(ErrorCode::internal, "no light stays through the change") : Result<void>{};
  }

  void await_rest(Instant since, const std::string& when) {
    std::vector<std::string> unsettled = world_.unsettled();
    while (!unsettled.empty() && world_.loop_now() < since + experiment_.bound) {
      world_.run_until(world_.loop_now() + kLook);
      unsettled = world_.unsettled();
    }
    trial_.settled_after = unsettled.empty() ? world_.loop_now() - since : kForever;
    for (const std::string& sentence : unsettled) {
      trial_.findings.push_back(when + ", not at rest: " + sentence);
    }
  }

  void judge(const std::string& when) {
    for (std::size_t i = judged_; i < world_.checker().violations().size(); ++i) {
      const Violation& violation = world_.checker().violations()[i];
      trial_.findings.push_back(when + ", " + std::string(to_string(violation.rule)) + ": " + violation.evidence);
    }
    judged_ = world_.checker().violations().size();
    const LightTimeline light = world_.light().timeline();
    for (const LitWindow& window : unchanged_) {
      if (std::find(light.begin(), light.end(), window) == light.end()) {
        trial_.findings.push_back(when + ", the light from node " + std::to_string(window.source.value) + " to node " +
                                  std::to_string(window.destination.value) + ", which did not change, was interrupted");
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
      const auto& known = world_.controller().jobs();
      const auto job = known.find(entry.job);
      trial_.findings.push_back(when + ", the job whose submission was answered is gone" +
                                (job == known.end() ? "" : ": " + job->second.reason));
    } else if (entry.state == OperatorScript::State::ended && stands) {
      trial_.findings.push_back(when + ", the job whose end was answered is back");
    } else if (entry.state == OperatorScript::State::refused) {
      trial_.findings.push_back(when + ", the order was refused: " + entry.reason);
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
    await_rest(restart, when);
    trial_.settled_after = std::max(settled_after, trial_.settled_after);
    world_.run_until(restart + kSecondApply);
    judge(when);
    if (world_.bus().register_writes() != writes) {
      trial_.findings.push_back(when + ", " + std::to_string(world_.bus().register_writes() - writes) +
                                " registers were written");
    }
  }

  const KillExperiment& experiment_;
  World world_;
  std::vector<LitWindow> unchanged_;
  std::size_t judged_ = 0;  ///< violations that are in findings already
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

Result<KillTrial> try_kill_point(const KillExperiment& experiment, Peer machine, std::uint64_t kill_point) {
  auto trial = Trial::at_order(experiment);
  if (!trial) {
    return std::unexpected(std::move(trial).error());
  }
  return (*trial)->kill(machine, kill_point);
}

Result<KillReport> try_kill_points(const KillExperiment& experiment, Peer machine, std::uint64_t stride, std::uint64_t first) {
  KillReport report;
  report.machine = machine;
  const Result<std::uint64_t> points = count_kill_points(experiment, machine);
  if (!points) {
    return std::unexpected(points.error());
  }
  report.points = *points;
  for (std::uint64_t point = first; point < report.points; point += stride) {
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

}  // namespace loom
