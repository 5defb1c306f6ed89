// SPDX-License-Identifier: Apache-2.0
// HeatedRings: the physics that simulated heater electronics share: each ring follows its own heater and, weaker, its
// neighbours', with a fast time constant and one of the chip below, told in few steps. What a ring really is like is drawn from
// a seed, and nobody is told. It knows no protocol, no clock and no fault.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/time.hpp"
#include "sim_backend/devices/optical_state.hpp"
#include "sim_backend/devices/simulated_device.hpp"

namespace loom {

class HeatedRings {
 public:
  HeatedRings(const std::vector<RingFilter>& rings, const RingHabits& habits, std::uint64_t seed);

  std::size_t size() const { return rings_.size(); }
  /// As the fabric has it.
  const RingFilter& filter(std::size_t ring) const { return rings_[ring].filter; }
  /// Of its heater, in truth.
  double ohm(std::size_t ring) const { return rings_[ring].ohm; }
  /// From `at` on its heater has `volts`.
  void heat(std::size_t ring, Instant at, double volts, Duration time_constant);
  Frequency resonance_at(std::size_t ring, Instant at) const;
  /// As if its own heater were not connected: the others still warm it.
  Frequency unheated_at(std::size_t ring, Instant at) const;
  /// As if each heater's voltage came to the ring before: by the shift of its resonance.
  void misroute(RingLight& light) const;
  /// Instants after `from` at which a resonance moves.
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const;

 private:
  struct Ring {
    RingFilter filter;
    Frequency cold;
    double ohm = 0;
    double own = 0;        ///< MHz a V^2
    double from_fast = 0;  ///< V^2, when it was set last
    double from_slow = 0;  ///< likewise, of the chip
    double to = 0;         ///< V^2 that it was set to
    Instant begin{};
    Duration time_constant{};
  };
  double fast_at(const Ring& ring, Instant at) const;
  double slow_at(const Ring& ring, Instant at) const;
  double heat_at(const Ring& ring, Instant at) const;
  Frequency standing(std::size_t ring, Instant at, bool own) const;

  std::vector<Ring> rings_;
  RingHabits habits_;
};

}  // namespace loom
