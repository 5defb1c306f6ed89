// SPDX-License-Identifier: Apache-2.0
// IdentifiedDriver: a driver whose device must say a certain serial number. Until it has said it, and for as long as it says
// another, nothing but darkness is asked of it: a plan would steer somebody else's light. It stands around the driver of any
// model; what the device says comes from that driver's own observation.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "drivers/driver.hpp"

namespace loom {

class IdentifiedDriver final : public Driver {
 public:
  /// Precondition: `serial` is not empty.
  IdentifiedDriver(std::unique_ptr<Driver> driver, std::string name, std::string serial);

  /// Also refused: whatever emits or steers, while the device has not said the serial number (device_error, naming both).
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override { return driver_->lead(setpoint); }
  void may_hold(std::span<const Setpoint> setpoints) override { driver_->may_hold(setpoints); }
  void stage(const Setpoint& setpoint) override { driver_->stage(setpoint); }
  bool can_prepare() const override { return driver_->can_prepare(); }
  void prepare() override { driver_->prepare(); }
  bool preparation_failed() const override { return driver_->preparation_failed(); }
  void withdraw() override { driver_->withdraw(); }
  void fire() override { driver_->fire(); }
  void poll() override { driver_->poll(); }
  Step step(Instant now, const BusReply* reply) override { return driver_->step(now, reply); }
  /// A device that said another number is `failed`.
  DriverActivity activity() const override;
  std::optional<bool> is_dark() const override { return driver_->is_dark(); }
  /// The fault of a device that said another number is that.
  Observation observe() const override;

 private:
  bool is_another(const Observation& seen) const { return !seen.identity.serial.empty() && seen.identity.serial != serial_; }
  /// Empty: it is the right one.
  std::string stranger(const Observation& seen) const;

  std::unique_ptr<Driver> driver_;
  std::string name_;
  std::string serial_;
};

}  // namespace loom
