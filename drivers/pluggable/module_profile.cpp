// SPDX-License-Identifier: Apache-2.0
// One transmitter, one band.
#include "drivers/pluggable/module_profile.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom {

void ModuleProfile::take_module(const Fabric& fabric, const Device& row, const DeviceProfileView& keys) {
  LOOM_ASSERT(row.elements.size() == 1);
  const auto* transmitter = std::get_if<Transmitter>(&fabric.element(row.elements.front()).kind);
  LOOM_ASSERT(transmitter != nullptr);
  take(row);
  channels = transmitter->channels;
  tunable = transmitter->tunable;
  launch_power = transmitter->launch_power;
  retune_max = transmitter->retune_max;
  blank_max = transmitter->blank_max;
  enable_max = transmitter->enable_max;
  tunes = transmitter->tunes;
  serial = row.serial;
  reply_deadline = keys.duration("reply_max");
  frequency_tolerance = {keys.integer("frequency_tolerance")};
  power_tolerance = {static_cast<std::int32_t>(keys.integer("power_tolerance"))};
}

Result<void> check_band(const ModuleProfile& profile, const Setpoint& setpoint) {
  const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint);
  if (laser == nullptr) {
    return fail(ErrorCode::unsupported, profile.name + ": a laser takes laser setpoints only");
  }
  const Frequency wanted = centre_of(laser->slot);
  const Frequency lowest = centre_of(profile.channels.slot(0));
  const Frequency highest = centre_of(profile.channels.slot(profile.tunable ? std::max(profile.channels.count, 1) - 1 : 0));
  return wanted >= lowest && wanted <= highest
             ? Result<void>{}
             : fail(ErrorCode::out_of_range, format_text("{}: frequency {} is outside its band, {} to {}", profile.name,
                                                         to_string(wanted), to_string(lowest), to_string(highest)));
}

std::string stranger_of(const ModuleProfile& profile, const std::string& serial, const std::string& who) {
  return profile.serial.empty() || serial == profile.serial
             ? std::string()
             : format_text("says serial number '{}' ({}), expected '{}'", serial, who, profile.serial);
}

}  // namespace loom
