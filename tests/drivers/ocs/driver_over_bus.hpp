// SPDX-License-Identifier: Apache-2.0
// A driver over a real bus to an emulator that is a process, on this host's clock.
#pragma once

#include <poll.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/stream.hpp"
#include "drivers/driver.hpp"
#include "tests/drivers/emulator_process.hpp"

namespace loom {

inline std::unique_ptr<BusDevice> bus_to(const EmulatorProcess& emulator) {
  auto bus = make_bus(emulator.endpoint());
  REQUIRE(bus.has_value());
  return std::move(*bus);
}

/// Runs a driver over a real bus until it wants nothing more.
inline void run(Driver& driver, BusDevice& bus, const std::function<void(const Transaction&)>& before = {}) {
  Step step = driver.step(steady_now(), nullptr);
  while (step.transaction || step.wake != kNever) {
    if (step.transaction) {
      if (before) {
        before(*step.transaction);
      }
      const BusReply reply = bus.execute(*step.transaction);
      step = driver.step(steady_now(), &reply);
    } else {
      const std::int64_t rest_ns = std::max<std::int64_t>((step.wake - steady_now()).count(), 0);
      const timespec rest{rest_ns / 1'000'000'000, rest_ns % 1'000'000'000};
      ppoll(nullptr, 0, &rest, nullptr);
      step = driver.step(steady_now(), nullptr);
    }
  }
}

inline void fire(Driver& driver, BusDevice& bus, const Setpoint& setpoint) {
  REQUIRE(driver.check(setpoint).has_value());
  driver.stage(setpoint);
  driver.fire();
  run(driver, bus);
}

}  // namespace loom
