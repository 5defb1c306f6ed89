// SPDX-License-Identifier: Apache-2.0
// Probing a place of a bus: each model's own driver reads it, as an audit would, and says what answers there. Nothing is set,
// nothing is written that moves light. Blocks for a second or two a model where nobody answers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/observation.hpp"
#include "drivers/bus/bus_device.hpp"
#include "drivers/registry.hpp"

namespace loom::cli {

/// What one model's driver made of who is there.
struct ProbeAnswer {
  std::string model;
  std::string endpoint;
  std::uint16_t bus_address = 1;
  DeviceIdentity identity;
  bool answers = false;  ///< it speaks the model's protocol
  std::string why;       ///< what the driver said; of who answers: a fault, or nothing
};

/// The models that speak behind this endpoint's scheme, in the order of the registry.
std::vector<const DriverModel*> models_behind(std::string_view endpoint);

/// Errors of the endpoint itself are in `why`.
ProbeAnswer probe(const DriverModel& model, const std::string& endpoint, std::uint16_t bus_address);

/// With the bus given; for tests.
ProbeAnswer probe(const DriverModel& model, BusDevice& bus, std::uint16_t bus_address);

}  // namespace loom::cli
