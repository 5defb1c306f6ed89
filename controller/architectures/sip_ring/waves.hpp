// SPDX-License-Identifier: Apache-2.0
// Wavelengths on a ring (docs/systems/sipml.md#closed-tours): which pair gets which wavelength in which direction of which
// ring, such that no wavelength lies twice on a segment. Continuity holds by construction: a grant is one arc at one
// wavelength. Pure; nodes are positions along the ring here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loom {

enum class RingDirection : std::uint8_t { clockwise, counter_clockwise };

/// One direction of one ring of fibre.
struct RingBus {
  RingDirection direction = RingDirection::clockwise;
  std::uint32_t channels = 0;
};

/// A node's wavelengths on `rings`, each with a bus in both directions: bus 2 r is ring r clockwise, 2 r + 1 counter-clockwise.
/// Whole wavelengths, as even as they go: clockwise has one more of an odd number, and the first rings one more of what their
/// number does not divide. Precondition: rings > 0, wavelengths >= 2 x rings, so that every bus has one.
std::vector<RingBus> spread_wavelengths(std::uint32_t wavelengths, std::uint32_t rings);

/// Segment k joins positions k and k + 1. Light from s to d crosses s..d-1 clockwise, d..s-1 counter-clockwise (mod nodes).
struct RingArc {
  std::uint32_t first = 0;  ///< segment
  std::uint32_t length = 0;
};
RingArc arc_of(std::uint32_t nodes, RingDirection direction, std::uint32_t source, std::uint32_t destination);

/// What one pair wants; `demand` > 0, in any unit.
struct RingPair {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  double demand = 0;
};

struct WavelengthGrant {
  std::uint32_t pair = 0;  ///< index into the pairs
  std::uint32_t bus = 0;
  std::uint32_t channel = 0;
  auto operator<=>(const WavelengthGrant&) const = default;
};

/// Which segments of which wavelength are taken.
class WavelengthUse {
 public:
  WavelengthUse(std::uint32_t nodes, std::vector<RingBus> buses);

  std::uint32_t nodes() const { return nodes_; }
  const std::vector<RingBus>& buses() const { return buses_; }
  /// Wavelengths of all buses, one after another.
  std::uint32_t rows() const { return static_cast<std::uint32_t>(row_bus_.size()); }
  std::uint32_t row(std::uint32_t bus, std::uint32_t channel) const { return first_row_[bus] + channel; }
  std::uint32_t bus_of(std::uint32_t row) const { return row_bus_[row]; }
  std::uint32_t channel_of(std::uint32_t row) const { return row - first_row_[row_bus_[row]]; }

  bool is_free(std::uint32_t bus, std::uint32_t channel, RingArc arc) const { return is_free(row(bus, channel), arc); }
  bool is_free(std::uint32_t row, RingArc arc) const;
  void set(std::uint32_t bus, std::uint32_t channel, RingArc arc, bool taken) { set(row(bus, channel), arc, taken); }
  void set(std::uint32_t row, RingArc arc, bool taken);
  bool is_taken(std::uint32_t row, std::uint32_t segment) const {
    return (words_[std::size_t{row} * words_per_row_ + segment / 64] >> (segment % 64) & 1) != 0;
  }

 private:
  std::uint32_t nodes_;
  std::vector<RingBus> buses_;
  std::vector<std::uint32_t> first_row_;  ///< by bus
  std::vector<std::uint32_t> row_bus_;
  std::size_t words_per_row_;
  std::vector<std::uint64_t> words_;  ///< a bit a segment
};

struct WavelengthLimits {
  std::vector<bool> closed;          ///< by segment: not to be crossed; empty: all open
  std::uint32_t reach = ~0U;         ///< hops that a link budget carries
  std::uint32_t channels_max = ~0U;  ///< of each bus that this request may use
  bool repair = true;
  std::uint64_t repair_steps = 2'000'000;  ///< of the budget, at most so many for repair
  std::uint64_t steps = ~0ULL;             ///< budget
  std::uint64_t seed = 1;                  ///< breaks ties of repair
};

struct WavelengthGrants {
  std::vector<WavelengthGrant> grants;  ///< ascending (pair, bus, channel)
  std::vector<std::uint32_t> served;    ///< wavelengths by pair
  std::uint64_t steps_used = 0;         ///< beyond WavelengthLimits::steps: stopped there, with what there was
};

/// Max-min of wavelengths over demand (demands relative to the largest). Wavelength by wavelength the best closed tour of
/// disjoint arcs (weighted interval scheduling on a circle; exact up to 64 nodes, from a few cuts beyond), each arc worth
/// 0.7^(served / demand) x its shorter distance x (1 the short way, 0.3 the long way); then, with `repair`, ring_repair.hpp;
/// then tours over what is left free. `taken` is what others use, and then also what was granted. `lit`: light of these pairs
/// from before, taken over first where it is free and allowed; tours then only fill what it leaves free. A step is one arc or
/// one wavelength looked at, about 2 ns. O(channels x cuts x (nodes + pairs) + repair_steps).
WavelengthGrants grant_wavelengths(WavelengthUse& taken, const std::vector<RingPair>& pairs, const WavelengthLimits& limits,
                                   std::span<const WavelengthGrant> lit = {});

/// Least wavelengths over demand of any pair, demands relative to the largest; 0 without pairs.
double worst_served(const std::vector<RingPair>& pairs, const std::vector<std::uint32_t>& served);

}  // namespace loom
