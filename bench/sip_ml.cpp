// SPDX-License-Identifier: Apache-2.0
// SiP-ML as a whole, on synthetic profiles: the range against a 400 Gb/s fat-tree row by row (T10), the whole sweep of
// reconfiguration times (T16), and the strategy search. Simulated time: the same figures on every machine. Prints; decides
// nothing. The rows that are judged: `loom reproduce T10 T16`.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "controller/arena/reproduction/sip_models.hpp"

namespace {

using namespace loom;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::int64_t kTerabit = 1'000'000'000'000;
constexpr BitRate kFatTree{400'000'000'000};

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

void print_range() {
  std::printf("T10: a 400 Gb/s fat-tree's iteration over SiP-ML's; published 1.3 .. 9.1\n");
  std::printf("%-12s %5s | %9s %9s %9s | %8s %8s %8s\n", "model", "Tb/s", "single/8", "T_MP", "T_MP 400G", "closed", "capped",
              "own rate");
  for (const SipRangeRow& row : sure(sip_sweep())) {
    std::printf("%-12s %5.1f | %9.3f %9.3f %9.3f | %8.2f %8.2f %8.2f\n", row.model.c_str(), row.terabits, row.single_part,
                row.group, row.electric_group, (row.single_part + row.gradients_400) / (row.single_part + row.gradients),
                (row.group + row.gradients_400) / row.sip(), (row.electric_group + row.gradients_400) / row.sip());
  }
}

void print_sweep() {
  std::printf("\nT16: SiP-Ring, 40 wavelengths (1 Tb/s), iteration in ms = group played + gradients' closed form\n");
  for (const SipModel& each : sip_models()) {
    const TaskGraph graph = sure(group_of(each));
    const double gradients = in_ms(gradient_time(each.weights, {kTerabit}, {}));
    std::printf("%s: gradients %.3f\n%14s %16s %16s %24s\n", each.name.c_str(), gradients, "reconfigures", "100 us all-stop",
                "100 us changes", "best interval, all-stop");
    for (const Duration delay : {Duration{microseconds{0}}, Duration{microseconds{1}}, Duration{microseconds{10}},
                                 Duration{microseconds{20}}, Duration{microseconds{25}}, Duration{microseconds{50}},
                                 Duration{microseconds{100}}, Duration{milliseconds{1}}, Duration{milliseconds{10}}}) {
      const BestInterval best = sure(best_interval(graph, delay));
      std::printf("%11.0f us %16.3f %16.3f %14.3f (%5.0f us)\n", 1e3 * in_ms(delay),
                  sure(episodes_ms(graph, {microseconds{100}, delay, true})) + gradients,
                  sure(episodes_ms(graph, {microseconds{100}, delay, false})) + gradients, best.ms + gradients,
                  1e3 * in_ms(best.interval));
      std::fflush(stdout);
    }
  }
  std::printf("\n");
}

void print_search(std::uint32_t half_batch) {
  std::printf("strategy search, 1024 GPUs, batch and iterations as published; GPUs at half speed at a batch of %u (assumed)\n",
              half_batch);
  for (const SipModel& each : sip_models()) {
    for (const std::int64_t rate : {kTerabit / 2, 2 * kTerabit, 8 * kTerabit}) {
      SipStrategyOptions options;
      options.quantum = each.quantum;
      options.placement.step = each.quantum;
      options.rate = {rate};
      options.weights = each.weights;
      const SipProfile profile = sure(profile_of(each, half_batch));
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
          each.name.c_str(), static_cast<double>(rate) / kTerabit, a.data, a.model, in_ms(a.iteration()), a.seconds_to_accuracy,
          b.data, b.model, in_ms(b.iteration()), b.seconds_to_accuracy, static_cast<int>(rejected), light.candidates.size());
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
