// SPDX-License-Identifier: Apache-2.0
// RingLocks: keeps the rings of one agent on their light between commits. Now and then each bank is looked at a little to
// either side, all of its rings at once as far as each has a monitor's channel of its own, and set to where the law finds them.
// It gives way to whoever else wants the bank, and moves nothing that no plan says is held.
#pragma once

#include <cstdint>
#include <vector>

#include "agents/commit/deadline.hpp"
#include "agents/devices/device_units.hpp"
#include "agents/envelope_sender.hpp"
#include "agents/lock/peak_lock.hpp"

namespace loom {

class RingLocks {
 public:
  /// `interval`: from look to look at a bank; longer where its bus needs longer.
  RingLocks(const EnvelopeSender& envelopes, DeviceUnits& units, Duration interval);

  /// A commit has ended: nothing is looked at before light has settled.
  void wait_for_light(Instant now);
  void advance(StepContext context);

 private:
  /// A ring that may be held.
  struct Ring {
    std::uint16_t channel = 0;
    std::size_t monitor = 0;  ///< unit
    std::uint16_t light = 0;  ///< channel of the monitor
    std::uint32_t turn = 0;   ///< among the rings whose light comes to the same channel
    std::uint32_t turns = 1;
    PeakLock lock;
    bool is_locked = false;   ///< by the bank's setpoint
    bool has_warned = false;  ///< since it was last on its light
    LockLook look{};
  };
  enum class Phase : std::uint8_t {
    rest,
    seeing_middle,
    to_below,
    seeing_below,
    to_above,
    seeing_above,
    to_middle,
    seeing_again,
    to_place
  };
  struct Bank {
    std::size_t unit = 0;
    std::vector<Ring> rings;  ///< ascending channel
    std::vector<std::size_t> monitors;
    Phase phase = Phase::rest;
    std::uint32_t round = 0;
    Instant still_since{};  ///< where it is looked at
  };

  static Phase next_of(Phase seen);
  static std::optional<double>& seen_in(Phase phase, LockLook& look);
  void build();
  void take_up(const DeviceUnit& unit, Bank& bank) const;
  bool may_look(const DeviceUnit& unit, const Bank& bank) const;
  void begin(StepContext context, Bank& bank);
  void go_on(StepContext context, Bank& bank);
  void move(StepContext context, Bank& bank, Phase phase);
  bool see(StepContext context, Bank& bank);
  void warn_of_end(StepContext context, const DeviceUnit& unit, Ring& ring) const;
  void end(Bank& bank);
  bool is_looked_at(const Bank& bank, const Ring& ring) const { return ring.is_locked && bank.round % ring.turns == ring.turn; }

  const EnvelopeSender& envelopes_;
  DeviceUnits& units_;
  Duration interval_;
  std::vector<Bank> banks_;
  Deadline next_{kLockTimer};
  Instant light_settles_at_{};
};

}  // namespace loom
