// OperationState: what a driver that proves its writes by read-back was asked for, how it ended, and the observation that tells
// of it. A fire goes before an audit, and an audit makes no failed fire good. It never talks, and never decides what is read or
// written.
#pragma once

#include <string>
#include <utility>

#include "core/observation.hpp"
#include "drivers/driver.hpp"

namespace loom {

class OperationState {
 public:
  void ask_fire() { fired_ = true; }
  void ask_audit() { polled_ = true; }
  bool is_asked() const { return fired_ || polled_; }
  /// A newer fire() waits: what is under way keeps its knowledge and drops its procedure.
  bool is_overtaken() const { return fired_; }
  bool is_audit() const { return auditing_; }

  void begin() {
    auditing_ = !std::exchange(fired_, false);
    polled_ = false;
    if (!auditing_) {
      fire_failed_ = false;
      observation_.health = DeviceHealth::moving;
    }
    if (!fire_failed_) {
      observation_.fault.clear();
    }
  }
  /// A fire: proven. An audit: what was proven stays settled only while read-back agrees with it.
  void finish(bool agrees, DeviceHealth health = DeviceHealth::ready) {
    if (fire_failed_) {
      return;
    }
    const bool settled = !auditing_ || (outcome_ == DriverActivity::settled && agrees);
    outcome_ = settled ? DriverActivity::settled : DriverActivity::idle;
    observation_.health = health;
    observation_.fault.clear();
  }
  /// It goes on trying: whoever loses patience before it can say what it was waiting for. `sentence` names the device.
  void struggle(std::string sentence) {
    if (!fire_failed_) {
      observation_.fault = std::move(sentence);
    }
  }
  /// `sentence` names the device.
  void give_up(std::string sentence) {
    observation_.fault = std::move(sentence);
    observation_.health = DeviceHealth::failed;
    outcome_ = DriverActivity::failed;
    fire_failed_ = fire_failed_ || !auditing_;
  }
  DriverActivity activity(bool at_rest) const { return !at_rest || is_asked() ? DriverActivity::busy : outcome_; }

  Observation& observation() { return observation_; }
  /// What was read of a device of this role, from the first reading on.
  template <class RoleObservation>
  RoleObservation& reading() {
    auto* reading = std::get_if<RoleObservation>(&observation_.reading);
    return reading != nullptr ? *reading : observation_.reading.template emplace<RoleObservation>();
  }
  const Observation& observation() const { return observation_; }

 private:
  bool fired_ = false;   ///< asked for and not yet begun
  bool polled_ = false;  ///< asked for and not yet begun
  bool auditing_ = false;
  bool fire_failed_ = false;
  DriverActivity outcome_ = DriverActivity::idle;
  Observation observation_;
};

}  // namespace loom
