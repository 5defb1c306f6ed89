// SPDX-License-Identifier: Apache-2.0
// A fabric and a plan by hand, for verify at its borders. Nothing here comes from a template, a scheduler or lower, so each
// number of a test is one that the test wrote; a plan declares its own changes the way that verify demands.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "controller/plan/verify/verify.hpp"

namespace loom::testing {

using Texts = std::vector<std::string>;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Channel `k` of the combs below: 100 GHz apart, 100 GHz wide, from 193.1 THz up.
inline FrequencySlot wavelength(std::int32_t k) { return {16 * k, 8}; }

/// 0 dBm, 75 GHz wide, eight channels. From a command to another wavelength's light: 0.1 + 10 + 20 ms and what the receiver
/// needs.
inline Transmitter some_transmitter() {
  Transmitter transmitter;
  transmitter.rate = gigabits(100);
  transmitter.signal_width = {75'000};
  transmitter.launch_power = Dbm{0};
  transmitter.channels = {wavelength(0), 16, 8};
  transmitter.retune_max = milliseconds{10};
  transmitter.blank_max = microseconds{100};
  transmitter.control_max = milliseconds{20};
  return transmitter;
}

/// -10 to +4 dBm; a microsecond from light to link.
inline Receiver some_receiver() { return {Dbm{-1'000}, Dbm{400}, microseconds{1}}; }

/// Cold half a channel above wavelength 0, where nothing is.
inline RingFilter some_ring() {
  RingFilter ring;
  ring.fwhm = {80'000};
  ring.cold_resonance = {193'150'000};
  ring.mhz_per_milliwatt = 37'000;
  ring.heater_ohm = 1'000;
  ring.heater_volt_max = 10;
  ring.drop_loss = Db{100};
  return ring;
}

struct VerifyBench {
  Fabric fabric{};
  Plan plan{};
  std::optional<Plan> base{};
  Intent intent{};

  // --- the fabric ----------------------------------------------------------------------------------------------------------

  ElementId add(std::string name, PortNumber inputs, PortNumber outputs, ElementKind kind, Db loss = Db{0}) {
    const ElementId id{static_cast<std::uint32_t>(fabric.elements.size())};
    fabric.elements.push_back({id, std::move(name), inputs, outputs, loss, std::move(kind)});
    return id;
  }
  void join(std::string_view from, PortNumber output, std::string_view to, PortNumber input, Db loss = Db{0}) {
    const FibreId id{static_cast<std::uint32_t>(fabric.fibres.size())};
    fabric.fibres.push_back({id, {element_id(from), output}, {element_id(to), input}, 0, loss});
  }
  /// A node that owns the named ends.
  void node(std::string name, const Texts& transmitters, const Texts& receivers) {
    Node one{NodeId{static_cast<std::uint32_t>(fabric.nodes.size())}, std::move(name), 0, {}, {}};
    for (const std::string& each : transmitters) {
      one.transmitters.push_back(element_id(each));
    }
    for (const std::string& each : receivers) {
      one.receivers.push_back(element_id(each));
    }
    fabric.nodes.push_back(std::move(one));
  }
  void device(std::string name, DeviceRole role, std::uint32_t agent, const Texts& elements) {
    Device one;
    one.id = DeviceId{static_cast<std::uint32_t>(fabric.devices.size())};
    one.name = std::move(name);
    one.role = role;
    one.agent = NodeId{agent};
    one.bus = BusId{agent};
    for (const std::string& each : elements) {
      one.elements.push_back(element_id(each));
    }
    one.bus_address = static_cast<std::uint16_t>(one.id.value + 1);
    fabric.devices.push_back(std::move(one));
  }
  /// Indices, and a dark plan, revision 1.
  void finish(std::string name) {
    fabric.name = std::move(name);
    for (const Node& each : fabric.nodes) {
      fabric.buses.push_back({BusId{each.id.value}, "bus-" + each.name, each.id, "sim"});
    }
    const auto faults = check_fabric(fabric);
    INFO((faults.empty() ? std::string{} : faults.front()));
    REQUIRE(faults.empty());
    build_index(fabric);
    plan = dark_plan();
  }

  ElementId element_id(std::string_view name) const {
    const auto found =
        std::find_if(fabric.elements.begin(), fabric.elements.end(), [&](const Element& e) { return e.name == name; });
    INFO(name);
    REQUIRE(found != fabric.elements.end());
    return found->id;
  }
  template <class Kind>
  Kind& kind(std::string_view name) {
    return std::get<Kind>(fabric.elements[element_id(name).value].kind);
  }
  Element& element(std::string_view name) { return fabric.elements[element_id(name).value]; }

  // --- the plan ------------------------------------------------------------------------------------------------------------

  Plan dark_plan() const {
    Plan dark;
    dark.revision = Revision{1};
    for (const Node& each : fabric.nodes) {
      NodePlan slice;
      slice.revision = dark.revision;
      slice.node = each.id;
      for (const DeviceId id : fabric.devices_of_agent[each.id.value]) {
        slice.devices.push_back({id, false, {{{}, {}, kForever, dark_setpoint(fabric.device(id))}}});
      }
      dark.nodes.push_back(std::move(slice));
    }
    return dark;
  }
  Setpoint dark_setpoint(const Device& of) const {
    if (of.role == DeviceRole::transmitter) {
      return TransmitterSetpoint{wavelength(0), std::get<Transmitter>(fabric.element(of.elements[0]).kind).launch_power, false};
    }
    return idle_setpoint(fabric, of);
  }

  DevicePlan& device_plan(std::string_view name) {
    const auto found =
        std::find_if(fabric.devices.begin(), fabric.devices.end(), [&](const Device& d) { return d.name == name; });
    INFO(name);
    REQUIRE(found != fabric.devices.end());
    auto& devices = plan.nodes.edit(found->agent.value).devices;
    return *std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == found->id; });
  }
  template <class Kind>
  Kind& set(std::string_view device, std::size_t entry = 0) {
    return std::get<Kind>(device_plan(device).timeline.at(entry).setpoint);
  }
  std::vector<TimedSetpoint>& timeline(std::string_view device) { return device_plan(device).timeline; }

  void light(std::string_view laser, std::int32_t k) {
    set<TransmitterSetpoint>(laser) = {wavelength(k), launch_of(laser), true};
  }
  Dbm launch_of(std::string_view laser) {
    return std::get<Transmitter>(fabric.element(fabric.device(device_plan(laser).device).elements[0]).kind).launch_power;
  }
  /// A timeslot of a laser: `guard` in the dark, then `hold` of light.
  void timeslot(std::string_view laser, std::int32_t k, Duration offset, Duration guard, Duration hold) {
    auto& entries = timeline(laser);
    if (entries.size() == 1 && entries[0].hold == kForever) {
      entries.clear();
    }
    entries.push_back({offset, guard, hold, TransmitterSetpoint{wavelength(k), launch_of(laser), true}});
    NodePlan& slice = plan.nodes.edit(fabric.device(device_plan(laser).device).agent.value);
    slice.cycle = std::max(slice.cycle, offset + guard + hold);
  }

  Circuit& circuit(std::uint64_t id, std::uint64_t job, std::string_view transmitter, std::string_view receiver,
                   std::int32_t k) {
    const ElementId from = element_id(transmitter);
    const ElementId to = element_id(receiver);
    plan.circuits.push_back({CircuitId{id}, JobId{job}, *fabric.node_of_element[from.value], *fabric.node_of_element[to.value],
                             from, to, wavelength(k), gigabits(100)});
    return plan.circuits.back();
  }

  /// Says of the plan what verify demands of one: ends, who is touched, who takes part. By comparison with the base.
  void declare() {
    plan.changed.clear();
    plan.moved_steering.clear();
    plan.touched.clear();
    plan.base = base ? base->revision : Revision{};
    for (NodePlan& slice : plan.nodes.edit_all()) {
      slice.revision = plan.revision;
      slice.base = plan.base;
      slice.ends.clear();
      const NodePlan* before = base ? &base->nodes[slice.node.value] : nullptr;
      bool takes_part = before == nullptr ? slice.cycle > Duration{} || slice.grants.has_value()
                                          : slice.cycle != before->cycle || slice.grants != before->grants;
      for (std::size_t i = 0; i < slice.devices.size(); ++i) {
        DevicePlan& one = slice.devices[i];
        const Device& of = fabric.device(one.device);
        const std::vector<TimedSetpoint> dark{{{}, {}, kForever, dark_setpoint(of)}};
        one.touched = one.timeline != (before == nullptr ? dark : before->devices[i].timeline);
        takes_part = takes_part || one.touched;
        one.may_hold.clear();
        if (one.touched && of.role != DeviceRole::transmitter) {
          one.may_hold = {before == nullptr ? dark_setpoint(of) : before->devices[i].timeline.front().setpoint};
        }
        if (one.touched && fabric.steers_others[one.device.value]) {
          plan.moved_steering.push_back(one.device);
        }
      }
      if (takes_part) {
        plan.changed.push_back(slice.node);
      }
    }
    std::sort(plan.moved_steering.begin(), plan.moved_steering.end());
    for (const Circuit& each : plan.circuits) {
      plan.nodes.edit(each.source.value).ends.push_back({each.id, each.job, true});
      plan.nodes.edit(each.destination.value).ends.push_back({each.id, each.job, false});
    }
    declare_circuits();
  }
  void declare_circuits() {
    const std::vector<Circuit> none;
    const std::vector<Circuit>& before = base ? base->circuits : none;
    const std::vector<Circuit>& now = plan.circuits;
    for (const auto& [some, others] : {std::pair{&now, &before}, std::pair{&before, &now}}) {
      for (const Circuit& each : *some) {
        const bool stays =
            std::any_of(others->begin(), others->end(), [&](const Circuit& other) { return other.id == each.id; });
        if (!stays) {
          plan.touched.push_back(each.id);
        }
      }
    }
    std::sort(plan.touched.begin(), plan.touched.end());
  }

  /// The plan is confirmed; the next one begins as a copy of it.
  void confirm() {
    base = plan;
    plan.revision.value += 1;
    declare();
  }

  // --- the verdict ---------------------------------------------------------------------------------------------------------

  Verdict examined() const { return examine(fabric, plan, base ? &*base : nullptr, intent); }
  /// "rule: evidence", in verify's order.
  Texts verdict() const {
    Texts texts;
    for (const PlanViolation& each : examined().violations) {
      texts.push_back(each.rule + ": " + each.evidence);
    }
    return texts;
  }
};

/// The same bench a step inside a border, where nothing is wrong, and a step outside, where exactly `outside` is said.
template <class Bench, class Change, class Value>
void check_border(const Bench& bench, Change change, Value last_lawful, Value first_unlawful, const Texts& outside) {
  Bench lawful = bench;
  change(lawful, last_lawful);
  CHECK(lawful.verdict() == Texts{});
  Bench unlawful = bench;
  change(unlawful, first_unlawful);
  CHECK(unlawful.verdict() == outside);
}

}  // namespace loom::testing
