// SPDX-License-Identifier: Apache-2.0
// EmulatedBus: the devices that one emulator stands for, whatever they are reached by: the device models of the simulation on
// this host's clock, what they do to light in a log, and what goes wrong with them.
#pragma once

#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "core/result.hpp"
#include "runtime/loop.hpp"
#include "sim_backend/announced_faults.hpp"
#include "sim_backend/emulate/devices.hpp"
#include "sim_backend/emulate/options.hpp"
#include "sim_backend/world/sim_bus.hpp"

namespace loom {

class EmulatedBus {
 public:
  using Done = std::function<void(BusReply reply)>;

  /// `loop` is used until the end. Errors: invalid_argument (a fault), storage (the light log).
  static Result<std::unique_ptr<EmulatedBus>> open(AsioLoop& loop, EmulatedDevices devices, const SimDeviceOptions& models,
                                                   const EmulatorOptions& options);
  EmulatedBus(const EmulatedBus&) = delete;
  EmulatedBus& operator=(const EmulatedBus&) = delete;

  const Fabric& fabric() const { return *devices_.fabric; }
  const std::vector<DeviceId>& devices() const { return devices_.devices; }
  /// What monitors measure; without it they see darkness.
  void look_through(const LightSight& sight) { bus_.look_through(sight); }
  void submit(BusId bus, const Transaction& transaction, Done done) { bus_.submit(bus, transaction, std::move(done)); }
  /// All state is lost, and nobody answers before `until`.
  void power_cycle(Instant until);

 private:
  EmulatedBus(AsioLoop& loop, EmulatedDevices devices, const SimDeviceOptions& models, const EmulatorOptions& options);
  Result<void> open_light_log(const EmulatorOptions& options);
  Result<void> inject_faults(const EmulatorOptions& options);
  Result<void> inject_fault(std::string_view text, DeviceId device);

  AsioLoop& loop_;
  EmulatedDevices devices_;
  std::uint32_t light_id_;
  SimBus bus_;
  std::ofstream light_log_;
  std::optional<AnnouncedFaults> announced_;
};

}  // namespace loom
