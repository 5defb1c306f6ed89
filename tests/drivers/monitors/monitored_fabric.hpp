// SPDX-License-Identifier: Apache-2.0
// Monitors put into a fabric that has none: photodiodes at every receiver of a node, and a tap behind a transmitter.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/fabric/fabric.hpp"

namespace loom::test {

/// A photodiode bank of each node watches all of its receivers, on a simulated bus of its own.
inline void watch_receivers(Fabric& fabric) {
  for (const Node& node : fabric.nodes) {
    const BusId bus{static_cast<std::uint32_t>(fabric.buses.size())};
    fabric.buses.push_back({bus, "bus-monitor-" + node.name, node.id, "sim"});
    Device device;
    device.id = DeviceId{static_cast<std::uint32_t>(fabric.devices.size())};
    device.name = "photodiodes-" + std::to_string(node.id.value);
    device.role = DeviceRole::monitor;
    device.agent = node.id;
    device.bus = bus;
    device.bus_address = 1;
    device.elements = node.receivers;
    device.model = "photodiode_bank";
    // 16 bits and 4 mA: from -42 to +6 dBm.
    device.profile = {{"full_scale_counts", std::int64_t{65'535}}, {"full_scale_current", 4e-3}};
    fabric.devices.push_back(std::move(device));
  }
  build_index(fabric);
}

/// A device of the agent of the first WSS drives each booster, between 0 dB and 5 dB above its gain.
inline void drive_boosters(Fabric& fabric) {
  const NodeId agent = std::ranges::find(fabric.devices, DeviceRole::wavelength_switch, &Device::role)->agent;
  for (Element& element : fabric.elements) {
    auto* amplifier = std::get_if<Amplifier>(&element.kind);
    if (amplifier == nullptr || !element.name.starts_with("booster")) {
      continue;
    }
    amplifier->gain_min = Db{0};
    amplifier->gain_max = amplifier->gain + Db{500};
    amplifier->settle_max = std::chrono::milliseconds{20};
    const BusId bus{static_cast<std::uint32_t>(fabric.buses.size())};
    fabric.buses.push_back({bus, "bus-" + element.name, agent, "sim"});
    Device device;
    device.id = DeviceId{static_cast<std::uint32_t>(fabric.devices.size())};
    device.name = element.name;
    device.role = DeviceRole::gain_stage;
    device.model = "modbus_edfa";
    device.agent = agent;
    device.bus = bus;
    device.bus_address = 1;
    device.elements = {element.id};
    fabric.devices.push_back(std::move(device));
  }
  build_index(fabric);
}

/// A tap at the output of `transmitter`; a monitor of this model, of the same agent, looks at its second output, 20 dB down.
inline DeviceId tap_behind(Fabric& fabric, ElementId transmitter, const std::string& model) {
  const NodeId agent = fabric.device(*fabric.device_of_element[transmitter.value]).agent;
  const auto next = [&](const auto& rows) { return static_cast<std::uint32_t>(rows.size()); };
  const ElementId tap{next(fabric.elements)};
  fabric.elements.push_back({tap, "tap-" + std::to_string(transmitter.value), 1, 2, Db{0}, Tap{}});
  const ElementId watched{next(fabric.elements)};
  Receiver range;
  range.sensitivity = Dbm{-3'500};
  range.overload = Dbm{0};
  fabric.elements.push_back({watched, "tapped-" + std::to_string(transmitter.value), 1, 0, Db{0}, range});
  Fibre& out = fabric.fibres[fabric.fibre_out[transmitter.value][0]->value];
  const PortRef far = std::exchange(out.to, PortRef{tap, 0});
  fabric.fibres.push_back({FibreId{next(fabric.fibres)}, {tap, 0}, far, 0, Db{0}});
  fabric.fibres.push_back({FibreId{next(fabric.fibres)}, {tap, 1}, {watched, 0}, 0, Db{2'000}});
  const BusId bus{next(fabric.buses)};
  fabric.buses.push_back({bus, "bus-tap-" + std::to_string(transmitter.value), agent, "sim"});
  Device device;
  device.id = DeviceId{next(fabric.devices)};
  device.name = model + "-" + std::to_string(transmitter.value);
  device.role = DeviceRole::monitor;
  device.agent = agent;
  device.bus = bus;
  device.bus_address = 1;
  device.elements = {watched};
  device.model = model;
  fabric.devices.push_back(device);
  build_index(fabric);
  return device.id;
}

}  // namespace loom::test
