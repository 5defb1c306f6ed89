// SPDX-License-Identifier: Apache-2.0
// OperationState: what a driver that proves its writes by read-back was asked for, how it ended, and the observation that tells
// of it. A fire goes before all else, an audit makes no failed fire good, and what was prepared changes no proof. It never
// talks, and never decides what is read or written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/observation.hpp"
#include "drivers/driver.hpp"
#include "drivers/retry_state.hpp"

namespace loom {

/// What is wrong with the device now, whatever was before.
inline void tell(Observation& observation, Complaint complaint) {
  observation.fault = std::move(complaint.words);
  observation.trouble = complaint.trouble;
}

class OperationState {
 public:
  void ask_fire() { fired_ = true; }
  void ask_audit() { polled_ = true; }
  /// In silence: whatever comes of it, nobody hears of it.
  void ask_prepare(bool in_silence = false) {
    prepared_ = true;
    in_silence_ = in_silence;
  }
  bool is_asked() const { return fired_ || prepared_ || polled_; }
  /// A newer fire() waits: what is under way keeps its knowledge and drops its procedure.
  bool is_overtaken() const { return fired_; }
  bool is_fire() const { return operation_ == Operation::fire; }
  bool is_audit() const { return operation_ == Operation::audit; }
  bool is_preparation() const { return operation_ == Operation::preparation; }
  bool is_silent() const { return in_silence_ && is_preparation(); }
  bool preparation_failed() const { return preparation_failed_; }  ///< the last

  void begin() {
    operation_ = fired_ ? Operation::fire : prepared_ ? Operation::preparation : Operation::audit;
    polled_ = polled_ && is_preparation();
    fired_ = prepared_ = false;
    preparation_failed_ = preparation_failed_ && !is_preparation();
    if (is_fire()) {
      fire_failed_ = false;
      observation_.health = DeviceHealth::moving;
    }
    if (!fire_failed_ && !is_silent()) {
      tell(observation_, {});
    }
  }
  /// A fire: proven. An audit: what was proven stays settled only while read-back agrees with it. A preparation moved nothing.
  void finish(bool agrees, DeviceHealth health = DeviceHealth::ready) {
    if (fire_failed_ || is_silent()) {
      return;
    }
    const bool was_settled = outcome_ == DriverActivity::settled;
    const bool settled = is_fire() || (was_settled && (agrees || is_preparation()));
    outcome_ = settled ? DriverActivity::settled : DriverActivity::idle;
    observation_.health = health;
    tell(observation_, {});
  }
  /// It goes on trying: whoever loses patience before it can say what it was waiting for. The words name the device.
  void struggle(Complaint complaint) {
    if (!fire_failed_ && !is_silent()) {
      tell(observation_, std::move(complaint));
    }
  }
  /// The words name the device.
  void give_up(Complaint complaint) {
    if (is_silent()) {
      return;
    }
    tell(observation_, std::move(complaint));
    observation_.health = DeviceHealth::failed;
    outcome_ = DriverActivity::failed;
    fire_failed_ = fire_failed_ || is_fire();
    preparation_failed_ = preparation_failed_ || is_preparation();
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
  enum class Operation : std::uint8_t { fire, preparation, audit };

  bool fired_ = false;     ///< asked for and not yet begun
  bool prepared_ = false;  ///< likewise
  bool in_silence_ = false;
  bool polled_ = false;  ///< likewise
  Operation operation_ = Operation::fire;
  bool fire_failed_ = false;
  bool preparation_failed_ = false;
  DriverActivity outcome_ = DriverActivity::idle;
  Observation observation_;
};

}  // namespace loom
