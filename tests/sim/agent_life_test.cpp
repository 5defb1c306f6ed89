// SPDX-License-Identifier: Apache-2.0
// Agents that fall silent and come back, with real agents, drivers and devices under virtual time: the light of others goes on,
// nothing is written where nothing differs, and what was changed meanwhile is read first and then repaired.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim_backend/experiments/drift_experiment.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

WorldOptions with_actuations() {
  WorldOptions options;
  options.devices.keep_actuations = true;
  return options;
}

struct Rig {
  Scenario scenario = drift_scenario();
  World world;
  Outsider outsider;

  Rig() : world(scenario, *script_of(scenario), with_actuations()), outsider(world.bus(), scenario.fabric) {
    REQUIRE(world.start());
    world.run_until(Instant{seconds{5}});
    REQUIRE(world.controller().is_idle());
    REQUIRE_FALSE(plan().circuits.empty());
  }
  const Plan& plan() const { return world.controller().confirmed_plan()->plan; }
  NodeId lit_node() const { return plan().circuits[1].source; }
  DeviceId laser(NodeId node) const {
    return *scenario.fabric->device_of_element[scenario.fabric->nodes[node.value].transmitters.front().value];
  }
  std::size_t actuations() {
    std::size_t sum = 0;
    for (const Device& device : scenario.fabric->devices) {
      sum += world.bus().model(device.id).actuations().size();
    }
    return sum;
  }
  void run_for(Duration time) { world.run_until(world.loop_now() + time); }
  bool is_alarmed(AlarmCode code, NodeId node) const {
    return std::any_of(world.alarms().begin(), world.alarms().end(),
                       [&](const Alarm& alarm) { return alarm.code == code && alarm.node == node; });
  }
};

}  // namespace

TEST_CASE("an_agent_that_was_cut_off_and_is_back_with_its_devices_as_they_were_causes_no_write") {
  Rig rig;
  const NodeId node = rig.lit_node();
  const std::size_t before = rig.actuations();
  const std::uint64_t commits = rig.world.confirmed();
  rig.world.network().set_joined(agent_peer(node), false);
  rig.run_for(seconds{15});
  CHECK(rig.is_alarmed(AlarmCode::agent_dead, node));
  CHECK(differences(rig.world.light(), &rig.plan()).empty());  // fail-static: its light, and everybody's, is kept
  CHECK(rig.world.controller().drift().counts().stale >= 1);
  rig.world.network().set_joined(agent_peer(node), true);
  rig.run_for(seconds{5});
  CHECK(rig.world.controller().drift().counts() == DriftCounts{});
  CHECK(rig.actuations() == before);
  CHECK(rig.world.confirmed() == commits);
}

TEST_CASE("devices_changed_while_their_agent_was_cut_off_are_read_first_and_repaired_alone") {
  Rig rig;
  const NodeId node = rig.lit_node();
  const std::uint64_t commits = rig.world.confirmed();
  rig.world.network().set_joined(agent_peer(node), false);
  rig.run_for(seconds{1});
  rig.world.excuse(rig.scenario.fabric->device(rig.laser(node)));
  rig.outsider.emission(rig.laser(node), false);
  const Instant changed = rig.world.loop_now();
  rig.run_for(seconds{5});
  CHECK(rig.world.confirmed() == commits);  // nobody can be told
  rig.world.network().set_joined(agent_peer(node), true);
  rig.run_for(seconds{6});
  CHECK(rig.is_alarmed(AlarmCode::drift, node));
  CHECK(rig.world.confirmed() == commits + 1);
  CHECK(rig.world.controller().history().back().touched == 1);
  CHECK(differences(rig.world.light(), &rig.plan()).empty());
  const LightTimeline light = rig.world.light().timeline();
  const auto interrupted = std::count_if(light.begin(), light.end(), [&](const LitWindow& window) {
    return window.begin < changed && window.end != kNever && window.end >= changed;
  });
  CHECK(interrupted == 1);
}

TEST_CASE("an_agent_cut_off_in_the_middle_of_a_repair_fails_it_and_the_light_comes_back_with_the_agent") {
  Rig rig;
  const NodeId node = rig.lit_node();
  rig.world.excuse(rig.scenario.fabric->device(rig.laser(node)));
  rig.outsider.emission(rig.laser(node), false);
  while (rig.world.controller().is_idle()) {
    rig.run_for(milliseconds{5});
    REQUIRE(rig.world.loop_now() < Instant{seconds{20}});
  }
  rig.run_for(milliseconds{30});
  rig.world.network().set_joined(agent_peer(node), false);
  rig.run_for(seconds{8});
  CHECK(differences(rig.world.light(), &rig.plan()).size() <= 2);  // its own circuit alone
  rig.world.network().set_joined(agent_peer(node), true);
  rig.run_for(seconds{15});
  CHECK(differences(rig.world.light(), &rig.plan()).empty());
  CHECK(rig.world.controller().drift().counts() == DriftCounts{});
  CHECK(rig.world.checker().mixed() == 0);
}
