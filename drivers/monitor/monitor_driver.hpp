// SPDX-License-Identifier: Apache-2.0
// MonitorDriver: what drivers of monitors share. Nothing of a monitor is set: a fire reads it as an audit does, and it is
// settled when it was read. What is saturated, or dark where it cannot be, is said in the observation's fault, and the reading
// stands.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "drivers/read_back_driver.hpp"

namespace loom {

/// What a monitor holds.
struct NothingHeld {
  bool operator==(const NothingHeld&) const = default;
};

/// Above what the monitor can measure: how far, nobody knows.
inline constexpr Dbm kAboveRange{4'000};

template <class Profile, class State>
class MonitorDriver : public ReadBackDriver<Profile, State, NothingHeld> {
 public:
  Result<void> check(const Setpoint& setpoint) const override {
    if (!std::holds_alternative<MonitorSetpoint>(setpoint)) {
      return fail(ErrorCode::unsupported, this->profile_.name + ": a monitor only looks; there is nothing to set");
    }
    return {};
  }

 protected:
  using Base = ReadBackDriver<Profile, State, NothingHeld>;
  using Base::Base;

  std::vector<NothingHeld> held_by(const Setpoint&) const final { return {}; }
  /// Its lights have frequencies.
  virtual bool is_wavemeter() const { return false; }

  /// All of it was read. `remarks`: what is odd about it, empty if nothing is; it need not name the device.
  void publish(Instant now, std::vector<LightReading> lights, const std::string& remarks) {
    this->operation_.template reading<MonitorObservation>() = {std::move(lights), is_wavemeter()};
    Observation& observation = this->operation_.observation();
    observation.read_at = now;
    observation.proof = Proof::monitor;
    remarks_ = remarks.empty() ? std::string{} : this->profile_.name + ": " + remarks;
  }
  /// The procedure came to rest with everything read.
  void finish() {
    this->operation_.finish(true);
    this->operation_.struggle({Trouble::none, remarks_});
  }

 private:
  std::string remarks_;
};

}  // namespace loom
