// SPDX-License-Identifier: Apache-2.0
// The whole system under virtual time: real controller, agents, Host, codec and drivers over simulated seams, judged from
// ground truth.
#include "sim_backend/world/world.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "sim_backend/simulation.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

JobSubmission ring_job(const std::string& name, std::uint32_t nodes, Duration at, Duration runs_for = kForever) {
  JobSubmission submission;
  submission.name = name;
  submission.workload = "vgg19";
  submission.nodes = nodes;
  submission.at = at;
  submission.runs_for = runs_for;
  return submission;
}

Scenario calm_scenario(std::uint32_t nodes, std::uint32_t group_size) {
  Scenario scenario;
  scenario.name = "test";
  scenario.fabric = small_oddl(nodes, group_size);
  scenario.jobs = {ring_job("first", nodes, milliseconds{500})};
  scenario.duration = seconds{4};
  return scenario;
}

Scenario rough_scenario(std::uint32_t nodes, std::uint32_t group_size) {
  Scenario scenario = calm_scenario(nodes, group_size);
  scenario.network.loss = 0.1;
  scenario.network.duplicate = 0.05;
  scenario.network.reorder = 0.1;
  scenario.network.delay_max = milliseconds{2};
  return scenario;
}

SimResult run(const Scenario& scenario, std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  auto result = run_simulation(scenario, options);
  REQUIRE(result);
  return *result;
}

void check_clean(const SimResult& result) {
  CHECK(result.revisions.mixed == 0);
  for (const Violation& violation : result.violations) {
    FAIL_CHECK("at " << seconds_of(violation.at.time_since_epoch()) << " s: " << to_string(violation.rule) << ": "
                     << violation.evidence);
  }
}

std::size_t open_windows(const LightTimeline& light) {
  return static_cast<std::size_t>(
      std::count_if(light.begin(), light.end(), [](const LitWindow& w) { return w.end == kNever; }));
}

/// A world whose control plane is spoilt by `options`, run for five seconds; answers what the judge found.
std::vector<Violation> verdict(const Scenario& scenario, const WorldOptions& options) {
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  World world(scenario, std::move(*jobs), options);
  REQUIRE(world.start());
  world.run_until(Instant{seconds{5}});
  return world.checker().violations();
}

bool has(const std::vector<Violation>& violations, SafetyRule rule) {
  return std::any_of(violations.begin(), violations.end(), [&](const Violation& violation) { return violation.rule == rule; });
}

TransmitterSetpoint* laser_of(DevicePlan& device) {
  return device.timeline.empty() ? nullptr : std::get_if<TransmitterSetpoint>(&device.timeline.front().setpoint);
}

}  // namespace

TEST_CASE("a_ring_job_on_eight_nodes_is_committed_and_lit") {
  const SimResult result = run(calm_scenario(8, 4), 1);
  check_clean(result);
  CHECK(result.revisions.committed >= 1);
  CHECK(result.revisions.returned == 0);
  CHECK(result.counters.malformed == 0);
  CHECK(open_windows(result.light) == 8);
}

TEST_CASE("a_ring_job_is_committed_over_a_network_that_loses_doubles_and_reorders") {
  const std::uint64_t seed = GENERATE(range(1, 4));
  CAPTURE(seed);
  const SimResult result = run(rough_scenario(8, 4), seed);
  check_clean(result);
  CHECK(result.revisions.committed >= 1);
  CHECK(open_windows(result.light) == 8);
}

TEST_CASE("the_same_seed_twice_is_the_same_run_and_another_seed_is_another") {
  const SimResult first = run(rough_scenario(8, 4), 7);
  const SimResult second = run(rough_scenario(8, 4), 7);
  const SimResult third = run(rough_scenario(8, 4), 8);
  CHECK(first.digest == second.digest);
  CHECK(first.events == second.events);
  CHECK(first.light == second.light);
  CHECK(first.digest != third.digest);
}

TEST_CASE("a_cancelled_job_leaves_darkness_and_the_other_job_untouched") {
  Scenario scenario = calm_scenario(16, 4);
  scenario.jobs = {ring_job("stays", 8, milliseconds{500}), ring_job("goes", 8, milliseconds{1'000}, milliseconds{1'500})};
  const SimResult result = run(scenario, 3);
  check_clean(result);
  CHECK(result.revisions.committed >= 3);
  CHECK(open_windows(result.light) == 8);
  const auto reopened = std::count_if(result.light.begin(), result.light.end(), [&](const LitWindow& window) {
    return window.end == kNever && window.begin > Instant{milliseconds{1'000}};
  });
  CHECK(reopened == 0);  // lit once, before the other job came, and never again
}

TEST_CASE("a_laser_that_fails_while_a_revision_is_carried_out_returns_it_and_never_mixes") {
  Scenario scenario = calm_scenario(8, 4);
  scenario.jobs = {ring_job("first", 4, milliseconds{500}), ring_job("second", 4, milliseconds{1'500})};
  // The laser of the last node dies before the second job needs it.
  const DeviceId laser_device = device_of(*scenario.fabric, scenario.fabric->nodes[7].transmitters.front());
  ScenarioFault fault;
  fault.at = milliseconds{1'400};
  fault.device = laser_device;
  fault.kind = DeviceFaultKind::stick;
  scenario.device_faults = {fault};
  scenario.duration = seconds{8};
  const SimResult result = run(scenario, 5);
  CHECK(result.revisions.returned >= 1);
  CHECK(result.revisions.mixed == 0);
  const bool unsafe = std::any_of(result.violations.begin(), result.violations.end(),
                                  [](const Violation& violation) { return violation.rule != SafetyRule::unsettled; });
  CHECK_FALSE(unsafe);
  // The first job's light is never interrupted by the second one's misfortune.
  CHECK(open_windows(result.light) >= 4);
}

TEST_CASE("a_detuned_laser_shows_in_the_light_timeline") {
  Scenario scenario = calm_scenario(8, 4);
  ScenarioFault fault;
  fault.at = seconds{2};
  fault.device = device_of(*scenario.fabric, scenario.fabric->nodes[2].transmitters.front());
  fault.kind = DeviceFaultKind::detune;
  fault.offset = FrequencyOffset{12'000};
  scenario.device_faults = {fault};
  const SimResult result = run(scenario, 5);
  const auto lost = std::find_if(result.light.begin(), result.light.end(), [&](const LitWindow& window) {
    return window.source == NodeId{2} && window.end != kNever && window.end >= Instant{seconds{2}};
  });
  REQUIRE(lost != result.light.end());
  CHECK(lost->end < Instant{milliseconds{2'100}});
  CHECK(result.revisions.mixed == 0);
}

TEST_CASE("seeds_of_a_rough_world_converge_without_a_violation") {
  const std::uint64_t seed = GENERATE(range(100, 120));
  CAPTURE(seed);
  const bool wide = seed % 2 == 0;
  Scenario scenario = rough_scenario(wide ? 16 : 8, 4);
  scenario.jobs.clear();
  scenario.churn.revisions = 6;
  scenario.churn.job_nodes = {4, 8};
  scenario.churn.live_jobs = wide ? 3 : 1;
  scenario.churn.start = milliseconds{500};
  scenario.churn.period = milliseconds{700};
  scenario.duration = seconds{7};
  const SimResult result = run(scenario, seed);
  check_clean(result);
  CHECK(result.revisions.committed >= 3);
}

TEST_CASE("planted_bug_two_transmitters_on_one_wavelength_is_caught") {
  WorldOptions options;
  options.plan_saboteur = [](Plan& plan) {
    TransmitterSetpoint* first = nullptr;
    for (NodePlan& node : plan.nodes.edit_all()) {
      for (DevicePlan& device : node.devices) {
        TransmitterSetpoint* laser_setpoint = laser_of(device);
        if (laser_setpoint != nullptr && laser_setpoint->emit && first != nullptr) {
          laser_setpoint->slot = first->slot;
          return;
        }
        first = laser_setpoint != nullptr && laser_setpoint->emit ? laser_setpoint : first;
      }
    }
  };
  CHECK(has(verdict(calm_scenario(8, 4), options), SafetyRule::collision));
}

TEST_CASE("planted_bug_a_stale_circuit_left_alight_is_caught") {
  Scenario scenario = calm_scenario(8, 4);
  scenario.jobs = {ring_job("goes", 8, milliseconds{500}, milliseconds{1'500})};
  auto lit = std::make_shared<std::map<DeviceId, DevicePlan>>();
  WorldOptions options;
  options.plan_saboteur = [lit](Plan& plan) {
    for (NodePlan& node : plan.nodes.edit_all()) {
      for (DevicePlan& device : node.devices) {
        if (plan.circuits.empty() && lit->contains(device.device)) {
          device = lit->at(device.device);  // everything stays as it was, though no circuit is left
          device.touched = false;
        } else if (!plan.circuits.empty()) {
          (*lit)[device.device] = device;
        }
      }
    }
  };
  CHECK(has(verdict(scenario, options), SafetyRule::stray));
}

TEST_CASE("planted_bug_relighting_before_everything_has_settled_is_caught") {
  Scenario scenario = calm_scenario(8, 4);
  auto hasty = std::make_shared<std::vector<Send>>();
  WorldOptions options;
  // Whoever was told to move is told again and again to relight, without waiting for anybody's settled report.
  options.controller_saboteur = [hasty, next = Instant{}](Instant now, EffectSink& sink) mutable {
    for (const Effect& effect : sink.effects()) {
      const auto* send = std::get_if<Send>(&effect);
      const auto* proceed = send == nullptr ? nullptr : std::get_if<Proceed>(&send->envelope.body);
      if (proceed != nullptr && proceed->phase == CommitPhase::move) {
        hasty->push_back(*send);
      }
    }
    if (now < next) {
      return;
    }
    next = now + milliseconds{5};
    for (Send early : *hasty) {
      early.envelope.body = Proceed{CommitPhase::relight, now + milliseconds{1}};
      sink.emit(std::move(early));
    }
  };
  CHECK(has(verdict(scenario, options), SafetyRule::moving_port));
}

TEST_CASE("planted_bug_a_node_that_is_taken_into_service_lifts_lasers_off_that_no_journal_has_and_is_caught") {
  Scenario scenario = calm_scenario(8, 4);
  scenario.jobs = {ring_job("over", 4, milliseconds{300}, milliseconds{500})};
  MachineFault full;  // loses the row, and with its end the controller
  full.kind = MachineFaultKind::disk_full;
  full.at = milliseconds{1'200};
  full.lasts = milliseconds{200};  // excuses orders until 3.4 s
  scenario.machine_faults = {full};
  const auto act = [&](ActionKind kind, milliseconds at) {
    ScenarioAction& action = scenario.actions.emplace_back();
    action.kind = kind;
    action.at = at;
    action.node = NodeId{7};
  };
  act(ActionKind::lasers, milliseconds{1'250});
  act(ActionKind::maintain, milliseconds{2'000});
  act(ActionKind::release, milliseconds{3'500});
  const bool is_planted = GENERATE(true, false);
  WorldOptions options;
  options.controller_saboteur = [is_planted](Instant, EffectSink& sink) {
    std::vector<Send> to_all;  // as if there were one latch
    for (const Effect& effect : sink.effects()) {
      const auto* send = std::get_if<Send>(&effect);
      const auto* lasers = send == nullptr ? nullptr : std::get_if<SetLasers>(&send->envelope.body);
      if (is_planted && lasers != nullptr && lasers->of_node && lasers->on) {
        to_all.push_back(*send);
        to_all.back().envelope.body = SetLasers{true, lasers->order};
      }
    }
    for (Send& each : to_all) {
      sink.emit(std::move(each));
    }
  };
  CHECK(has(verdict(scenario, options), SafetyRule::lasers_off) == is_planted);
}

TEST_CASE("planted_bug_a_skipped_blank_is_caught") {
  Scenario scenario = calm_scenario(8, 4);
  scenario.jobs = {ring_job("goes", 8, milliseconds{500}, milliseconds{1'500}), ring_job("comes", 4, milliseconds{2'200})};
  scenario.jobs[1].after = "goes";
  WorldOptions options;
  // Lasers count as untouched although what is around them moves.
  options.plan_saboteur = [](Plan& plan) {
    for (NodePlan& node : plan.nodes.edit_all()) {
      for (DevicePlan& device : node.devices) {
        if (laser_of(device) != nullptr && plan.circuits.size() < 8) {
          device.touched = false;
          laser_of(device)->emit = true;
        }
      }
    }
  };
  const auto violations = verdict(scenario, options);
  CHECK_FALSE(violations.empty());
}

TEST_CASE("a job goes round its stages though the controller died while one was played") {
  Scenario scenario = calm_scenario(8, 4);
  JobSubmission shuffle = ring_job("shuffle", 8, milliseconds{500});
  shuffle.workload = "dlrm";
  shuffle.settings = {{"map", "maps"}};
  scenario.jobs = {shuffle};
  const auto entry = [](World& world) { return world.controller().jobs().at(JobId{1}); };
  for (const Duration down_for : {Duration{milliseconds{100}}, Duration{seconds{20}}}) {
    for (const Duration after : {Duration{}, Duration{milliseconds{150}}}) {
      CAPTURE(down_for, after);
      auto jobs = script_of(scenario);
      REQUIRE(jobs);
      World world(scenario, std::move(*jobs), {});
      REQUIRE(world.start());
      Instant now{milliseconds{500}};
      world.run_until(now);
      while (world.controller().jobs().find(JobId{1}) == nullptr || entry(world).state != JobState::lit) {
        REQUIRE(now < Instant{seconds{10}});
        world.run_until(now += milliseconds{5});
      }
      REQUIRE(entry(world).stages == 3);
      REQUIRE(world.controller().jobs().stage_of(JobId{1}) == 0);
      world.run_until(now += after);
      world.crash(controller_peer(), down_for);
      world.run_until(now += down_for + seconds{20});
      INFO(to_string(entry(world).state) << " by " << entry(world).revision.value << ", " << entry(world).cycles_done.size()
                                         << " done");
      CHECK(entry(world).played.iterations() > 3);
      CHECK(world.checker().violations().empty());
    }
  }
}
