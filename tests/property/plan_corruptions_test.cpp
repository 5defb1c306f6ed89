// SPDX-License-Identifier: Apache-2.0
// Thousands of corruptions a rule: an accepted plan (or its fabric) is damaged grossly so that the rule is broken, and verify
// must say so by the rule's name. Each check at its border, with its evidence, is tried in tests/unit/verify_*_test.cpp.
#include <algorithm>
#include <catch2/catch.hpp>

#include "controller/plan/verify/verify.hpp"
#include "tests/property/plan_worlds.hpp"

namespace {

using namespace loom;
using namespace loom::testing;

struct Case {
  Fabric fabric;
  Plan plan;
  const Plan* base = nullptr;
  Intent intent;
};

using Corruption = bool (*)(Chance&, Case&);  ///< false: this case offers nothing to damage

const std::vector<Accepted>& accepted_plans() {
  static const std::vector<Accepted> plans = [] {
    std::vector<Accepted> all;
    for (std::uint64_t seed = 5'001; seed <= 5'040; ++seed) {
      std::string fault;
      for (Accepted& one : walk(seed, 6, fault).accepted) {
        all.push_back(std::move(one));
      }
    }
    return all;
  }();
  return plans;
}

void refresh_ends(Plan& plan) {
  for (NodePlan& node : plan.nodes.edit_all()) {
    node.ends.clear();
  }
  for (const Circuit& circuit : plan.circuits) {
    plan.nodes.edit(circuit.source.value).ends.push_back({circuit.id, circuit.job, true});
    plan.nodes.edit(circuit.destination.value).ends.push_back({circuit.id, circuit.job, false});
  }
}

DevicePlan& plan_of(Case& c, DeviceId id) {
  auto& devices = c.plan.nodes.edit(c.fabric.device(id).agent.value).devices;
  return *std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& plan) { return plan.device == id; });
}

DevicePlan& laser_of(Case& c, const Circuit& circuit) {
  return plan_of(c, *c.fabric.device_of_element[circuit.transmitter.value]);
}

DevicePlan& bank_of(Case& c, const Circuit& circuit) {
  const FibreId fibre = *c.fabric.fibre_in[circuit.receiver.value][0];
  return plan_of(c, *c.fabric.device_of_element[c.fabric.fibres[fibre.value].from.element.value]);
}

const Circuit* any_circuit(Chance& chance, const Case& c) {
  return c.plan.circuits.empty() ? nullptr : &c.plan.circuits[chance.below(static_cast<std::uint32_t>(c.plan.circuits.size()))];
}

/// The source WSS's route of a circuit.
WssRoute* route_of(Case& c, const Circuit& circuit, DevicePlan*& switching) {
  const std::uint32_t group = c.fabric.nodes[circuit.source.value].group;
  for (const Device& device : c.fabric.devices) {
    if (device.name == "wss-out-" + std::to_string(group)) {
      switching = &plan_of(c, device.id);
      for (WssRoute& route : std::get<WavelengthSwitchSetpoint>(switching->timeline[0].setpoint).routes) {
        if (route.slot == circuit.slot) {
          return &route;
        }
      }
    }
  }
  return nullptr;
}

template <class Kind, class Change>
bool change_elements(Case& c, Change change) {
  for (Element& element : c.fabric.elements) {
    if (auto* kind = std::get_if<Kind>(&element.kind)) {
      change(*kind);
    }
  }
  return true;
}

// --- one function a rule -------------------------------------------------------------------------------------------------

bool break_structure(Chance& chance, Case& c) {
  NodePlan& node = c.plan.nodes.edit(chance.below(static_cast<std::uint32_t>(c.plan.nodes.size())));
  DevicePlan& device = node.devices[chance.below(static_cast<std::uint32_t>(node.devices.size()))];
  switch (chance.below(8)) {
    case 0:
      node.devices.pop_back();
      return true;
    case 1:
      node.revision.value = c.plan.revision.value + 1;
      return true;
    case 2:
      node.revision = c.plan.revision;
      node.base.value = c.plan.base.value + 1;
      return true;
    case 3:
      device.timeline.clear();
      return true;
    case 4:
      device.device.value += 1;
      return true;
    case 5:
      node.ends.push_back({});
      return true;
    case 6:
      c.plan.nodes.pop_back();
      return true;
    default:
      device.timeline[0].setpoint = CircuitSwitchSetpoint{};
      return true;
  }
}

bool break_laser_range(Chance& chance, Case& c) {
  NodePlan& node = c.plan.nodes.edit(chance.below(static_cast<std::uint32_t>(c.plan.nodes.size())));
  auto& laser = std::get<TransmitterSetpoint>(node.devices[0].timeline[0].setpoint);
  switch (chance.below(4)) {
    case 0:
      laser.slot.n += 1 + static_cast<std::int32_t>(chance.below(15));
      return true;
    case 1:
      laser.slot.n += 16 * (64 + static_cast<std::int32_t>(chance.below(100)));
      return true;
    case 2:
      laser.power.centi += 1 + static_cast<std::int32_t>(chance.below(1'000));
      return true;
    default:
      laser.power.centi -= 601 + static_cast<std::int32_t>(chance.below(1'000));
      return true;
  }
}

bool break_heater_ceiling(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (circuit == nullptr) {
    return false;
  }
  auto& resonance = std::get<FilterSetpoint>(bank_of(c, *circuit).timeline[0].setpoint).rings.at(0).resonance;
  resonance.mhz += chance.one_in(2) ? 10'000'000 + chance.below(1'000'000)
                                    : -10'000'000 - static_cast<std::int64_t>(chance.below(1'000'000));
  return true;
}

bool break_guard(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (circuit == nullptr) {
    return false;
  }
  auto& timeline = laser_of(c, *circuit).timeline;
  if (timeline[0].hold == kForever) {
    auto& rings = bank_of(c, *circuit).timeline;
    rings.insert(rings.begin(), {Duration{}, Duration{}, Duration{}, FilterSetpoint{}});
    return true;  // a bank that moves inside a stage
  }
  const std::uint32_t at = chance.below(static_cast<std::uint32_t>(timeline.size()));
  if (at > 0 && chance.one_in(2)) {
    timeline[at].offset -= Duration{1 + chance.below(1'000'000)};
    return true;
  }
  if (!emits(timeline[at].setpoint)) {
    return false;
  }
  timeline[at].guard -= Duration{1 + chance.below(1'000'000)};
  return true;
}

bool break_lasers_off(Chance&, Case& c) {
  c.intent.lasers_off = true;
  return !c.plan.circuits.empty();
}

bool break_continuity(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (circuit == nullptr) {
    return false;
  }
  DevicePlan* switching = nullptr;
  WssRoute* route = route_of(c, *circuit, switching);
  auto& routes = std::get<WavelengthSwitchSetpoint>(switching->timeline[0].setpoint).routes;
  switch (chance.below(3)) {
    case 0:
      routes.erase(routes.begin() + (route - routes.data()));
      return true;
    case 1:
      for (TimedSetpoint& entry : laser_of(c, *circuit).timeline) {
        entry.setpoint = darkened(entry.setpoint);
      }
      return true;
    default:
      std::get<FilterSetpoint>(bank_of(c, *circuit).timeline[0].setpoint).rings.clear();
      return true;
  }
}

bool break_coupler(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (circuit == nullptr) {
    return false;
  }
  const Node& other = c.fabric.nodes[chance.below(static_cast<std::uint32_t>(c.fabric.nodes.size()))];
  if (other.id == circuit->source || other.group != c.fabric.nodes[circuit->source.value].group) {
    return false;
  }
  c.plan.nodes.edit(other.id.value).devices[0].timeline = laser_of(c, *circuit).timeline;
  c.plan.nodes.edit(other.id.value).cycle = c.plan.nodes[circuit->source.value].cycle;
  return true;
}

bool break_endpoint(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (circuit == nullptr) {
    return false;
  }
  Circuit twin = *circuit;
  twin.id.value = c.plan.circuits.back().id.value + 1;
  c.plan.circuits.push_back(twin);
  refresh_ends(c.plan);
  return true;
}

bool break_stray_light(Chance& chance, Case& c) {
  if (!c.plan.circuits.empty() && chance.one_in(2)) {
    c.plan.circuits.erase(c.plan.circuits.begin() + chance.below(static_cast<std::uint32_t>(c.plan.circuits.size())));
    refresh_ends(c.plan);
    return true;
  }
  NodePlan& node = c.plan.nodes.edit(chance.below(static_cast<std::uint32_t>(c.plan.nodes.size())));
  auto& laser = std::get<TransmitterSetpoint>(node.devices[0].timeline[0].setpoint);
  if (node.devices[0].timeline.size() > 1 || laser.emit) {
    return false;
  }
  laser.emit = true;
  return true;
}

bool break_ring_tuning(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (circuit == nullptr) {
    return false;
  }
  auto& rings = std::get<FilterSetpoint>(bank_of(c, *circuit).timeline[0].setpoint).rings;
  if (chance.one_in(4)) {
    rings.clear();
  } else {
    const std::int64_t offset = 5'001 + chance.below(500'000);
    rings.at(0).resonance.mhz += chance.one_in(2) ? offset : -offset;
  }
  return true;
}

bool break_aliasing(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (circuit == nullptr) {
    return false;
  }
  const std::int32_t shift = chance.one_in(2) ? 1 : -1;  // half a grid step passes the WSS and misses the grating's comb
  bool emitting = false;
  for (TimedSetpoint& entry : laser_of(c, *circuit).timeline) {
    auto& laser = std::get<TransmitterSetpoint>(entry.setpoint);
    laser.slot.n += shift;
    emitting = emitting || laser.emit;
  }
  return emitting;
}

bool break_passband(Chance& chance, Case& c) {
  if (c.plan.circuits.empty()) {
    return false;
  }
  const FrequencyOffset narrow{1'000 + chance.below(73'000)};
  switch (chance.below(4)) {
    case 0:
      return change_elements<ArrayedWaveguideGrating>(c, [&](auto& grating) { grating.passband = narrow; });
    case 1:
      return change_elements<RingFilter>(c, [&](auto& ring) { ring.fwhm = narrow; });
    case 2:
      return change_elements<Transmitter>(c, [&](auto& tx) { tx.signal_width = {90'001 + narrow.mhz}; });
    default:
      return change_elements<WavelengthSelectiveSwitch>(c, [&](auto& wss) { wss.passband_edge = {12'501 + narrow.mhz}; });
  }
}

bool break_amplifier(Chance& chance, Case& c) {
  if (c.plan.circuits.empty()) {
    return false;
  }
  const auto by = static_cast<std::int32_t>(chance.below(1'000));
  if (chance.one_in(2)) {
    return change_elements<Amplifier>(c, [&](auto& amplifier) { amplifier.input_max = Dbm{-2'000 - by}; });
  }
  return change_elements<Amplifier>(c, [&](auto& amplifier) { amplifier.input_min = Dbm{1'500 + by}; });
}

bool break_link_budget(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (circuit == nullptr) {
    return false;
  }
  DevicePlan* switching = nullptr;
  const auto by = static_cast<std::int32_t>(chance.below(1'000));
  switch (chance.below(3)) {
    case 0:
      route_of(c, *circuit, switching)->attenuation = Db{1'000 + by};
      return true;
    case 1:
      return change_elements<Receiver>(c, [&](auto& receiver) { receiver.sensitivity = Dbm{100 + by}; });
    default:
      return change_elements<Receiver>(c, [&](auto& receiver) { receiver.overload = Dbm{-600 - by}; });
  }
}

bool break_crosstalk(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  const auto steady = [&](const Circuit& one) { return laser_of(c, one).timeline[0].hold == kForever; };
  if (circuit == nullptr || !steady(*circuit)) {
    return false;
  }
  const auto interferes = [&](const Circuit& other) {
    return other.slot == circuit->slot && other.source != circuit->source && steady(other);
  };
  if (std::none_of(c.plan.circuits.begin(), c.plan.circuits.end(), interferes)) {
    return false;
  }
  const Db isolation{static_cast<std::int32_t>(chance.below(900))};
  return change_elements<WavelengthSelectiveSwitch>(c, [&](auto& wss) { wss.isolation = isolation; });
}

bool break_job_isolation(Chance& chance, Case& c) {
  IsolationCertificate& certificate = c.plan.certificate;
  switch (chance.below(4)) {
    case 0:
      certificate.physically_isolated = !certificate.physically_isolated;
      return true;
    case 1:
      certificate.wavelength_isolated = false;
      return true;
    case 2:
      certificate.shared_amplifiers.push_back(ElementId{chance.below(99)});
      return true;
    default:
      break;
  }
  const Circuit* circuit = any_circuit(chance, c);
  const auto same_laser = [&](const Circuit& other) {
    return other.transmitter == circuit->transmitter && other.id != circuit->id;
  };
  if (circuit == nullptr || std::none_of(c.plan.circuits.begin(), c.plan.circuits.end(), same_laser)) {
    return false;
  }
  c.plan.circuits[static_cast<std::size_t>(circuit - c.plan.circuits.data())].job.value += 1'000;
  refresh_ends(c.plan);
  return true;
}

bool break_moving_port(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (c.base == nullptr || circuit == nullptr || laser_of(c, *circuit).touched) {
    return false;
  }
  DevicePlan* moving = nullptr;
  if (chance.one_in(2)) {
    const WssRoute* route = route_of(c, *circuit, moving);
    auto& routes = std::get<WavelengthSwitchSetpoint>(moving->timeline[0].setpoint).routes;
    routes.erase(routes.begin() + (route - routes.data()));
  } else {
    moving = &bank_of(c, *circuit);
    std::get<FilterSetpoint>(moving->timeline[0].setpoint).rings.at(0).resonance.mhz += 1 + chance.below(5'000);
  }
  moving->touched = true;
  take_part(c.fabric.device(moving->device).agent, c.plan);
  return true;
}

bool break_untouched(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (c.base == nullptr || circuit == nullptr || laser_of(c, *circuit).touched) {
    return false;
  }
  switch (chance.below(3)) {
    case 0:
      laser_of(c, *circuit).touched = true;
      return true;
    case 1:
      return break_moving_port(chance, c);
    default:
      c.plan.circuits[static_cast<std::size_t>(circuit - c.plan.circuits.data())].rate.bits_per_second += 1 + chance.below(99);
      return true;
  }
}

bool break_declaration(Chance& chance, Case& c) {
  const auto drop = [&](auto& list) {
    if (list.empty()) {
      return false;
    }
    list.erase(list.begin() + chance.below(static_cast<std::uint32_t>(list.size())));
    return true;
  };
  const std::uint32_t which = chance.below(5);
  switch (which) {
    case 0:
      return drop(c.plan.changed);
    case 1:
      return drop(c.plan.moved_steering);
    case 2:
      return drop(c.plan.touched);
    default:
      break;
  }
  NodePlan& node = c.plan.nodes.edit(chance.below(static_cast<std::uint32_t>(c.plan.nodes.size())));
  DevicePlan& device = node.devices[chance.below(static_cast<std::uint32_t>(node.devices.size()))];
  if (which == 3) {
    return drop(device.may_hold);
  }
  const bool was = device.touched;
  device.touched = false;
  return was;
}

bool break_light_certificate(Chance& chance, Case& c) {
  LightMargins& light = c.plan.certificate.light;
  if (light.circuits == 0) {
    return false;
  }
  switch (chance.below(4)) {
    case 0:
      light.link_margin.centi += 1 + static_cast<std::int32_t>(chance.below(100));
      return true;
    case 1:
      light.crosstalk.centi -= 1 + static_cast<std::int32_t>(chance.below(100));
      return true;
    case 2:
      light.dipped += 1;
      return true;
    default:
      light.circuits += 1;
      return true;
  }
}

bool break_fibre_power(Chance& chance, Case& c) {
  const Circuit* circuit = any_circuit(chance, c);
  if (circuit == nullptr) {
    return false;
  }
  const auto& laser = std::get<TransmitterSetpoint>(laser_of(c, *circuit).timeline[0].setpoint);
  const FibreId fibre = *c.fabric.fibre_out[circuit->transmitter.value][0];
  (chance.one_in(2) ? c.fabric.fibres[fibre.value].power_limit : c.fabric.power_limit) =
      laser.power - Db{1 + static_cast<std::int32_t>(chance.below(2'000))};
  return true;
}

/// 2,000 corruptions that apply, each refused by name.
void refuses(std::string_view rule, Corruption corrupt, std::uint64_t seed) {
  constexpr std::uint32_t kCorruptions = 2'000;
  Chance chance(seed);
  const auto& plans = accepted_plans();
  std::uint32_t tried = 0;
  for (std::uint32_t applied = 0; applied < kCorruptions; ++tried) {
    REQUIRE(tried < 200 * kCorruptions);
    const Accepted& one = plans[chance.below(static_cast<std::uint32_t>(plans.size()))];
    if (one.fabric->nodes.size() > 16) {
      continue;
    }
    Case c{*one.fabric, one.result->plan, one.base ? &one.base->plan : nullptr, one.result->intent};
    if (!corrupt(chance, c)) {
      continue;
    }
    ++applied;
    const auto found = verify(c.fabric, c.plan, c.base, c.intent);
    const bool named =
        std::any_of(found.begin(), found.end(), [&](const PlanViolation& violation) { return violation.rule == rule; });
    if (!named) {
      for (const PlanViolation& violation : found) {
        UNSCOPED_INFO(violation.rule << ": " << violation.evidence);
      }
      FAIL("rule " << rule << " accepted corruption " << applied << " of seed " << seed << " (draw " << tried << ")");
    }
  }
  SUCCEED("every corruption was refused");
}

TEST_CASE("refuses_a_slice_that_is_not_whole") { refuses(rules::kNodePlanComplete, break_structure, 101); }
TEST_CASE("refuses_a_laser_out_of_range") { refuses(rules::kLaserRange, break_laser_range, 102); }
TEST_CASE("refuses_a_ring_beyond_its_heater") { refuses(rules::kHeaterCeiling, break_heater_ceiling, 103); }
TEST_CASE("refuses_too_short_a_guard") { refuses(rules::kGuardTime, break_guard, 104); }
TEST_CASE("refuses_light_while_lasers_are_off") { refuses(rules::kLasersOff, break_lasers_off, 105); }
TEST_CASE("refuses_a_circuit_whose_light_does_not_arrive") { refuses(rules::kContinuity, break_continuity, 106); }
TEST_CASE("refuses_one_wavelength_twice_on_a_segment") { refuses(rules::kOncePerSegment, break_coupler, 107); }
TEST_CASE("refuses_two_transmitters_of_one_wavelength_at_a_coupler") { refuses(rules::kOncePerCoupler, break_coupler, 108); }
TEST_CASE("refuses_an_endpoint_in_two_circuits") { refuses(rules::kEndpointOnce, break_endpoint, 109); }
TEST_CASE("refuses_light_that_nobody_asked_for") { refuses(rules::kStrayLight, break_stray_light, 110); }
TEST_CASE("refuses_a_receiver_ring_beside_its_light") { refuses(rules::kRingTuned, break_ring_tuning, 111); }
TEST_CASE("refuses_light_of_another_order") { refuses(rules::kAliasing, break_aliasing, 112); }
TEST_CASE("refuses_a_signal_wider_than_its_passband") { refuses(rules::kPassband, break_passband, 113); }
TEST_CASE("refuses_an_amplifier_out_of_its_input_range") { refuses(rules::kAmplifierInput, break_amplifier, 114); }
TEST_CASE("refuses_a_link_that_does_not_close") { refuses(rules::kLinkBudget, break_link_budget, 115); }
TEST_CASE("refuses_more_light_than_a_fibre_may_carry") { refuses(rules::kFibrePower, break_fibre_power, 122); }
TEST_CASE("refuses_crosstalk_above_the_limit") { refuses(rules::kCrosstalk, break_crosstalk, 116); }
TEST_CASE("refuses_a_false_isolation_certificate") { refuses(rules::kJobIsolation, break_job_isolation, 117); }
TEST_CASE("refuses_margins_that_the_light_does_not_have") { refuses(rules::kCertificateLight, break_light_certificate, 121); }
TEST_CASE("refuses_light_through_a_port_that_moves") { refuses(rules::kMovingPort, break_moving_port, 118); }
TEST_CASE("refuses_a_kept_circuit_that_is_touched") { refuses(rules::kUnchangedUntouched, break_untouched, 119); }
TEST_CASE("refuses_a_change_that_is_not_declared") { refuses(rules::kChangeDeclared, break_declaration, 120); }

}  // namespace
