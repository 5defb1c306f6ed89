// SPDX-License-Identifier: Apache-2.0
// Fibres that are swapped, cut and dirty, found by toggling and listening; the judge is who planted them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/topoopt/fabric.hpp"
#include "core/fabric/fabric_rows.hpp"
#include "sim_backend/experiments/survey_client.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::seconds;

namespace {

/// Circuit switches between `nodes` servers, photodiodes behind their receivers.
std::shared_ptr<const Fabric> switched(std::uint32_t nodes) {
  TopooptParameters parameters;
  parameters.nodes = nodes;
  parameters.degree = 1;
  parameters.switch_ports = std::max(nodes, 16U);
  Fabric fabric = make_topoopt(parameters);
  FabricRows rows(fabric);
  for (const Node& node : fabric.nodes) {
    rows.add_device("diodes-" + std::to_string(node.id.value), DeviceRole::monitor, node.id, node.receivers, "photodiode_bank");
    fabric.devices.back().profile = {{"full_scale_current", 3e-3}};
  }
  build_index(fabric);
  return std::make_shared<const Fabric>(std::move(fabric));
}

Scenario scenario_of(std::shared_ptr<const Fabric> fabric, const char* algorithm) {
  Scenario scenario;
  scenario.name = "fibres";
  scenario.fabric = std::move(fabric);
  scenario.algorithm = algorithm;
  return scenario;
}

FibreId fibre_into(const Fabric& fabric, NodeId node) {
  return *fabric.fibre_in[fabric.nodes[node.value].receivers.front().value][0];
}

FibreFault fault(FibreFaultKind kind, FibreId first, FibreId second = {}, Db loss = {}) {
  FibreFault made;
  made.kind = kind;
  made.first = first;
  made.second = second;
  made.loss = loss;
  return made;
}

}  // namespace

TEST_CASE("fibres that are as the fabric says give no finding") {
  const Scenario scenario = scenario_of(switched(16), "topoopt");
  World world(scenario, {}, {});
  REQUIRE(world.start());
  world.run_until(Instant{seconds{5}});
  SurveyClient client(world, SurveyClient::What::fibres);
  client.run(Instant{seconds{60}});
  REQUIRE(client.trouble().empty());
  CHECK(client.fibres().checked() == 16);
  CHECK(client.fibres().unchecked().empty());
  CHECK(client.fibres().findings().empty());
  CHECK(client.fibres().steps() == 6);  // all, then five bits
  CHECK(world.controller().intent().probes.empty());
  CHECK(world.checker().violations().empty());
}

TEST_CASE("ten swaps and ten dirty connectors of many nodes are all found and none is invented") {
  constexpr std::uint32_t kNodes = 1'024;
  const Scenario scenario = scenario_of(switched(kNodes), "topoopt");
  const Fabric& fabric = *scenario.fabric;
  World world(scenario, {}, {});
  REQUIRE(world.start());
  std::vector<std::uint32_t> nodes(kNodes);
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    nodes[i] = i;
  }
  std::mt19937 random(7);
  std::shuffle(nodes.begin(), nodes.end(), random);
  std::map<ElementId, FibreTrouble> planted;
  const auto receiver = [&](std::size_t at) { return fabric.nodes[nodes[at]].receivers.front(); };
  const auto fibre = [&](std::size_t at) { return fibre_into(fabric, {nodes[at]}); };
  for (std::size_t i = 0; i < 10; ++i) {
    world.begin_fibre_fault(fault(FibreFaultKind::swap, fibre(2 * i), fibre(2 * i + 1)));
    planted[receiver(2 * i)] = planted[receiver(2 * i + 1)] = FibreTrouble::swapped;
    world.begin_fibre_fault(fault(FibreFaultKind::dirty, fibre(20 + i), {}, Db{static_cast<std::int32_t>(200 + 20 * i)}));
    planted[receiver(20 + i)] = FibreTrouble::dirty;
  }
  for (std::size_t i = 30; i < 33; ++i) {
    world.begin_fibre_fault(fault(FibreFaultKind::cut, fibre(i)));
    planted[receiver(i)] = FibreTrouble::missing;
  }
  world.run_until(Instant{seconds{5}});
  SurveyClient client(world, SurveyClient::What::fibres);
  client.run(Instant{seconds{120}});
  REQUIRE(client.trouble().empty());
  CHECK(client.fibres().checked() == kNodes);
  CHECK(client.fibres().steps() == 12);  // all, then eleven bits
  std::map<ElementId, FibreTrouble> found;
  for (const FibreFinding& finding : client.fibres().findings()) {
    found[finding.receiver] = finding.trouble;
  }
  CHECK(found == planted);
  for (const FibreFinding& finding : client.fibres().findings()) {
    if (finding.trouble == FibreTrouble::dirty) {
      REQUIRE(finding.excess);
      CHECK(finding.excess->centi >= 150);
      CHECK(finding.excess->centi <= 450);
    }
  }
}

TEST_CASE("on a shared medium wavelengths keep the lights apart") {
  OddlParameters parameters;
  parameters.nodes = 16;
  parameters.group_size = 4;
  parameters.channels = 8;
  parameters.photodiodes = true;
  Fabric made = make_oddl(parameters);
  build_index(made);
  const Scenario scenario = scenario_of(std::make_shared<const Fabric>(std::move(made)), "oddl");
  World world(scenario, {}, {});
  REQUIRE(world.start());
  world.begin_fibre_fault(fault(FibreFaultKind::cut, fibre_into(*scenario.fabric, {5})));
  world.begin_fibre_fault(fault(FibreFaultKind::dirty, fibre_into(*scenario.fabric, {9}), {}, Db{300}));
  world.run_until(Instant{seconds{5}});
  SurveyClient client(world, SurveyClient::What::fibres);
  client.run(Instant{seconds{120}});
  REQUIRE(client.trouble().empty());
  CHECK(client.fibres().checked() == 16);
  REQUIRE(client.fibres().findings().size() == 2);
  CHECK(client.fibres().findings()[0].trouble == FibreTrouble::missing);
  CHECK(client.fibres().findings()[1].trouble == FibreTrouble::dirty);
}
