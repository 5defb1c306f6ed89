// SPDX-License-Identifier: Apache-2.0
// loom plan: one schedule made offline by the pure planner, with what it is worth, why it is so and what it looks like; and
// TopoOpt's search for a strategy and a topology together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/plan/answer.hpp"
#include "cli/render/figure.hpp"

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

struct SearchCommand {
  bool wanted = false;
  std::string model;                  ///< of topoopt_model_names(), the zoo, or a file; empty: the first workload named
  std::string measures;               ///< file; empty: the model's in the data folder
  std::string data;                   ///< folder with measures/
  std::uint64_t steps = 0;            ///< proposals a chain; 0: 20000, or what a resumed file says
  std::uint32_t chains = 0;           ///< seeds in a row; 0: 2, or what a resumed file says
  std::uint32_t threads = 0;          ///< 0: as many as the machine runs at once; no result depends on it
  std::optional<std::uint64_t> seed;  ///< of chain 0; none: 1, or what a resumed file says
  std::string save;
  std::string resume;
  std::string accuracy;  ///< file of global batches and iterations to accuracy; empty: one batch, one iteration
  std::string graph;     ///< file of the strategy's task graph, as TopoOpt's simulators read them
};

inline constexpr const char* kPlanBandwidth = "100G";

struct PlanCommand {
  std::vector<std::string> workloads;
  std::string demand;                ///< file of bytes from node to node, instead of workloads
  std::vector<std::uint32_t> nodes;  ///< one for all, or one a workload
  std::string scenario;              ///< instead of workloads and a fabric
  std::string algorithm;             ///< empty: the fabric's own
  std::string fabric;                ///< file, or name of a template
  std::string bandwidth;             ///< TopoOpt without a fabric: a node's total; empty: kPlanBandwidth
  std::vector<std::string> settings;
  std::string memory;       ///< of a node; empty: 100 GB for SiP-ML (the authors'), else not looked at
  std::string base;         ///< saved schedule; empty: darkness
  std::string output;       ///< file to save to
  std::string links;        ///< file of the circuits (plan_tables.hpp), as those below
  std::string forwarding;   ///< file of who passes on what
  std::string wiring;       ///< file of what switches and panels hold
  std::string plot;         ///< SVG or PDF file
  std::string occupancy;    ///< SVG or PDF file: who holds the wavelengths of rings
  bool no_caption = false;  ///< of pictures: it is a file beside them instead
  std::string deadline;     ///< empty: none
  bool explain = false;
  SearchCommand search;
};

/// Where --plot and --occupancy go.
PictureFiles plot_files(const PlanCommand& order);
PictureFiles occupancy_files(const PlanCommand& order);

/// Before anything is planned. Errors: those of check(PictureFiles) and check_apart().
Result<void> check_files(const PlanCommand& order);

/// Without a search: plans, and writes the files that were asked for. Errors: those of read_plan_inputs, read_base, make_plan
/// and find_topology; storage (a file cannot be written); timed_out (the deadline).
Result<PlanAnswer> answer_to(const PlanCommand& order);

int plan(const Globals& globals, const PlanCommand& order);

void add_plan(CLI::App& app, CommandLine& line);

}  // namespace loom::cli
