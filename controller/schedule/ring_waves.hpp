// Wavelengths on rings of fibre (SYSTEMS.md A2.5, A2.6): which pair gets which wavelength of which (ring, direction), so that
// no wavelength lies twice on a segment. Continuity holds by construction: a grant is one arc at one wavelength. Pure; nodes
// are positions along the ring here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace loom {

enum class RingDirection : std::uint8_t { clockwise, counter_clockwise };

/// One direction of one ring of fibre.
struct RingBus {
  RingDirection direction = RingDirection::clockwise;
  std::uint32_t channels = 0;
};

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

struct WaveGrant {
  std::uint32_t pair = 0;  ///< index into the pairs
  std::uint32_t bus = 0;
  std::uint32_t channel = 0;
  auto operator<=>(const WaveGrant&) const = default;
};

/// Who is on which segment of which wavelength.
class WaveMap {
 public:
  WaveMap(std::uint32_t nodes, std::vector<RingBus> buses);

  std::uint32_t nodes() const { return nodes_; }
  const std::vector<RingBus>& buses() const { return buses_; }
  bool is_free(std::uint32_t bus, std::uint32_t channel, RingArc arc) const;
  void set(std::uint32_t bus, std::uint32_t channel, RingArc arc, bool taken);
  bool is_taken(std::uint32_t bus, std::uint32_t channel, std::uint32_t segment) const {
    return taken_[row(bus, channel) + segment];
  }

 private:
  std::size_t row(std::uint32_t bus, std::uint32_t channel) const { return (first_row_[bus] + channel) * nodes_; }

  std::uint32_t nodes_;
  std::vector<RingBus> buses_;
  std::vector<std::size_t> first_row_;  ///< by bus
  std::vector<bool> taken_;             ///< [bus, channel][segment]
};

struct WaveLimits {
  std::vector<bool> closed;          ///< by segment: not to be crossed; empty: all open
  std::uint32_t reach = ~0U;         ///< hops that a link budget carries
  std::uint32_t channels_max = ~0U;  ///< of each bus that this request may use
  bool repair = true;
  std::uint64_t steps = ~0ULL;  ///< budget
};

struct WaveGrants {
  std::vector<WaveGrant> grants;      ///< ascending (pair, bus, channel)
  std::vector<std::uint32_t> served;  ///< wavelengths by pair
  std::uint64_t steps_used = 0;       ///< beyond WaveLimits::steps: stopped there, with what there was
};

/// Max-min of wavelengths over demand (demands relative to the largest). Wavelength by wavelength the best closed tour of
/// disjoint arcs (weighted interval scheduling on a circle, exact), each arc worth 0.7^(served / demand) x its shorter distance
/// x (1 the short way, 0.3 the long way); then, with `repair`, wavelengths move from well-served to the worst-served pair as
/// long as that gains. `taken` is what others use, and then also what was granted. O(channels x nodes x pairs).
WaveGrants grant_waves(WaveMap& taken, const std::vector<RingPair>& pairs, const WaveLimits& limits);

/// Least wavelengths over demand of any pair, demands relative to the largest; 0 without pairs.
double worst_served(const std::vector<RingPair>& pairs, const std::vector<std::uint32_t>& served);

}  // namespace loom
