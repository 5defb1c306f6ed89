// SPDX-License-Identifier: Apache-2.0
// What gets through closed ports, by hand: of a WSS, a grating, a ring on resonance and a circuit switch; what it sums to at a
// receiver, and when that ends a link.
#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "sim_backend/light/light_model.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using namespace loom::test;

namespace {

constexpr FrequencySlot kSlot{0, 8};
constexpr Frequency kLight = centre_of(kSlot);

/// Transmitters "tx-i" with lasers and receivers "rx-i", each at port i of one element.
std::shared_ptr<const Fabric> around(Element element, DeviceRole driven_by, bool is_driven = true) {
  Fabric fabric;
  const auto add = [&](Element made) {
    made.id = ElementId{static_cast<std::uint32_t>(fabric.elements.size())};
    fabric.elements.push_back(std::move(made));
    return fabric.elements.back().id;
  };
  const auto join = [&](PortRef from, PortRef to) {
    fabric.fibres.push_back({FibreId{static_cast<std::uint32_t>(fabric.fibres.size())}, from, to, 0, Db{0}});
  };
  const PortNumber inputs = element.inputs;
  const PortNumber outputs = element.outputs;
  const ElementId middle = add(std::move(element));
  fabric.buses = {{BusId{0}, "bus", NodeId{0}, "sim"}};
  for (PortNumber i = 0; i < std::max(inputs, outputs); ++i) {
    const std::string suffix = std::to_string(i);
    Node node{NodeId{i}, "node-" + suffix, 0, {}, {}};
    if (i < inputs) {
      Transmitter transmitter;
      transmitter.rate = gigabits(100);
      node.transmitters.push_back(add({{}, "tx-" + suffix, 0, 1, Db{0}, transmitter}));
      join({node.transmitters.back(), 0}, {middle, i});
      const DeviceId laser{static_cast<std::uint32_t>(fabric.devices.size())};
      fabric.devices.push_back(
          {laser, "laser-" + suffix, DeviceRole::transmitter, NodeId{0}, BusId{0}, i, {node.transmitters.back()}});
    }
    if (i < outputs) {
      node.receivers.push_back(add({{}, "rx-" + suffix, 1, 0, Db{0}, Receiver{Dbm{-3000}, Dbm{400}, {}}}));
      join({middle, i}, {node.receivers.back(), 0});
    }
    fabric.nodes.push_back(std::move(node));
  }
  if (is_driven) {
    const DeviceId device{static_cast<std::uint32_t>(fabric.devices.size())};
    fabric.devices.push_back({device, "driven", driven_by, NodeId{0}, BusId{0}, 99, {middle}});
  }
  REQUIRE(check_fabric(fabric).empty());
  build_index(fabric);
  return std::make_shared<const Fabric>(std::move(fabric));
}

struct Bench {
  explicit Bench(std::shared_ptr<const Fabric> built) : fabric(std::move(built)), light(fabric) {}

  void emit(PortNumber port, Frequency frequency, Dbm power = Dbm{0}) {
    light.apply({instant_from_ns(++clock), DeviceId{port}, 0, LaserLight{true, frequency, power}});
  }
  void darken(PortNumber port) { light.apply({instant_from_ns(++clock), DeviceId{port}, 0, LaserLight{}}); }
  void set(OpticalState state) {
    const DeviceId driven{static_cast<std::uint32_t>(fabric->devices.size() - 1)};
    light.apply({instant_from_ns(++clock), driven, 0, std::move(state)});
  }
  ElementId receiver(PortNumber port) const { return element_named(*fabric, "rx-" + std::to_string(port)); }
  Femtowatts leaked(PortNumber port) const { return light.leaked(receiver(port)); }
  bool has_link(PortNumber port) const {
    const auto reached = light.reached();
    return std::any_of(reached.begin(), reached.end(), [&](const Reach& reach) { return reach.receiver == receiver(port); });
  }

  std::shared_ptr<const Fabric> fabric;
  LightModel light;
  std::int64_t clock = 0;
};

Bench wss_bench(PortNumber inputs, PortNumber outputs, Db isolation) {
  WavelengthSelectiveSwitch wss;
  wss.isolation = isolation;
  return Bench(around({{}, "wss", inputs, outputs, Db{100}, wss}, DeviceRole::wavelength_switch));
}

}  // namespace

TEST_CASE("a_switch_leaks_to_the_outputs_that_are_closed_to_the_light_and_to_no_other") {
  Bench bench = wss_bench(1, 3, Db{3'500});
  bench.set(WssLight{{{kSlot, 0, 1, Db{0}}}, {}});
  bench.emit(0, kLight);
  CHECK(bench.leaked(0) == femtowatts_of(Dbm{-100 - 3'500}));
  CHECK(bench.leaked(1) == 0);
  CHECK(bench.leaked(2) == femtowatts_of(Dbm{-100 - 3'500}));
  CHECK(bench.light.lights_at(bench.receiver(0)).empty());  // a leak is no light of a circuit
  CHECK(bench.has_link(1));
  bench.set(WssLight{});
  CHECK(bench.leaked(1) == femtowatts_of(Dbm{-100 - 3'500}));
  bench.darken(0);
  CHECK(bench.leaked(0) == 0);
  CHECK(bench.leaked(1) == 0);
}

/// 0.1 dB is what the rounding of powers may make of a plan at its limit.
TEST_CASE("a_link_ends_where_one_leak_is_a_hundredth_of_its_signal") {
  const auto isolation = GENERATE(Db{1'990}, Db{1'989});
  Bench bench = wss_bench(2, 1, isolation);
  bench.set(WssLight{{{kSlot, 0, 0, Db{0}}}, {}});
  bench.emit(0, kLight);
  CHECK(bench.has_link(0));
  bench.emit(1, kLight);  // of the same frequency at the other input, which is closed
  CHECK(bench.has_link(0) == (isolation == Db{1'990}));
  bench.darken(1);
  CHECK(bench.has_link(0));
}

TEST_CASE("leaks_are_summed_so_that_many_end_a_link_that_each_of_them_spares") {
  Bench bench = wss_bench(5, 1, Db{2'500});
  bench.set(WssLight{{{kSlot, 0, 0, Db{0}}}, {}});
  bench.emit(0, kLight);
  for (PortNumber port = 1; port < 5; ++port) {
    CHECK(bench.has_link(0));  // three sum to -20.2 dB
    bench.emit(port, kLight);
  }
  CHECK_FALSE(bench.has_link(0));  // four to -19.0 dB
  CHECK(bench.light.leaks_at(bench.receiver(0)).size() == 4);
  bench.darken(2);
  CHECK(bench.has_link(0));
}

TEST_CASE("a_receiver_behind_a_grating_hears_what_leaks_of_every_channel") {
  ArrayedWaveguideGrating grating;
  grating.channels = {{0, 8}, 16, 4};
  grating.passband = FrequencyOffset{90'000};
  grating.isolation = Db{2'450};
  Bench bench(around({{}, "awg", 4, 4, Db{0}, grating}, DeviceRole::wavelength_switch, false));
  for (PortNumber input = 0; input < 4; ++input) {
    bench.emit(input, centre_of(grating.channels.slot(input)));  // to output 2 * input mod 4
  }
  bench.darken(2);
  bench.darken(3);
  CHECK(bench.leaked(0) == femtowatts_of(Dbm{-2'450}));
  CHECK(bench.leaked(2) == femtowatts_of(Dbm{-2'450}));
  CHECK(bench.leaked(1) == 2 * femtowatts_of(Dbm{-2'450}));
  CHECK(bench.has_link(0));
  CHECK(bench.has_link(2));
}

TEST_CASE("a_ring_on_resonance_leaks_the_other_way_and_beside_it_not_at_all") {
  RingFilter ring;
  ring.cold_resonance = kLight + FrequencyOffset{200'000};
  ring.fwhm = FrequencyOffset{100'000};
  ring.drop_loss = Db{100};
  ring.isolation = Db{3'000};
  Bench bench(around({{}, "ring", 2, 2, Db{50}, ring}, DeviceRole::filter));
  bench.emit(0, kLight);
  CHECK(bench.has_link(0));  // through
  CHECK(bench.leaked(1) == 0);
  bench.set(RingLight{{kLight}});
  CHECK(bench.has_link(1));  // dropped
  CHECK(bench.leaked(0) == femtowatts_of(Dbm{-50 - 3'000}));
  bench.emit(1, kLight);  // and added: each way receives 31 dB below its light what went the other way
  CHECK(bench.leaked(0) == femtowatts_of(Dbm{-50 - 3'000}));
  CHECK(bench.leaked(1) == femtowatts_of(Dbm{-50 - 3'000}));
  CHECK(bench.has_link(0));
  CHECK(bench.has_link(1));
}

TEST_CASE("a_circuit_switch_leaks_where_its_isolation_is_known") {
  OpticalCircuitSwitch ocs;
  ocs.isolation = GENERATE(Db{0}, Db{5'000});
  Bench bench(around({{}, "ocs", 3, 3, Db{100}, ocs}, DeviceRole::circuit_switch));
  bench.set(OcsLight{{{0, 1}, {1, 2}}, {}});
  bench.emit(0, kLight);
  bench.emit(1, kLight);
  const Femtowatts one = ocs.isolation == Db{0} ? 0 : femtowatts_of(Dbm{-5'100});
  CHECK(bench.leaked(0) == 2 * one);
  CHECK(bench.leaked(1) == one);
  CHECK(bench.has_link(1));
}

TEST_CASE("a_leak_goes_on_by_open_ways_and_follows_their_change") {
  const auto fabric = small_oddl(8, 4);
  LightModel light{fabric};
  const FrequencySlot slot = slot_of_channel(2);
  const ElementId receiver = fabric->nodes[6].receivers.front();
  light.apply(routes(*fabric, 1, "wss-out-0", {{slot, 0, 0, Db{0}}}));  // stays in group 0, and leaks to group 1
  light.apply(ring(*fabric, 2, NodeId{6}, centre_of(slot)));
  light.apply(laser(*fabric, 3, NodeId{1}, centre_of(slot)));
  CHECK(light.leaked(receiver) == 0);
  light.apply(routes(*fabric, 4, "wss-in-1", {{slot, 0, 0, Db{0}}}));
  // As light that is let through (0 -> -2.35 dBm), 35 dB weaker.
  CHECK(light.leaked(receiver) == femtowatts_of(Dbm{-702 + 897 - 650 - 3'500 - 30 - 650 + 1'500 - 500 - 100}));
  CHECK(light.leaks_at(receiver).front().transmitter == fabric->nodes[1].transmitters.front());
  light.apply(ring(*fabric, 5, NodeId{6}, centre_of(slot) + FrequencyOffset{400'000}));
  CHECK(light.leaked(receiver) == 0);
}

TEST_CASE("fibres_whose_ends_were_exchanged_lead_light_to_each_others_receivers") {
  Bench bench = wss_bench(1, 3, Db{3'500});
  bench.set(WssLight{{{kSlot, 0, 1, Db{0}}}, {}});
  bench.emit(0, kLight);
  const std::vector<std::pair<FibreId, FibreId>> pair{
      {*bench.fabric->fibre_in[bench.receiver(1).value][0], *bench.fabric->fibre_in[bench.receiver(2).value][0]}};
  const auto changed = bench.light.set_fibres(instant_from_ns(++bench.clock), pair);
  CHECK(changed.size() == 1);  // its fibres are the same, and end elsewhere
  CHECK(bench.has_link(2));
  CHECK_FALSE(bench.has_link(1));
  CHECK(bench.leaked(1) > 0);
  bench.light.set_fibres(instant_from_ns(++bench.clock), {});
  CHECK(bench.has_link(1));
  CHECK_FALSE(bench.has_link(2));
  CHECK(bench.leaked(1) == 0);
}
