// SPDX-License-Identifier: Apache-2.0
// Outsider: somebody at the front panel. Changes a simulated device behind the controller's back by the device's own register
// protocol, through its bus and in its turn, so that models stay honest and drivers are none the wiser.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "sim_backend/world/sim_bus.hpp"

namespace loom {

class Outsider {
 public:
  /// `bus` outlives every transaction that it was given.
  Outsider(SimBus& bus, std::shared_ptr<const Fabric> fabric) : bus_(bus), fabric_(std::move(fabric)) {}

  // Lasers (OIF-ITLA-MSA registers).
  void emission(DeviceId laser, bool on);
  /// The Channel register; a lit laser tunes lit. `channel` counts from 1 on the grid that the module has.
  void channel(DeviceId laser, std::uint16_t channel);
  void power(DeviceId laser, Dbm power);
  /// What a power cycle leaves behind: dark, lowest power, the module's own grid of 50 GHz from its lowest frequency.
  void power_cycle(DeviceId laser);

  // Heater banks (Modbus holding registers).
  void heat(DeviceId bank, std::uint16_t ring, std::uint16_t millivolts);

  // WSS (flexgrid dialect): asks for the grid, then sets the port of one of its channels. A slot that the grid lacks is left.
  void open_route(DeviceId wss, const WssRoute& route);
  void close_route(DeviceId wss, const WssRoute& route);

  // OCS (SCPI).
  void connect(DeviceId ocs, CrossConnect connect);
  void disconnect(DeviceId ocs, CrossConnect connect);

 private:
  void write(DeviceId laser, std::uint8_t reg, std::uint16_t value);
  void set_port(DeviceId wss, const WssRoute& route, bool open);
  void say(DeviceId ocs, std::string_view verb, CrossConnect connect);
  void submit(DeviceId device, std::variant<Registers, BytesAt, Frame> order, SimBus::Done done);

  SimBus& bus_;
  std::shared_ptr<const Fabric> fabric_;
};

}  // namespace loom
