// SPDX-License-Identifier: Apache-2.0
// levelling_table [SEEDS]: sixteen nodes of ODDL whose boosters are driven, each laser's connector dirty by 0 to 6 dB that
// nobody was told of, receivers that read a window of 6 dB; a ring of eight nodes wants light. What arrives in truth, and how
// many of its links are usable, by the fabric's figures and after `device calibrate --lasers`. In virtual time: everything
// depends on nothing but the seed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#include "sim_backend/experiments/drift_experiment.hpp"
#include "sim_backend/experiments/survey_client.hpp"
#include "sim_backend/simulation.hpp"
#include "tests/drivers/monitors/monitored_fabric.hpp"

using namespace loom;
using std::chrono::seconds;

namespace {

constexpr Duration kJobAt = seconds{130};  ///< lasers are measured before it
constexpr std::int32_t kMostLoss = 600;    // 0.01 dB
constexpr Db kBelow{200};                  ///< that receivers read below what comes through clean connectors,
constexpr Db kAbove{400};                  ///< and above it

Scenario scenario_of(std::optional<Dbm> usual) {
  Scenario scenario = drift_scenario();
  Fabric fabric = *scenario.fabric;
  test::drive_boosters(fabric);
  test::watch_receivers(fabric);
  for (Element& element : fabric.elements) {
    if (auto* receiver = std::get_if<Receiver>(&element.kind); receiver != nullptr && usual) {
      receiver->sensitivity = *usual - kBelow;
      receiver->overload = *usual + kAbove;
    }
  }
  build_index(fabric);
  scenario.fabric = std::make_shared<const Fabric>(std::move(fabric));
  for (auto& job : scenario.jobs) {
    job.at = kJobAt;
  }
  return scenario;
}

struct Arrived {
  std::vector<Dbm> powers;  ///< of the plan's circuits, ascending
  std::size_t usable = 0;
  Duration survey{};
  std::size_t violations = 0;
};

std::optional<Arrived> arrived(const Scenario& scenario, std::uint64_t seed, bool is_dirty, bool is_measured) {
  auto jobs = script_of(scenario);
  if (!jobs) {
    return std::nullopt;
  }
  WorldOptions options;
  options.seed = seed;
  World world(scenario, std::move(*jobs), options);
  if (!world.start()) {
    return std::nullopt;
  }
  std::mt19937_64 chance(seed);
  for (const Node& node : scenario.fabric->nodes) {
    FibreFault dirt;
    dirt.kind = FibreFaultKind::dirty;
    dirt.first = *scenario.fabric->fibre_out[node.transmitters.front().value][0];
    dirt.loss = Db{static_cast<std::int32_t>(chance() % (kMostLoss + 1))};
    if (is_dirty) {
      world.begin_fibre_fault(dirt);
    }
  }
  world.run_until(Instant{seconds{5}});
  Arrived result;
  if (is_measured) {
    SurveyClient client(world, SurveyClient::What::lasers);
    client.run(Instant{kJobAt});
    if (!client.trouble().empty()) {
      std::printf("%s\n", client.trouble().c_str());
      return std::nullopt;
    }
    result.survey = client.took();
  }
  world.run_until(Instant{kJobAt + seconds{20}});
  const auto plan = world.controller().confirmed_plan();
  if (plan == nullptr) {
    return std::nullopt;
  }
  for (const Circuit& circuit : plan->plan.circuits) {
    const auto lights = world.light().lights_at(circuit.receiver);
    result.powers.push_back(lights.empty() ? kNoLight : lights.front().power);
  }
  std::ranges::sort(result.powers);
  result.usable = world.light().reached().size();
  result.violations = world.checker().violations().size();
  return result;
}

void print(std::uint64_t seed, const char* what, const Arrived& light) {
  std::printf("%4llu  %-12s  %7.2f %7.2f  %6.2f  %2zu of %2zu  %9.1f  %zu\n", static_cast<unsigned long long>(seed), what,
              light.powers.front().centi / 100.0, light.powers.back().centi / 100.0,
              (light.powers.back() - light.powers.front()).centi / 100.0, light.usable, light.powers.size(),
              std::chrono::duration<double>(light.survey).count(), light.violations);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 3;
  const auto clean = arrived(scenario_of({}), 1, false, false);
  if (!clean || clean->powers.empty()) {
    return EXIT_FAILURE;
  }
  const Dbm usual = clean->powers.front();
  const Scenario scenario = scenario_of(usual);
  std::printf("receivers read %.2f to %.2f dBm; clean connectors bring %.2f to %.2f\n", (usual - kBelow).centi / 100.0,
              (usual + kAbove).centi / 100.0, usual.centi / 100.0, clean->powers.back().centi / 100.0);
  std::printf("seed  planned by      least    most  spread    usable  survey, s  violations\n");
  bool good = true;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const bool is_measured : {false, true}) {
      const auto light = arrived(scenario, seed, true, is_measured);
      if (!light || light->powers.empty()) {
        std::printf("%4llu  %-12s  no light\n", static_cast<unsigned long long>(seed), is_measured ? "measurement" : "figures");
        good = false;
        continue;
      }
      print(seed, is_measured ? "measurement" : "figures", *light);
      good = good && light->violations == 0;
    }
  }
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
