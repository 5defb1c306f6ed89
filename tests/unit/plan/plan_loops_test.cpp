// SPDX-License-Identifier: Apache-2.0
// Light on rings of fibre: what lower lays and verify sees where a fabric's graph runs in circles.
#include <algorithm>
#include <catch2/catch.hpp>

#include "controller/architectures/sip_ring/fabric.hpp"
#include "controller/plan/lower/lower.hpp"
#include "controller/plan/verify/verify.hpp"

namespace {

using namespace loom;

SipRingParameters one_ring(std::uint32_t nodes, std::uint32_t channels) {
  SipRingParameters parameters;
  parameters.nodes = nodes;
  parameters.rings = 1;
  parameters.wavelengths = 2 * channels;
  return parameters;
}

/// From node to node on a bus (0: clockwise) of a fabric of make_sip_ring.
Circuit circuit_of(const Fabric& fabric, std::uint32_t from, std::uint32_t to, std::size_t wavelength) {
  const ElementId tx = fabric.nodes[from].transmitters[wavelength];
  const auto& transmitter = std::get<Transmitter>(fabric.element(tx).kind);
  return {{},
          JobId{1},
          NodeId{from},
          NodeId{to},
          tx,
          fabric.nodes[to].receivers[wavelength],
          transmitter.channels.slot(0),
          transmitter.rate};
}

struct World {
  Fabric fabric;
  Intent intent{};

  Result<Lowered> light(const std::vector<Circuit>& circuits, const Plan* base = nullptr) {
    Schedule schedule;
    intent.jobs.clear();
    for (const Circuit& circuit : circuits) {
      if (schedule.jobs.empty() || schedule.jobs.back().job != circuit.job) {
        schedule.jobs.push_back({circuit.job, {{{Timeslot{}}, 1}}});
        Job job;
        job.id = circuit.job;
        intent.jobs.push_back(job);
      }
      schedule.jobs.back().stages[0].timeslots[0].circuits.push_back(circuit);
    }
    const Revision revision{base == nullptr ? 1 : base->revision.value + 1};
    const CircuitId next{base == nullptr || base->circuits.empty() ? 1 : base->circuits.back().id.value + 1};
    return lower({fabric, schedule, intent, base, revision, next});
  }

  std::vector<std::string> broken_rules(const Plan& plan, const Plan* base = nullptr) const {
    std::vector<std::string> names;
    for (const PlanViolation& violation : verify(fabric, plan, base, intent)) {
      UNSCOPED_INFO(violation.rule << ": " << violation.evidence);
      names.push_back(violation.rule);
    }
    return names;
  }
};

bool has(const std::vector<std::string>& names, std::string_view rule) {
  return std::find(names.begin(), names.end(), rule) != names.end();
}

DevicePlan& device_of(Fabric& fabric, Plan& plan, ElementId element) {
  const Device& device = fabric.device(*fabric.device_of_element[element.value]);
  auto& devices = plan.nodes.edit(device.agent.value).devices;
  return *std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == device.id; });
}

ElementId named(const Fabric& fabric, std::string_view name) {
  return std::find_if(fabric.elements.begin(), fabric.elements.end(), [&](const Element& e) { return e.name == name; })->id;
}

TEST_CASE("one_wavelength_serves_every_neighbour_of_a_ring_at_once") {
  World world{make_sip_ring(one_ring(6, 2))};
  std::vector<Circuit> circuits;
  for (std::uint32_t i = 0; i < 6; ++i) {
    circuits.push_back(circuit_of(world.fabric, i, (i + 1) % 6, 0));  // clockwise, wavelength 0
    circuits.push_back(circuit_of(world.fabric, i, (i + 5) % 6, 3));  // counter-clockwise, wavelength 1
  }
  const auto lowered = world.light(circuits);
  REQUIRE(lowered);
  CHECK(world.broken_rules(lowered->plan).empty());
}

TEST_CASE("a_way_round_the_ring_passes_every_filter_between") {
  World world{make_sip_ring(one_ring(6, 4))};
  const auto lowered = world.light({circuit_of(world.fabric, 4, 3, 2), circuit_of(world.fabric, 2, 0, 0)});
  REQUIRE(lowered);
  CHECK(world.broken_rules(lowered->plan).empty());
}

TEST_CASE("an_arc_across_another_of_its_wavelength_has_no_path") {
  World world{make_sip_ring(one_ring(6, 2))};
  const auto lowered = world.light({circuit_of(world.fabric, 0, 3, 0), circuit_of(world.fabric, 2, 4, 0)});
  REQUIRE_FALSE(lowered);
  CHECK(lowered.error().code == ErrorCode::infeasible);
}

TEST_CASE("a_filter_that_does_not_drop_lets_light_run_into_the_next_arc") {
  World world{make_sip_ring(one_ring(6, 2))};
  auto lowered = world.light({circuit_of(world.fabric, 0, 2, 0), circuit_of(world.fabric, 3, 5, 0)});
  REQUIRE(lowered);
  std::get<FilterSetpoint>(device_of(world.fabric, lowered->plan, named(world.fabric, "mrr-2-r0cw-0")).timeline[0].setpoint)
      .rings.clear();
  const auto broken = world.broken_rules(lowered->plan);
  CHECK(has(broken, rules::kRingTuned));
  CHECK(has(broken, rules::kContinuity));
  CHECK(has(broken, rules::kStrayLight));  // it drops at node 3, into a receiver of no circuit
}

TEST_CASE("a_filter_on_the_way_that_drops_steals_the_light") {
  World world{make_sip_ring(one_ring(6, 2))};
  auto lowered = world.light({circuit_of(world.fabric, 0, 3, 0)});
  REQUIRE(lowered);
  const ElementId thief = named(world.fabric, "mrr-1-r0cw-0");
  auto& rings = std::get<FilterSetpoint>(device_of(world.fabric, lowered->plan, thief).timeline[0].setpoint).rings;
  rings.push_back(
      {0, centre_of(std::get<Transmitter>(world.fabric.element(named(world.fabric, "tx-1-r0cw-0")).kind).channels.first)});
  const auto broken = world.broken_rules(lowered->plan);
  CHECK(has(broken, rules::kContinuity));
  CHECK(has(broken, rules::kStrayLight));
}

TEST_CASE("a_filter_beside_its_transmitter_adds_nothing") {
  World world{make_sip_ring(one_ring(4, 2))};
  auto lowered = world.light({circuit_of(world.fabric, 0, 1, 0)});
  REQUIRE(lowered);
  auto& rings =
      std::get<FilterSetpoint>(device_of(world.fabric, lowered->plan, named(world.fabric, "mrr-0-r0cw-0")).timeline[0].setpoint)
          .rings;
  REQUIRE(rings.size() == 1);
  rings[0].resonance = rings[0].resonance + FrequencyOffset{30'000};
  const auto broken = world.broken_rules(lowered->plan);
  CHECK(has(broken, rules::kRingTuned));
  CHECK(has(broken, rules::kContinuity));
}

TEST_CASE("the_rest_of_dropped_light_is_crosstalk_where_its_wavelength_is_used_again") {
  World world{make_sip_ring(one_ring(6, 1))};
  std::vector<Circuit> circuits;
  for (std::uint32_t i = 0; i < 6; ++i) {
    circuits.push_back(circuit_of(world.fabric, i, (i + 1) % 6, 0));
  }
  const auto lowered = world.light(circuits);
  REQUIRE(lowered);
  CHECK(world.broken_rules(lowered->plan).empty());
  for (Element& element : world.fabric.elements) {
    if (auto* ring = std::get_if<RingFilter>(&element.kind)) {
      ring->isolation = Db{1'800};
    }
  }
  CHECK(world.broken_rules(lowered->plan) == std::vector<std::string>(4, std::string(rules::kCrosstalk)));
}

TEST_CASE("a_second_order_of_a_ring_is_refused") {
  World world{make_sip_ring(one_ring(4, 4))};
  for (Element& element : world.fabric.elements) {
    if (auto* ring = std::get_if<RingFilter>(&element.kind)) {
      ring->free_spectral_range = FrequencyOffset{200'000};  // two channels: channel 0's filters act on channel 2 as well
    }
  }
  const auto alone = world.light({circuit_of(world.fabric, 0, 2, 0)});
  REQUIRE(alone);
  CHECK(world.broken_rules(alone->plan).empty());
  const auto both = world.light({circuit_of(world.fabric, 0, 2, 0), circuit_of(world.fabric, 0, 3, 2)});
  REQUIRE(both);
  CHECK(has(world.broken_rules(both->plan), rules::kAliasing));
}

TEST_CASE("neighbours_come_and_go_and_a_circuit_stays_untouched") {
  World world{make_sip_ring(one_ring(6, 4))};
  const Circuit first = circuit_of(world.fabric, 0, 3, 1);
  Circuit second = circuit_of(world.fabric, 1, 2, 2);  // its filters are on the first one's way, and move beside its light
  second.job = JobId{2};
  Circuit third = circuit_of(world.fabric, 3, 5, 1);  // goes on where the first one ends
  third.job = JobId{3};
  const auto alone = world.light({first});
  REQUIRE(alone);
  const auto all = world.light({first, second, third}, &alone->plan);
  REQUIRE(all);
  CHECK(world.broken_rules(all->plan, &alone->plan).empty());
  CHECK(all->plan.circuits[0] == alone->plan.circuits[0]);
  CHECK(all->plan.touched.size() == 2);
  const auto back = world.light({first}, &all->plan);
  REQUIRE(back);
  CHECK(world.broken_rules(back->plan, &all->plan).empty());
  CHECK(back->plan.circuits[0] == alone->plan.circuits[0]);
}

TEST_CASE("a_filter_that_crosses_lit_wavelengths_on_its_way_is_refused") {
  World world{make_sip_ring(one_ring(6, 4))};
  for (Element& element : world.fabric.elements) {
    if (auto* ring = std::get_if<RingFilter>(&element.kind)) {
      ring->cold_resonance = Frequency{192'200'000};  // above all channels: a filter comes down across them
    }
  }
  const Circuit first = circuit_of(world.fabric, 0, 3, 2);
  Circuit second = circuit_of(world.fabric, 1, 2, 1);
  second.job = JobId{2};
  const auto alone = world.light({first});
  REQUIRE(alone);
  CHECK(world.broken_rules(alone->plan).empty());
  const auto both = world.light({first, second}, &alone->plan);
  REQUIRE(both);
  CHECK(has(world.broken_rules(both->plan, &alone->plan), rules::kMovingPort));
}

TEST_CASE("over_an_optical_return_path_every_circuit_has_one_back") {
  World world{make_sip_ring(one_ring(6, 2))};
  world.fabric.return_path = ReturnPath::optical;
  const auto paired = world.light({circuit_of(world.fabric, 0, 2, 0), circuit_of(world.fabric, 2, 0, 2)});
  REQUIRE(paired);
  CHECK(world.broken_rules(paired->plan).empty());
  const auto single = world.light({circuit_of(world.fabric, 0, 2, 0), circuit_of(world.fabric, 2, 1, 2)});
  REQUIRE(single);
  CHECK(world.broken_rules(single->plan) == std::vector<std::string>(2, std::string(rules::kReturnPath)));
}

/// tx -> coupler (which also has a circle of fibre and `turn` in it) -> rx.
Fabric circle_of(ElementKind turn, Db loss) {
  Fabric fabric;
  fabric.name = "circle";
  Transmitter transmitter;
  transmitter.rate = gigabits(100);
  transmitter.channels = {{0, 8}, 16, 1};
  fabric.elements = {{ElementId{0}, "tx", 0, 1, Db{0}, transmitter},
                     {ElementId{1}, "rx", 1, 0, Db{0}, Receiver{}},
                     {ElementId{2}, "coupler", 2, 2, Db{300}, Coupler{}},
                     {ElementId{3}, "turn", 1, 1, loss, std::move(turn)}};
  fabric.fibres = {{FibreId{0}, {ElementId{0}, 0}, {ElementId{2}, 0}, 0, Db{0}},
                   {FibreId{1}, {ElementId{2}, 0}, {ElementId{3}, 0}, 0, Db{0}},
                   {FibreId{2}, {ElementId{3}, 0}, {ElementId{2}, 1}, 0, Db{0}},
                   {FibreId{3}, {ElementId{2}, 1}, {ElementId{1}, 0}, 0, Db{0}}};
  fabric.nodes = {{NodeId{0}, "a", 0, {ElementId{0}}, {}}, {NodeId{1}, "b", 0, {}, {ElementId{1}}}};
  fabric.buses = {{BusId{0}, "bus", NodeId{0}, "sim"}};
  fabric.devices = {{DeviceId{0}, "laser", DeviceRole::transmitter, NodeId{0}, BusId{0}, 1, {ElementId{0}}}};
  build_index(fabric);
  return fabric;
}

TEST_CASE("light_that_runs_in_a_circle_is_named") {
  World world{circle_of(Attenuator{}, Db{100})};
  const Circuit circuit{{}, JobId{1}, NodeId{0}, NodeId{1}, ElementId{0}, ElementId{1}, {0, 8}, gigabits(100)};
  const auto lowered = world.light({circuit});
  REQUIRE(lowered);
  CHECK(has(world.broken_rules(lowered->plan), rules::kOpticalLoop));
}

/// A WSS whose closed ports leak into a circle with an amplifier in it.
TEST_CASE("a_circle_of_leaks_that_gains_is_named") {
  Fabric fabric = circle_of(Amplifier{Db{400}}, Db{0});
  WavelengthSelectiveSwitch wss;
  fabric.elements.push_back({ElementId{4}, "wss", 1, 2, Db{0}, wss});
  fabric.fibres[0].to = {ElementId{4}, 0};
  fabric.fibres.push_back({FibreId{4}, {ElementId{4}, 0}, {ElementId{2}, 0}, 0, Db{0}});
  fabric.devices.push_back({DeviceId{1}, "wss", DeviceRole::wavelength_switch, NodeId{0}, BusId{0}, 1, {ElementId{4}}});
  build_index(fabric);
  World world{fabric};
  auto lowered = world.light({});
  REQUIRE(lowered);
  std::get<TransmitterSetpoint>(device_of(world.fabric, lowered->plan, ElementId{0}).timeline[0].setpoint).emit = true;
  CHECK(has(world.broken_rules(lowered->plan), rules::kOpticalLoop));
  std::get<Amplifier>(world.fabric.elements[3].kind).gain = Db{200};  // 3 dB of coupler a round: now it dies away
  CHECK_FALSE(has(world.broken_rules(lowered->plan), rules::kOpticalLoop));
}

}  // namespace
