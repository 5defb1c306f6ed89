// SPDX-License-Identifier: Apache-2.0
// What every tunable pluggable module must be told of itself and its transmitter, and what no setpoint of it may be beyond.
#pragma once

#include <string>

#include "core/fabric/device_profile.hpp"
#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "drivers/read_back_driver.hpp"

namespace loom {

struct ModuleProfile : DeviceProfile {
  ModuleProfile() {
    exchange = std::chrono::milliseconds{3};  // of about 60 bytes and a page select, at 400 kHz
    grace = std::chrono::milliseconds{100};   // beyond the worst cases that the module advertises [K]
    reply_deadline = std::chrono::milliseconds{100};
  }
  /// From a device with one transmitter. `keys`: with reply_max, frequency_tolerance and power_tolerance.
  void take_module(const Fabric& fabric, const Device& row, const DeviceProfileView& keys);

  ChannelPlan channels;
  bool tunable = true;
  Dbm launch_power{0};
  Duration retune_max{};  ///< as the fabric has them: what the module advertises must not exceed them
  Duration blank_max{};
  Duration enable_max{};
  Tunes tunes = Tunes::dark;
  /// That it must say, also between a check and its light: a module is pulled in a second.
  std::string serial;
  FrequencyOffset frequency_tolerance{1'000};  ///< [K]
  Db power_tolerance{100};                     ///< [K]
};

/// A laser's setpoint whose frequency is in the band. Errors: unsupported, out_of_range.
Result<void> check_band(const ModuleProfile& profile, const Setpoint& setpoint);

/// Why a module with this serial number is not the one; empty: it is, or any is. `who`: maker and part, for the sentence.
std::string stranger_of(const ModuleProfile& profile, const std::string& serial, const std::string& who);

}  // namespace loom
