// SPDX-License-Identifier: Apache-2.0
// lock_table [KELVIN]: four nodes of ODDL whose rings are held on their light, their chips warmed by so many kelvin at one rate
// after the other, on heaters and photodiodes behind wires of different speed: how far a ring then really stands from its
// light, and whether all light stays. Virtual time; everything depends on nothing but the seed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/ring/calibration.hpp"
#include "sim_backend/experiments/ring_truth.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

void measure(double kelvin, double rate, std::uint32_t baud, bool locked) {
  const Scenario scenario =
      scenario_on({.locked = locked, .habits = {.crosstalk = 0.02, .substrate = 0.1}, .job_at = seconds{2}});
  WorldOptions options;
  options.devices.modbus_baud = baud;
  World world(scenario, std::move(*script_of(scenario)), options);
  if (!world.start()) {
    std::printf("the world does not start\n");
    std::exit(1);
  }
  world.run_until(Instant{seconds{10}});
  const auto lasts = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(kelvin / rate));
  warm_chips(world, *scenario.fabric, kelvin, lasts);
  const std::size_t circuits = world.controller().confirmed_plan()->plan.circuits.size();
  const Instant end = world.loop_now() + lasts + seconds{5};
  double worst = 0;
  std::size_t least = circuits;
  std::size_t after = 0;
  while (world.loop_now() < end) {
    world.run_until(world.loop_now() + milliseconds{10});
    const auto off = rings_off_light(world, *scenario.fabric);
    worst = std::max(worst, *std::ranges::max_element(off));
    after = world.light().reached().size();
    least = std::min(least, after);
  }
  std::printf("%6u %7s %8.2f %8.1f %9.2f %6zu of %zu %6zu of %zu\n", baud, locked ? "yes" : "no", rate,
              rate * kRingMhzPerKelvin / 1e3, worst / 1e3, least, circuits, after, circuits);
}

}  // namespace

int main(int argc, char** argv) {
  const double kelvin = argc > 1 ? std::atof(argv[1]) : 10;
  std::printf("  baud  locked      K/s    GHz/s  worst GHz    lit, least    5 s later\n");
  for (const std::uint32_t baud : {9'600U, 115'200U}) {
    for (const double rate : {10.0 / 60, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0}) {
      measure(kelvin, rate, baud, true);
    }
  }
  measure(kelvin, 10.0 / 60, 115'200, false);
  return 0;
}
