// SPDX-License-Identifier: Apache-2.0
// A fabric of one element a role, its driver, and the bus: the same code as in an agent, on this thread.
#include "cli/discover/probe.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr int kFailuresMost = 2;  ///< of exchanges; then nobody of this kind is there
constexpr int kAuditsMost = 6;    ///< drivers ask who it is bit by bit, one question an audit
constexpr Duration kPatience = std::chrono::seconds{6};

/// Of about the size that any device has; a size that is not the device's is no reason not to read it.
Element element_for(DeviceRole role) {
  Element element;
  element.name = "probe";
  switch (role) {
    case DeviceRole::transmitter: {
      Transmitter transmitter;
      transmitter.channels = {{-276, 8}, 16, 47};  // 191.375 to 195.975 THz by 100 GHz
      transmitter.retune_max = transmitter.blank_max = std::chrono::milliseconds{100};
      element.outputs = 1;
      element.kind = transmitter;
      break;
    }
    case DeviceRole::filter:
      element.inputs = 1;
      element.outputs = 2;
      element.kind = RingFilter{.cold_resonance = kGridAnchor};
      break;
    case DeviceRole::wavelength_switch:
      element.inputs = 1;
      element.outputs = 9;
      element.kind = WavelengthSelectiveSwitch{};
      break;
    case DeviceRole::circuit_switch:
      element.inputs = element.outputs = 4;
      element.kind = OpticalCircuitSwitch{};
      break;
    case DeviceRole::monitor:
      element.inputs = 1;
      element.kind = Receiver{};
      break;
    case DeviceRole::gain_stage:
      element.inputs = element.outputs = 1;
      element.kind = Attenuator{};
      break;
  }
  return element;
}

Fabric fabric_for(const DriverModel& model, std::uint16_t bus_address) {
  Fabric fabric;
  Node node;
  node.name = "here";
  fabric.nodes.push_back(std::move(node));
  fabric.buses.push_back({BusId{0}, "bus", NodeId{0}, "sim"});
  fabric.elements.push_back(element_for(model.model.role));
  Device device;
  device.name = "probe";
  device.role = model.model.role;
  device.bus_address = bus_address;
  device.elements = {ElementId{0}};
  device.model = model.model.name;
  fabric.devices.push_back(std::move(device));
  build_index(fabric);
  return fabric;
}

Instant now() { return Instant{Duration{std::chrono::steady_clock::now().time_since_epoch()}}; }

/// One audit. False: nobody of this kind is there.
bool audit(Driver& driver, BusDevice& bus, Instant deadline) {
  driver.poll();
  int failures = 0;
  std::optional<BusReply> reply;
  while (now() < deadline) {
    const Step step = driver.step(now(), reply ? &*reply : nullptr);
    reply.reset();
    if (step.transaction) {
      reply = bus.execute(*step.transaction);
      const bool has_failed = reply->status != BusStatus::ok && reply->status != BusStatus::exception;
      failures = has_failed ? failures + 1 : 0;
      if (failures >= kFailuresMost) {
        driver.step(now(), &*reply);  // so that its sentence tells of it
        return false;
      }
    } else if (step.wake == kNever) {
      return driver.activity() != DriverActivity::failed;
    } else {
      std::this_thread::sleep_for(std::clamp<Duration>(step.wake - now(), Duration{}, std::chrono::milliseconds{50}));
    }
  }
  return false;
}

}  // namespace

std::vector<const DriverModel*> models_behind(std::string_view endpoint) {
  const std::string_view scheme = endpoint.substr(0, endpoint.find("://"));
  std::vector<const DriverModel*> models;
  for (const DriverModel* each : all_driver_models()) {
    const auto& schemes = each->model.schemes;
    if (schemes.empty() || std::ranges::find(schemes, scheme) != schemes.end()) {
      models.push_back(each);
    }
  }
  return models;
}

ProbeAnswer probe(const DriverModel& model, BusDevice& bus, std::uint16_t bus_address) {
  ProbeAnswer answer{std::string(model.model.name), {}, bus_address, {}, false, {}};
  const Fabric fabric = fabric_for(model, bus_address);
  const std::unique_ptr<Driver> driver = make_driver(fabric, DeviceId{0});
  const Instant deadline = now() + kPatience;
  for (int i = 0; i < kAuditsMost; ++i) {
    const DeviceIdentity before = driver->observe().identity;
    if (!audit(*driver, bus, deadline)) {
      break;
    }
    answer.answers = true;
    if (const DeviceIdentity after = driver->observe().identity; i > 0 && after == before) {
      break;
    }
  }
  const Observation seen = driver->observe();
  answer.identity = seen.identity;
  answer.answers = answer.answers || !seen.identity.serial.empty();
  answer.why = seen.fault;
  constexpr std::string_view kName = "probe: ";
  if (answer.why.starts_with(kName)) {
    answer.why.erase(0, kName.size());
  }
  return answer;
}

ProbeAnswer probe(const DriverModel& model, const std::string& endpoint, std::uint16_t bus_address) {
  auto bus = make_bus(endpoint);
  if (!bus) {
    return {std::string(model.model.name), endpoint, bus_address, {}, false, bus.error().message};
  }
  ProbeAnswer answer = probe(model, **bus, bus_address);
  answer.endpoint = endpoint;
  return answer;
}

}  // namespace loom::cli
