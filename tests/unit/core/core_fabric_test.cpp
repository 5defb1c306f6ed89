// SPDX-License-Identifier: Apache-2.0
// make_oddl makes what architectures/oddl/fabric.cpp says, at every size; check_fabric finds each planted fault.
#include <catch2/catch.hpp>

#include <functional>

#include "controller/architectures/oddl/fabric.hpp"
#include "core/fabric/fabric.hpp"

namespace loom {
namespace {

struct Size {
  std::uint32_t nodes;
  std::uint32_t group;
  std::int32_t channels;
};

Fabric oddl(Size size) {
  OddlParameters parameters;
  parameters.nodes = size.nodes;
  parameters.group_size = size.group;
  parameters.channels = size.channels;
  return make_oddl(parameters);
}

const std::vector<Size> kSizes{{4, 2, 4},    {4, 4, 4},  {8, 4, 8},     {16, 1, 1},
                               {64, 16, 24}, {64, 8, 8}, {256, 32, 48}, {1024, 32, 48}};

const Element* next_of(const Fabric& fabric, const Element& element, PortNumber output) {
  const auto fibre = fabric.fibre_out[element.id.value][output];
  return fibre ? &fabric.element(fabric.fibres[fibre->value].to.element) : nullptr;
}

TEST_CASE("oddl_has_the_parts_that_its_size_demands") {
  for (const Size size : kSizes) {
    CAPTURE(size.nodes, size.group);
    const Fabric fabric = oddl(size);
    const std::size_t groups = size.nodes / size.group;
    CHECK(check_fabric(fabric).empty());
    CHECK(fabric.nodes.size() == size.nodes);
    CHECK(fabric.elements.size() == 3 * size.nodes + 6 * groups);
    CHECK(fabric.fibres.size() == 3 * size.nodes + 4 * groups + groups * groups);
    CHECK(fabric.devices.size() == 2 * size.nodes + 2 * groups);
    CHECK(fabric.buses.size() == fabric.devices.size());
    CHECK_FALSE(fabric.assumptions.empty());
  }
}

TEST_CASE("every_port_of_oddl_is_connected_but_the_through_port_of_the_rings") {
  for (const Size size : kSizes) {
    const Fabric fabric = oddl(size);
    std::size_t open = 0;
    for (const Element& element : fabric.elements) {
      for (const auto& fibre : fabric.fibre_in[element.id.value]) {
        open += fibre ? 0 : 1;
      }
      for (std::size_t port = 0; port < element.outputs; ++port) {
        const bool through = std::holds_alternative<RingFilter>(element.kind) && port == 0;
        open += fabric.fibre_out[element.id.value][port].has_value() == through ? 1 : 0;
      }
    }
    CAPTURE(size.nodes, size.group);
    CHECK(open == 0);
  }
}

/// Power that node `to` receives from node `from`, if the WSS route it and the ring drops it.
Dbm received(const Fabric& fabric, std::uint32_t from, std::uint32_t to, std::vector<std::string>& pipeline) {
  const std::uint32_t group_size = static_cast<std::uint32_t>(fabric.nodes.size()) / (fabric.nodes.back().group + 1);
  const Element* at = &fabric.element(fabric.nodes[from].transmitters.front());
  Dbm power = std::get<Transmitter>(at->kind).launch_power;
  while (at != nullptr && !std::holds_alternative<Receiver>(at->kind)) {
    PortNumber output = 0;
    if (std::holds_alternative<WavelengthSelectiveSwitch>(at->kind) && at->outputs > 1) {
      output = static_cast<PortNumber>(to / group_size);
    } else if (std::holds_alternative<ArrayedWaveguideGrating>(at->kind)) {
      output = static_cast<PortNumber>(to % group_size);
    } else if (std::holds_alternative<RingFilter>(at->kind)) {
      output = 1;
    }
    const auto fibre = fabric.fibre_out[at->id.value][output];
    REQUIRE(fibre);
    power = power - at->insertion_loss - fabric.fibres[fibre->value].loss;
    if (const auto* amplifier = std::get_if<Amplifier>(&at->kind)) {
      power = power + amplifier->gain;
    }
    pipeline.push_back(at->name);
    at = next_of(fabric, *at, output);
  }
  REQUIRE(at != nullptr);
  CHECK(at->id == fabric.nodes[to].receivers.front());
  return power;
}

TEST_CASE("oddl_light_takes_the_road_of_the_text") {
  const Fabric fabric = oddl({8, 4, 8});
  std::vector<std::string> pipeline;
  received(fabric, 1, 6, pipeline);
  CHECK(pipeline == std::vector<std::string>{"tx-1", "combiner-0", "booster-0", "wss-out-0", "wss-in-1", "preamplifier-1",
                                             "awg-1", "ring-6"});
}

TEST_CASE("oddl_arrives_between_sensitivity_and_overload_at_every_group_size") {
  for (const Size size : kSizes) {
    const Fabric fabric = oddl(size);
    for (const std::uint32_t to : {0u, size.nodes / 2, size.nodes - 1}) {
      std::vector<std::string> pipeline;
      const Dbm power = received(fabric, size.nodes - 1, to, pipeline);
      const auto& receiver = std::get<Receiver>(fabric.element(fabric.nodes[to].receivers.front()).kind);
      CAPTURE(size.nodes, size.group, power.centi);
      CHECK(power > receiver.sensitivity);
      CHECK(power < receiver.overload);
    }
  }
}

TEST_CASE("oddl_rings_reach_every_channel_of_their_grating_output") {
  const Fabric fabric = oddl({1024, 32, 48});
  const OddlParameters parameters;
  const ChannelPlan plan{{parameters.first_channel_n, parameters.channel_width_m}, parameters.channel_step_n, 48};
  for (const Node& node : fabric.nodes) {
    const auto& ring =
        std::get<RingFilter>(fabric.element(fabric.devices[2 * node.id.value + 2 * node.group + 1].elements[0]).kind);
    const double milliwatts = 1000 * ring.heater_volt_max * ring.heater_volt_max / ring.heater_ohm;
    const auto lowest = centre_of(plan.slot(static_cast<std::int32_t>(node.id.value % 32)));
    CHECK(static_cast<double>((ring.cold_resonance - lowest).mhz) <= milliwatts * ring.mhz_per_milliwatt);
  }
}

TEST_CASE("indices_lead_back_to_where_they_came_from") {
  const Fabric fabric = oddl({64, 16, 24});
  for (const Device& device : fabric.devices) {
    for (std::size_t i = 0; i < device.elements.size(); ++i) {
      CHECK(fabric.device_of_element[device.elements[i].value] == device.id);
      CHECK(fabric.index_in_device[device.elements[i].value] == i);
    }
  }
  for (const Fibre& fibre : fabric.fibres) {
    CHECK(fabric.fibre_out[fibre.from.element.value][fibre.from.port] == fibre.id);
    CHECK(fabric.fibre_in[fibre.to.element.value][fibre.to.port] == fibre.id);
  }
  for (const Node& node : fabric.nodes) {
    CHECK(fabric.node_of_element[node.transmitters.front().value] == node.id);
    CHECK(fabric.devices_of_agent[node.id.value].size() == (node.id.value % 16 == 0 ? 4u : 2u));
  }
}

/// A lawful fabric with one fault planted, and a word of the sentence that must name it.
struct Planted {
  const char* sentence;
  std::function<void(Fabric&)> plant;
};

TEST_CASE("check_fabric_names_each_planted_fault") {
  const std::uint32_t nowhere = 100'000;
  const std::vector<Planted> faults{
      {"node at place 1: has the id 0", [](Fabric& f) { f.nodes[1].id = {0}; }},
      {"element at place 2: has the id 100000", [=](Fabric& f) { f.elements[2].id = {nowhere}; }},
      {"fibre at place 3: has the id 9", [](Fabric& f) { f.fibres[3].id = {9}; }},
      {"device at place 0: has the id 1", [](Fabric& f) { f.devices[0].id = {1}; }},
      {"bus at place 0: has the id 1", [](Fabric& f) { f.buses[0].id = {1}; }},
      {"node node-0: element 100000 does not exist", [=](Fabric& f) { f.nodes[0].transmitters[0] = {nowhere}; }},
      {"is listed among transmitters or receivers and is none",
       [](Fabric& f) { f.nodes[0].transmitters[0] = f.nodes[0].receivers[0]; }},
      {"tx-1 has two owners", [](Fabric& f) { f.nodes[2].transmitters = f.nodes[1].transmitters; }},
      {"fibre 0: ends at an element that does not exist", [=](Fabric& f) { f.fibres[0].to.element = {nowhere}; }},
      {"fibre 0: combiner-0 has outputs 0..1", [](Fabric& f) { f.fibres[0].from.port = 7; }},
      {"fibre 0: combiner-0 has outputs 0..1 (exclusive) and booster-0 inputs 0..1",
       [](Fabric& f) { f.fibres[0].to.port = 1; }},
      {"two fibres at one port", [](Fabric& f) { f.fibres[1].to = f.fibres[0].to; }},
      {"bus bus-laser-0: agent 100000 is not a node", [=](Fabric& f) { f.buses[0].agent = {nowhere}; }},
      {"device laser-0: agent 100000 is not a node", [=](Fabric& f) { f.devices[0].agent = {nowhere}; }},
      {"device laser-0: bus 100000 does not exist", [=](Fabric& f) { f.devices[0].bus = {nowhere}; }},
      {"device laser-0: its bus belongs to another agent", [](Fabric& f) { f.devices[0].agent = {3}; }},
      {"device laser-0: drives 0 elements", [](Fabric& f) { f.devices[0].elements.clear(); }},
      {"device laser-0: drives 2 elements", [](Fabric& f) { f.devices[0].elements.push_back(f.devices[2].elements[0]); }},
      {"device laser-0: element 100000 does not exist", [=](Fabric& f) { f.devices[0].elements[0] = {nowhere}; }},
      {"device laser-0: is of a kind that cannot drive ring-0",
       [](Fabric& f) { f.devices[0].elements = f.devices[1].elements; }},
      {"tx-0 has two drivers", [](Fabric& f) { f.devices[2].elements = f.devices[0].elements; }},
      {"patch panel awg-0: each input must lead to an output of its own",
       [](Fabric& f) { f.elements[5].kind = PatchPanel{{99}}; }},
      {"combiner-0: has 4 inputs and 1 outputs; its kind has 1 and 2", [](Fabric& f) { f.elements[0].kind = Tap{}; }},
      {"booster-0: input_max is not above input_min", [](Fabric& f) { f.elements[1].kind = Amplifier{{}, Dbm{0}, Dbm{0}}; }},
      {"combiner-0: insertion loss is below 0", [](Fabric& f) { f.elements[0].insertion_loss = Db{-1}; }},
      {"combiner-0: port_rate is not above 0", [](Fabric& f) { f.elements[0].kind = PacketSwitch{}; }},
      {"joins combiner-0 and booster-0; a port of a packet switch",
       [](Fabric& f) { f.elements[0].kind = PacketSwitch{gigabits(1)}; }},
      {"ring-0: free spectral range 100000 MHz is not above fwhm 100000 MHz",
       [](Fabric& f) {
         std::get<RingFilter>(f.elements[f.devices[1].elements[0].value].kind).free_spectral_range = FrequencyOffset{100'000};
       }},
  };
  for (const Planted& fault : faults) {
    Fabric fabric = oddl({8, 4, 8});
    REQUIRE(check_fabric(fabric).empty());
    fault.plant(fabric);
    std::string all;
    for (const std::string& sentence : check_fabric(fabric)) {
      all += sentence + "\n";
    }
    CAPTURE(all);
    CHECK_THAT(all, Catch::Matchers::Contains(fault.sentence));
  }
}

}  // namespace
}  // namespace loom
