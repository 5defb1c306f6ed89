// SPDX-License-Identifier: Apache-2.0
// How far the engine is from itself when collectives are fluids (RoundOrder::fluid), and how much faster: on TopoOpt's public
// graphs, and over random strategies on the topology that TopoOpt's finder makes for each. Reads LIGHTLOOM_DATA (default:
// shared/data beside the source tree); says so where it is absent. predictor_fluid [strategies, default 1000]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/architectures/topoopt/network.hpp"
#include "controller/architectures/topoopt/search/alternating.hpp"
#include "controller/predict/engine/predictor.hpp"
#include "controller/workload/import/topoopt_graph.hpp"

namespace {

using namespace loom;

std::string data_folder() {
  const char* folder = std::getenv("LIGHTLOOM_DATA");
  return folder != nullptr ? folder : LOOM_SOURCE_DIR "/../shared/data";
}

struct Timed {
  double answer_ms = -1;
  double seconds = 0;  ///< of the run alone
  double making = 0;
};

Timed timed(const TaskGraph& graph, const Network& network, RoundOrder rounds) {
  const auto begin = std::chrono::steady_clock::now();
  PlayOptions options;
  options.rounds = rounds;
  auto predictor = Predictor::make(graph, network, options);
  Timed timed;
  timed.making = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!predictor) {
    std::printf("%s\n", predictor.error().message.c_str());
    return timed;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto answer = predictor->run();
  timed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!answer) {
    std::printf("%s\n", answer.error().message.c_str());
    return timed;
  }
  timed.answer_ms = *answer / 1e6;
  return timed;
}

void graph_row(const std::string& name, const TaskGraph& graph, const Network& network) {
  const Timed exact = timed(graph, network, RoundOrder::by_rank);
  const Timed fluid = timed(graph, network, RoundOrder::fluid);
  std::printf(
      "  %-14s %-28s exact %11.4f ms in %9.3f ms; fluid %11.4f ms (%+.2f %%) in %8.3f ms, made in %7.1f ms: %.1f times as "
      "fast\n",
      name.c_str(), network.name.c_str(), exact.answer_ms, exact.seconds * 1e3, fluid.answer_ms,
      (fluid.answer_ms / exact.answer_ms - 1) * 100, fluid.seconds * 1e3, fluid.making * 1e3, exact.seconds / fluid.seconds);
  std::fflush(stdout);
}

void public_graphs() {
  for (const char* name : {"100vgg_16.fbuf", "100dlrm_128.fbuf"}) {
    const std::filesystem::path file = std::filesystem::path(data_folder()) / "traces" / "topoopt" / name;
    if (!std::filesystem::exists(file)) {
      std::printf("skipped: %s is absent (set LIGHTLOOM_DATA)\n", file.c_str());
      continue;
    }
    const auto read = import_topoopt_graph(file.string());
    if (!read) {
      std::printf("%s\n", read.error().message.c_str());
      continue;
    }
    NetworkTerms terms{.nodes = read->graph.nodes, .rate = gigabits(100), .link_latency = Duration{1000}};
    graph_row(name, read->graph, *make_ideal_switch(terms));
    NetworkTerms a_link = terms;
    a_link.rate = gigabits(25);  // four links a node: as much as the switch's port
    if (const auto direct = make_topoopt_network(read->graph, a_link, as_in_code_release(4)); direct) {
      graph_row(name, direct->graph, direct->network);
    }
  }
}

double at(const std::vector<double>& ascending, double share) {
  return ascending[static_cast<std::size_t>(share * static_cast<double>(ascending.size() - 1))];
}

struct Case {
  const char* model;
  const char* measures;
};

void strategies_of(const Case& of, std::uint32_t count) {
  auto measures = load_measures(data_folder() + "/measures/" + of.measures);
  if (!measures) {
    std::printf("skipped: %s\n", measures.error().message.c_str());
    return;
  }
  auto graph = topoopt_model(of.model);
  auto times = times_of(*graph, *measures);
  if (!times) {
    std::printf("%s\n", times.error().message.c_str());
    return;
  }
  NetworkTerms terms;
  terms.nodes = graph->nodes;
  terms.rate = gigabits(100);
  terms.link_latency = std::chrono::microseconds{1};
  const SearchProblem problem{std::move(*graph), std::move(*times), terms, {}};
  std::vector<double> errors;
  double signed_sum = 0;
  double exact_s = 0;
  double fluid_s = 0;
  double making_s = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    SearchOptions options;
    options.seed = i + 1;
    options.starts_data_parallel = false;
    auto search = AlternatingSearch::make(problem, options);
    if (!search) {
      std::printf("%s\n", search.error().message.c_str());
      return;
    }
    const auto& current = search->state().current;
    auto tasks = graph_of(problem.graph, problem.times, current.strategy, {.one_reduce_an_operator = true});
    const auto network = network_of(problem.terms, current.topology);
    if (!tasks || !network) {
      std::printf("%s\n", (!tasks ? tasks.error() : network.error()).message.c_str());
      return;
    }
    stripe_over_rings(*tasks, current.topology);
    const Timed exact = timed(*tasks, *network, RoundOrder::by_rank);
    const Timed fluid = timed(*tasks, *network, RoundOrder::fluid);
    const double error = fluid.answer_ms / exact.answer_ms - 1;
    errors.push_back(std::abs(error));
    signed_sum += error;
    exact_s += exact.seconds;
    fluid_s += fluid.seconds;
    making_s += fluid.making;
  }
  std::sort(errors.begin(), errors.end());
  std::printf(
      "  %-10s %u servers, %u random strategies: error p50 %.3f %%, p99 %.3f %%, worst %.3f %%, mean %+.3f %%; exact %.0f a "
      "second, fluid %.0f "
      "(%.0f with its layout)\n",
      of.model, problem.graph.nodes, count, at(errors, 0.5) * 100, at(errors, 0.99) * 100, errors.back() * 100,
      signed_sum / count * 100, count / exact_s, count / fluid_s, count / (fluid_s + making_s));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  public_graphs();
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  for (const Case& each :
       {Case{"vgg16-16", "vgg16.json"}, Case{"dlrm-16", "dlrm16.json"}, Case{"candle-16", "candle16.json"}}) {
    strategies_of(each, static_cast<std::uint32_t>(std::max(1, count)));
  }
  return 0;
}
