// SPDX-License-Identifier: Apache-2.0
// ODDL's slow plane under the real controller, agents and drivers: what the certificate promises, ground truth keeps.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/predict/replay.hpp"
#include "sim_backend/simulation.hpp"
#include "sim_backend/world/world.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

JobSubmission job_of(const std::string& name, const std::string& workload, std::uint32_t nodes, Duration at) {
  JobSubmission submission;
  submission.name = name;
  submission.workload = workload;
  submission.nodes = nodes;
  submission.at = at;
  return submission;
}

Scenario scenario_of(OddlParameters parameters, std::vector<JobSubmission> jobs) {
  Scenario scenario;
  scenario.name = "oddl-slow";
  scenario.fabric = std::make_shared<const Fabric>(make_oddl(parameters));
  scenario.jobs = std::move(jobs);
  scenario.duration = seconds{6};
  return scenario;
}

/// Of every lit transmitter: what arrives at the far end of its way.
std::map<ElementId, Dbm> received(const World& world) {
  std::map<ElementId, Dbm> powers;
  for (const ElementId transmitter : world.light().transmitters()) {
    const auto path = world.light().path_of(transmitter);
    for (const LightHop& hop : path) {
      const Fabric& fabric = world.light().fabric();
      if (std::holds_alternative<Receiver>(fabric.element(fabric.fibres[hop.fibre.value].to.element).kind)) {
        powers[transmitter] = hop.power;
      }
    }
  }
  return powers;
}

void check_clean(const World& world) {
  for (const Violation& violation : world.checker().violations()) {
    FAIL_CHECK("at " << seconds_of(violation.at.time_since_epoch()) << " s: " << to_string(violation.rule) << ": "
                     << violation.evidence);
  }
}

/// A job is lit; two seconds later another one comes, for which the WSS on its way reload their holograms.
Scenario second_job_reloads(Db dip) {
  OddlParameters parameters;
  parameters.nodes = 16;
  parameters.group_size = 4;
  parameters.channels = 6;
  parameters.wss_reload_dip = dip;
  return scenario_of(parameters,
                     {job_of("first", "vgg19", 2, milliseconds{500}), job_of("second", "vgg19", 2, milliseconds{2'500})});
}

TEST_CASE("ground_truth_has_the_link_margin_and_the_dips_of_the_certificate") {
  const Scenario scenario = second_job_reloads(Db{120});
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  World world(scenario, std::move(*jobs), {});
  REQUIRE(world.start());
  world.run_until(Instant{milliseconds{2'400}});
  const auto before = received(world);
  REQUIRE(before.size() == 2);
  const LightMargins promised = world.controller().confirmed_plan()->plan.certificate.light;
  for (const auto& [transmitter, power] : before) {
    const Db margin = std::min(power - Dbm{-1000}, Dbm{400} - power);  // a receiver of the template bears -10 to +4 dBm
    CHECK(std::abs((margin - promised.link_margin).centi) <= 50);      // a laser is not set to a hundredth
  }
  std::map<ElementId, Dbm> lowest = before;
  for (auto at = milliseconds{2'400}; at < milliseconds{4'500}; at += milliseconds{1}) {
    world.run_until(Instant{at});
    const auto now = received(world);
    for (auto& [transmitter, power] : lowest) {
      REQUIRE(now.contains(transmitter));
      power = std::min(power, now.at(transmitter));
    }
  }
  const LightMargins after = world.controller().confirmed_plan()->plan.certificate.light;
  CHECK(after.dipped == 2);
  CHECK(after.dip == Db{240});  // the WSS of both ends
  for (const auto& [transmitter, power] : lowest) {
    const Db dipped = before.at(transmitter) - power;
    CHECK(dipped >= Db{120});  // one at least was seen to dip
    CHECK(dipped <= after.dip);
  }
  check_clean(world);
}

TEST_CASE("light_that_a_dip_would_blind_is_dark_before_the_hologram_reloads") {
  const Scenario scenario = second_job_reloads(Db{500});
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  World world(scenario, std::move(*jobs), {});
  REQUIRE(world.start());
  bool was_dim = false;
  for (auto at = milliseconds{2'400}; at < milliseconds{5'500}; at += milliseconds{1}) {
    world.run_until(Instant{at});
    for (const auto& [transmitter, power] : received(world)) {
      was_dim = was_dim || power < Dbm{-1000};
    }
  }
  CHECK_FALSE(was_dim);
  CHECK(received(world).size() == 4);
  check_clean(world);
}

/// Runs to the end, and sends every job's bytes over the light that there was.
void check_runs_clean(const Scenario& scenario) {
  auto jobs = script_of(scenario);
  REQUIRE(jobs);
  World world(scenario, std::move(*jobs), {});
  REQUIRE(world.start());
  world.run_until(Instant{scenario.duration});
  check_clean(world);
  const auto plan = world.controller().confirmed_plan();
  REQUIRE(plan->schedule.jobs.size() == scenario.jobs.size());
  const LightTimeline light = world.light().timeline();
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    const JobSchedule& schedule = plan->schedule.jobs[i];
    JobSpec spec = plan->intent.jobs[i].spec;
    spec.placement = plan->intent.jobs[i].nodes;
    Instant first = kNever;
    for (const LitWindow& window : light) {
      const bool is_its = std::find(spec.placement.begin(), spec.placement.end(), window.source) != spec.placement.end();
      first = is_its ? std::min(first, window.begin) : first;
    }
    const auto replayed = replay(spec, light, {first, std::chrono::microseconds{1}, TransferOrder::merged, &schedule});
    INFO(scenario.jobs[i].name << ": " << (replayed ? "" : replayed.error().message));
    REQUIRE(replayed);
    CHECK(replayed->iteration > replayed->compute);
  }
}

TEST_CASE("jobs_run_over_planes_and_relays_without_mixed_light") {
  OddlParameters parameters;
  parameters.nodes = 16;
  parameters.group_size = 4;
  parameters.channels = 8;
  parameters.planes = 2;
  Scenario scenario = scenario_of(
      parameters, {job_of("ring", "vgg19", 4, milliseconds{500}), job_of("exchange", "dlrm", 8, milliseconds{800})});
  scenario.jobs[1].settings["map"] = "latin";
  check_runs_clean(scenario);
}

TEST_CASE("open_receivers_play_an_all_to_all_over_groups_in_one_map") {
  OddlParameters parameters;
  parameters.nodes = 16;
  parameters.group_size = 4;
  parameters.channels = 12;
  parameters.receiver = OddlReceiver::open;
  Scenario scenario = scenario_of(
      parameters, {job_of("exchange", "dlrm", 12, milliseconds{500}), job_of("ring", "vgg19", 4, milliseconds{800})});
  scenario.jobs[0].settings["map"] = "maps";
  check_runs_clean(scenario);
}

TEST_CASE("behind_routers_rings_and_relays_run_clean") {
  OddlParameters parameters;
  parameters.nodes = 16;
  parameters.group_size = 4;
  parameters.channels = 10;
  parameters.inside = OddlInside::awgr;
  parameters.receiver = OddlReceiver::open;
  check_runs_clean(scenario_of(
      parameters, {job_of("exchange", "dlrm", 8, milliseconds{500}), job_of("ring", "vgg19", 8, milliseconds{800})}));
}

}  // namespace
