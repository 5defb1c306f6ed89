// SPDX-License-Identifier: Apache-2.0
// The predictor on TopoOpt's public task graphs (LIGHTLOOM_DATA): full predictions from scratch and with a kept Predictor, and
// again after one task has changed. Every row is run three times and prints the best and the median; says so where the data is
// absent.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <vector>

#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/architectures/topoopt/network.hpp"
#include "controller/predict/engine/predictor.hpp"
#include "controller/workload/import/topoopt_graph.hpp"

namespace {

using namespace loom;
using Clock = std::chrono::steady_clock;

struct Best {
  double best_ms = 0;
  double median_ms = 0;
};

/// Three turns of about 0.3 s each; a turn's figure is its mean. What takes more than 2 s is run once.
Best three_turns(const std::function<double()>& work) {
  std::array<double, 3> turns{};
  for (double& turn : turns) {
    const auto begin = Clock::now();
    double spent = 0;
    int count = 0;
    while (spent < 300) {
      volatile double kept = work();
      (void)kept;
      ++count;
      spent = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    }
    turn = spent / count;
    if (spent > 2000) {
      return {spent, spent};
    }
  }
  std::sort(turns.begin(), turns.end());
  return {turns[0], turns[1]};
}

Best once(const std::function<double()>& work) {
  const auto begin = Clock::now();
  volatile double kept = work();
  (void)kept;
  const double spent = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return {spent, spent};
}

double load() {
  std::ifstream file{"/proc/loadavg"};
  double load = 0;
  file >> load;
  return load;
}

void row(const char* what, const Best& took, double answer_ns) {
  std::printf("  %-52s best %9.4f ms (%8.0f a second), median %9.4f ms | predicted %.6f ms | load %.1f\n", what, took.best_ms,
              1e3 / took.best_ms, took.median_ms, answer_ns / 1e6, load());
  std::fflush(stdout);
}

double prediction(Predictor& predictor) {
  const auto time = predictor.run();
  if (!time) {
    std::printf("%s\n", time.error().message.c_str());
    return -1;
  }
  return *time;
}

/// Tasks by when their first part began in the last run.
std::vector<std::uint32_t> in_order_of_start(const Predictor& predictor) {
  const auto first = predictor.first_part();
  std::vector<std::uint32_t> order(predictor.graph().tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto start = [&](std::uint32_t task) { return predictor.parts()[first[task]].start; };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return start(a) < start(b); });
  return order;
}

/// The last task of `kind` among the first `share` of `order`.
std::uint32_t task_at(const TaskGraph& graph, const std::vector<std::uint32_t>& order, TaskKind kind, double share) {
  auto at = static_cast<std::size_t>(share * static_cast<double>(order.size() - 1));
  while (at > 0 && graph.tasks[order[at]].kind != kind) {
    --at;
  }
  return order[at];
}

/// One op changed back and forth, predicted again each time.
void changed(const TaskGraph& graph, Predictor& kept, std::uint32_t task, double share, const Best& scratch) {
  const Task& of = graph.tasks[task];
  const TaskKind kind = of.kind;
  std::int64_t turn = 0;
  double answer = 0;
  const Best took = three_turns([&] {
    const std::int64_t more = ++turn % 2;
    (void)(kind == TaskKind::compute ? kept.set_duration(task, of.duration + Duration{more * 1000})
                                     : kept.set_bytes(task, Bytes{of.bytes.count + more * 1000}));
    return answer = prediction(kept);
  });
  (void)(kind == TaskKind::compute ? kept.set_duration(task, of.duration) : kept.set_bytes(task, of.bytes));
  char what[96];
  std::snprintf(what, sizeof what, "one %s changed, after %.0f %% of the tasks",
                kind == TaskKind::compute ? "duration" : "size", share * 100);
  row(what, took, answer);
  std::printf("  %-52s x%.1f as fast as from scratch, resumed at %.6f ms\n", "", scratch.best_ms / took.best_ms,
              kept.resumed_at() / 1e6);
}

void rows(const char* name, const TaskGraph& graph, const Network& network) {
  std::printf("%s, %zu tasks on %s\n", name, graph.tasks.size(), network.name.c_str());
  double answer = 0;
  const Best scratch = three_turns([&] {
    auto fresh = Predictor::make(graph, network, {});
    return answer = prediction(*fresh);
  });
  row("from scratch", scratch, answer);
  auto kept = Predictor::make(graph, network, {});
  row("kept Predictor", three_turns([&] { return answer = prediction(*kept); }), answer);
  const PlayCounts counts = kept->counts();
  std::printf("  %-52s %llu closed forms, %llu recurrences, %llu played, %llu replayed\n", "",
              static_cast<unsigned long long>(counts.closed_forms), static_cast<unsigned long long>(counts.recurrences),
              static_cast<unsigned long long>(counts.played), static_cast<unsigned long long>(counts.replayed));
  auto again = Predictor::make(graph, network, {.checkpoints = 24});
  row("kept Predictor, first run that keeps 24 checkpoints", once([&] { return answer = prediction(*again); }), answer);
  const std::vector<std::uint32_t> by_start = in_order_of_start(*again);
  const bool is_slow = scratch.best_ms > 2000;
  for (const double share : is_slow ? std::vector{0.99} : std::vector{0.5, 0.9, 0.99}) {
    changed(graph, *again, task_at(graph, by_start, TaskKind::compute, share), share, scratch);
    changed(graph, *again, task_at(graph, by_start, TaskKind::communicate, share), share, scratch);
  }
}

void file_rows(const std::string& name) {
  const char* folder = std::getenv("LIGHTLOOM_DATA");
  const std::filesystem::path root = folder != nullptr ? folder : LOOM_SOURCE_DIR "/../shared/data";
  const std::filesystem::path file = root / "traces" / "topoopt" / name;
  if (!std::filesystem::exists(file)) {
    std::printf("skipped: %s is absent (set LIGHTLOOM_DATA)\n", file.c_str());
    return;
  }
  const auto read = import_topoopt_graph(file.string());
  if (!read) {
    std::printf("%s\n", read.error().message.c_str());
    return;
  }
  const NetworkTerms terms{.nodes = read->graph.nodes, .rate = gigabits(100), .link_latency = Duration{1000}};
  const auto star = make_ideal_switch(terms);
  rows(name.c_str(), read->graph, *star);
  NetworkTerms a_link = terms;
  a_link.rate = gigabits(25);  // four links a node: as much as the switch's port
  const auto direct = make_topoopt_network(read->graph, a_link, as_in_code_release(4));
  if (!direct) {
    std::printf("%s\n", direct.error().message.c_str());
    return;
  }
  rows(name.c_str(), direct->graph, direct->network);
}

}  // namespace

int main() {
  file_rows("100vgg_16.fbuf");
  file_rows("100dlrm_128.fbuf");
  return 0;
}
