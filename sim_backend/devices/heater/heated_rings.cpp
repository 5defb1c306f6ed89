// SPDX-License-Identifier: Apache-2.0
// exp(-t) in seven steps.
#include "sim_backend/devices/heater/heated_rings.hpp"

#include <algorithm>
#include <array>

#include "drivers/heater/heater_law.hpp"

namespace loom {
namespace {

/// exp(-t) told in steps: from `time` (hundredths of a time constant) on, this part (thousandths) of the way is still to go.
struct Decay {
  std::int64_t time;
  std::int64_t remaining;
};
constexpr std::array<Decay, 7> kDecay{{{0, 880}, {25, 610}, {75, 330}, {150, 140}, {250, 40}, {400, 10}, {600, 0}}};

Instant step_of(Instant begin, Duration time_constant, const Decay& decay) {
  constexpr Duration kNearlyNever = std::chrono::hours{24 * 100};  ///< of a fault that never lets it settle
  return begin + Duration{std::min(time_constant, kNearlyNever).count() * decay.time / 100};
}

}  // namespace

HeatedRings::HeatedRings(const std::vector<RingFilter>& rings) {
  for (const RingFilter& filter : rings) {
    rings_.push_back({filter, filter.cold_resonance, filter.cold_resonance, Instant{}, Duration{}});
  }
}

void HeatedRings::heat(std::size_t ring, Instant at, double volts, Duration time_constant) {
  Ring& heated = rings_[ring];
  heated.from = resonance_at(ring, at);
  heated.to = resonance_of_volts(heated.filter, volts);
  heated.begin = at;
  heated.time_constant = time_constant;
}

Frequency HeatedRings::resonance_at(std::size_t ring, Instant at) const {
  const Ring& heated = rings_[ring];
  if (at < heated.begin) {
    return heated.from;
  }
  std::int64_t remaining = 1'000;
  for (const Decay& decay : kDecay) {
    if (at >= step_of(heated.begin, heated.time_constant, decay)) {
      remaining = decay.remaining;
    }
  }
  return {heated.to.mhz + (heated.from - heated.to).mhz * remaining / 1'000};
}

void HeatedRings::misroute(RingLight& light) const {
  const RingLight told = light;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const std::size_t before = (i + rings_.size() - 1) % rings_.size();
    light.resonances[i] = filter(i).cold_resonance + (told.resonances[before] - filter(before).cold_resonance);
  }
}

void HeatedRings::append_breakpoints(Instant from, std::vector<Instant>& instants) const {
  for (const Ring& ring : rings_) {
    if (ring.from == ring.to || from >= step_of(ring.begin, ring.time_constant, kDecay.back())) {
      continue;
    }
    for (const Decay& decay : kDecay) {
      instants.push_back(step_of(ring.begin, ring.time_constant, decay));
    }
  }
}

}  // namespace loom
