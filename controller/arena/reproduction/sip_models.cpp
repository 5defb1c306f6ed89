// SPDX-License-Identifier: Apache-2.0
// Profiles, groups, plays.
#include "controller/arena/reproduction/sip_models.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/predict/engine/predictor.hpp"

namespace loom {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::int64_t kTerabit = 1'000'000'000'000;
constexpr std::uint32_t kGpus = 1024;

double in_ms(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

Result<double> on_switch_ms(const TaskGraph& graph, BitRate rate) {
  const auto network = make_ideal_switch({.nodes = kSipGroup, .rate = rate});
  if (!network) {
    return std::unexpected(network.error());
  }
  auto predictor = Predictor::make(graph, *network, {});
  if (!predictor) {
    return std::unexpected(std::move(predictor).error());
  }
  const auto iteration = predictor->run();
  return iteration ? Result<double>(*iteration / 1e6) : std::unexpected(iteration.error());
}

/// One GPU's compute with its part of the global batch.
Result<double> data_parallel_ms(const SipModel& of) {
  const auto profile = profile_of(of);
  if (!profile) {
    return std::unexpected(profile.error());
  }
  const auto operations = operations_at(*profile, of.accuracy.global_batch / kGpus);
  if (!operations) {
    return std::unexpected(operations.error());
  }
  return in_ms(std::accumulate(operations->begin(), operations->end(), Duration{},
                               [](Duration sum, const Operation& each) { return sum + each.compute; }));
}

}  // namespace

std::vector<SipModel> sip_models() {
  return {
      {"ResNet50", "resnet50", {}, {250'000'000}, microseconds{39'321}, 64, microseconds{1}, {8192, 8192}},
      {"Transformer", "transformer", {{"seq", "38"}}, {700'000'000}, microseconds{11'264}, 8, microseconds{1}, {1024, 16384}},
      {"GPT2-355M", "gpt2-355m", {}, {6'800'000'000}, microseconds{228'400}, 8, microseconds{100}, {1024, 2.403e6}}};
}

Result<SipProfile> profile_of(const SipModel& of, std::uint32_t half_batch) {
  const auto model = model_of(of.zoo, of.settings);
  return model
             ? scaled_to(synthetic_profile(*model, half_batch), of.batch, of.single, "docs/systems/sipml.md#models-and-figures")
             : Result<SipProfile>(std::unexpected(model.error()));
}

Result<TaskGraph> group_of(const SipModel& of) {
  const auto profile = profile_of(of);
  if (!profile) {
    return std::unexpected(profile.error());
  }
  const auto operations = operations_at(*profile, of.batch);
  if (!operations) {
    return std::unexpected(operations.error());
  }
  const auto shards = partition_operations(*operations, kSipGroup, of.quantum);
  if (!shards) {
    return std::unexpected(shards.error());
  }
  SipPlacementOptions options;
  options.gpus = kSipGroup;
  options.step = of.quantum;
  const auto placement = place_shards(*shards, *operations, options);
  return placement ? graph_of_group(*shards, *placement, *operations) : Result<TaskGraph>(std::unexpected(placement.error()));
}

Result<std::vector<SipRangeRow>> sip_sweep() {
  std::vector<SipRangeRow> rows;
  for (const SipModel& each : sip_models()) {
    const auto graph = group_of(each);
    if (!graph) {
      return std::unexpected(graph.error());
    }
    const auto slow = on_switch_ms(*graph, gigabits(400));
    const auto slower = on_switch_ms(*graph, gigabits(200));
    const auto data_parallel = data_parallel_ms(each);
    if (!slow || !slower || !data_parallel) {
      return std::unexpected(!slow ? slow.error() : !slower ? slower.error() : data_parallel.error());
    }
    for (std::int64_t rate = kTerabit / 2; rate <= 8 * kTerabit; rate *= 2) {
      const auto group = on_switch_ms(*graph, {rate});
      if (!group) {
        return std::unexpected(group.error());
      }
      rows.push_back({each.name, static_cast<double>(rate) / kTerabit, in_ms(each.single) / kSipGroup, *group,
                      in_ms(gradient_time(each.weights, {rate}, {})), *slow,
                      in_ms(gradient_time(each.weights, {rate}, gigabits(400))),
                      in_ms(gradient_time(each.weights, {rate}, gigabits(200))), *data_parallel, *slower});
    }
  }
  return rows;
}

Result<double> episodes_ms(const TaskGraph& group, const SipLoop& loop) {
  SipRingEpisodes ring;
  ring.terms.nodes = kSipGroup;
  ring.terms.rate = gigabits(25);
  ring.wavelengths = 40;  // 1 Tb/s
  ring.keeps_light = !loop.all_stop;
  auto changing = sip_episodes(group, sip_ring_policy(ring), loop);
  if (!changing) {
    return std::unexpected(std::move(changing).error());
  }
  const Network first = changing->network();
  auto predictor = Predictor::make(group, first, {});
  if (!predictor) {
    return std::unexpected(std::move(predictor).error());
  }
  const auto iteration = predictor->run(&*changing);
  return iteration ? Result<double>(*iteration / 1e6) : std::unexpected(iteration.error());
}

Result<BestInterval> best_interval(const TaskGraph& group, Duration reconfiguration) {
  static constexpr std::array<Duration, 10> kIntervals{
      microseconds{20}, microseconds{50}, microseconds{100}, microseconds{200}, microseconds{500},
      milliseconds{1},  milliseconds{2},  milliseconds{5},   milliseconds{20},  milliseconds{100}};
  BestInterval best{HUGE_VAL, {}};
  for (const Duration interval : kIntervals) {
    const auto ms = episodes_ms(group, {interval, reconfiguration, true});
    if (!ms) {
      return std::unexpected(ms.error());
    }
    best = *ms < best.ms ? BestInterval{*ms, interval} : best;
  }
  return best;
}

}  // namespace loom
