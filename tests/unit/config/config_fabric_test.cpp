// SPDX-License-Identifier: Apache-2.0
// Fabric files: both forms, every kind of element, and what is refused.
#include <catch2/catch.hpp>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/fabric_file.hpp"
#include "core/ring/drop_monitor.hpp"

namespace loom {
namespace {

Loaded<Fabric> read(std::string_view text) {
  const auto document = parse_yaml("f.yaml", text);
  return document ? read_fabric("f.yaml", *document.value, all_fabric_kinds()) : Loaded<Fabric>{std::nullopt, document.errors};
}

std::string errors_of(std::string_view text) {
  std::string all;
  const auto fabric = read(text);
  CHECK(fabric.value.has_value() == fabric.errors.empty());
  for (const ConfigError& error : fabric.errors) {
    all += to_string(error) + "\n";
  }
  return all;
}

std::string oddl(const std::string& parameters) {
  return "schema_version: 1\nkind: fabric\ntemplate: oddl\nparameters: {" + parameters + "}\n";
}

TEST_CASE("the_written_defaults_are_the_template_defaults") {
  const auto written = load_fabric("configs/fabrics/oddl_1024.yaml", all_fabric_kinds());
  REQUIRE(written);
  const Fabric made = make_oddl({});
  CHECK(written.value->name == made.name);
  REQUIRE(written.value->elements.size() == made.elements.size());
  for (std::size_t i = 0; i < made.elements.size(); ++i) {
    const Element& a = written.value->elements[i];
    const Element& b = made.elements[i];
    REQUIRE(a.name == b.name);
    REQUIRE(a.kind.index() == b.kind.index());
    if (const auto* transmitter = std::get_if<Transmitter>(&a.kind)) {
      const auto& other = std::get<Transmitter>(b.kind);
      REQUIRE(transmitter->channels == other.channels);
      REQUIRE(transmitter->rate == other.rate);
      REQUIRE(transmitter->signal_width == other.signal_width);
      REQUIRE(transmitter->retune_max == other.retune_max);
      REQUIRE(transmitter->blank_max == other.blank_max);
    } else if (const auto* wss = std::get_if<WavelengthSelectiveSwitch>(&a.kind)) {
      REQUIRE(wss->settle_max == std::get<WavelengthSelectiveSwitch>(b.kind).settle_max);
    } else if (const auto* receiver = std::get_if<Receiver>(&a.kind)) {
      REQUIRE(receiver->acquisition_max == std::get<Receiver>(b.kind).acquisition_max);
    }
  }
  CHECK(written.value->fibre_out.size() == made.elements.size());
}

TEST_CASE("rings are locked where a monitor of their node sees their drop, and nowhere else") {
  const auto locked = read(oddl("nodes: 8, group_size: 4, channels: 8, planes: 2, photodiodes: true, locked: true"));
  REQUIRE(locked);
  std::size_t rings = 0;
  for (const Element& element : locked.value->elements) {
    const auto* ring = std::get_if<RingFilter>(&element.kind);
    if (ring != nullptr) {
      REQUIRE(ring->locked);
      const auto monitor = drop_monitor_of(*locked.value, element.id);
      REQUIRE(monitor);
      const Device& device = locked.value->device(monitor->device);
      CHECK(device.agent == locked.value->device(*locked.value->device_of_element[element.id.value]).agent);
      CHECK(monitor->channel == rings % 2);
      ++rings;
    }
  }
  CHECK(rings == 16);
  CHECK_THAT(errors_of(oddl("nodes: 8, group_size: 4, channels: 8, locked: true")),
             Catch::Contains("expected receiver: ring and photodiodes: true"));
  OddlParameters parameters;
  parameters.locked = true;
  const std::vector<std::string> faults = check_locked_rings(make_oddl(parameters));
  REQUIRE(faults.size() == 1'024);
  CHECK_THAT(faults.front(),
             Catch::Contains("ring-0: locked, but node 0, whose agent heats it, has no monitor behind its drop"));
}

TEST_CASE("variants_of_oddl_are_read_and_what_cannot_be_is_refused") {
  using Catch::Matchers::Contains;
  const auto open = read(oddl("nodes: 8, group_size: 4, channels: 8, receiver: open"));
  REQUIRE(open);
  CHECK(std::ranges::none_of(open.value->devices, [](const Device& each) { return each.role == DeviceRole::filter; }));
  const auto routed = read(oddl("nodes: 8, group_size: 4, channels: 5, inside: awgr, awg_isolation: 40 dB"));
  REQUIRE(routed);
  const auto router = std::ranges::find(routed.value->elements, "awgr-1", &Element::name);
  REQUIRE(router != routed.value->elements.end());
  CHECK(router->inputs == 5);
  CHECK(std::get<ArrayedWaveguideGrating>(router->kind).isolation == Db{4'000});
  CHECK_THAT(errors_of(oddl("nodes: 8, group_size: 4, channels: 4, inside: awgr")),
             Contains("expected at least group_size + 1 = 5"));
  CHECK_THAT(errors_of(oddl("nodes: 8, group_size: 4, channels: 5, inside: awgr, receiver: ring")),
             Contains("receiver: found ring; expected open with inside = awgr"));
  CHECK_THAT(errors_of(oddl("nodes: 8, group_size: 4, channels: 5, inside: awg")), Contains("awgr"));
}

TEST_CASE("template_parameters_reach_the_fabric") {
  const auto fabric =
      read(oddl("nodes: 8, group_size: 4, channels: 6, first_channel: 192 THz, channel_spacing: 50 GHz, "
                "channel_width: 50 GHz, signal_width: 37.5 GHz, rate: 25G, laser_retune_max: 3 ms"));
  REQUIRE(fabric);
  const auto& transmitter = std::get<Transmitter>(fabric.value->element(fabric.value->nodes[0].transmitters[0]).kind);
  CHECK(transmitter.channels == ChannelPlan{{-176, 4}, 8, 6});
  CHECK(transmitter.rate == gigabits(25));
  CHECK(transmitter.signal_width == FrequencyOffset{37'500});
  CHECK(transmitter.retune_max == std::chrono::milliseconds{3});
}

TEST_CASE("unlawful_template_parameters_are_refused") {
  using Catch::Matchers::Contains;
  CHECK_THAT(errors_of(oddl("nodes: 100")), Contains("group_size: 32 does not divide nodes = 100"));
  CHECK_THAT(errors_of(oddl("channels: 8")), Contains("expected at least group_size = 32"));
  CHECK_THAT(errors_of(oddl("channels: 49")), Contains("expected within the C band, 191.32500 THz to 196.15000 THz"));
  CHECK_THAT(errors_of(oddl("first_channel: 191.35 THz")), Contains("the channels reach from 191.30000 THz"));
  CHECK_THAT(errors_of(oddl("first_channel: 191.401 THz")),
             Contains("expected a multiple of 6.25 GHz from 193.1 THz (ITU-T G.694.1), such as 191.4 THz or"));
  CHECK_THAT(errors_of(oddl("channel_width: 80 GHz")),
             Contains("expected a multiple of 12.5 GHz (ITU-T G.694.1), such as 75 GHz or 87.5 GHz"));
  CHECK_THAT(errors_of(oddl("channel_width: 112.5 GHz")), Contains("is wider than the spacing of 100 GHz"));
  CHECK_THAT(errors_of(oddl("signal_width: 110 GHz")),
             Contains("signal_width: 110 GHz is wider than a channel; expected at most 100 GHz"));
  CHECK_THAT(errors_of(oddl("nodes: 65536, group_size: 1, channels: 1")), Contains("need more fibres than the limit"));
  CHECK_THAT(errors_of(oddl("nodes: 8, group_size: 4, channels: 48")), Contains("its heater reaches 3.7 THz"));
  CHECK_THAT(errors_of(oddl("nodes: 0")), Contains("expected a whole number of 1..65536"));
  CHECK_THAT(errors_of(oddl("group_size: 0")), Contains("expected a whole number of 1..1024"));
  CHECK_THAT(errors_of(oddl("rate: 100 GHz")), Contains("has the unit 'GHz'; expected a bit rate"));
  CHECK_THAT(errors_of(oddl("laser_retune_max: 100 s")), Contains("expected a duration of 0 ns to 1 min"));
  CHECK_THAT(
      errors_of("schema_version: 1\nkind: fabric\ntemplate: odll\n"),
      Contains("f.yaml:3:11: template: found 'odll'; expected one of: topoopt, sip_ring, sip_ocs, oddl; did you mean 'oddl'?"));
}

std::string sip(const std::string& name, const std::string& parameters) {
  return "schema_version: 1\nkind: fabric\ntemplate: " + name + "\nparameters: {" + parameters + "}\n";
}

TEST_CASE("sip_templates_take_their_parameters") {
  const auto ring = read(sip("sip_ring", "nodes: 6, rings: 3, channels: 4, rate: 50 Gb/s, filters_per_bank: 5"));
  REQUIRE(ring);
  CHECK(ring.value->architecture == "sip-ring");
  CHECK(ring.value->nodes[5].transmitters.size() == 24);
  CHECK(ring.value->devices_of_agent[0].size() == 24 + 5);
  const auto ocs = read(sip("sip_ocs", "nodes: 6, switches: 3, ocs_settle_max: 12 ms"));
  REQUIRE(ocs);
  CHECK(ocs.value->architecture == "sip-ocs");
  CHECK(ocs.value->nodes[5].receivers.size() == 3);
  const Element& first = ocs.value->elements[0];
  CHECK(std::get<OpticalCircuitSwitch>(first.kind).settle_max == std::chrono::milliseconds{12});
  CHECK(read(sip("sip_ring", "nodes: 256, rings: 1, channels: 16")));
  CHECK(read(sip("sip_ocs", "nodes: 1024, switches: 20")));
}

TEST_CASE("the_topoopt_template_takes_its_parameters_and_divides_servers_into_blocks_of_a_switchs_ports") {
  const auto paper = read(sip("topoopt", "nodes: 432"));  // 384 ports: two blocks of 216
  REQUIRE(paper);
  CHECK(paper.value->architecture == "topoopt");
  CHECK(paper.value->nodes[215].group == 0);
  CHECK(paper.value->nodes[216].group == 1);
  CHECK(paper.value->elements[0].inputs == 216);
  CHECK(std::get<OpticalCircuitSwitch>(paper.value->elements[0].kind).settle_max == std::chrono::milliseconds{10});
  const auto panels = read(sip("topoopt", "nodes: 432, switches: look_ahead_panels, panel_settle_max: 5 min"));
  REQUIRE(panels);  // 1008 ports: one block, two panels an interface
  CHECK(panels.value->nodes[431].group == 0);
  CHECK(panels.value->elements[1].name == "panel-0b");
  CHECK(std::get<OpticalCircuitSwitch>(panels.value->elements[1].kind).settle_max == std::chrono::minutes{5});
  const std::size_t driven = panels.value->devices_of_agent[431].size();
  CHECK(driven == 4 + 8);  // lasers, and two 1x2 switches an interface
  const auto duplex = read(sip("topoopt", "nodes: 16, interfaces_per_switch: 2"));
  REQUIRE(duplex);
  CHECK(duplex.value->elements[1].inputs == 32);
  CHECK(duplex.value->elements[2].name == "tx-0-0");
}

TEST_CASE("unlawful_topoopt_parameters_are_refused_with_their_place") {
  using Catch::Matchers::Contains;
  CHECK_THAT(errors_of(sip("topoopt", "degree: 3, interfaces_per_switch: 2")),
             Contains("f.yaml:4:22: degree: found 3; expected a multiple of interfaces_per_switch = 2"));
  CHECK_THAT(errors_of(sip("topoopt", "degree: 64, switches: look_ahead_panels")),
             Contains("expected at most 256 devices a node"));
  CHECK_THAT(errors_of(sip("topoopt", "switches: panels")),
             Contains("did you mean 'look_ahead_panels'?") || Contains("expected one of"));
  CHECK_THAT(errors_of(sip("topoopt", "panel_settle_max: 2 h")), Contains("panel_settle_max"));
}

TEST_CASE("unlawful_sip_parameters_are_refused_with_their_place") {
  using Catch::Matchers::Contains;
  CHECK_THAT(errors_of(sip("sip_ring", "nodes: 1")),
             Contains("f.yaml:4:21: nodes: found '1'; expected a whole number of 2..16384"));
  CHECK_THAT(errors_of(sip("sip_ring", "chanels: 8")),
             Contains("unknown key 'chanels'") && Contains("did you mean 'channels'?"));
  CHECK_THAT(errors_of(sip("sip_ring", "filter_fwhm: 30 GHz")), Contains("expected at least signal_width = 35 GHz"));
  CHECK_THAT(errors_of(sip("sip_ring", "filter_fwhm: 100 GHz")), Contains("less than channel_spacing = 100 GHz"));
  CHECK_THAT(errors_of(sip("sip_ring", "rings: 16")), Contains("expected at most 256 devices a node"));
  CHECK_THAT(errors_of(sip("sip_ring", "nodes: 16384, rings: 6, channels: 8")),
             Contains("found 16384 with 288 elements each; expected at most 4194304 elements in all"));
  CHECK_THAT(errors_of(sip("sip_ocs", "nodes: 16384, switches: 128")), Contains("elements each"));
  CHECK_THAT(errors_of(sip("sip_ocs", "switchs: 8")), Contains("did you mean 'switches'?"));
  CHECK_THAT(errors_of(sip("sip_ocs", "signal_width: 110 GHz")), Contains("is wider than a channel"));
  CHECK_THAT(errors_of("schema_version: 1\nkind: fabric\ntemplate: sip_ocs\nreturn_path: optikal\n"),
             Contains("f.yaml:4:14: return_path: found 'optikal'") && Contains("did you mean 'optical'?"));
}

TEST_CASE("the_version_and_kind_of_a_file_are_required") {
  using Catch::Matchers::Contains;
  CHECK_THAT(errors_of("kind: fabric\ntemplate: oddl\n"), Contains("lacks the key 'schema_version'"));
  CHECK_THAT(errors_of("schema_version: 2\nkind: fabric\ntemplate: oddl\n"),
             Contains("f.yaml:1:17: schema_version: found '2'; expected a whole number of 1..1"));
  CHECK_THAT(errors_of("schema_version: 1\nkind: scenario\ntemplate: oddl\n"), Contains("expected one of: fabric"));
  CHECK_THAT(errors_of("- 1\n"), Contains("found a list for the fabric file; expected a map"));
}

constexpr const char* kEveryKind = R"(schema_version: 1
kind: fabric
name: every-kind
architecture: bench
return_path: optical
nodes:
  - {name: n0, group: 3, transmitters: [tx], receivers: [rx]}
elements:
  - {name: tx, kind: transmitter, rate: 25 Gb/s, signal_width: 37.5 GHz, launch_power: 3 dBm, tunable: false, first_channel: 193.1 THz, channel_spacing: 50 GHz, channel_width: 50 GHz, channels: 4, retune_max: 10 ms, blank_max: 20 us}
  - {name: rx, kind: receiver, sensitivity: -12 dBm, overload: 5 dBm, acquisition_max: 2 us}
  - {name: couple, kind: coupler, inputs: 2, outputs: 2, insertion_loss: 3.5 dB}
  - {name: wss, kind: wavelength_selective_switch, inputs: 1, outputs: 4, isolation: 40 dB, passband_edge: 5 GHz, settle_max: 100 ms}
  - {name: awg, kind: arrayed_waveguide_grating, inputs: 1, outputs: 4, channels: 4, passband: 80 GHz, isolation: 30 dB}
  - {name: amp, kind: amplifier, gain: 20 dB, input_min: -30 dBm, input_max: 3 dBm}
  - {name: ring, kind: ring_filter, fwhm: 40 GHz, free_spectral_range: 2 THz, cold_resonance: 193.5 THz, tuning_efficiency: 20 GHz/mW, heater_resistance: 1.2 kohm, heater_voltage_max: 8.5 V}
  - {name: ocs, kind: optical_circuit_switch, inputs: 8, outputs: 8, settle_max: 25 ms}
  - {name: panel, kind: patch_panel, inputs: 2, outputs: 2, wiring: [1, 0]}
  - {name: voa, kind: attenuator, loss_max: 25 dB}
  - {name: monitor, kind: tap}
  - {name: packets, kind: packet_switch, inputs: 2, outputs: 3, port_rate: 25 Gb/s, latency: 500 ns}
  - {name: adder, kind: ring_filter, inputs: 2, cold_resonance: 193.5 THz, drop_loss: 0.9 dB, isolation: 35 dB}
fibres:
  - {from: tx, to: couple:1, length: 2.5 m, loss: 0.2 dB}
  - {from: couple:0, to: amp}
buses:
  - {name: line, agent: n0, endpoint: 'modbus-tcp://lab:502'}
  - {name: other, agent: n0}
devices:
  - {name: laser, kind: table_laser, agent: n0, bus: line, elements: [tx]}
  - {name: bank, kind: heater_bank, agent: n0, bus: line, bus_address: 7, elements: [ring]}
  - {name: the-wss, kind: wss, agent: n0, bus: other, elements: [wss]}
  - {name: the-ocs, kind: ocs, agent: n0, bus: other, elements: [ocs]}
)";

TEST_CASE("the_explicit_form_covers_every_kind_of_element") {
  const auto fabric = read(kEveryKind);
  REQUIRE(errors_of(kEveryKind) == "");
  const Fabric& f = *fabric.value;
  for (std::size_t kind = 0; kind < std::variant_size_v<ElementKind>; ++kind) {
    REQUIRE(f.elements[kind].kind.index() == kind);
  }
  const auto& tx = std::get<Transmitter>(f.elements[0].kind);
  CHECK(tx.rate == gigabits(25));
  CHECK(tx.launch_power == Dbm{300});
  CHECK_FALSE(tx.tunable);
  CHECK(tx.channels == ChannelPlan{{0, 4}, 8, 4});
  CHECK(tx.blank_max == std::chrono::microseconds{20});
  CHECK(std::get<Receiver>(f.elements[1].kind).sensitivity == Dbm{-1200});
  CHECK(f.elements[2].insertion_loss == Db{350});
  CHECK(f.elements[3].outputs == 4);
  CHECK(std::get<WavelengthSelectiveSwitch>(f.elements[3].kind).passband_edge == FrequencyOffset{5'000});
  CHECK(std::get<ArrayedWaveguideGrating>(f.elements[4].kind).isolation == Db{3000});
  CHECK(std::get<Amplifier>(f.elements[5].kind).input_max == Dbm{300});
  const auto& ring = std::get<RingFilter>(f.elements[6].kind);
  CHECK(ring.mhz_per_milliwatt == 20'000.0);
  CHECK(ring.heater_ohm == 1'200.0);
  CHECK(ring.heater_volt_max == 8.5);
  CHECK(ring.cold_resonance == Frequency{193'500'000});
  CHECK(std::get<OpticalCircuitSwitch>(f.elements[7].kind).settle_max == std::chrono::milliseconds{25});
  CHECK(std::get<PatchPanel>(f.elements[8].kind).wiring == std::vector<PortNumber>{1, 0});
  CHECK(std::get<Attenuator>(f.elements[9].kind).loss_max == Db{2500});
  CHECK(f.elements[10].outputs == 2);
  CHECK(std::get<PacketSwitch>(f.elements[11].kind).port_rate == gigabits(25));
  CHECK(std::get<PacketSwitch>(f.elements[11].kind).latency == std::chrono::nanoseconds{500});
  CHECK(f.elements[6].inputs == 1);
  CHECK(f.elements[12].inputs == 2);
  CHECK(std::get<RingFilter>(f.elements[12].kind).drop_loss == Db{90});
  CHECK(std::get<RingFilter>(f.elements[12].kind).isolation == Db{3'500});
  CHECK(f.return_path == ReturnPath::optical);
  CHECK(f.fibres[0].to == PortRef{{2}, 1});
  CHECK(f.fibres[0].length_mm == 2'500);
  CHECK(f.devices[1].bus_address == 7);
  CHECK(f.buses[1].endpoint == "sim");
  CHECK(f.nodes[0].group == 3);
  CHECK(f.fibre_in[2][1] == FibreId{0});
}

/// kEveryKind with one piece of text replaced.
std::string with(std::string_view from, std::string_view to) {
  std::string text = kEveryKind;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("references_that_dangle_are_refused_with_the_nearest_name") {
  using Catch::Matchers::Contains;
  CHECK(errors_of(with("to: amp}", "to: anp}")) == "f.yaml:24:26: there is no element 'anp'; did you mean 'amp'?\n");
  CHECK_THAT(errors_of(with("elements: [ring]", "elements: [rign]")),
             Contains("there is no element 'rign'; did you mean 'ring'?"));
  CHECK_THAT(errors_of(with("{name: other, agent: n0}", "{name: other, agent: n1}")),
             Contains("there is no node 'n1'; did you mean 'n0'?"));
  CHECK_THAT(errors_of(with("bus: line,", "bus: lime,")), Contains("there is no bus 'lime'; did you mean 'line'?"));
  CHECK_THAT(errors_of(with("transmitters: [tx]", "transmitters: [tz]")), Contains("there is no element 'tz'"));
}

TEST_CASE("unlawful_explicit_fabrics_are_refused_with_their_place") {
  using Catch::Matchers::Contains;
  CHECK_THAT(errors_of(with("couple:1", "couple:2")),
             Contains("f.yaml:23:") && Contains("found input 2 of 'couple'; expected one of its 2 inputs"));
  CHECK_THAT(errors_of(with("couple:1", "couple:x")), Contains("expected ELEMENT or ELEMENT:PORT"));
  CHECK_THAT(errors_of(with("from: couple:0, to: amp", "from: tx, to: amp")),
             Contains("another fibre is at output 0 of 'tx' already"));
  CHECK_THAT(errors_of(with("name: awg,", "name: wss,")), Contains("the element 'wss' exists already"));
  CHECK_THAT(errors_of(with("elements: [ocs]", "elements: [awg]")),
             Contains("'awg' is of kind arrayed_waveguide_grating; a device of kind ocs cannot drive it"));
  CHECK_THAT(errors_of(with("elements: [ring]", "elements: []")), Contains("expected at least one"));
  CHECK_THAT(errors_of(with("receivers: [rx]", "receivers: [tx]")),
             Contains("'tx' is no receiver") && Contains("belongs to a node already"));
  CHECK_THAT(errors_of(with("wiring: [1, 0]", "wiring: [1, 1]")), Contains("expected each of 0..1 at most once"));
  CHECK_THAT(errors_of(with("wiring: [1, 0]", "wiring: [1]")), Contains("expected one for each of the 2 inputs"));
  CHECK_THAT(errors_of(with("kind: tap", "kind: tab")), Contains("kind: found 'tab'") && Contains("did you mean 'tap'?"));
  CHECK_THAT(
      errors_of(with("kind: ocs, agent", "kind: osc, agent")),
      Catch::Matchers::StartsWith("f.yaml:32:27: kind: found 'osc'; expected one of: ") && Contains("did you mean 'ocs'?"));
  CHECK_THAT(errors_of(with("kind: tap", "kind: tap, outputs: 3")), Contains("unknown key 'outputs' in the element"));
  CHECK_THAT(errors_of(with("overload: 5 dBm", "overload: -15 dBm")),
             Contains("expected more than the sensitivity of -12 dBm"));
  CHECK_THAT(errors_of(with("name: voa", "name: 'v:oa'")), Contains("expected a name of letters, digits"));
  CHECK_THAT(errors_of(with("modbus-tcp://lab:502", "modbus-tcp://lab")), Contains("expected modbus-tcp://HOST:PORT"));
  CHECK_THAT(errors_of(with("modbus-tcp://lab:502", "http://lab/waveshaper")),
             Contains("expected http://HOST or http://HOST:PORT"));
  CHECK_THAT(errors_of(with("modbus-tcp://lab:502", "http://lab:0")), Contains("expected http://HOST or http://HOST:PORT"));
  CHECK_THAT(errors_of(with("modbus-tcp://lab:502", "modbus://lab:502")), Contains("expected sim, modbus-tcp://HOST:PORT"));
  CHECK_THAT(errors_of(with("signal_width: 37.5 GHz", "signal_width: 60 GHz")), Contains("is wider than a channel"));
  CHECK_THAT(errors_of(with("elements: [wss]", "elements: [tx]")),
             Contains("cannot drive it") && Contains("has a driver already"));
}

TEST_CASE("a_laser_that_tunes_lit_shares_no_glass_before_a_switch") {
  using Catch::Matchers::Contains;
  CHECK_THAT(errors_of(with("signal_width: 37.5 GHz", "signal_width: 37.5 GHz, tunes: lit")),
             Contains("transmitter tx tunes lit, and its light shares couple with others before a switch that blocks it"));
  for (const char* tunes : {"tunes: dark", "tunes: blanked, enable_max: 1.5 s"}) {
    CHECK(errors_of(with("signal_width: 37.5 GHz", std::string("signal_width: 37.5 GHz, ") + tunes)).empty());
  }
  CHECK_THAT(errors_of(with("signal_width: 37.5 GHz", "signal_width: 37.5 GHz, tunes: blank")),
             Contains("tunes: found 'blank'"));
}

TEST_CASE("a_wss_has_one_common_port") {
  CHECK_THAT(errors_of(with("kind: wavelength_selective_switch, inputs: 1,", "kind: wavelength_selective_switch, inputs: 2,")),
             Catch::Contains("'wss' has 2 inputs and 4 outputs; a device of kind wss has one common port"));
}

TEST_CASE("errors_of_a_whole_file_come_together") {
  std::string text = with("kind: tap", "kind: tap, colour: red");
  text.replace(text.find("gain: 20 dB"), 11, "gain: 20 mW");
  text.replace(text.find("bus_address: 7"), 14, "bus_address: 0x7");
  const auto fabric = read(text);
  CHECK(fabric.errors.size() == 3);
}

}  // namespace
}  // namespace loom
