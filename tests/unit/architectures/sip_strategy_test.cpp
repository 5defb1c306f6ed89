// SPDX-License-Identifier: Apache-2.0
// SiP-ML's profiles and strategy search: one group's time explained step by step (docs/reproduction.md, T18), the closed form's
// table (docs/systems/sipml.md#models-and-figures), what is rejected and why, and the published range as a consistency check
// (T10).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/architectures/sip_ml/strategy.hpp"

namespace loom {
namespace {

using namespace std::chrono_literals;

constexpr BitRate kTenGigabit{10'000'000'000};  // 1.25 bytes a nanosecond

/// Weights of 4 parts, A of 8 us in 4 parts, B of 1.5 us whole, C of 4 us in 4 parts.
std::vector<Operation> four_operators() {
  return {{"W", 0us, Bytes{0}, Bytes{4'000'000}, true, {}},
          {"A", 8us, Bytes{5'000}, Bytes{0}, false, {0}},
          {"B", 1500ns, Bytes{2'500}, Bytes{0}, false, {1}},
          {"C", 4us, Bytes{0}, Bytes{0}, false, {2}}};
}

TEST_CASE("a_groups_time_is_explained_step_by_step") {
  const std::vector<Operation> operations = four_operators();
  const auto shards = partition_operations(operations, 4, 1us);
  REQUIRE(shards);
  REQUIRE(shards->size() == 13);
  SipPlacementOptions options;
  options.gpus = 4;
  const auto placed = place_shards(*shards, operations, options);
  REQUIRE(placed);
  // W and A lie side by side on GPUs 0..3; B on 0; C on those that were free first: 1, 2, 3, then 0.
  CHECK(placed->gpu == std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0});
  // Without bytes: 1 us to read weights, 2 us of A, 1.5 us of B, 1 us of C.
  CHECK(estimate_group(*shards, *placed, {1'000'000'000'000'000}, {}) == 5500ns);
  // Estimated: the parts of A (1250 bytes, 1 us) leave by ports of their own at 3 us; B runs 4 to 5.5 us; its 2500 bytes leave
  // three times by one port, 2 us each, the last at 11.5 us; C takes 1 us more.
  CHECK(estimate_group(*shards, *placed, kTenGigabit, {}) == 12'500ns);
  CHECK(estimate_group(*shards, *placed, kTenGigabit, 100ns) == 12'700ns);
  // Played: GPU 0's receiver takes the three parts of A together in 3 us, so B runs 6 to 7.5 us; three copies of B share
  // its transmitter until 13.5 us; C takes 1 us more.
  const auto network = make_ideal_switch({.nodes = 4, .rate = kTenGigabit});
  REQUIRE(network);
  const auto played = play_group(*shards, *placed, operations, *network);
  REQUIRE(played);
  CHECK(*played == 14'500ns);
}

SipProfile small_profile() {
  SipProfile profile{"small", "made for a test", {1, 2, 8}, {}};
  profile.operations = {{"weights", {0us, 0us, 0us}, std::vector<Bytes>(3), Bytes{3'000'000}, true, {}},
                        {"compute", {10us, 14us, 32us}, {Bytes{100}, Bytes{200}, Bytes{400}}, Bytes{0}, false, {0}}};
  return profile;
}

TEST_CASE("operator_times_are_linear_between_profiled_batches") {
  const SipProfile profile = small_profile();
  CHECK(operations_at(profile, 1)->at(1).compute == 10us);
  CHECK(operations_at(profile, 2)->at(1).compute == 14us);
  CHECK(operations_at(profile, 4)->at(1).compute == 20us);
  CHECK(operations_at(profile, 4)->at(1).output.count == 267);  // 200 + 2/6 x 200
  CHECK(operations_at(profile, 4)->at(0).parameters.count == 3'000'000);
  const auto beyond = operations_at(profile, 9);
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().code == ErrorCode::out_of_range);
  CHECK(beyond.error().message == "profile 'small' has batches of 1 .. 8, not of 9");
  SipProfile torn = profile;
  torn.operations[1].compute.pop_back();
  CHECK(operations_at(torn, 1).error().message.find("'compute' has 2 times and 3 outputs for 3") != std::string::npos);
  torn.batches = {2, 1};
  CHECK_FALSE(operations_at(torn, 1));
}

TEST_CASE("synthetic_profiles_hold_the_models_bytes_and_say_that_they_are_synthetic") {
  const auto model = model_of("resnet50", {});
  REQUIRE(model);
  const SipProfile profile = synthetic_profile(*model);
  CHECK(profile.source.starts_with("synthetic"));
  std::int64_t bytes = 0;
  for (const ProfiledOperation& operation : profile.operations) {
    bytes += operation.parameters.count;
  }
  CHECK(bytes == parameters_of(*model) * model->bytes_per_element);
  const auto scaled = scaled_to(profile, 64, 39'321us, "docs/systems/sipml.md#models-and-figures");
  REQUIRE(scaled);
  Duration total{};
  const auto operations = operations_at(*scaled, 64);
  REQUIRE(operations);
  for (const Operation& operation : *operations) {
    total += operation.compute;
  }
  CHECK(std::abs((total - 39'321us).count()) < 100);
  CHECK_FALSE(scaled_to(profile, 64, 0us, "nothing"));
}

TEST_CASE("small_batches_that_fill_a_gpu_badly_speak_for_model_parallelism") {
  const auto model = model_of("transformer", {{"seq", "38"}});
  REQUIRE(model);
  const std::vector<AccuracyPoint> table{{1024, 16384}};
  SipStrategyOptions options;
  options.rate = {8'000'000'000'000};
  options.weights = Bytes{700'000'000};
  std::vector<std::uint32_t> widths;
  for (const std::uint32_t half_batch : {0U, 16U}) {
    const auto profile = scaled_to(synthetic_profile(*model, half_batch), 8, std::chrono::microseconds{11'264}, "A3");
    REQUIRE(profile);
    CHECK((profile->source.find("assumed") != std::string::npos) == (half_batch > 0));
    const auto found = search_strategy(*profile, table, options);
    REQUIRE(found);
    widths.push_back(found->candidates[found->best].model);
  }
  CHECK(widths[0] == 1);
  CHECK(widths[1] > 1);
}

SipStrategyOptions options_of(std::uint32_t gpus) {
  SipStrategyOptions options;
  options.gpus = gpus;
  options.rate = kTenGigabit;
  return options;
}

TEST_CASE("the_strategy_is_chosen_by_time_to_accuracy_and_not_by_iteration") {
  const std::vector<AccuracyPoint> table{{4, 1000}, {8, 600}};
  const auto found = search_strategy(small_profile(), table, options_of(4));
  REQUIRE(found);
  REQUIRE(found->candidates.size() == 6);  // dp 1, 2, 4 for each row
  const SipCandidate& best = found->candidates[found->best];
  for (const SipCandidate& each : found->candidates) {
    REQUIRE_FALSE(each.rejected);
    CHECK(each.data * each.model == 4);
    CHECK(each.seconds_to_accuracy >= best.seconds_to_accuracy);
    CHECK(each.gradients == (each.data == 1 ? 0us : 4800us));  // 2 x 3 MB at 1.25 bytes a nanosecond
  }
  CHECK(best.data == 1);
  CHECK(best.global_batch == 8);
  const SipCandidate& other = found->candidates[0];  // dp 1, batch 4: shorter iterations, but more of them
  CHECK(other.iteration() < best.iteration());
}

TEST_CASE("what_does_not_fit_in_memory_or_has_no_profile_is_rejected_with_its_reason") {
  SipStrategyOptions options = options_of(4);
  options.placement.memory = Bytes{2'000'000};  // 3 MB of weights need two GPUs
  const std::vector<AccuracyPoint> table{{32, 10}, {8, 10}};
  const auto found = search_strategy(small_profile(), table, options);
  REQUIRE(found);
  REQUIRE(found->candidates.size() == 6);
  CHECK(found->candidates[0].rejected->message.find("not of 32") != std::string::npos);
  CHECK(found->candidates[1].rejected->message.find("not of 16") != std::string::npos);
  CHECK(found->candidates[2].rejected->message.find("no GPU in its range") != std::string::npos);
  CHECK_FALSE(found->candidates[3].rejected);
  CHECK_FALSE(found->candidates[4].rejected);  // 1.5 MB on each of two GPUs
  CHECK(found->candidates[5].rejected->message.find("needs 3000000 bytes") != std::string::npos);
}

TEST_CASE("a_search_with_nothing_to_choose_from_says_why") {
  SipStrategyOptions options = options_of(4);
  const std::vector<AccuracyPoint> table{{4096, 10}};
  const auto refused = search_strategy(small_profile(), table, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::infeasible);
  CHECK(refused.error().message.find("none of 3 candidates") != std::string::npos);
  CHECK(search_strategy(small_profile(), {}, options).error().code == ErrorCode::invalid_argument);
  options.gpus = 0;
  CHECK(search_strategy(small_profile(), table, options).error().message.find("0 GPUs") != std::string::npos);
  options = options_of(4);
  options.rate = {};
  CHECK_FALSE(search_strategy(small_profile(), table, options));
}

TEST_CASE("gpus_need_not_be_a_power_of_two_and_every_division_is_looked_at") {
  const std::vector<AccuracyPoint> table{{12, 10}};
  const auto found = search_strategy(small_profile(), table, options_of(6));
  REQUIRE(found);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> divisions;
  for (const SipCandidate& each : found->candidates) {
    divisions.emplace_back(each.data, each.model);
  }
  CHECK(divisions == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 6}, {2, 3}, {3, 2}, {6, 1}});
}

TEST_CASE("a_candidate_is_a_job_whose_groups_compute_alike_and_whose_gradients_are_reduced_among_them") {
  const std::vector<AccuracyPoint> table{{8, 1}};
  const SipStrategyOptions options = options_of(4);
  for (const std::uint32_t data : {1U, 2U, 4U}) {
    const auto graph = graph_of_candidate(small_profile(), {data, 4 / data, 8, {}, {}, 0, {}}, options);
    REQUIRE(graph);
    CHECK(graph->nodes == 4);
    std::int64_t reduced = 0;
    std::int64_t kept = 0;
    for (const ProfiledOperation& each : small_profile().operations) {
      kept += each.parameters.count;
    }
    for (const Task& task : graph->tasks) {
      const GroupFamily& family = graph->families[task.family];
      if (task.kind == TaskKind::compute) {
        CHECK(family.count == data);
      } else if (task.collective == CollectiveKind::all_reduce) {
        CHECK(family.size == data);
        reduced += task.bytes.count * family.count;
      }
    }
    CHECK(reduced == (data == 1 ? 0 : kept));
    CHECK(job_of(*graph));
  }
}

/// docs/systems/sipml.md#models-and-figures: what the released scripts fix for each model.
struct Published {
  const char* name;
  const char* zoo;
  Settings settings;
  std::int64_t weights;
  Duration single;
  std::uint32_t batch;  ///< of one group of 8 GPUs
  Duration quantum;
};

std::vector<Published> published() {
  return {{"ResNet50", "resnet50", {}, 250'000'000, 39'321us, 64, 1us},
          {"Transformer", "transformer", {{"seq", "38"}}, 700'000'000, 11'264us, 8, 1us},
          {"GPT2-355M", "gpt2-355m", {}, 6'800'000'000, 228'400us, 8, 100us}};
}

constexpr std::int64_t kTerabit = 1'000'000'000'000;
constexpr BitRate kFatTree{400'000'000'000};

double ratio_at(const Published& of, Duration group, BitRate rate, BitRate electrical) {
  const Duration light = group + gradient_time(Bytes{of.weights}, rate, {});
  const Duration electric = group + gradient_time(Bytes{of.weights}, rate, electrical);
  return static_cast<double>(electric.count()) / static_cast<double>(light.count());
}

TEST_CASE("the_closed_form_gives_the_table_of_the_published_set_up") {
  const std::vector<Published> models = published();
  const auto time = [&](std::size_t model, std::int64_t rate) {
    return 1e-6 * static_cast<double>((models[model].single / 8 + gradient_time({models[model].weights}, {rate}, {})).count());
  };
  CHECK(time(0, kTerabit / 2) == Approx(12.9).margin(0.05));
  CHECK(time(1, kTerabit) == Approx(12.6).margin(0.05));
  CHECK(time(2, 8 * kTerabit) == Approx(42.2).margin(0.06));
  CHECK(ratio_at(models[0], models[0].single / 8, {kTerabit / 2}, kFatTree) == Approx(1.15).margin(0.005));
  CHECK(ratio_at(models[1], models[1].single / 8, {8 * kTerabit}, kFatTree) == Approx(10.47).margin(0.005));
  CHECK(ratio_at(models[2], models[2].single / 8, {4 * kTerabit}, {200'000'000'000}) == Approx(10.3).margin(0.05));
}

/// T_MP of the published strategy (mp = 8) on a synthetic profile, played on a switch of this rate.
Duration group_time(const Published& of, std::int64_t rate) {
  const auto model = model_of(of.zoo, of.settings);
  REQUIRE(model);
  const auto profile = scaled_to(synthetic_profile(*model), of.batch, of.single, "docs/systems/sipml.md#models-and-figures");
  REQUIRE(profile);
  const auto operations = operations_at(*profile, of.batch);
  const auto shards = partition_operations(*operations, 8, of.quantum);
  SipPlacementOptions options;
  options.gpus = 8;
  options.step = of.quantum;
  const auto placed = place_shards(*shards, *operations, options);
  REQUIRE(placed);
  const auto network = make_ideal_switch({.nodes = 8, .rate = {rate}});
  const auto played = play_group(*shards, *placed, *operations, *network);
  REQUIRE(played);
  CHECK(*played >= of.single / 8);
  return *played;
}

/// Least and most of the ratios over all models and 0.5 .. 8 Tb/s.
template <class Ratio>
std::pair<double, double> range_of(const Ratio& ratio) {
  double least = HUGE_VAL;
  double most = 0;
  for (const Published& each : published()) {
    for (std::int64_t rate = kTerabit / 2; rate <= 8 * kTerabit; rate *= 2) {
      const double one = ratio(each, rate);
      least = std::min(least, one);
      most = std::max(most, one);
    }
  }
  return {least, most};
}

// T10, a consistency check: the published claim is 1.3 to 9.1 times; accepted are 1.1 .. 1.5 and 7 .. 11.
TEST_CASE("the_published_range_is_met_by_the_closed_form") {
  const auto [least, most] =
      range_of([](const Published& of, std::int64_t rate) { return ratio_at(of, of.single / 8, {rate}, kFatTree); });
  CHECK(least >= 1.1);
  CHECK(least <= 1.5);
  CHECK(most >= 7);
  CHECK(most <= 11);
}

TEST_CASE("the_published_range_is_met_by_groups_played_at_the_rate_of_their_own_network") {
  const auto [least, most] = range_of([](const Published& of, std::int64_t rate) {
    const Duration light = group_time(of, rate) + gradient_time({of.weights}, {rate}, {});
    const Duration electric = group_time(of, kFatTree.bits_per_second) + gradient_time({of.weights}, kFatTree, {});
    return static_cast<double>(electric.count()) / static_cast<double>(light.count());
  });
  CAPTURE(least, most);
  CHECK(least >= 1.1);
  CHECK(least <= 1.5);
  CHECK(most >= 7);
  CHECK(most <= 11);
}

// The authors' code caps the baseline's gradients only and lets its group have the optical rate. Played so, ResNet-50 at 0.5
// Tb/s comes to 1.09, below the 1.1 that was to be accepted (docs/sipml.md says why); the upper end is met.
TEST_CASE("with_only_the_gradients_capped_light_is_still_faster_and_the_upper_end_is_met") {
  const auto [least, most] =
      range_of([](const Published& of, std::int64_t rate) { return ratio_at(of, group_time(of, rate), {rate}, kFatTree); });
  CAPTURE(least, most);
  CHECK(least > 1);
  CHECK(least <= 1.5);
  CHECK(most >= 7);
  CHECK(most <= 11);
}

}  // namespace
}  // namespace loom
