// SPDX-License-Identifier: Apache-2.0
// Which devices of a lab are emulated, and by which emulator: whatever an inventory has at a TCP port of 127.0.0.1 or ::1, and
// pluggable modules whose file is outside of /sys, where a kernel driver would show it. Which emulator speaks for a model says
// sim_backend/devices/registry.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// One port, or one file, with whatever answers there: one process.
struct EmulatedPlace {
  std::string name;          ///< of the process: "wss-5100", "cmis-laser-2"
  std::string_view program;  ///< subcommand of lightloom-emulate
  std::string host;          ///< 127.0.0.1 or ::1; empty: a file
  std::string port;
  std::string folder;  ///< in which the file `eeprom` appears; empty: a port
  std::string endpoint;
  std::vector<BusId> buses;
  std::vector<DeviceId> devices;  ///< not empty

  bool is_file() const { return !folder.empty(); }
  /// What the emulator prints when it can be reached.
  std::string announcement() const;
};

bool is_emulated(const Fabric& fabric, const Device& device);

/// Ports first, ascending; then files. Errors: unsupported (no emulator speaks for the model of a device there; a module's file
/// of another name than `eeprom`), invalid_config (two devices at one place that cannot be told apart, or speak two protocols).
Result<std::vector<EmulatedPlace>> emulated_places(const Fabric& fabric);

}  // namespace loom::cli
