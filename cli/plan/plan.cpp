// SPDX-License-Identifier: Apache-2.0
// Reads, plans, answers. Two ways of planning give the same answer: the road (a Schedule, lowered and verified), and TopoOpt's
// finder by itself where no fabric is named.
#include "cli/plan/plan.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "cli/command_line.hpp"
#include "cli/plan/accuracy_search.hpp"
#include "cli/plan/inputs.hpp"
#include "cli/plan/lit_plan.hpp"
#include "cli/plan/search.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "cli/render/topology_plot.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/architectures/topoopt/finder/finder_explain.hpp"
#include "controller/architectures/topoopt/finder/finder_settings.hpp"
#include "controller/workload/fabric_settings.hpp"
#include "controller/workload/models/compute_time.hpp"
#include "core/text/format_text.hpp"
#include "runtime/planner.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The finder with one switch set otherwise, where that makes the busiest link a tenth quicker or more; of several the best.
std::vector<std::string> better_switches(const FinderDemand& demand, const FinderOptions& options, BitRate link,
                                         double seconds) {
  std::string best;
  const auto consider = [&](const char* words, const FinderOptions& other) -> Result<void> {
    const auto topology = find_topology(demand, other);
    if (!topology) {
      return std::unexpected(topology.error());
    }
    const auto account = account_of(demand, *topology, other, link);
    if (account && account->wire.seconds < 0.9 * seconds) {
      seconds = account->wire.seconds;
      best = format_text("--set fabric.{}: the busiest link then works for {} ms", words, printed("%.3g", seconds * 1e3));
    }
    return {};
  };
  FinderOptions all_rings = options;
  all_rings.split = DegreeSplit::as_in_code_release;
  FinderOptions sees_rings = options;
  sees_rings.sees = MatchingSees::rings;
  const auto first = consider("split=as-in-code (all links to rings)", all_rings);
  const auto second = consider("matching_sees=rings (matching looks at demand alone, whatever rings join already)", sees_rings);
  return best.empty() || (!first && !second) ? std::vector<std::string>{} : std::vector{best};
}

/// TopoOpt's finder by itself: a topology of the job's own, wired from nothing.
Result<Planned> plan_topology(const PlanCommand& order, const PlanInputs& inputs) {
  if (inputs.jobs.size() != 1) {
    return fail(ErrorCode::invalid_argument,
                format_text("algorithm {} wires a topology for one job; {} are named; nearest: one workload", inputs.algorithm,
                            inputs.jobs.size()));
  }
  const std::pair<const std::string&, const char*> of_fabrics[]{{order.base, "--base"},
                                                                {order.output, "-o"},

                                                                {order.forwarding, "--forwarding"},
                                                                {order.wiring, "--wiring"}};
  for (const auto& [value, name] : of_fabrics) {
    if (!value.empty()) {
      return fail(ErrorCode::unsupported,
                  format_text("{}: a topology by itself is not lowered to a fabric, so that it has none of that; nearest: "
                              "--fabric {}",
                              name, inputs.algorithm));
    }
  }
  if (!order.occupancy.empty()) {
    return fail(ErrorCode::unsupported,
                "--occupancy: a topology by itself has no rings of fibre that circuits share; nearest: --fabric sip-ring");
  }
  const auto options = finder_options(inputs.fabric_settings);
  if (!options) {
    return std::unexpected(options.error());
  }
  const auto rate = parse_bit_rate(order.bandwidth.empty() ? kPlanBandwidth : order.bandwidth);
  if (!rate) {
    return std::unexpected(rate.error());
  }
  const BitRate link{rate->bits_per_second / options->degree};
  const PlannedJob& job = inputs.jobs.front();
  const auto begin = Clock::now();
  const FinderDemand demand = finder_demand(job.graph);
  const auto topology = find_topology(demand, *options);
  const double elapsed = milliseconds_since(begin);
  if (!topology) {
    return std::unexpected(topology.error());
  }
  const auto account = account_of(demand, *topology, *options, link);
  if (!account) {
    return std::unexpected(account.error());
  }
  Planned planned;
  PlanAnswer& answered = planned.answer;
  answered.algorithm = inputs.algorithm;
  answered.fabric =
      format_text("direct connections of {} servers, degree {}, {} a link", job.graph.nodes, options->degree, text_of(link));
  answered.subject = "on the busiest link in one iteration";
  answered.objective = account->wire.seconds;
  answered.bound = account->wire.bound;
  answered.gap = gap_of(answered.objective, answered.bound);
  answered.elapsed_ms = elapsed;
  answered.elapsed_of = "demand, topology finder";
  for (const DirectLink& each : topology->links()) {
    answered.circuits += each.count;
  }
  answered.touched = answered.circuits;
  answered.jumps = topology->jumps;
  answered.certificate.note = "the topology is the job's own, but it is not lowered to devices, so nothing was verified";
  answered.jobs = {{JobId{1}, job.spec.name, job.spec.workload, job.graph.nodes, answered.circuits, answered.touched, 1, 1}};
  answered.assumptions = {"topoopt: the job's strategy is taken as given; --search looks for strategy and topology together"};
  answered.explanation = order.explain ? explain(*account, *options, job.graph.nodes, link) : std::vector<std::string>{};
  answered.hints = better_switches(demand, *options, link, account->wire.seconds);
  planned.links = circuit_table(*topology, link);
  if (!order.plot.empty()) {
    planned.drawing = picture_of(drawing_of(*topology, format_text("topoopt: {} on {}", job.spec.name, answered.fabric)));
  }
  return planned;
}

}  // namespace

PictureFiles plot_files(const PlanCommand& order) { return {"--plot", order.plot, "", !order.no_caption}; }

PictureFiles occupancy_files(const PlanCommand& order) { return {"--occupancy", order.occupancy, "", !order.no_caption}; }

Result<void> check_files(const PlanCommand& order) {
  const SearchCommand& search = order.search;
  std::vector<NamedFile> written{{"-o", order.output},       {"--links", order.links}, {"--forwarding", order.forwarding},
                                 {"--wiring", order.wiring}, {"--save", search.save},  {"--graph", search.graph}};
  for (const PictureFiles& files : {plot_files(order), occupancy_files(order)}) {
    if (!files.picture.empty()) {
      LOOM_TRY(check(files));
      const std::vector<NamedFile> its = written_files(files);
      written.insert(written.end(), its.begin(), its.end());
    }
  }
  std::vector<NamedFile> read{{"--demand", order.demand}, {"--scenario", order.scenario},  {"--fabric", order.fabric},
                              {"--model", search.model},  {"--measures", search.measures}, {"--accuracy", search.accuracy}};
  for (const std::string& workload : order.workloads) {
    read.push_back({"WORKLOAD", workload});
  }
  if (!is_one_file(order.base, order.output)) {  // a change takes the place of what it changes
    read.push_back({"--base", order.base});
  }
  if (!is_one_file(search.resume, search.save)) {  // a search goes on in its own file
    read.push_back({"--resume", search.resume});
  }
  return check_apart(read, written);
}

/// From now until the plan is there; files are written after it.
Result<Duration> deadline_of(const PlanCommand& order) {
  return order.deadline.empty() ? Result<Duration>(kForever) : parse_duration(order.deadline, "--deadline");
}

Result<PlanAnswer> answer_to(const PlanCommand& order) {
  LOOM_TRY(check_no_search(order));
  LOOM_TRY(check_files(order));
  const auto limit = deadline_of(order);
  if (!limit) {
    return std::unexpected(limit.error());
  }
  const std::string late = "took longer than --deadline " + order.deadline;
  std::atomic<bool> stop{false};
  std::optional<PlanDeadline> watch(std::in_place, *limit, stop, [&late] {  // what is at work there does not look at `stop`
    complain(ErrorCode::timed_out, late + "; nothing was written");
    std::_Exit(kTimedOut);
  });
  const auto inputs = read_plan_inputs(order);
  if (!inputs) {
    return std::unexpected(inputs.error());
  }
  if (inputs->fabric != nullptr && !order.bandwidth.empty()) {
    return fail(
        ErrorCode::invalid_argument,
        format_text(
            "--bandwidth {} is for TopoOpt without a fabric; fabric {} says its rates itself; nearest: --set fabric.rate=...",
            order.bandwidth, inputs->fabric->name));
  }
  auto planned = inputs->fabric == nullptr ? plan_topology(order, *inputs) : plan_in_light(order, *inputs, &stop);
  watch.reset();
  if (!planned) {
    Error error = std::move(planned).error();
    if (stop && error.code == ErrorCode::timed_out) {
      error.message = format_text("{}: {}", late, error.message);
    }
    return std::unexpected(std::move(error));
  }
  auto& assumptions = planned->answer.assumptions;
  for (const PlannedJob& job : inputs->jobs) {
    for (const std::string& assumption : job.graph.assumptions) {
      if (std::find(assumptions.begin(), assumptions.end(), assumption) == assumptions.end()) {
        assumptions.push_back(assumption);
      }
    }
  }
  LOOM_TRY(write_files(order, *inputs, *planned));
  return std::move(planned->answer);
}

int plan(const Globals& globals, const PlanCommand& order) {
  if (order.search.wanted || !order.search.resume.empty()) {
    if (const auto lawful = check_files(order); !lawful) {
      return give_up(lawful.error(), "loom plan --help");
    }
    return search_of(order) == StrategySearch::time_to_accuracy ? plan_by_accuracy(globals, order)
                                                                : plan_by_search(globals, order);
  }
  const auto answered = answer_to(order);
  if (!answered) {
    return give_up(answered.error(), "loom plan --help");
  }
  if (globals.json) {
    print(json_of(*answered));
  } else {
    std::fputs(text_of(*answered).c_str(), stdout);
  }
  return kDone;
}

void add_plan(CLI::App& app, CommandLine& line) {
  auto& order = line.keep<PlanCommand>();
  CLI::App* verb = app.add_subcommand("plan", "A schedule made offline: bound, gap, touched circuits, certificate, and why");
  verb->add_option("WORKLOAD,--workload", order.workloads,
                   "Models of the zoo (loom workload list), task graphs (.fbuf), traces or demands (.csv, .npy)");
  verb->add_option("--demand", order.demand, "Bytes from node to node (.csv, .tsv, .txt, .npy), instead of a workload");
  verb->add_option("--nodes", order.nodes, "How many nodes: one count for all, or one a workload, e.g. 8,4")
      ->delimiter(',')
      ->check(number_check<std::uint32_t>("number of nodes", 1));
  verb->add_option("--scenario", order.scenario, "A scenario's fabric and all of its jobs at once, instead");
  verb->add_option("--algorithm", order.algorithm, "sip-ring, sip-ocs, oddl, topoopt; the fabric's own if not named");
  verb->add_option("--fabric", order.fabric, "Fabric file, or a template: sip-ring, sip-ocs, oddl, topoopt");
  verb->add_option("--bandwidth", order.bandwidth,
                   "TopoOpt without a fabric: a server's total per direction, shared by its links; 100G if not named");
  verb->add_option(
      "--set", order.settings,
      "key=value, template's fabric.key=value; repeatable; loom workload show NAME and loom fabric show NAME list them");
  verb->add_option("--memory", order.memory, "Of a node, e.g. 80 GB; SiP-ML's authors: 100 GB");
  verb->add_option("--base", order.base, "Plan a change of this: what -o or loom schedule show --json wrote");
  verb->add_option("-o,--output", order.output, "Save the circuits, for --base and loom schedule apply");
  verb->add_option("--links", order.links, "Write a row a circuit: ends, stage, timeslot, ports, wavelength (.csv or .json)");
  verb->add_option("--forwarding", order.forwarding, "Write a row a pair that others pass bytes on for (.csv or .json)");
  verb->add_option("--wiring", order.wiring, "Write a row a wire of patch panels and circuit switches (.csv or .json)");
  verb->add_option("--plot", order.plot, "Write an SVG or PDF of the topology, and its CSV beside it");
  verb->add_option("--occupancy", order.occupancy,
                   "sip-ring: write an SVG or PDF of who holds which wavelength on which segment, and its CSV beside it");
  verb->add_flag("--no-caption", order.no_caption, "No assumptions below pictures: FILE.caption.txt has them");
  verb->add_option("--deadline", order.deadline, "Stop then, e.g. 50ms; a search prints the best so far");
  verb->add_flag("--explain", order.explain, "Why this split, these jumps, this matching, these wavelengths; what binds");
  SearchCommand& search = order.search;
  verb->add_flag("--search", search.wanted,
                 "A strategy too: with topology (TopoOpt), or of groups, shards and places (sip-ring, sip-ocs)");
  verb->add_option(
      "--model", search.model,
      "Your own layers (.yaml, .json); with --search also a name: of the zoo, or measured ones (dlrm-16, ..., -128)");
  verb->add_option(
      "--measures", search.measures,
      "File of measured times: FlexFlow's (.json; for a model that says measured_as, or instead of the one in --data), "
      "or SiP-ML's profile, NAME_bs1.pb and so on, which is the model");
  verb->add_option("--data", search.data, "Folder with measures/")->default_val("../shared/data")->envname("LIGHTLOOM_DATA");
  verb->add_option("--steps", search.steps, "Proposals a chain")->check(number_check<std::uint64_t>("number of proposals", 1));
  verb->add_option("--chains", search.chains, "Chains, each with a seed of its own")
      ->check(number_check<std::uint32_t>("number of chains", 1));
  verb->add_option("--threads", search.threads, "Instead of the machine's number; changes no result")
      ->check(number_check<std::uint32_t>("number of threads", 0));
  verb->add_option("--seed", search.seed, "Of the first chain")->check(number_check<std::uint64_t>("seed", 0));
  verb->add_option("--save", search.save, "Keep the search in this file");
  verb->add_option("--accuracy", search.accuracy,
                   "SiP-ML: rows of global batch and iterations to accuracy (.csv); without, one iteration counts");
  verb->add_option("--graph", search.graph, "Write the found strategy as a TopoOpt task graph (.fbuf), for loom job submit");
  verb->add_option("--resume", search.resume, "Go on from such a file");
  verb->footer(
      "loom plan vgg19 --nodes 1024 --fabric configs/fabrics/sip_ring_1024.yaml --explain --plot rings.svg\n"
      "loom plan dlrm --nodes 16 --algorithm topoopt --bandwidth 400G --set fabric.degree=4 --explain\n"
      "loom plan --demand bytes.csv --fabric topoopt --links circuits.csv\n"
      "loom plan --search --model candle-16 --bandwidth 400G --save candle.json --deadline 30s\n"
      "loom plan --search --model gpt2-xl --nodes 16 --bandwidth 400G --graph gpt2.fbuf -o gpt2.json\n"
      "loom plan --search --model resnet50 --nodes 16 --fabric sip-ring --explain");
  line.when(*verb, plan, order);
}

}  // namespace loom::cli
