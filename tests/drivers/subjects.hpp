// SPDX-License-Identifier: Apache-2.0
// Subjects: one device of every model with setpoints that all differ, for tests of what every driver owes.
#pragma once

#include <string>
#include <vector>

#include "drivers/heater/heater_board.hpp"
#include "tests/drivers/rig.hpp"

namespace loom {

inline constexpr FrequencySlot slot_of(std::int32_t channel) { return {-272 + 16 * channel, 8}; }

/// One device under test, of one model, and setpoints that all differ; every one moves something.
struct Subject {
  const char* device;
  std::string model;
  std::vector<Setpoint> setpoints;
  std::vector<DeviceSetting> profile{};
};

/// The device of fabric_of_subjects() that has this role, and setpoints for it.
inline Subject subject_of(DeviceRole role) {
  const RingFilter ring = std::get<RingFilter>(small_fabric().element(small_fabric().devices[1].elements[0]).kind);
  const auto at = [&](std::int64_t shift) { return FilterSetpoint{{{0, Frequency{ring.cold_resonance.mhz - shift}}}}; };
  switch (role) {
    case DeviceRole::transmitter:
      return {"laser-0",
              {},
              {TransmitterSetpoint{slot_of(1), Dbm{0}, true}, TransmitterSetpoint{slot_of(3), Dbm{100}, true},
               TransmitterSetpoint{slot_of(3), Dbm{100}, false}, TransmitterSetpoint{slot_of(0), Dbm{0}, true}}};
    case DeviceRole::filter:
      return {"heater-0", {}, {at(400'000), at(700'000), at(0), at(450'000)}};
    case DeviceRole::wavelength_switch:
      return {"wss-out-0",
              {},
              {WavelengthSwitchSetpoint{{{slot_of(0), 0, 1, Db{0}}}},
               WavelengthSwitchSetpoint{{{slot_of(0), 0, 0, Db{0}}, {slot_of(2), 0, 1, Db{0}}}}, WavelengthSwitchSetpoint{},
               WavelengthSwitchSetpoint{{{slot_of(3), 0, 1, Db{0}}}}}};
    case DeviceRole::gain_stage:
      return {"voa", {}, {GainSetpoint{Db{-300}}, GainSetpoint{Db{-1'250}}, GainSetpoint{kGainOff}, GainSetpoint{Db{0}}}};
    case DeviceRole::circuit_switch:
    case DeviceRole::monitor:
      break;
  }
  return {"ocs",
          {},
          {CircuitSwitchSetpoint{{{0, 1}, {1, 0}}}, CircuitSwitchSetpoint{{{0, 1}, {1, 2}, {3, 0}}}, CircuitSwitchSetpoint{},
           CircuitSwitchSetpoint{{{2, 2}}}}};
}

/// Heater banks behind every board that a profile names, and behind one that takes a register a write.
inline std::vector<Subject> boards() {
  std::vector<Subject> subjects;
  for (std::size_t board = 0; board < kHeaterBoardNames.size(); ++board) {
    Subject subject = subject_of(DeviceRole::filter);
    subject.model = "heater_bank";
    subject.profile = {{"board", static_cast<std::int64_t>(board)}};
    if (kHeaterBoardNames.at(board) == "custom") {
      subject.profile.insert(subject.profile.end(), {{"register_base", std::int64_t{40}},
                                                     {"scale", 500.0},
                                                     {"version_register", std::int64_t{7}},
                                                     {"status_register", std::int64_t{1'000}},
                                                     {"block_writes", std::int64_t{0}}});
    }
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

/// One of every model that there is a driver for, a new model is a new subject; and what a profile makes of one. Not of
/// monitors, which nobody sets: what they owe is in monitors/monitor_drivers_test.cpp.
inline std::vector<Subject> subjects() {
  std::vector<Subject> subjects = boards();
  for (const DeviceModel* model : all_device_models()) {
    if (model->role == DeviceRole::monitor) {
      continue;
    }
    subjects.push_back(subject_of(model->role));
    subjects.back().model = model->name;
    for (Setpoint& setpoint : subjects.back().setpoints) {
      if (auto* laser = std::get_if<TransmitterSetpoint>(&setpoint); laser != nullptr && model->name == "sff8690") {
        laser->power = Dbm{0};  // it has no other
      }
      if (auto* stage = std::get_if<GainSetpoint>(&setpoint); stage != nullptr && model->name.ends_with("edfa")) {
        subjects.back().device = "edfa";
        stage->gain = stage->gain == kGainOff ? kGainOff : -stage->gain;
      }
    }
  }
  return subjects;
}

/// A pluggable module advertises its times in classes from 1 ms on: the fabric promises no less.
inline void suit(Transmitter& transmitter, std::string_view model) {
  if (model == "cmis" || model == "sff8690") {
    transmitter.retune_max = std::chrono::milliseconds{60};
    transmitter.blank_max = std::chrono::milliseconds{5};
    transmitter.enable_max = std::chrono::milliseconds{10};
  }
}

/// A device of every role that is set.
inline Fabric fabric_of_subjects() {
  Fabric fabric = ocs_fabric();
  const auto add = [&](const char* name, ElementKind kind) {
    const ElementId element{static_cast<std::uint32_t>(fabric.elements.size())};
    fabric.elements.push_back({element, name, 1, 1, Db{50}, std::move(kind)});
    const DeviceId device{static_cast<std::uint32_t>(fabric.devices.size())};
    fabric.devices.push_back({device, name, DeviceRole::gain_stage, NodeId{0}, fabric.devices[0].bus, 1, {element}});
  };
  add("voa", Attenuator{.settle_max = std::chrono::milliseconds{20}});
  add("edfa", Amplifier{.gain_max = Db{3'000}, .settle_max = std::chrono::milliseconds{5}});
  build_index(fabric);
  return fabric;
}

inline Rig rig_of(const Subject& subject, std::uint64_t seed = 1) {
  Fabric fabric = fabric_of_subjects();
  const DeviceId device = device_named(fabric, subject.device);
  if (auto* laser = std::get_if<Transmitter>(&fabric.elements[fabric.device(device).elements.front().value].kind)) {
    suit(*laser, subject.model);
  }
  fabric.devices[device.value].model = subject.model;
  fabric.devices[device.value].profile = subject.profile;
  SimDeviceOptions options;
  options.seed = seed;
  return Rig(std::move(fabric), device, options);
}

/// Does the device's light bear the setpoint out?
inline bool is_true(const Rig& rig, const Setpoint& setpoint) {
  const OpticalState state = rig.model->light(rig.now);
  if (const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint)) {
    const auto& light = std::get<LaserLight>(state);
    return light.emitting == laser->emit &&
           (!laser->emit || (light.frequency == centre_of(laser->slot) && light.power == laser->power));
  }
  if (const auto* heater = std::get_if<FilterSetpoint>(&setpoint)) {
    const Frequency resonance = std::get<RingLight>(state).resonances[0];
    return magnitude(resonance - heater->rings[0].resonance) <= FrequencyOffset{1'000};  // half a count's worth
  }
  if (const auto* stage = std::get_if<GainSetpoint>(&setpoint)) {
    return std::get<GainLight>(state).gain == stage->gain;
  }
  if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint)) {
    const auto& light = std::get<OcsLight>(state);
    return light.moving.empty() && light.connects == ocs->connects;
  }
  const auto& light = std::get<WssLight>(state);
  return light.moving.empty() && light.routes == std::get<WavelengthSwitchSetpoint>(setpoint).routes;
}

}  // namespace loom
