// SPDX-License-Identifier: Apache-2.0
// What a viewer's flood costs heartbeats and operators: 512 agents in two processes, an operator who asks every 20 ms, and a
// viewer who sends 20,000 queries as fast as a socket takes them, again and again, and 4,000 in one frame. Beside it the same
// seconds without the viewer.
#include <cstdio>
#include <cstdlib>

#include "bench/flood_lab.hpp"

namespace {

using namespace loom;
using flood::Clock;

void print(const char* name, const flood::Figures& figures) {
  const auto row = [](const char* what, const flood::Quantiles& of) {
    std::printf("  %-20s p50 %8.2f ms  p99 %8.2f ms  max %8.2f ms  (%zu)\n", what, of.p50, of.p99, of.max, of.count);
  };
  std::printf("%s\n", name);
  row("heartbeat interval", figures.heartbeats);
  row("operator's status", figures.operators);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 5;
  const flood::Options options;
  flood::Lab lab(options);
  if (!lab.wait_for_agents()) {
    std::fprintf(stderr, "the agents did not come\n");
    return 1;
  }
  const auto until = [&](auto end, auto work) {
    while (Clock::now() < end) {
      work();
    }
  };
  const std::chrono::seconds phase{seconds};
  const auto quiet =
      lab.watch([&] { until(Clock::now() + phase, [] { std::this_thread::sleep_for(std::chrono::milliseconds{10}); }); });
  std::uint64_t handled = 0;
  const auto flooded = lab.watch([&] {
    until(Clock::now() + phase, [&] {
      lab.viewer->ask(options.queries, options.noun);
      lab.viewer->ask_at_once(options.frame_queries, options.noun);
    });
  });
  handled += flooded.viewer_handled;
  // What is still on its way.
  for (const auto end = Clock::now() + std::chrono::seconds{20}; Clock::now() < end;) {
    lab.viewer->read();
    handled += lab.controller->take().viewer_handled;
    if (handled + lab.controller->counters().over_quota >= lab.viewer->asked) {
      break;
    }
  }
  const auto counters = lab.controller->counters();
  std::printf("%u agents in %u processes, heartbeats every %.0f ms, dead after %.0f ms; %d s each\n", options.nodes,
              options.processes, milliseconds_of(options.timings.beat_interval), milliseconds_of(options.timings.dead_after),
              seconds);
  print("without the viewer", quiet);
  print("with the viewer", flooded);
  std::printf("ratio of the p99: heartbeats x%.2f, operators x%.2f\n", flooded.heartbeats.p99 / quiet.heartbeats.p99,
              flooded.operators.p99 / quiet.operators.p99);
  std::printf("viewer: %llu queries asked, %llu handled, %llu refused (%llu of them answered busy); operator: %llu failed\n",
              static_cast<unsigned long long>(lab.viewer->asked), static_cast<unsigned long long>(handled),
              static_cast<unsigned long long>(counters.over_quota), static_cast<unsigned long long>(lab.viewer->busy),
              static_cast<unsigned long long>(flooded.operator_failures));
  std::printf("agents lost: %llu\n", static_cast<unsigned long long>(lab.controller->lost()));
  return lab.controller->lost() == 0 && handled + counters.over_quota == lab.viewer->asked ? 0 : 1;
}
