// SPDX-License-Identifier: Apache-2.0
// The predictor beside its floors: every row prints what it took, what the least conceivable work of the same kind takes in the
// same run, and their ratio. Predicted times are printed too: a fast wrong answer is no answer.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <random>

#include "controller/architectures/electrical/fat_tree.hpp"
#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/predict/collective_time.hpp"
#include "controller/predict/engine/transfers.hpp"
#include "controller/predict/networks/direct_connect.hpp"
#include "controller/predict/predict_graph.hpp"

namespace {

using namespace loom;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kNodes = 1024;
constexpr std::int64_t kBytes = 574'619'648;  ///< 1024 x 561,152

NetworkTerms terms() { return {.nodes = kNodes, .rate = gigabits(100), .link_latency = Duration{1000}}; }

/// Median milliseconds of a few turns of `work`, whose result is kept.
template <class Work>
double median_ms(int turns, const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < turns; ++i) {
    const auto begin = Clock::now();
    volatile double kept = work();
    (void)kept;
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + turns / 2, times.end());
  return times[static_cast<std::size_t>(turns) / 2];
}

long resident_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void row(const char* what, double ms, const char* floor, double floor_ms, const double& answer_ns) {
  std::printf("%-58s %10.4f ms | %-34s %10.4f ms | x%-8.2f | predicted %.6f ms | peak %ld MB\n", what, ms, floor, floor_ms,
              ms / floor_ms, answer_ns / 1e6, resident_mb());
  std::fflush(stdout);
}

std::vector<std::uint32_t> all_nodes(bool is_shuffled) {
  std::vector<std::uint32_t> nodes(kNodes);
  std::iota(nodes.begin(), nodes.end(), 0U);
  std::mt19937 chance{7};
  for (std::size_t i = nodes.size(); is_shuffled && i > 1; --i) {
    std::swap(nodes[i - 1], nodes[chance() % i]);
  }
  return nodes;
}

TaskGraph one(CollectiveKind kind, bool is_shuffled) {
  TaskGraphBuilder made{"bench", kNodes};
  made.communicate("collective", made.family(all_nodes(is_shuffled), kNodes), kind, Bytes{kBytes}, made.choice({}), 0);
  return *std::move(made).build();
}

double prediction(Predictor& predictor) {
  const auto time = predictor.run();
  if (!time) {
    std::printf("%s\n", time.error().message.c_str());
    return -1;
  }
  return *time;
}

/// What a ring's events cost with a binary heap and nothing else: the least an event-driven simulator can do.
double bare_heap_ms(std::size_t events) {
  return median_ms(1, [&] {
    std::vector<std::pair<double, std::uint32_t>> heap;
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      heap.emplace_back(i, i);
    }
    std::make_heap(heap.begin(), heap.end(), std::greater<>{});
    for (std::size_t i = 0; i < events; ++i) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
      heap.back().first += 100 + heap.back().second % 7;
      std::push_heap(heap.begin(), heap.end(), std::greater<>{});
    }
    return heap.front().first;
  });
}

void rings() {
  const TaskGraph graph = one(CollectiveKind::all_reduce, false);
  const auto star = make_ideal_switch(terms());
  auto predictor = Predictor::make(graph, *star, {});
  double answer = 0;
  const double closed = median_ms(1001, [] { return uniform_ns({.bytes = Bytes{kBytes}}, kNodes, {0.08, 1000}); });
  row("ring all-reduce, uniform: run of a kept Predictor", median_ms(201, [&] { return answer = prediction(*predictor); }),
      "the closed form alone", closed, answer);
  row("ring all-reduce, uniform: from scratch",
      median_ms(21,
                [&] {
                  auto fresh = Predictor::make(graph, *star, {});
                  return answer = prediction(*fresh);
                }),
      "the closed form alone", closed, answer);

  std::mt19937 chance{3};
  std::vector<BitRate> rates;
  std::vector<LinkTerms> links;
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    rates.push_back(BitRate{50'000'000'000 + static_cast<std::int64_t>(chance() % 50'000) * 1'000'000});
  }
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    links.push_back(link_terms(std::min(rates[i], rates[(i + 1) % kNodes]), Duration{1000}));
  }
  const auto uneven = make_uneven_switch(terms(), rates);
  auto by_link = Predictor::make(graph, *uneven, {});
  const double recurrence = median_ms(11, [&] { return ring_ns(links, 2 * (kNodes - 1), kBytes / kNodes); });
  row("ring all-reduce, every link its own rate", median_ms(11, [&] { return answer = prediction(*by_link); }),
      "dependency recurrence alone", recurrence, answer);

  const TaskGraph shuffled = one(CollectiveKind::all_reduce, true);
  const auto tree = make_fat_tree(terms(), {});
  auto barrier = Predictor::make(shuffled, *tree, {.rounds = RoundOrder::barrier});
  const double heap = bare_heap_ms(2 * 2046 * std::size_t{kNodes});
  row("ring, random ranks, fat-tree with collisions, barrier",
      median_ms(3,
                [&] {
                  auto fresh = Predictor::make(shuffled, *tree, {.rounds = RoundOrder::barrier});
                  return answer = prediction(*fresh);
                }),
      "4.2 M events of a bare heap", heap, answer);
  auto exact = Predictor::make(shuffled, *tree, {});
  row("ring, random ranks, fat-tree with collisions, exact", median_ms(1, [&] { return answer = prediction(*exact); }),
      "4.2 M events of a bare heap", heap, answer);
  auto neighbours = Predictor::make(graph, *tree, {});
  row("ring, ranks in order, fat-tree with collisions, exact", median_ms(1, [&] { return answer = prediction(*neighbours); }),
      "4.2 M events of a bare heap", heap, answer);
}

/// A progressive filling of 1024 x 1023 flows over two links each, arrays only, all links alike: one pass.
double bare_solve_ms() {
  return median_ms(3, [] {
    std::vector<std::uint32_t> flows;
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      for (std::uint32_t j = 0; j < kNodes; ++j) {
        if (i != j) {
          flows.push_back(i << 16 | j);
        }
      }
    }
    std::vector<double> rate(flows.size(), 0);
    std::vector<double> used(2 * kNodes, 0);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      rate[f] = 12.5 / (kNodes - 1);
      used[flows[f] >> 16] += rate[f];
      used[kNodes + (flows[f] & 0xffff)] += rate[f];
    }
    return *std::max_element(used.begin(), used.end());
  });
}

void all_to_all() {
  const TaskGraph graph = one(CollectiveKind::all_to_all, false);
  const double solve = bare_solve_ms();
  double answer = 0;
  const auto star = make_ideal_switch(terms());
  auto predictor = Predictor::make(graph, *star, {});
  row("all-to-all, 1,047,552 flows, ideal switch", median_ms(11, [&] { return answer = prediction(*predictor); }),
      "flows and rates written down once", solve, answer);
  std::vector<BitRate> rates(kNodes, gigabits(100));
  rates[17] = gigabits(50);
  const auto uneven = make_uneven_switch(terms(), rates);
  auto honest = Predictor::make(graph, *uneven, {});
  row("all-to-all, one node at half the rate: every flow solved", median_ms(1, [&] { return answer = prediction(*honest); }),
      "flows and rates written down once", solve, answer);
}

void random_flows(const Network& network, const char* fabric, std::uint32_t count, double window_ns) {
  struct Asked {
    double start = 0;
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    double bytes = 0;
  };
  std::mt19937 chance{1};
  std::vector<Asked> flows;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto source = static_cast<std::uint32_t>(chance() % kNodes);
    const auto destination = static_cast<std::uint32_t>((source + 1 + chance() % (kNodes - 1)) % kNodes);
    flows.push_back({window_ns * (static_cast<double>(chance()) / 4294967296.0), source, destination,
                     1e6 + 1e6 * static_cast<double>(chance() % 100)});
  }
  std::sort(flows.begin(), flows.end(), [](const Asked& a, const Asked& b) { return a.start < b.start; });
  double end = 0;
  std::size_t most = 0;
  const double ms = median_ms(1, [&] {
    Transfers transfers;
    transfers.reset(network);
    std::size_t next = 0;
    while (next < flows.size() || transfers.active() > 0) {
      end = std::min(next < flows.size() ? flows[next].start : 1e300, transfers.next());
      transfers.advance(end, [](std::uint32_t, double) {});
      for (; next < flows.size() && flows[next].start <= end; ++next) {
        transfers.start(end, flows[next].source, flows[next].destination, 0, flows[next].bytes,
                        static_cast<std::uint32_t>(next));
      }
      transfers.settle(end);
      most = std::max(most, transfers.active());
    }
    return end;
  });
  char what[128];
  std::snprintf(what, sizeof what, "%u random flows in %.0f ms, %s, %zu at once", count, window_ns / 1e6, fabric, most);
  row(what, ms, "as many events of a bare heap", bare_heap_ms(2 * std::size_t{count}), end);
}

/// 768 compute tasks (24 layers, forward and backward, of 16 servers by themselves) and an all-reduce a layer.
TaskGraph servers() {
  constexpr std::uint32_t kServers = 16;
  constexpr std::uint32_t kLayers = 24;
  TaskGraphBuilder made{"servers", kServers};
  std::vector<std::uint32_t> all(kServers);
  std::iota(all.begin(), all.end(), 0U);
  made.graph().node_of_worker = all;
  const std::uint32_t ring = made.family(all, kServers);
  const std::uint32_t choice = made.choice({.algorithm = CollectiveAlgorithm::bidirectional_ring, .strides = {1, 5}});
  std::vector<std::uint32_t> last(kServers);
  for (std::uint32_t pass = 0; pass < 2; ++pass) {
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
      for (std::uint32_t node = 0; node < kServers; ++node) {
        const std::vector<std::uint32_t> one{node};
        const std::uint32_t task =
            made.compute(pass == 0 ? "forward" : "backward", made.family(one, 1), Duration{1'000'000 + 1000 * layer});
        if (pass + layer > 0) {
          made.edge(last[node], task);
        }
        last[node] = task;
      }
      if (pass == 1) {
        const std::uint32_t reduce = made.communicate("reduce", ring, CollectiveKind::all_reduce, Bytes{24'000'000}, choice, 1);
        for (const std::uint32_t task : last) {
          made.edge(task, reduce);
        }
      }
    }
  }
  return *std::move(made).build();
}

void task_graphs() {
  const TaskGraph graph = servers();
  const auto network = make_jump_rings({.nodes = 16, .rate = gigabits(100), .link_latency = Duration{1000}}, {.jumps = {1, 5}});
  double answer = 0;
  const double heap = bare_heap_ms(graph.tasks.size());
  const double scratch = median_ms(21, [&] {
    auto fresh = Predictor::make(graph, *network, {});
    return answer = prediction(*fresh);
  });
  row("792 tasks, 16 servers, jumps {1,5}: from scratch", scratch, "as many events of a bare heap", heap, answer);
  auto kept = Predictor::make(graph, *network, {});
  std::int64_t turn = 0;
  const double again = median_ms(201, [&] {
    (void)kept->set_duration(100, Duration{1'000'000 + ++turn});
    return answer = prediction(*kept);
  });
  row("the same, one op changed, kept Predictor", again, "as many events of a bare heap", heap, answer);
  std::printf("%-58s %10.0f predictions a second; from scratch x%.1f\n", "", 1e3 / again, scratch / again);
}

}  // namespace

int main() {
  task_graphs();
  rings();
  all_to_all();
  const auto star = make_ideal_switch(terms());
  const auto tree = make_fat_tree(terms(), {});
  for (const std::uint32_t count : {4096U, 16384U}) {
    for (const double window : {200e6, 50e6, 1e6}) {
      random_flows(*star, "switch", count, window);
    }
    random_flows(*tree, "fat-tree", count, 200e6);
  }
  return 0;
}
