// SPDX-License-Identifier: Apache-2.0
// What the emulators of switches share: ports and slowness.
#pragma once

#include <cstdint>

#include "core/fabric/fabric.hpp"
#include "sim_backend/emulate/options.hpp"

namespace loom {

struct SwitchOptions {
  EmulatorOptions common;
  PortNumber inputs = 1;
  PortNumber outputs = 8;
  std::int64_t settle_us = 100'000;
};

/// Common options and those of any switch.
void add_switch_options(CLI::App& app, SwitchOptions& options, std::uint16_t usual_port);

/// Of that many ports; its kind is the caller's.
Element switch_element(const SwitchOptions& options);

}  // namespace loom
