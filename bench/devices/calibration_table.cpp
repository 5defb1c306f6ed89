// SPDX-License-Identifier: Apache-2.0
// calibration_table [NODES [SEEDS]]: banks of simulated rings that are up to 1 nm and 5 % beside their fabric, measured in
// virtual time through the operator's protocol, cold and warm: how long it takes, what residual it says, and where the rings
// then really stand, beside where the fabric's own figures put them. Everything but the last column depends on nothing but the
// seed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "sim_backend/experiments/ring_truth.hpp"
#include "sim_backend/experiments/survey_client.hpp"
#include "sim_backend/simulation.hpp"

using namespace loom;

namespace {

Scenario scenario_of(std::uint32_t nodes) {
  const std::uint32_t group_size = std::min<std::uint32_t>(nodes, 16);
  return scenario_on({.nodes = nodes,
                      .group_size = group_size,
                      .channels = static_cast<std::int32_t>(2 * group_size),
                      .planes = 8,
                      .calibrated = false,
                      .habits = astray()});
}

double part_of(std::vector<double> values, double part) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))] / 1e3;
}

bool measure(World& world, const Scenario& scenario, std::uint64_t seed, const char* start, std::uint32_t number) {
  const auto wall = std::chrono::steady_clock::now();
  SurveyClient client(world, SurveyClient::What::rings, {}, number);
  client.run(world.loop_now() + std::chrono::hours{2});
  if (!client.trouble().empty()) {
    std::printf("%s\n", client.trouble().c_str());
    return false;
  }
  for (const RingTrouble& trouble : client.campaign().troubles()) {
    std::printf("%s (device %u): %s\n", trouble.ring.c_str(), trouble.bank.value, trouble.why.c_str());
  }
  const Intent& intent = world.controller().intent();
  std::vector<double> said;
  for (const DeviceCalibration& bank : client.campaign().calibrations()) {
    for (const RingLaw& law : bank.rings) {
      said.push_back(static_cast<double>(law.residual.mhz));
    }
  }
  std::vector<double> before;
  std::vector<double> after;
  for (const std::size_t light : {0U, 1U}) {
    for (const auto& [by, misses] : {std::pair{Believed::fabric, &before}, std::pair{Believed::calibration, &after}}) {
      const auto these = ring_misses(*scenario.fabric, scenario.rings, seed, intent, by, light);
      misses->insert(misses->end(), these.begin(), these.end());
    }
  }
  std::printf("%5zu %4llu  %-4s  %5zu of %5zu  %5zu  %7.1f  %5.2f %5.2f  %6.1f %6.1f  %5.2f %5.2f %5.2f  %6.1f\n",
              scenario.fabric->nodes.size(), static_cast<unsigned long long>(seed), start, said.size(),
              8 * scenario.fabric->nodes.size(), client.campaign().steps(),
              std::chrono::duration<double>(client.took()).count(), part_of(said, 0.5), part_of(said, 1), part_of(before, 0.5),
              part_of(before, 1), part_of(after, 0.5), part_of(after, 0.99), part_of(after, 1),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count());
  std::fflush(stdout);
  return said.size() == 8 * scenario.fabric->nodes.size() && part_of(after, 1) < 100.0 / kRingWidthParts;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::uint32_t> sizes = argc > 1
                                               ? std::vector{static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10))}
                                               : std::vector<std::uint32_t>{4, 64};
  const std::uint64_t seeds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::printf("                                           time,  residual said   off by fabric   off by calibration   wall,\n");
  std::printf("nodes seed  start rings found    looks  virtual s  p50   max     p50    max     p50   p99   max GHz     s\n");
  bool good = true;
  for (const std::uint32_t nodes : sizes) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Scenario scenario = scenario_of(nodes);
      WorldOptions options;
      options.seed = seed;
      World world(scenario, {}, options);
      if (!world.start()) {
        return EXIT_FAILURE;
      }
      world.run_until(Instant{std::chrono::seconds{10}});
      good = measure(world, scenario, seed, "cold", 7) && good;
      good = measure(world, scenario, seed, "warm", 8) && good;
    }
  }
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
