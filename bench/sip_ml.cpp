// SiP-ML as a whole, on synthetic profiles: the range against a 400 Gb/s fat-tree (T10), the sweep of reconfiguration times
// (T16), and the strategy search. Simulated time: the same figures on every machine. Prints; decides nothing.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "controller/predict/networks/ideal_switch.hpp"
#include "controller/predict/predictor.hpp"
#include "controller/schedule/sip_episode.hpp"
#include "controller/schedule/sip_strategy.hpp"

namespace {

using namespace loom;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::int64_t kTerabit = 1'000'000'000'000;
constexpr BitRate kFatTree{400'000'000'000};
constexpr std::uint32_t kGroup = 8;  ///< mp

/// SYSTEMS.md A3.
struct Published {
  const char* name;
  const char* zoo;
  Settings settings;
  Bytes weights;
  Duration single;
  std::uint32_t batch;  ///< of one group
  Duration quantum;
  AccuracyPoint accuracy;
};

std::vector<Published> published() {
  return {
      {"ResNet50", "resnet50", {}, {250'000'000}, microseconds{39'321}, 64, microseconds{1}, {8192, 8192}},
      {"Transformer", "transformer", {{"seq", "38"}}, {700'000'000}, microseconds{11'264}, 8, microseconds{1}, {1024, 16384}},
      {"GPT2-355M", "gpt2-355m", {}, {6'800'000'000}, microseconds{228'400}, 8, microseconds{100}, {1024, 2.403e6}}};
}

/// The value, or the end of the benchmark.
template <class T>
T sure(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  return *std::move(result);
}

double in_ms(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

SipProfile profile_of(const Published& of, std::uint32_t half_batch = 0) {
  const Model model = sure(model_of(of.zoo, of.settings));
  return sure(scaled_to(synthetic_profile(model, half_batch), of.batch, of.single, "SYSTEMS.md A3"));
}

TaskGraph group_of(const Published& of) {
  const auto operations = sure(operations_at(profile_of(of), of.batch));
  const auto shards = sure(partition_operations(operations, kGroup, of.quantum));
  SipPlacementOptions options;
  options.gpus = kGroup;
  options.step = of.quantum;
  return sure(graph_of_group(shards, sure(place_shards(shards, operations, options)), operations));
}

Duration played(const TaskGraph& graph, const Network& network) {
  Predictor predictor = sure(Predictor::make(graph, network, {}));
  return Duration{std::llround(sure(predictor.run()))};
}

Duration played(const TaskGraph& graph, std::int64_t rate) {
  return played(graph, sure(make_ideal_switch({.nodes = kGroup, .rate = {rate}})));
}

void print_range() {
  std::printf("T10, consistency: a 400 Gb/s fat-tree's iteration over SiP-ML's; published 1.3 .. 9.1\n");
  std::printf("%-12s %5s | %9s %9s %9s | %8s %8s %8s\n", "model", "Tb/s", "single/8", "T_MP", "T_MP 400G", "closed", "capped",
              "own rate");
  double range[3][2] = {{HUGE_VAL, 0}, {HUGE_VAL, 0}, {HUGE_VAL, 0}};
  for (const Published& each : published()) {
    const TaskGraph graph = group_of(each);
    const Duration slow = played(graph, kFatTree.bits_per_second);
    for (std::int64_t rate = kTerabit / 2; rate <= 8 * kTerabit; rate *= 2) {
      const Duration group = played(graph, rate);
      const Duration light = gradient_time(each.weights, {rate}, {});
      const Duration electric = gradient_time(each.weights, {rate}, kFatTree);
      const double ratios[3] = {in_ms(each.single / kGroup + electric) / in_ms(each.single / kGroup + light),
                                in_ms(group + electric) / in_ms(group + light), in_ms(slow + electric) / in_ms(group + light)};
      for (int i = 0; i < 3; ++i) {
        range[i][0] = std::min(range[i][0], ratios[i]);
        range[i][1] = std::max(range[i][1], ratios[i]);
      }
      std::printf("%-12s %5.1f | %9.3f %9.3f %9.3f | %8.2f %8.2f %8.2f\n", each.name, static_cast<double>(rate) / kTerabit,
                  in_ms(each.single / kGroup), in_ms(group), in_ms(slow), ratios[0], ratios[1], ratios[2]);
    }
  }
  std::printf(
      "range: closed form %.2f .. %.2f, gradients capped as in code %.2f .. %.2f, each at its own rate %.2f .. %.2f\n\n",
      range[0][0], range[0][1], range[1][0], range[1][1], range[2][0], range[2][1]);
}

Duration episodes(const TaskGraph& graph, const SipLoop& loop) {
  SipRingEpisodes ring;
  ring.terms.nodes = kGroup;
  ring.terms.rate = {25'000'000'000};
  ring.channels = 4;  // 5 rings x 2 directions x 4 = 40 wavelengths, 1 Tb/s
  ring.keeps_light = !loop.all_stop;
  Reconfiguration changing = sure(sip_episodes(graph, sip_ring_policy(ring), loop));
  const Network first = changing.network();
  Predictor predictor = sure(Predictor::make(graph, first, {}));
  return Duration{std::llround(sure(predictor.run(&changing)))};
}

void print_sweep() {
  std::printf("T16: SiP-Ring, 40 wavelengths (1 Tb/s), iteration in ms = group played + gradients' closed form\n");
  for (const Published& each : published()) {
    const TaskGraph graph = group_of(each);
    const Duration gradients = gradient_time(each.weights, {kTerabit}, {});
    std::printf("%s: gradients %.3f, group on an ideal switch %.3f\n", each.name, in_ms(gradients),
                in_ms(played(graph, kTerabit)));
    std::printf("%14s %16s %16s %24s\n", "reconfigures", "100 us all-stop", "100 us changes", "best interval, all-stop");
    for (const Duration delay : {Duration{microseconds{0}}, Duration{microseconds{1}}, Duration{microseconds{10}},
                                 Duration{microseconds{20}}, Duration{microseconds{25}}, Duration{microseconds{50}},
                                 Duration{microseconds{100}}, Duration{milliseconds{1}}, Duration{milliseconds{10}}}) {
      Duration best = Duration::max();
      Duration interval{};
      for (const Duration one :
           {Duration{microseconds{20}}, Duration{microseconds{50}}, Duration{microseconds{100}}, Duration{microseconds{200}},
            Duration{microseconds{500}}, Duration{milliseconds{1}}, Duration{milliseconds{2}}, Duration{milliseconds{5}},
            Duration{milliseconds{20}}, Duration{milliseconds{100}}}) {
        if (const Duration time = episodes(graph, {one, delay, true}); time < best) {
          best = time;
          interval = one;
        }
      }
      std::printf("%11.0f us %16.3f %16.3f %14.3f (%5.0f us)\n", 1e3 * in_ms(delay),
                  in_ms(episodes(graph, {microseconds{100}, delay, true}) + gradients),
                  in_ms(episodes(graph, {microseconds{100}, delay, false}) + gradients), in_ms(best + gradients),
                  1e3 * in_ms(interval));
      std::fflush(stdout);
    }
  }
  std::printf("\n");
}

void print_search(std::uint32_t half_batch) {
  std::printf("strategy search, 1024 GPUs, batch and iterations as published; GPUs at half speed at a batch of %u (assumed)\n",
              half_batch);
  for (const Published& each : published()) {
    for (const std::int64_t rate : {kTerabit / 2, 2 * kTerabit, 8 * kTerabit}) {
      SipStrategyOptions options;
      options.quantum = each.quantum;
      options.placement.step = each.quantum;
      options.rate = {rate};
      options.weights = each.weights;
      const SipProfile profile = profile_of(each, half_batch);
      const SipSearch light = sure(search_strategy(profile, std::vector{each.accuracy}, options));
      options.gradient_rate_most = kFatTree;
      const SipSearch electric = sure(search_strategy(profile, std::vector{each.accuracy}, options));
      const SipCandidate& a = light.candidates[light.best];
      const SipCandidate& b = electric.candidates[electric.best];
      const auto rejected = std::count_if(light.candidates.begin(), light.candidates.end(),
                                          [](const SipCandidate& one) { return one.rejected.has_value(); });
      std::printf(
          "%-12s %3.1f Tb/s: dp x mp %4u x %-3u %9.3f ms, %8.0f s to accuracy; gradients at 400 Gb/s %4u x %-3u %9.3f ms, "
          "%8.0f s; %d of %zu rejected\n",
          each.name, static_cast<double>(rate) / kTerabit, a.data, a.model, in_ms(a.iteration()), a.seconds_to_accuracy, b.data,
          b.model, in_ms(b.iteration()), b.seconds_to_accuracy, static_cast<int>(rejected), light.candidates.size());
    }
  }
}

}  // namespace

int main() {
  print_range();
  print_sweep();
  print_search(0);
  print_search(16);
  return 0;
}
