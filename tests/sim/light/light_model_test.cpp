// SPDX-License-Identifier: Apache-2.0
// Light by hand: what each element does to it, and when a link counts as usable.
#include "sim_backend/light/light_model.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using namespace loom::test;

namespace {

/// 8 nodes in two groups of four; node 1 (group 0) to node 6 (group 1, index 2) on channel 2.
struct CrossGroup {
  std::shared_ptr<const Fabric> fabric = small_oddl(8, 4);
  LightModel light{fabric};
  NodeId source{1};
  NodeId destination{6};
  FrequencySlot slot = slot_of_channel(2);

  void open() {
    light.apply(routes(*fabric, 0, "wss-out-0", {{slot, 0, 1, Db{0}}}));
    light.apply(routes(*fabric, 0, "wss-in-1", {{slot, 0, 0, Db{0}}}));
    light.apply(ring(*fabric, 0, destination, centre_of(slot)));
  }
};

/// A chain of single elements between one transmitter and one receiver.
Fabric chain(std::vector<Element> between, std::vector<std::pair<PortRef, PortRef>> joints) {
  Fabric fabric;
  Transmitter transmitter;
  transmitter.rate = gigabits(100);
  fabric.elements.push_back({ElementId{0}, "tx", 0, 1, Db{0}, transmitter});
  fabric.elements.push_back({ElementId{1}, "rx", 1, 0, Db{0}, Receiver{}});
  for (Element& element : between) {
    element.id = ElementId{static_cast<std::uint32_t>(fabric.elements.size())};
    fabric.elements.push_back(element);
  }
  for (const auto& [from, to] : joints) {
    fabric.fibres.push_back({FibreId{static_cast<std::uint32_t>(fabric.fibres.size())}, from, to, 0, Db{0}});
  }
  fabric.nodes = {{NodeId{0}, "a", 0, {ElementId{0}}, {}}, {NodeId{1}, "b", 0, {}, {ElementId{1}}}};
  fabric.buses = {{BusId{0}, "bus", NodeId{0}, "sim"}};
  fabric.devices = {{DeviceId{0}, "laser", DeviceRole::transmitter, NodeId{0}, BusId{0}, 1, {ElementId{0}}}};
  REQUIRE(check_fabric(fabric).empty());
  build_index(fabric);
  return fabric;
}

OpticalChange emit(std::int64_t at_ns, Frequency frequency, Dbm power = Dbm{0}) {
  return {instant_from_ns(at_ns), DeviceId{0}, 0, LaserLight{true, frequency, power}};
}

constexpr Frequency kAnyFrequency{193'100'000};

}  // namespace

TEST_CASE("light_of_a_whole_circuit_arrives_with_the_budget_of_the_fabric") {
  CrossGroup cross;
  cross.open();
  const auto changed = cross.light.apply(laser(*cross.fabric, 10, cross.source, centre_of(cross.slot)));
  REQUIRE(changed.size() == 1);
  const auto reached = cross.light.reached();
  REQUIRE(reached.size() == 1);
  CHECK(reached.front().source == cross.source);
  CHECK(reached.front().destination == cross.destination);
  CHECK(reached.front().rate == gigabits(100));
  // combiner 6.02 + 1.00, booster 8.97, WSS 6.5, fibre 0.3, WSS 6.5, preamplifier 15, AWG 5, ring 1: 0 -> -2.35 dBm
  CHECK(cross.light.path_of(reached.front().transmitter).back().power == Dbm{-702 + 897 - 650 - 30 - 650 + 1500 - 500 - 100});
}

TEST_CASE("overload_and_starvation_make_a_link_unusable") {
  CrossGroup cross;
  cross.open();
  cross.light.apply(laser(*cross.fabric, 1, cross.source, centre_of(cross.slot), Dbm{-500}));
  CHECK(cross.light.reached().size() == 1);
  cross.light.apply(laser(*cross.fabric, 2, cross.source, centre_of(cross.slot), Dbm{-800}));
  CHECK(cross.light.reached().empty());
  cross.light.apply(laser(*cross.fabric, 3, cross.source, centre_of(cross.slot), Dbm{900}));
  CHECK(cross.light.reached().empty());
}

TEST_CASE("a_blocked_switch_stops_light_and_a_parked_ring_loses_it") {
  CrossGroup cross;
  cross.light.apply(laser(*cross.fabric, 1, cross.source, centre_of(cross.slot), Dbm{-500}));
  const ElementId transmitter = cross.fabric->nodes[1].transmitters.front();
  CHECK(cross.light.path_of(transmitter).size() == 3);  // to the combiner, the booster and the switch
  cross.open();
  CHECK(cross.light.reached().size() == 1);
  cross.light.apply(ring(*cross.fabric, 2, cross.destination, centre_of(cross.slot) + FrequencyOffset{400'000}));
  CHECK(cross.light.reached().empty());
}

TEST_CASE("a_detuned_laser_is_clipped_by_the_narrowest_filter_then_lost") {
  CrossGroup cross;
  cross.open();
  const auto reaches = [&](std::int64_t offset_mhz) {
    cross.light.apply(laser(*cross.fabric, 1, cross.source, centre_of(cross.slot) + FrequencyOffset{offset_mhz}, Dbm{-500}));
    return !cross.light.reached().empty();
  };
  // The slot is 100 GHz wide, loses 6.25 GHz at each edge, and the signal needs 37.5 GHz to each side.
  CHECK(reaches(6'250));
  CHECK_FALSE(reaches(6'251));
  CHECK(reaches(-6'250));
  CHECK_FALSE(reaches(-6'251));
  const ElementId receiver = cross.fabric->nodes[6].receivers.front();
  CHECK(cross.light.path_of(cross.fabric->nodes[1].transmitters.front()).back().clipped);
  CHECK_FALSE(reaches(49'000));
  CHECK(cross.light.lights_on(*cross.fabric->fibre_in[receiver.value][0]).empty());  // the AWG lets +-45 GHz pass
}

TEST_CASE("two_lights_at_one_receiver_are_no_link") {
  CrossGroup cross;
  cross.open();
  cross.light.apply(laser(*cross.fabric, 1, cross.source, centre_of(cross.slot), Dbm{-500}));
  cross.light.apply(laser(*cross.fabric, 2, NodeId{0}, centre_of(cross.slot), Dbm{-500}));
  CHECK(cross.light.reached().empty());
  cross.light.apply(dark(*cross.fabric, 3, NodeId{0}));
  CHECK(cross.light.reached().size() == 1);
}

TEST_CASE("light_that_enters_a_moving_route_goes_nowhere_and_is_noticed") {
  CrossGroup cross;
  cross.open();
  cross.light.apply(laser(*cross.fabric, 1, cross.source, centre_of(cross.slot), Dbm{-500}));
  const ElementId transmitter = cross.fabric->nodes[1].transmitters.front();
  CHECK(cross.light.moving_ports_on_path(transmitter).empty());
  const WssRoute route{cross.slot, 0, 1, Db{0}};
  cross.light.apply(routes(*cross.fabric, 2, "wss-out-0", {}, {route}));
  REQUIRE(cross.light.moving_ports_on_path(transmitter).size() == 1);
  CHECK(cross.light.graph().end_of(cross.light.moving_ports_on_path(transmitter).front()).element ==
        element_named(*cross.fabric, "wss-out-0"));
  CHECK(cross.light.reached().empty());
  const WssRoute elsewhere{slot_of_channel(3), 0, 1, Db{0}};
  cross.light.apply(routes(*cross.fabric, 3, "wss-out-0", {route}, {elsewhere}));
  CHECK(cross.light.moving_ports_on_path(transmitter).empty());
  CHECK(cross.light.reached().size() == 1);
}

TEST_CASE("windows_begin_after_acquisition_and_end_with_the_light") {
  CrossGroup cross;
  cross.open();
  cross.light.apply(laser(*cross.fabric, 10'000, cross.source, centre_of(cross.slot), Dbm{-500}));
  cross.light.apply(dark(*cross.fabric, 50'000, cross.source));
  cross.light.apply(laser(*cross.fabric, 60'000, cross.source, centre_of(cross.slot), Dbm{-500}));
  cross.light.apply(dark(*cross.fabric, 60'500, cross.source));  // gone before the receiver has acquired
  cross.light.apply(laser(*cross.fabric, 70'000, cross.source, centre_of(cross.slot), Dbm{-500}));
  const LightTimeline timeline = cross.light.timeline();
  REQUIRE(timeline.size() == 2);
  const ElementId from = cross.fabric->nodes[1].transmitters.front();
  const ElementId to = cross.fabric->nodes[6].receivers.front();
  CHECK(timeline[0] ==
        LitWindow{NodeId{1}, NodeId{6}, instant_from_ns(11'000), instant_from_ns(50'000), gigabits(100), from, to});
  CHECK(timeline[1] == LitWindow{NodeId{1}, NodeId{6}, instant_from_ns(71'000), kNever, gigabits(100), from, to});
}

TEST_CASE("logs_of_several_processes_add_up_in_any_order") {
  const auto fabric = small_oddl(8, 4);
  const FrequencySlot slot = slot_of_channel(2);
  const std::vector<OpticalChange> logs{laser(*fabric, 10'000, NodeId{1}, centre_of(slot), Dbm{-500}),
                                        dark(*fabric, 50'000, NodeId{1}), ring(*fabric, 0, NodeId{6}, centre_of(slot)),
                                        routes(*fabric, 0, "wss-in-1", {{slot, 0, 0, Db{0}}}),
                                        routes(*fabric, 0, "wss-out-0", {{slot, 0, 1, Db{0}}})};
  const LightTimeline timeline = timeline_of(fabric, logs);
  REQUIRE(timeline.size() == 1);
  CHECK(timeline.front().end == instant_from_ns(50'000));
}

TEST_CASE("a_ring_drops_at_every_multiple_of_its_free_spectral_range") {
  RingFilter ring_filter;
  ring_filter.fwhm = FrequencyOffset{100'000};
  ring_filter.free_spectral_range = FrequencyOffset{1'000'000};
  ring_filter.cold_resonance = Frequency{193'000'000};
  const auto fabric =
      std::make_shared<const Fabric>(chain({{ElementId{}, "ring", 1, 2, Db{100}, ring_filter}},
                                           {{{ElementId{0}, 0}, {ElementId{2}, 0}}, {{ElementId{2}, 1}, {ElementId{1}, 0}}}));
  LightModel light(fabric);
  const auto reaches = [&](std::int64_t mhz) {
    light.apply(emit(0, Frequency{mhz}));
    return !light.reached().empty();
  };
  CHECK(reaches(193'000'000));
  CHECK(reaches(194'000'000));
  CHECK(reaches(191'000'000));
  CHECK(reaches(192'012'500));
  CHECK_FALSE(reaches(192'012'501));  // 37.5 GHz of signal and 12.5 GHz of offset fill half of 100 GHz
  CHECK_FALSE(reaches(193'500'000));
}

TEST_CASE("a_grating_is_cyclic_in_channel_and_input") {
  ArrayedWaveguideGrating grating;
  grating.channels = {{0, 8}, 16, 6};
  grating.passband = FrequencyOffset{90'000};
  const auto fabric =
      std::make_shared<const Fabric>(chain({{ElementId{}, "awg", 4, 4, Db{500}, grating}},
                                           {{{ElementId{0}, 0}, {ElementId{2}, 3}}, {{ElementId{2}, 1}, {ElementId{1}, 0}}}));
  LightModel light(fabric);
  for (std::int32_t channel = -1; channel < 7; ++channel) {
    light.apply(emit(0, centre_of(FrequencySlot{channel * 16, 8})));
    CHECK(light.reached().size() == ((channel == 2) ? 1 : 0));  // (2 + 3) mod 4 = 1; channel 6 would be too, but is none
  }
}

TEST_CASE("panel_tap_attenuator_and_circuit_switch_pass_light_as_installed") {
  PatchPanel panel;
  panel.wiring = {1, 0};
  const auto fabric = [&] {
    Fabric made = chain({{ElementId{}, "panel", 2, 2, Db{50}, panel},
                         {ElementId{}, "tap", 1, 2, Db{30}, Tap{}},
                         {ElementId{}, "attenuator", 1, 1, Db{100}, Attenuator{}},
                         {ElementId{}, "ocs", 2, 2, Db{200}, OpticalCircuitSwitch{}}},
                        {{{ElementId{0}, 0}, {ElementId{2}, 0}},
                         {{ElementId{2}, 1}, {ElementId{3}, 0}},
                         {{ElementId{3}, 0}, {ElementId{4}, 0}},
                         {{ElementId{4}, 0}, {ElementId{5}, 1}},
                         {{ElementId{5}, 0}, {ElementId{1}, 0}}});
    made.devices.push_back({DeviceId{1}, "ocs", DeviceRole::circuit_switch, NodeId{0}, BusId{0}, 2, {ElementId{5}}});
    build_index(made);
    return std::make_shared<const Fabric>(made);
  }();
  LightModel light(fabric);
  light.apply(emit(1, kAnyFrequency));
  CHECK(light.reached().empty());
  light.apply({instant_from_ns(2), DeviceId{1}, 0, OcsLight{{{1, 0}}, {}}});
  REQUIRE(light.reached().size() == 1);
  CHECK(light.path_of(ElementId{0}).back().power == Dbm{-380});
  light.apply({instant_from_ns(3), DeviceId{1}, 0, OcsLight{{}, {{1, 0}}}});
  CHECK(light.reached().empty());
  REQUIRE(light.moving_ports_on_path(ElementId{0}).size() == 1);
  CHECK(light.graph().end_of(light.moving_ports_on_path(ElementId{0}).front()) == PortRef{ElementId{5}, 1});
}

TEST_CASE("light_on_a_ring_of_fibre_that_nobody_drops_ends_where_it_met_itself") {
  const auto fabric = std::make_shared<const Fabric>(
      chain({{ElementId{}, "coupler", 2, 2, Db{300}, Coupler{}}}, {{{ElementId{0}, 0}, {ElementId{2}, 0}},
                                                                   {{ElementId{2}, 0}, {ElementId{2}, 1}},
                                                                   {{ElementId{2}, 1}, {ElementId{1}, 0}}}));
  LightModel light(fabric);
  light.apply(emit(1, kAnyFrequency));
  CHECK(light.path_of(ElementId{0}).size() == 3);
  CHECK(light.meets_itself(ElementId{0}) == FibreId{1});
}

TEST_CASE("a_ring_adds_what_it_drops_and_nothing_beside_its_resonance") {
  RingFilter ring_filter;
  ring_filter.cold_resonance = Frequency{193'000'000};
  ring_filter.fwhm = FrequencyOffset{100'000};
  ring_filter.drop_loss = Db{90};
  const auto added =
      std::make_shared<const Fabric>(chain({{ElementId{}, "ring", 2, 2, Db{10}, ring_filter}},
                                           {{{ElementId{0}, 0}, {ElementId{2}, 1}}, {{ElementId{2}, 0}, {ElementId{1}, 0}}}));
  LightModel light(added);
  light.apply(emit(0, Frequency{193'000'000}));
  REQUIRE(light.reached().size() == 1);
  CHECK(light.path_of(ElementId{0}).back().power == Dbm{-100});
  light.apply(emit(1, Frequency{193'100'000}));
  CHECK(light.path_of(ElementId{0}).size() == 1);  // it enters, and goes nowhere
  const auto through =
      std::make_shared<const Fabric>(chain({{ElementId{}, "ring", 2, 2, Db{10}, ring_filter}},
                                           {{{ElementId{0}, 0}, {ElementId{2}, 0}}, {{ElementId{2}, 0}, {ElementId{1}, 0}}}));
  LightModel bus(through);
  bus.apply(emit(0, Frequency{193'000'000}));
  CHECK(bus.reached().empty());
  bus.apply(emit(1, Frequency{193'100'000}));
  REQUIRE(bus.reached().size() == 1);
  CHECK(bus.path_of(ElementId{0}).back().power == Dbm{-10});
}

TEST_CASE("light_ends_in_a_packet_switch") {
  const auto fabric =
      std::make_shared<const Fabric>(chain({{ElementId{}, "packets", 2, 2, Db{0}, PacketSwitch{gigabits(100)}}},
                                           {{{ElementId{0}, 0}, {ElementId{2}, 0}}, {{ElementId{2}, 1}, {ElementId{1}, 0}}}));
  LightModel light(fabric);
  light.apply(emit(1, kAnyFrequency));
  CHECK(light.path_of(ElementId{0}).size() == 1);
  CHECK(light.reached().empty());
}
