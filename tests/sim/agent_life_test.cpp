// Agents that die and come back, with real agents, drivers and devices under virtual time. An agent's death is told by cutting
// it off from everybody; its next life is a new agent on the same devices.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim_backend/drift_experiment.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct Rig {
  Scenario scenario = drift_scenario();
  World world;
  Outsider outsider;

  Rig() : world(scenario, *script_of(scenario), {}), outsider(world.bus(), scenario.fabric) {
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
  std::size_t actuations() const {
    std::size_t sum = 0;
    for (const Device& device : scenario.fabric->devices) {
      sum += const_cast<World&>(world).bus().model(device.id).actuations().size();
    }
    return sum;
  }
  bool is_as_planned() const { return differences(world.light(), &plan()).empty(); }
};

}  // namespace
