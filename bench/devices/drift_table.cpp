// SPDX-License-Identifier: Apache-2.0
// Plants every way of drift on every kind of device, one world each, and prints when it was named and when it was repaired.
// Virtual time: the table is a function of the seed. drift_table [seed [1024|ocs]]; with 1024 nodes one instant of planting
// each.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "sim_backend/experiments/drift_experiment.hpp"

namespace {

using namespace loom;

long long milliseconds_of_time(Duration duration) { return duration / std::chrono::milliseconds{1}; }

struct Worst {
  Duration named{};
  Duration sound{};
  std::uint32_t commits = 0;
  std::uint32_t touched = 0;
  std::uint32_t by_outsider = 0;
  std::uint32_t by_repair = 0;
  std::size_t violations = 0;
  std::string device;
};

bool measure(const Scenario& scenario, const Plant& plant, std::uint64_t seed, int phases, Worst& worst) {
  for (int i = 0; i < phases; ++i) {
    const auto result = run_drift(scenario, plant, seed, scenario.controller.audit_round * i / phases);
    if (!result) {
      std::fprintf(stderr, "%s: %s\n", plant.name.c_str(), result.error().message.c_str());
      return false;
    }
    worst.named = std::max(worst.named, result->named_after);
    worst.sound = std::max(worst.sound, result->sound_after);
    worst.commits = std::max(worst.commits, result->commits);
    worst.touched = std::max(worst.touched, result->touched);
    worst.by_outsider = std::max(worst.by_outsider, result->by_outsider);
    worst.by_repair = std::max(worst.by_repair, result->by_repair);
    worst.violations += result->violations;
    worst.device = result->device_name;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const bool is_large = argc > 2 && std::string(argv[2]) == "1024";
  const int phases = is_large ? 1 : 5;  // instants of planting, evenly spread over an audit round
  const bool is_ocs = argc > 2 && std::string(argv[2]) == "ocs";
  const DriftFabric fabric = is_large ? DriftFabric::nodes_1024 : is_ocs ? DriftFabric::ocs_16 : DriftFabric::nodes_16;
  const Scenario scenario = drift_scenario(fabric);
  std::printf("seed %llu, %zu nodes, worst of %d instants of planting; bound of naming %lld ms\n",
              static_cast<unsigned long long>(seed), scenario.fabric->nodes.size(), phases,
              milliseconds_of_time(poll_bound(scenario.controller)));
  std::printf("%-28s %-11s %-8s %9s %9s %8s %8s %8s %9s %10s\n", "planted", "device", "named", "after ms", "sound ms",
              "commits", "touched", "outsider", "by repair", "violations");
  for (const Plant& plant : drift_plants(fabric)) {
    Worst worst;
    if (!measure(scenario, plant, seed, phases, worst)) {
      return 1;
    }
    std::printf("%-28s %-11s %-8s %9lld %9lld %8u %8u %8u %9u %10zu\n", plant.name.c_str(), worst.device.c_str(),
                std::string(to_string(plant.expected)).c_str(), milliseconds_of_time(worst.named),
                milliseconds_of_time(worst.sound), worst.commits, worst.touched, worst.by_outsider, worst.by_repair,
                worst.violations);
  }
  return 0;
}
