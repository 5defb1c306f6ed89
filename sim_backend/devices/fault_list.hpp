// SPDX-License-Identifier: Apache-2.0
// FaultList: what is wrong with one simulated device, and since when. It never knows what the device is.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fault_catalogue.hpp"
#include "core/time.hpp"
#include "core/units.hpp"
#include "sim_backend/devices/optical_state.hpp"

namespace loom {

struct DeviceFault {
  DeviceFaultKind kind = DeviceFaultKind::silence;
  Instant until = kNever;
  FrequencyOffset offset{0};
  Db loss{0};
  std::int32_t factor = 10;
  Duration delay = kForever;   ///< late: an answer comes so long after its time; reboot_mid_command: how long it is away
  std::uint16_t channel = 0;   ///< ring of a bank
  std::int32_t percent = 100;  ///< silence, nack, garbage, bus_crc: of the transactions
  std::uint32_t times = 0;     ///< the same and late: so many transactions only; 0: all
  bool hidden = false;         ///< detune, drift, dim: the device's own read-back does not notice
};

/// Does light differ while such a fault is active, whatever was commanded?
bool is_optical(DeviceFaultKind kind);

class FaultList {
 public:
  bool is_empty() const { return active_.empty(); }
  /// `light`: what the device does to light now.
  void add(Instant now, const DeviceFault& fault, OpticalState light);
  void forget_over(Instant now);
  /// A power cycle ends these.
  void end_all_of(DeviceFaultKind kind);

  /// The first that is active at `at`; null: none.
  const DeviceFault* find(DeviceFaultKind kind, Instant at) const;
  /// Is this heater not connected?
  bool is_open(std::uint16_t channel, Instant at) const;
  /// What light stays as it was, while registers lie; null: none.
  const OpticalState* stale_light(Instant at) const;
  /// Does a fault of the wire befall the transaction of `now`? Counts it if so. `chance` is drawn on where only a part is
  /// struck.
  template <class Draw>
  bool strikes(DeviceFaultKind kind, Instant now, Draw draw) {
    DeviceFault* fault = to_strike(kind, now);
    if (fault == nullptr || (fault->percent < 100 && draw() % 100 >= static_cast<std::uint64_t>(fault->percent))) {
      return false;
    }
    count(*fault, now);
    return true;
  }

  /// Sum of detune, mode hop and drift at `at`; `visible_only`: what the device itself notices.
  FrequencyOffset detuning(Instant at, std::uint16_t channel, bool visible_only) const;
  Db dimming(Instant at, bool visible_only) const;
  /// `settle`, as long as it takes under the faults of `at`.
  Duration stretched(Instant at, Duration settle) const;
  /// Instants at which light differs because a fault begins, ends or goes on; any order.
  void append_breakpoints(std::vector<Instant>& instants) const;

 private:
  struct Active {
    Instant since{};
    DeviceFault fault;
    OpticalState light{};  ///< of false_readback: what stays
    bool is_on(Instant at) const { return since <= at && at < fault.until; }
    bool stays() const { return fault.kind == DeviceFaultKind::warm; }
  };
  DeviceFault* to_strike(DeviceFaultKind kind, Instant now);
  static void count(DeviceFault& fault, Instant now);

  std::vector<Active> active_;
};

}  // namespace loom
