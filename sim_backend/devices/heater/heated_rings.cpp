// SPDX-License-Identifier: Apache-2.0
// exp(-t) in seven steps.
#include "sim_backend/devices/heater/heated_rings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

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

double follow(double from, double to, Instant begin, Duration time_constant, Instant at) {
  if (at < begin) {
    return from;
  }
  std::int64_t remaining = 1'000;
  for (const Decay& decay : kDecay) {
    if (at >= step_of(begin, time_constant, decay)) {
      remaining = decay.remaining;
    }
  }
  return to + (from - to) * static_cast<double>(remaining) / 1'000;
}

/// From -1 to 1, the same on every machine.
double either_way(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; }

}  // namespace

HeatedRings::HeatedRings(const std::vector<RingFilter>& rings, const RingHabits& habits, std::uint64_t seed) : habits_(habits) {
  std::mt19937_64 random(seed);
  for (const RingFilter& filter : rings) {
    Ring ring;
    ring.filter = filter;
    ring.cold = {filter.cold_resonance.mhz + std::llround(either_way(random) * static_cast<double>(habits.cold.mhz))};
    ring.ohm = filter.heater_ohm * (1 + habits.resistance * either_way(random));
    ring.own = 1e3 * filter.mhz_per_milliwatt / ring.ohm;
    rings_.push_back(ring);
  }
}

double HeatedRings::fast_at(const Ring& ring, Instant at) const {
  return follow(ring.from_fast, ring.to, ring.begin, ring.time_constant, at);
}

double HeatedRings::slow_at(const Ring& ring, Instant at) const {
  return follow(ring.from_slow, ring.to, ring.begin, habits_.substrate_time, at);
}

double HeatedRings::heat_at(const Ring& ring, Instant at) const {
  return habits_.substrate == 0 ? fast_at(ring, at)
                                : (1 - habits_.substrate) * fast_at(ring, at) + habits_.substrate * slow_at(ring, at);
}

void HeatedRings::heat(std::size_t ring, Instant at, double volts, Duration time_constant) {
  Ring& heated = rings_[ring];
  heated.from_fast = fast_at(heated, at);
  heated.from_slow = slow_at(heated, at);
  heated.to = volts * volts;
  heated.begin = at;
  heated.time_constant = time_constant;
}

Frequency HeatedRings::standing(std::size_t ring, Instant at, bool own) const {
  double shift = own ? rings_[ring].own * heat_at(rings_[ring], at) : 0;
  for (std::size_t other = 0; habits_.crosstalk != 0 && other < rings_.size(); ++other) {
    if (other != ring) {
      const double distance = std::abs(static_cast<double>(other) - static_cast<double>(ring));
      shift += habits_.crosstalk * std::exp(1 - distance) * rings_[other].own * heat_at(rings_[other], at);
    }
  }
  return {rings_[ring].cold.mhz - std::llround(shift)};
}

Frequency HeatedRings::resonance_at(std::size_t ring, Instant at) const { return standing(ring, at, true); }

Frequency HeatedRings::unheated_at(std::size_t ring, Instant at) const { return standing(ring, at, false); }

void HeatedRings::misroute(RingLight& light) const {
  const RingLight told = light;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const std::size_t before = (i + rings_.size() - 1) % rings_.size();
    light.resonances[i] = rings_[i].cold + (told.resonances[before] - rings_[before].cold);
  }
}

void HeatedRings::append_breakpoints(Instant from, std::vector<Instant>& instants) const {
  const auto append = [&](Instant begin, Duration time_constant) {
    if (from < step_of(begin, time_constant, kDecay.back())) {
      for (const Decay& decay : kDecay) {
        instants.push_back(step_of(begin, time_constant, decay));
      }
    }
  };
  for (const Ring& ring : rings_) {
    if (ring.from_fast != ring.to) {
      append(ring.begin, ring.time_constant);
    }
    if (habits_.substrate != 0 && ring.from_slow != ring.to) {
      append(ring.begin, habits_.substrate_time);
    }
  }
}

}  // namespace loom
