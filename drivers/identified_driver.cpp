// SPDX-License-Identifier: Apache-2.0
// One question of every answer: is it the device that the inventory names?
#include "drivers/identified_driver.hpp"

#include <utility>
#include <variant>

#include "core/text/format_text.hpp"

namespace loom {

IdentifiedDriver::IdentifiedDriver(std::unique_ptr<Driver> driver, std::string name, std::string serial)
    : driver_(std::move(driver)), name_(std::move(name)), serial_(std::move(serial)) {
  LOOM_ASSERT(!serial_.empty());
}

std::string IdentifiedDriver::stranger(const Observation& seen) const {
  if (seen.identity.serial == serial_) {
    return {};
  }
  return seen.identity.serial.empty()
             ? format_text("{}: it has not said its serial number; the inventory expects '{}'", name_, serial_)
             : format_text("{}: its serial number is '{}'; the inventory expects '{}'", name_, seen.identity.serial, serial_);
}

Result<void> IdentifiedDriver::check(const Setpoint& setpoint) const {
  LOOM_TRY(driver_->check(setpoint));
  const bool is_dark_laser = std::holds_alternative<TransmitterSetpoint>(setpoint) && !emits(setpoint);
  const std::string who = is_dark_laser ? std::string{} : stranger(driver_->observe());
  return who.empty() ? Result<void>{} : fail(ErrorCode::device_error, who);
}

DriverActivity IdentifiedDriver::activity() const {
  const DriverActivity activity = driver_->activity();
  const bool is_at_rest = activity == DriverActivity::idle || activity == DriverActivity::settled;
  return is_at_rest && is_another(driver_->observe()) ? DriverActivity::failed : activity;
}

Observation IdentifiedDriver::observe() const {
  Observation seen = driver_->observe();
  if (is_another(seen)) {
    seen.health = DeviceHealth::failed;
    seen.fault = stranger(seen);
    seen.trouble = Trouble::misfit;
  }
  return seen;
}

}  // namespace loom
