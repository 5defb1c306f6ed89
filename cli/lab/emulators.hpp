// Which devices of a lab are emulated, and by which emulator: whatever an inventory has at a TCP port of 127.0.0.1 or ::1.
// Which emulator speaks for a model says sim_backend/devices/registry.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// One port, with whatever answers there: one process.
struct EmulatedPlace {
  std::string_view program;  ///< subcommand of lightloom-emulate
  std::string host;          ///< 127.0.0.1 or ::1
  std::string port;
  std::string endpoint;
  std::vector<BusId> buses;
  std::vector<DeviceId> devices;  ///< not empty
  std::string name() const;
};

bool is_emulated(const Fabric& fabric, const Device& device);

/// Ascending port. Errors: unsupported (no emulator speaks for the model of a device there), invalid_config (two devices at one
/// port that cannot be told apart, or speak two protocols).
Result<std::vector<EmulatedPlace>> emulated_places(const Fabric& fabric);

}  // namespace loom::cli
