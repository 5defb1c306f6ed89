// SPDX-License-Identifier: Apache-2.0
// A driver, the model of its device and a lane of one, under a clock of their own. The rig checks on every step that a driver
// with a transaction outstanding asks for nothing more.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "controller/architectures/oddl/fabric.hpp"
#include "drivers/registry.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

inline BusReply bus_reply(BusStatus status, std::uint8_t exception = 0) { return {status, exception, {}, {}}; }

/// Ground truth of one device: every change that really happened, in order.
class Light {
 public:
  void take(SimulatedDevice& model) {
    for (OpticalChange& change : model.take_changes()) {
      if (change.generation != generation_) {
        std::erase_if(changes_, [&](const OpticalChange& c) { return c.at > now_; });
        generation_ = change.generation;
      }
      changes_.push_back(std::move(change));
    }
  }
  void pass(Instant now) { now_ = now; }
  const std::vector<OpticalChange>& changes() const { return changes_; }

 private:
  std::vector<OpticalChange> changes_;
  std::uint32_t generation_ = 0;
  Instant now_{};
};

struct Rig {
  Fabric fabric;
  std::unique_ptr<Driver> driver;
  std::unique_ptr<SimulatedDevice> model;
  Instant now = instant_from_ns(1'000'000);
  std::vector<Transaction> transactions;
  std::optional<Transaction> handed_out;
  std::uint32_t connection = 1;  ///< of the wire; another one when it was lost
  Light light;
  /// Stands for the wire: a reply of its own instead of the device's (which then receives nothing), or nothing.
  std::function<std::optional<BusReply>(const Transaction&)> wire;
  /// Changes an answer on its way back: the device did hear the request.
  std::function<void(BusReply&)> mangle;

  Rig(Fabric built, DeviceId device, SimDeviceOptions options = {}) : fabric(std::move(built)) {
    options.keep_actuations = true;
    driver = make_driver(fabric, device);
    model = make_simulated_device(fabric, device, options);
  }

  /// Until the driver wants nothing more, or `stop` says so after a transaction.
  void run(const std::function<bool()>& stop = {}) {
    Step step = handed_out ? Step{std::exchange(handed_out, std::nullopt), kNever} : driver->step(now, nullptr);
    for (int steps = 0; steps < 20'000; ++steps) {
      if (step.transaction) {
        step = exchange(*step.transaction);
        if (stop && stop()) {
          handed_out = step.transaction;  // still on its way when the next run begins
          return;
        }
      } else if (step.wake == kNever) {
        return;
      } else {
        REQUIRE(step.wake > now);
        now = step.wake;
        step = driver->step(now, nullptr);
      }
    }
    FAIL("the driver never comes to rest");
  }

  Step exchange(const Transaction& transaction) {
    transactions.push_back(transaction);
    const Step meanwhile = driver->step(now, nullptr);
    REQUIRE_FALSE(meanwhile.transaction.has_value());
    ModelReply answer;
    if (transaction.connection != 0 && transaction.connection != connection) {
      answer = {bus_reply(BusStatus::lost), std::chrono::milliseconds{1}};
    } else if (const auto replaced = wire ? wire(transaction) : std::nullopt) {
      answer = {*replaced, replaced->status == BusStatus::timeout ? transaction.deadline : std::chrono::milliseconds{1}};
    } else {
      light.pass(now);
      answer = model->execute(now, transaction);
      light.take(*model);
      if (mangle) {
        mangle(answer.reply);
        answer.service_time = answer.reply.status == BusStatus::timeout ? transaction.deadline : answer.service_time;
      }
    }
    answer.reply.connection = connection;
    REQUIRE(answer.service_time <= transaction.deadline);
    now += answer.service_time;
    return driver->step(now, &answer.reply);
  }

  void fire(const Setpoint& setpoint) {
    const auto lawful = driver->check(setpoint);
    INFO((lawful ? "" : lawful.error().message));
    REQUIRE(lawful.has_value());
    driver->stage(setpoint);
    driver->fire();
    run();
  }
  void poll() {
    driver->poll();
    run();
  }
  std::size_t writes() const { return model->actuations().size(); }
};

/// Two groups of two nodes, four channels of 100 GHz. Devices: laser-0, heater-0, laser-1, heater-1, then the WSS.
inline Fabric small_fabric() {
  OddlParameters parameters;
  parameters.nodes = 4;
  parameters.group_size = 2;
  parameters.channels = 4;
  return make_oddl(parameters);
}

inline DeviceId device_named(const Fabric& fabric, std::string_view name) {
  for (const Device& device : fabric.devices) {
    if (device.name == name) {
      return device.id;
    }
  }
  FAIL("no device " << name);
  return {};
}

/// A bank of four rings with nothing around it.
inline Fabric bank_fabric() {
  Fabric fabric = small_fabric();
  RingFilter ring;
  ring.cold_resonance = Frequency{194'000'000};
  Device device{DeviceId{static_cast<std::uint32_t>(fabric.devices.size())},
                "bank",
                DeviceRole::filter,
                NodeId{0},
                fabric.devices[0].bus,
                7,
                {}};
  for (int i = 0; i < 4; ++i) {
    const ElementId id{static_cast<std::uint32_t>(fabric.elements.size())};
    fabric.elements.push_back({id, "ring", 1, 2, Db{100}, ring});
    device.elements.push_back(id);
  }
  fabric.devices.push_back(device);
  build_index(fabric);
  return fabric;
}

/// `element` and a device "name" that drives it, beside the small fabric, on its first bus.
inline Fabric fabric_with(Element element, DeviceRole kind, const char* name) {
  Fabric fabric = small_fabric();
  element.id = ElementId{static_cast<std::uint32_t>(fabric.elements.size())};
  element.name = name;
  const DeviceId device{static_cast<std::uint32_t>(fabric.devices.size())};
  fabric.devices.push_back({device, name, kind, NodeId{0}, fabric.devices[0].bus, 1, {element.id}});
  fabric.elements.push_back(std::move(element));
  build_index(fabric);
  return fabric;
}

inline Fabric ocs_fabric() {
  return fabric_with({{}, {}, 4, 4, Db{100}, OpticalCircuitSwitch{std::chrono::milliseconds{25}}}, DeviceRole::circuit_switch,
                     "ocs");
}

}  // namespace loom
