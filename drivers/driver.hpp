// SPDX-License-Identifier: Apache-2.0
// Driver: one device as a step machine without I/O. It never sleeps, blocks, allocates a thread or reads a clock: it is asked
// for its next transaction and told the reply, so the same code drives real, emulated and simulated hardware.
#pragma once

#include <optional>
#include <span>

#include "core/fabric/fabric.hpp"
#include "core/observation.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/transaction.hpp"

namespace loom {

/// What the driver wants next. No transaction and wake == kNever: it has nothing to do.
struct Step {
  std::optional<Transaction> transaction;
  Instant wake = kNever;  ///< call step() again no later than this, reply or not
};

enum class DriverActivity {
  idle,     ///< nothing under way; observe() is the last truth
  busy,     ///< reading or moving
  settled,  ///< the fired setpoint is proven by read-back
  failed,   ///< gave up; observe().fault says why. stage() and fire() try again from the start.
};

class Driver {
 public:
  virtual ~Driver() = default;

  /// Lawful for this device? Touches nothing.
  virtual Result<void> check(const Setpoint& setpoint) const = 0;
  /// How long fire() of this setpoint may take until settled, worst case.
  virtual Duration lead(const Setpoint& setpoint) const = 0;
  /// Preload; moves nothing. Precondition: check() was ok. Replaces what was staged before.
  virtual void stage(const Setpoint& setpoint) = 0;
  /// Can the device itself hold the next setpoint ready, unseen (a WSS: URA before RSW; a dark laser: tuned)? If not, prepare()
  /// does nothing.
  virtual bool can_prepare() const { return false; }
  /// Brings what was staged last into the device, where nothing shows it yet: fire() then only switches. Moves no light, and
  /// takes away no proof. activity(): busy until it is over.
  virtual void prepare() {}
  /// Could the last setpoint not be brought there? observe().fault says why.
  virtual bool preparation_failed() const { return false; }
  /// What was prepared shall never be shown: overwrites it, where it could be. Moves nothing.
  virtual void withdraw() {}
  /// What this control plane may have set before, in this process or an earlier one: of a device that it shares with others,
  /// only that is its own to take away.
  virtual void may_hold(std::span<const Setpoint> /*setpoints*/) {}
  /// From here on the device may move towards the staged setpoint; only registers that differ are written. A fire() while
  /// busy aims at the newest staged setpoint. Emission is cut before anything else is written. Real-time safe.
  virtual void fire() = 0;
  /// Ask for a fresh observation when nothing else is under way (read before write, audits).
  virtual void poll() = 0;
  /// `reply`: of the transaction handed out last, or null. At most one transaction is outstanding a driver.
  virtual Step step(Instant now, const BusReply* reply) = 0;
  virtual DriverActivity activity() const = 0;
  /// Of a laser's fire() that is under way: is its light proven off, and lit by nothing but another fire()? Nothing: it says
  /// so only when it stands where it shall. Where it tells, one order darkens and moves it.
  virtual std::optional<bool> is_dark() const { return std::nullopt; }
  /// Last known truth and its age.
  virtual Observation observe() const = 0;
};

}  // namespace loom
