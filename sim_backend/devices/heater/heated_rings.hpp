// SPDX-License-Identifier: Apache-2.0
// HeatedRings: the physics that simulated heater electronics share: each ring follows its heater with one time constant, told
// in few steps. It knows no protocol, no clock and no fault.
#pragma once

#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/time.hpp"
#include "sim_backend/devices/optical_state.hpp"

namespace loom {

class HeatedRings {
 public:
  explicit HeatedRings(const std::vector<RingFilter>& rings);

  std::size_t size() const { return rings_.size(); }
  const RingFilter& filter(std::size_t ring) const { return rings_[ring].filter; }
  /// From `at` on its heater has `volts`.
  void heat(std::size_t ring, Instant at, double volts, Duration time_constant);
  Frequency resonance_at(std::size_t ring, Instant at) const;
  /// As if each heater's voltage came to the ring before: by the shift of its resonance.
  void misroute(RingLight& light) const;
  /// Instants after `from` at which a resonance moves.
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const;

 private:
  struct Ring {
    RingFilter filter;
    Frequency from;
    Frequency to;
    Instant begin{};
    Duration time_constant{};
  };
  std::vector<Ring> rings_;
};

}  // namespace loom
