// SPDX-License-Identifier: Apache-2.0
// Which devices steer other agents' light follows from the fabric's graph: on every architecture, and where somebody moves a
// device to another agent.
#include <catch2/catch.hpp>

#include <algorithm>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/sip_ocs/fabric.hpp"
#include "controller/architectures/sip_ring/fabric.hpp"
#include "controller/architectures/topoopt/fabric.hpp"
#include "core/fabric/fabric.hpp"
#include "core/ring/ring.hpp"

namespace loom {
namespace {

bool is_named(const Device& device, const std::string& prefix) { return device.name.rfind(prefix, 0) == 0; }

/// All devices whose name begins so steer, or none does; there is one at least.
void check_steers(const Fabric& fabric, const std::string& prefix, bool expected) {
  std::size_t count = 0;
  for (const Device& device : fabric.devices) {
    if (is_named(device, prefix)) {
      CAPTURE(device.name);
      ++count;
      CHECK(fabric.steers_others[device.id.value] == expected);
    }
  }
  CAPTURE(prefix);
  CHECK(count > 0);
}

Fabric oddl(OddlInside inside, OddlReceiver receiver) {
  OddlParameters parameters;
  parameters.nodes = 8;
  parameters.group_size = 4;
  parameters.channels = 8;
  parameters.inside = inside;
  parameters.receiver = receiver;
  return make_oddl(parameters);
}

/// Two nodes, each with a laser, a switch of its own behind it, and a common switch.
Fabric two_nodes_with_switches() {
  TopooptParameters parameters;
  parameters.nodes = 2;
  parameters.degree = 1;
  parameters.layer = TopooptLayer::look_ahead_panels;
  return make_topoopt(parameters);
}

/// The panels become something that nobody drives.
void put_instead_of_panels(Fabric& fabric, const ElementKind& kind) {
  for (Element& element : fabric.elements) {
    if (element.name.rfind("panel-", 0) == 0) {
      element.kind = kind;
    }
  }
  std::erase_if(fabric.devices, [](const Device& device) { return is_named(device, "panel-"); });
  for (std::size_t i = 0; i < fabric.devices.size(); ++i) {
    fabric.devices[i].id = DeviceId{static_cast<std::uint32_t>(i)};
  }
  build_index(fabric);
}

}  // namespace

TEST_CASE("on_oddl_the_heaters_of_receivers_steer_as_the_wss_do") {
  const Fabric rings = oddl(OddlInside::combiner, OddlReceiver::ring);
  check_steers(rings, "laser-", false);
  check_steers(rings, "heater-", true);
  check_steers(rings, "wss-", true);
  check_steers(oddl(OddlInside::awgr, OddlReceiver::open), "wss-", true);
}

TEST_CASE("on_a_ring_of_fibre_every_filter_steers_what_passes_by") {
  SipRingParameters parameters;
  parameters.nodes = 4;
  const Fabric fabric = make_sip_ring(parameters);
  check_steers(fabric, "laser-", false);
  check_steers(fabric, "heater-", true);
}

TEST_CASE("circuit_switches_steer_and_the_1x2_switch_of_one_laser_does_not") {
  SipOcsParameters parameters;
  parameters.nodes = 4;
  parameters.switches = 2;
  check_steers(make_sip_ocs(parameters), "ocs-", true);
  TopooptParameters topoopt;
  topoopt.nodes = 4;
  topoopt.degree = 2;
  check_steers(make_topoopt(topoopt), "ocs-", true);
  const Fabric panels = two_nodes_with_switches();
  check_steers(panels, "panel-", true);
  check_steers(panels, "flip-rx-", true);   // whoever the panels join to it
  check_steers(panels, "flip-tx-", false);  // its own laser's light alone
}

TEST_CASE("nothing_steers_where_one_agent_drives_everything") {
  Fabric fabric = oddl(OddlInside::combiner, OddlReceiver::ring);
  for (Device& device : fabric.devices) {
    device.agent = NodeId{0};
  }
  build_index(fabric);
  CHECK(std::none_of(fabric.steers_others.begin(), fabric.steers_others.end(), [](bool steers) { return steers; }));
}

TEST_CASE("a_switch_that_another_agent_drives_steers_the_light_of_the_laser_before_it") {
  Fabric fabric = two_nodes_with_switches();
  for (Device& device : fabric.devices) {
    device.agent = is_named(device, "flip-tx-0") ? NodeId{1} : device.agent;
  }
  build_index(fabric);
  check_steers(fabric, "flip-tx-0", true);
  check_steers(fabric, "flip-tx-1", false);
}

TEST_CASE("light_that_cannot_come_to_a_device_does_not_make_it_steer") {
  Fabric fabric = two_nodes_with_switches();
  put_instead_of_panels(fabric, PatchPanel{{0, 1}});  // wired for good, each server to itself
  check_steers(fabric, "flip-rx-", false);
  put_instead_of_panels(fabric, PatchPanel{{1, 0}});
  check_steers(fabric, "flip-rx-", true);
}

TEST_CASE("a_packet_switch_passes_no_light_on") {
  Fabric fabric = two_nodes_with_switches();
  put_instead_of_panels(fabric, PacketSwitch{gigabits(100), Duration{}});
  check_steers(fabric, "flip-rx-", false);
}

TEST_CASE("a_ring_resonates_within_half_a_width_of_any_tooth_of_its_comb") {
  RingFilter ring;
  ring.fwhm = FrequencyOffset{100'000};
  ring.cold_resonance = Frequency{193'800'000};
  const Frequency stands{193'100'000};
  CHECK(resonates(ring, stands, Frequency{193'150'000}));
  CHECK_FALSE(resonates(ring, stands, Frequency{193'150'001}));
  CHECK_FALSE(resonates(ring, stands, Frequency{195'100'000}));
  ring.free_spectral_range = FrequencyOffset{2'000'000};
  CHECK(resonates(ring, stands, Frequency{195'150'000}));
  CHECK(resonates(ring, stands, Frequency{191'050'000}));
  CHECK(resonance_distance(ring, Frequency{195'160'000}, stands) == FrequencyOffset{60'000});
  CHECK(resonance_at(ring, 0) == ring.cold_resonance);
  ring.heater_ohm = 1'000;
  ring.mhz_per_milliwatt = 37'000;
  CHECK(resonance_at(ring, 1'000) == ring.cold_resonance - FrequencyOffset{37'000});  // 1 V on 1 kOhm is 1 mW
}

TEST_CASE("volts_by_hand_are_a_resonance_within_the_limits_of_the_ring") {
  RingFilter ring;
  ring.cold_resonance = Frequency{193'800'000};
  ring.heater_volt_max = 8.5;
  CHECK(resonance_by_hand(ring, 2'500).value() == ring.cold_resonance - FrequencyOffset{231'250});  // 6.25 mW
  CHECK(resonance_by_hand(ring, 8'500).has_value());
  CHECK(resonance_by_hand(ring, 8'501).error().message == "8501 mV, limit 8500 mV (heater_voltage_max)");
  ring.free_spectral_range = FrequencyOffset{592'000};  // 16 mW, 4 V
  CHECK(resonance_by_hand(ring, 3'999).has_value());
  const Error folded = resonance_by_hand(ring, 5'000).error();
  CHECK(folded.code == ErrorCode::out_of_range);
  CHECK(folded.message ==
        "5000 mV move it by 925000 MHz, which is more than its free spectral range of 592000 MHz: 3000 mV do the same");
}

}  // namespace loom
