// SPDX-License-Identifier: Apache-2.0
// What ODDL's fast plane delivers: grant latency and receiver utilisation against load, and the efficiency of a saturated
// receiver beside the closed form of the reconstruction. Virtual time: the tables are a function of the seed.
// grant_plane [seed [nodes ...]]; nodes default to 64 and 1024. oddl (reconstruction): every time and size is ours.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "sim_backend/experiments/grant_lab.hpp"
#include "sim_backend/judge/grant_figures.hpp"

namespace {

using namespace loom;

double microseconds_of(Duration duration) { return static_cast<double>(duration.count()) * 1e-3; }

GrantLabOptions plane(std::uint64_t seed, std::uint32_t nodes) {
  GrantLabOptions options;
  options.seed = seed;
  options.nodes = nodes;
  options.sender.streams_max = 8192;
  options.streams_per_node = nodes > 256 ? 200 : 400;
  return options;
}

bool print_row(const GrantLabOptions& options) {
  const auto result = run_grant_lab(options);
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    return false;
  }
  std::printf("%6u %4u %6.1f %5u %9.2f %9.2f %10.1f %10.1f %10.1f %7.3f %8.2f %8.3f %7llu %10llu\n", options.nodes,
              options.sender.transmitters, options.loss_per_million / 1e4, options.load_percent,
              microseconds_of(result->latency_p50), microseconds_of(result->latency_p99), microseconds_of(result->wait_p50),
              microseconds_of(result->wait_p99), microseconds_of(result->finish_p99), result->utilisation,
              static_cast<double>(result->messages) / static_cast<double>(result->streams),
              static_cast<double>(result->refusals) / static_cast<double>(result->grants),
              static_cast<unsigned long long>(result->unreachable), static_cast<unsigned long long>(result->collisions));
  return true;
}

bool print_loads(std::uint64_t seed, std::uint32_t nodes) {
  std::printf("\nUniform traffic, streams of 561.2 kB (44.9 us), oddl (reconstruction)\n");
  std::printf("%6s %4s %6s %5s %9s %9s %10s %10s %10s %7s %8s %8s %7s %10s\n", "nodes", "k", "loss%", "load%", "grant p50",
              "grant p99", "wait p50", "wait p99", "done p99", "util", "msg/strm", "refused", "given up", "collisions");
  for (const auto& [transmitters, loss] : {std::pair{1U, 0U}, std::pair{1U, 10'000U}, std::pair{2U, 0U}}) {
    for (const std::uint32_t load : {10U, 30U, 50U, 70U, 80U, 90U, 95U}) {
      GrantLabOptions options = plane(seed, nodes);
      options.sender.transmitters = transmitters;
      options.load_percent = load;
      options.loss_per_million = loss;
      if (!print_row(options)) {
        return false;
      }
      std::fflush(stdout);
    }
  }
  return true;
}

bool print_efficiency(std::uint64_t seed, std::uint32_t nodes) {
  std::printf("\nSaturated receivers, node i sends to i+1, %u nodes, oddl (reconstruction): bytes carried over the rate\n",
              nodes);
  std::printf("%9s %9s %8s %12s %12s %12s %12s\n", "bytes", "L/B us", "tune us", "pipelined", "C3, hidden", "one by one",
              "C3, bare");
  for (const std::int64_t tune_ns : {100, 1'000, 25'000}) {
    for (const std::int64_t bytes : {12'500, 50'000, 125'000, 561'200, 5'000'000}) {
      GrantLabOptions options = plane(seed, nodes);
      options.traffic = GrantTraffic::permutation;
      options.load_percent = 400;
      options.stream_bytes = Bytes{bytes};
      options.streams_per_node = 200;
      options.sender.timings.tune = Duration{tune_ns};
      options.sender.patience = std::max(options.sender.patience, Duration{2 * tune_ns});
      options.arbiter.slack = options.sender.patience;
      options.arbiter.timings = options.sender.timings;
      const auto pipelined = run_grant_lab(options);
      options.arbiter.ahead = 1;
      const auto bare = run_grant_lab(options);
      if (!pipelined || !bare) {
        std::fprintf(stderr, "%s\n", (!pipelined ? pipelined : bare).error().message.c_str());
        return false;
      }
      std::printf("%9lld %9.2f %8.1f %12.4f %12.4f %12.4f %12.4f\n", static_cast<long long>(bytes),
                  microseconds_of(time_of(Bytes{bytes}, options.sender.timings.rate)),
                  microseconds_of(options.sender.timings.tune), pipelined->efficiency,
                  grant_efficiency(options.sender.timings, Bytes{bytes}, kForever), bare->efficiency,
                  grant_efficiency(options.sender.timings, Bytes{bytes}, Duration::zero()));
    }
  }
  return true;
}

/// Every node sends to every other one, all of one size; k = 1. Slower than its bytes need, over seeds.
bool print_exchanges() {
  constexpr int kSeeds = 16;
  std::printf("\nAll-to-all, k = 1, %d seeds, oddl (reconstruction): %% slower than its bytes need\n", kSeeds);
  std::printf("%6s %9s %9s %9s %9s %9s\n", "nodes", "bytes", "apart us", "mean", "luckiest", "worst");
  for (const std::uint32_t nodes : {4U, 16U}) {
    for (const std::int64_t bytes : {1'028'000, 8'000'000, 23'810'000}) {
      for (const std::int64_t apart_us : {0, 10}) {
        std::vector<double> slower;
        GrantLabOptions options = lab_options({});
        options.nodes = nodes;
        options.traffic = GrantTraffic::listed;
        options.apart = std::chrono::microseconds{apart_us};
        for (std::uint32_t i = 0; i < nodes * nodes; ++i) {
          if (i / nodes != i % nodes) {
            options.streams.push_back({NodeId{i / nodes}, NodeId{i % nodes}, Bytes{bytes}});
          }
        }
        const GrantTimings& timings = options.sender.timings;
        const Duration needed = time_of(Bytes{bytes}, timings.rate) * (nodes - 1) + timings.flight;
        for (int seed = 1; seed <= kSeeds; ++seed) {
          options.seed = static_cast<std::uint64_t>(seed);
          const auto result = run_grant_lab(options);
          if (!result) {
            std::fprintf(stderr, "%s\n", result.error().message.c_str());
            return false;
          }
          slower.push_back(100 * (microseconds_of(result->makespan) / microseconds_of(needed) - 1));
        }
        std::printf("%6u %9lld %9lld %9.3f %9.3f %9.3f\n", nodes, static_cast<long long>(bytes),
                    static_cast<long long>(apart_us), std::accumulate(slower.begin(), slower.end(), 0.0) / kSeeds,
                    std::ranges::min(slower), std::ranges::max(slower));
      }
    }
  }
  return true;
}

/// T14, as `loom reproduce T14` has it.
bool print_testbed() {
  const auto figures = granted_testbed();
  if (!figures) {
    std::fprintf(stderr, "%s\n", figures.error().message.c_str());
    return false;
  }
  std::printf("\nT14, %% slower than the ideal switch\n");
  for (const Figure& figure : *figures) {
    std::printf("%8.3f  %s\n", figure.ours, figure.what.c_str());
    for (const std::string& assumption : figure.assumptions) {
      std::printf("          assumed: %s\n", assumption.c_str());
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  std::vector<std::uint32_t> sizes;
  for (int i = 2; i < argc; ++i) {
    sizes.push_back(static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10)));
  }
  if (sizes.empty()) {
    sizes = {64, 1024};
  }
  std::printf("seed %llu; times in us; grant = request at the head of its queue to accepted grant, wait = from the offer\n",
              static_cast<unsigned long long>(seed));
  for (const std::uint32_t nodes : sizes) {
    if (!print_loads(seed, nodes)) {
      return 1;
    }
  }
  return print_efficiency(seed, sizes.front()) && print_exchanges() && print_testbed() ? 0 : 1;
}
