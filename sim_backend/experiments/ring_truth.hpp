// SPDX-License-Identifier: Apache-2.0
// Ground truth of simulated rings: where they stand when they are driven by what is believed of them. For tests and benchmarks;
// nothing of it flows back to the control plane.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/demand.hpp"
#include "core/ring/calibration.hpp"
#include "core/ring/ring_habits.hpp"
#include "sim_backend/world/world.hpp"

namespace loom {

/// Up to a nanometre and 5 % in resistance beside the fabric, 2 % crosstalk, a tenth of the heat with the chip.
RingHabits astray();
/// ODDL with `planes` rings a node, photodiodes behind them.
struct RingTestbed {
  std::uint32_t nodes = 4;
  std::uint32_t group_size = 4;
  std::int32_t channels = 16;
  std::uint32_t planes = 2;
  bool calibrated = true;  ///< the fabric's figures are said to be their own
  bool locked = false;     ///< rings are held on their light
  RingHabits habits{};
  std::optional<Duration> job_at{};  ///< when VGG19 is submitted for four of its nodes; none: no job
};
Scenario scenario_on(const RingTestbed& testbed);

/// Ground truth, now: how far the ring of each circuit's drop stands from its light, MHz, either way positive. Precondition: a
/// plan was confirmed.
std::vector<double> rings_off_light(World& world, const Fabric& fabric);

/// From now on all chips warm (below 0: cool) by so many kelvin, steadily within `lasts`, and stay so.
void warm_chips(World& world, const Fabric& fabric, double kelvin, Duration lasts);

/// By which figures heaters are driven.
enum class Believed : std::uint8_t { fabric, calibration };

/// Of every ring that `intent` has a calibration of, how far it stands from its light, MHz, either way positive: each bank's
/// rings put on the `nth` of the lights that can come to them, ascending shift (the last one where there are fewer). Rings
/// whose heaters cannot are left out.
std::vector<double> ring_misses(const Fabric& fabric, const RingHabits& habits, std::uint64_t seed, const Intent& intent,
                                Believed by, std::size_t nth);

}  // namespace loom
