// The command: a problem from a model and its measured times, chains until done, told to stop or out of time, and what came of
// it.
#include "cli/plan/search.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <thread>
#include <tuple>
#include <utility>

#include "cli/plan/answer.hpp"
#include "cli/plan/plan_tables.hpp"
#include "cli/plan/search_file.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "cli/render/topology_plot.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/architectures/topoopt/finder/finder_explain.hpp"
#include "controller/architectures/topoopt/finder/finder_settings.hpp"
#include "controller/workload/fabric_settings.hpp"
#include "controller/workload/import/model_file.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSteps = 20'000;
constexpr std::uint32_t kChains = 2;
constexpr std::uint32_t kChainsMost = 1'024;
constexpr double kSaveEvery = 5;            ///< s
constexpr double kSayEvery = 10;            ///< s, where no terminal is
constexpr std::uint32_t kJudgedOften = 16;  ///< servers; one prediction of 128 takes seconds

struct MeasuresOf {
  const char* model;
  const char* file;
};
constexpr std::array<MeasuresOf, 8> kMeasures{{{"bert-128", "transformer128.json"},
                                               {"bert-16", "transformer16.json"},
                                               {"candle-128", "candle_128.json"},
                                               {"candle-16", "candle16.json"},
                                               {"dlrm-128", "dlrm128.json"},
                                               {"dlrm-16", "dlrm16.json"},
                                               {"vgg16-128", "vgg128.json"},
                                               {"vgg16-16", "vgg16.json"}}};

std::atomic<bool> interrupted{false};

/// The first Ctrl-C asks for the best so far; the next one ends the process at once.
extern "C" void on_interrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

std::unexpected<Error> refuse(const std::string& what) { return fail(ErrorCode::invalid_argument, what, "loom plan --help"); }

Result<OpTimes> times_for(const SearchCommand& order, const OpGraph& graph) {
  std::string path = order.measures;
  for (const MeasuresOf& each : kMeasures) {
    path = path.empty() && graph.name == each.model ? format_text("{}/measures/{}", order.data, each.file) : path;
  }
  const auto measures = load_measures(path);
  if (!measures) {
    Error error = measures.error();
    error.message += format_text("; the measured times of {} are needed: --measures FILE, or --data FOLDER", graph.name);
    return std::unexpected(std::move(error));
  }
  return times_of(graph, *measures);
}

Result<SearchProblem> problem_of(const SearchCommand& order, const std::string& model, BitRate link) {
  auto graph = topoopt_model(model);
  if (!graph) {
    return std::unexpected(std::move(graph).error());
  }
  auto times = times_for(order, *graph);
  if (!times) {
    return std::unexpected(std::move(times).error());
  }
  NetworkTerms terms;
  terms.nodes = graph->nodes;
  terms.rate = link;
  terms.link_latency = std::chrono::microseconds{1};
  return SearchProblem{*std::move(graph), *std::move(times), terms};
}

Result<SearchOptions> options_of(const PlanCommand& order, const Settings& settings, Settings finder) {
  static constexpr std::array<std::string_view, 2> kKeys{"alpha", "start"};
  static constexpr std::array<std::string_view, 2> kStarts{"random", "data-parallel"};
  LOOM_TRY(check_keys(settings, "loom plan --search", kKeys));
  LOOM_TRY(check_keys(finder, "topoopt", kFinderKeys));
  finder.emplace("variant", "as-in-code");
  const auto found = finder_options(finder);
  if (!found) {
    return std::unexpected(found.error());
  }
  const auto alpha = number(settings, "alpha", 0.5, 0, 1e6);
  if (!alpha) {
    return std::unexpected(alpha.error());
  }
  const auto start = choice(settings, "start", kStarts[0], kStarts);
  if (!start) {
    return std::unexpected(start.error());
  }
  SearchOptions options;
  options.finder = *found;
  options.alpha = *alpha;
  options.starts_data_parallel = *start == kStarts[1];
  options.steps = order.search.steps == 0 ? kSteps : order.search.steps;
  options.reset_span =
      std::clamp<std::uint64_t>(options.steps / 100, 1, 1000);  // said, so that more steps later change nothing
  options.seed = order.search.seed.value_or(1);
  return options;
}

std::string model_of(const PlanCommand& order) {
  return !order.search.model.empty() ? order.search.model : order.workloads.empty() ? "" : order.workloads.front();
}

Result<Search> new_search(const PlanCommand& order) {
  auto settings = parse_settings(order.settings);
  if (!settings) {
    return std::unexpected(std::move(settings).error());
  }
  SplitSettings split = split_settings(*settings);
  const auto options = options_of(order, split.workload, std::move(split.fabric));
  if (!options) {
    return std::unexpected(options.error());
  }
  const auto rate = parse_bit_rate(order.bandwidth.empty() ? kPlanBandwidth : order.bandwidth);
  if (!rate) {
    return std::unexpected(rate.error());
  }
  Search search;
  search.model = model_of(order);
  search.options = *options;
  search.link = {rate->bits_per_second / options->finder.degree};
  return search;
}

/// What the command line says beside a file must not contradict it; only more steps are something new.
Result<Search> resumed(const PlanCommand& order) {
  const SearchCommand& said = order.search;
  auto search = load_search(said.resume);
  if (!search) {
    return search;
  }
  const auto contradicts = [&](const std::string& what, const std::string& here, const std::string& there) {
    return refuse(
        format_text("{}: a search of {} {}; the command line says {}; nearest: leave it out, or begin anew without --resume",
                    said.resume, what, there, here));
  };
  if (const std::string model = model_of(order); !model.empty() && model != search->model) {
    return contradicts("model", model, search->model);
  }
  if (said.chains != 0 && said.chains != search->chains.size()) {
    return contradicts("chains", std::to_string(said.chains), std::to_string(search->chains.size()));
  }
  if (said.seed && *said.seed != search->options.seed) {
    return contradicts("seed", std::to_string(*said.seed), std::to_string(search->options.seed));
  }
  if (!order.bandwidth.empty()) {
    const auto rate = parse_bit_rate(order.bandwidth);
    if (!rate) {
      return std::unexpected(rate.error());
    }
    const BitRate link{rate->bits_per_second / search->options.finder.degree};
    if (link != search->link) {
      return contradicts("links of", text_of(link), text_of(search->link));
    }
  }
  if (!order.settings.empty()) {
    return refuse(format_text("{}: it brings its own settings; --set {} cannot be added", said.resume, order.settings.front()));
  }
  std::uint64_t done = 0;
  for (const SearchState& chain : search->chains) {
    done = std::max(done, chain.step);
  }
  if (said.steps != 0 && said.steps < done) {
    return contradicts("steps", std::to_string(said.steps), format_text("{} already made", done));
  }
  search->options.steps = said.steps == 0 ? search->options.steps : said.steps;
  return search;
}

struct Prepared {
  Search search;
  SearchProblem problem;
  std::uint32_t chains = 0;
};

Result<Prepared> prepare(const PlanCommand& order) {
  LOOM_TRY(check_search_options(order));
  const Architecture* own = all_architectures().find(order.algorithm);
  if (!order.algorithm.empty() && (own == nullptr || !own->wires_servers)) {
    return refuse(format_text("--search is TopoOpt's; algorithm {} has no strategy to search; nearest: --algorithm topoopt",
                              order.algorithm));
  }
  if (order.search.chains > kChainsMost) {
    return refuse(format_text("--chains {}; the limit is {}", order.search.chains, kChainsMost));
  }
  auto search = order.search.resume.empty() ? new_search(order) : resumed(order);
  if (!search) {
    return std::unexpected(std::move(search).error());
  }
  auto problem = problem_of(order.search, search->model, search->link);
  if (!problem) {
    return std::unexpected(std::move(problem).error());
  }
  const std::string measures = digest_of(problem->times);
  if (!search->measures.empty() && search->measures != measures) {
    return refuse(format_text(
        "{}: a search on other measured times of {} (digest {}, here {}); nearest: the --measures that it began with",
        order.search.resume, search->model, search->measures.substr(0, 16), measures));
  }
  search->measures = measures;
  for (const SearchState& state : search->chains) {
    if (state.current.topology.nodes != problem->graph.nodes || state.best.topology.nodes != problem->graph.nodes ||
        state.cheapest.topology.nodes != problem->graph.nodes) {
      return refuse(
          format_text("{}: a topology of other than the model's {} servers", order.search.resume, problem->graph.nodes));
    }
  }
  search->options.judge_span = problem->graph.nodes > kJudgedOften ? 0 : 1;
  const auto chains = static_cast<std::uint32_t>(search->chains.size());
  const std::uint32_t wanted = order.search.chains == 0 ? kChains : order.search.chains;
  return Prepared{*std::move(search), *std::move(problem), chains == 0 ? wanted : chains};
}

struct Tally {
  std::uint64_t done = 0;
  std::uint64_t wanted = 0;
  std::uint64_t accepted = 0;
  double best_ms = 0;
};

Tally tally_of(const Search& search, const std::vector<SearchState>& chains) {
  Tally tally;
  for (const SearchState& chain : chains) {
    tally.done += chain.step;
    tally.accepted += chain.accepted;
  }
  tally.wanted = search.options.steps * chains.size();
  tally.best_ms = chains[best_of(chains)].best.predicted_ms;
  return tally;
}

std::string digits(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// Tells a person where the search stands, and keeps a whole file of it beside.
class Teller {
 public:
  explicit Teller(std::string path) : path_(std::move(path)) {}

  void tell(const Search& search, double seconds) {
    const Tally tally = tally_of(search, search.chains);
    if (seconds_begun_ < 0) {
      seconds_begun_ = seconds;
      done_before_ = tally.done;
    }
    const double rate = static_cast<double>(tally.done - done_before_) / std::max(seconds - seconds_begun_, 1e-3);
    const double left = rate > 0 ? static_cast<double>(tally.wanted - tally.done) / rate : 0;
    const std::string label = format_text("best {} ms, accepted {} %, {} proposals/s, ETA {}", digits("%.2f", tally.best_ms),
                                          digits("%.0f", 100.0 * static_cast<double>(tally.accepted) /
                                                             static_cast<double>(std::max<std::uint64_t>(tally.done, 1))),
                                          digits("%.0f", rate), rate > 0 ? digits("%.0f", left) + " s" : std::string{"-"});
    if (stderr_is_terminal()) {
      progress_.show(label, tally.done, tally.wanted);
    } else if (seconds - said_ >= kSayEvery) {
      print_note(format_text("  {}/{}: {}", tally.done, tally.wanted, label));
      said_ = seconds;
    }
    if (!path_.empty() && seconds - saved_ >= kSaveEvery) {
      saved_ = seconds;
      if (const auto saved = save_search(path_, search); !saved) {
        complain(saved.error().message);
        path_.clear();
      }
    }
  }

  /// The answer begins on a line of its own.
  void end() {
    if (stderr_is_terminal() && seconds_begun_ >= 0) {
      progress_.finish("searched");
    }
  }

 private:
  std::string path_;
  Progress progress_;
  double seconds_begun_ = -1;
  std::uint64_t done_before_ = 0;
  double said_ = 0;
  double saved_ = 0;
};

/// GPU work alone: every operator divided as cheaply as it was measured, spread evenly over all servers.
double least_seconds(const SearchProblem& problem) {
  double sum = 0;
  for (std::uint32_t op = 0; op < problem.times.lawful.size(); ++op) {
    double least = 0;
    for (const std::uint32_t parts : problem.times.lawful[op]) {
      const OpTime& time = problem.times.of(op, parts);
      const double work = static_cast<double>((time.forward + time.backward).count()) * parts;
      least = least == 0 ? work : std::min(least, work);
    }
    sum += least;
  }
  return sum * 1e-9 / problem.graph.nodes;
}

void explain_search(const Search& search, const std::vector<SearchState>& chains, const SearchProblem& problem,
                    std::vector<std::string>& lines) {
  const SearchOptions& options = search.options;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const SearchState& chain = chains[i];
    const double steps = static_cast<double>(std::max<std::uint64_t>(chain.step, 1));
    lines.push_back(format_text(
        "chain {} (seed {}): {} of {} proposals, accepted {} %, unchanged {} %, {} topologies found, {} predicted; from {} to "
        "{} ms",
        i, options.seed + i, chain.step, options.steps, digits("%.1f", 100.0 * static_cast<double>(chain.accepted) / steps),
        digits("%.1f", 100.0 * static_cast<double>(chain.unchanged) / steps), chain.topologies, chain.judged,
        digits("%.2f", chain.first_ms), digits("%.2f", chain.best.predicted_ms)));
  }
  lines.push_back(format_text("chain {} is the best, by value and then by index", best_of(chains)));
  lines.push_back("strategy: " + describe(problem.graph, chains[best_of(chains)].best.strategy));
}

Result<PlanAnswer> answer_of(const SearchOutcome& outcome, const SearchProblem& problem, bool explains) {
  const SearchState& state = outcome.judged[best_of(outcome.judged)];
  const SearchOptions& options = outcome.search.options;
  PlanAnswer answered;
  answered.algorithm = "topoopt";
  answered.fabric =
      format_text("direct connections, degree {}, {} a link", options.finder.degree, text_of(outcome.search.link));
  answered.subject = "of one iteration, compute and exposed communication, by the prediction engine";
  answered.objective = state.best.predicted_ms * 1e-3;
  answered.bound = least_seconds(problem);
  answered.gap = gap_of(answered.objective, answered.bound);
  answered.elapsed_of = format_text("alternating search, {} chains", outcome.judged.size());
  for (const DirectLink& link : state.best.topology.links()) {
    answered.circuits += link.count;
  }
  answered.touched = answered.circuits;
  answered.jumps = state.best.topology.jumps;
  answered.certificate.note = "a topology and a strategy, not lowered to devices";
  answered.jobs = {
      {JobId{1}, outcome.search.model, outcome.search.model, problem.graph.nodes, answered.circuits, answered.circuits, 1, 1}};
  answered.assumptions = {
      "bound: the GPUs' work alone, each operator divided as cheaply as was measured and spread evenly; it is not reached "
      "where "
      "anything is communicated",
      format_text(
          "compute times: measured by TopoOpt's authors on A100s; alpha {} a ms, start {}, back to the best every {} proposals",
          digits("%g", options.alpha), options.starts_data_parallel ? "data parallel" : "random", options.reset_span)};
  if (explains) {
    explain_search(outcome.search, outcome.judged, problem, answered.explanation);
    const auto account =
        account_of(demand_of(problem.graph, state.best.strategy), state.best.topology, options.finder, outcome.search.link);
    if (!account) {
      return std::unexpected(account.error());
    }
    for (std::string& line : explain(*account, options.finder, problem.graph.nodes, outcome.search.link)) {
      answered.explanation.push_back(std::move(line));
    }
  }
  return answered;
}

Result<void> finish_files(const PlanCommand& order, const SearchOutcome& outcome) {
  if (!order.search.save.empty()) {
    LOOM_TRY(save_search(order.search.save, outcome.search));
    print_note(format_text("saved to {}; go on: loom plan --search --resume {}", order.search.save, order.search.save));
  }
  if (!order.links.empty()) {
    const DirectTopology& topology = outcome.judged[best_of(outcome.judged)].best.topology;
    LOOM_TRY(write_table(order.links, circuit_table(topology, outcome.search.link)));
    print_note("circuits listed in " + order.links);
  }
  if (!order.plot.empty()) {
    const DirectTopology& topology = outcome.judged[best_of(outcome.judged)].best.topology;
    std::ofstream file(order.plot, std::ios::binary);
    file << draw(
        drawing_of(topology, format_text("{}, degree {}", outcome.search.model, outcome.search.options.finder.degree)));
    file.flush();
    if (!file) {
      return fail(ErrorCode::storage, "cannot write " + order.plot, "give --plot a path that can be written");
    }
  }
  return {};
}

Result<SearchRun> run_of(const PlanCommand& order, Teller& teller) {
  SearchRun run;
  run.threads = order.search.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : order.search.threads;
  run.tell = [&teller](const Search& search, double seconds) { teller.tell(search, seconds); };
  auto deadline = Clock::time_point::max();
  if (!order.deadline.empty()) {
    const auto limit = parse_duration(order.deadline);
    if (!limit) {
      return std::unexpected(limit.error());
    }
    deadline = Clock::now() + *limit;
  }
  run.is_over = [deadline] { return interrupted.load(std::memory_order_relaxed) || Clock::now() >= deadline; };
  return run;
}

}  // namespace

Result<void> check_search_options(const PlanCommand& order) {
  const std::tuple<bool, const char*, const char*> others[]{
      {!order.nodes.empty(), "--nodes", "a model of the search has its own servers, e.g. --model dlrm-128"},
      {!order.demand.empty(), "--demand", "a demand has no strategy to search"},
      {!order.scenario.empty(), "--scenario", "the search plans one model of its own"},
      {!order.fabric.empty(), "--fabric", "the search wires servers straight to each other; --set fabric.degree=4 says how"},
      {!order.memory.empty(), "--memory", "the search does not look at memory"},
      {!order.base.empty(), "--base", "the search begins in the dark"},
      {!order.output.empty(), "-o", "the search's result is not lowered to a fabric; --save keeps it"},
      {!order.forwarding.empty(), "--forwarding", "the search's result is not lowered to a fabric"},
      {!order.wiring.empty(), "--wiring", "the search's result is not lowered to a fabric"},
      {order.workloads.size() > 1, "more than one workload", "the search plans one model"},
  };
  for (const auto& [is_given, name, why] : others) {
    if (is_given) {
      return refuse(
          format_text("{} does not apply to --search: {}; nearest: leave it out, or plan without --search", name, why));
    }
  }
  return {};
}

Result<void> check_no_search(const PlanCommand& order) {
  const SearchCommand& search = order.search;
  const std::pair<bool, const char*> its_own[]{{!search.model.empty() && !is_model_file(search.model), "--model NAME"},
                                               {!search.measures.empty(), "--measures"},
                                               {search.steps != 0, "--steps"},
                                               {search.chains != 0, "--chains"},
                                               {search.threads != 0, "--threads"},
                                               {search.seed.has_value(), "--seed"},
                                               {!search.save.empty(), "--save"}};
  for (const auto& [is_given, name] : its_own) {
    if (is_given) {
      return refuse(format_text("{} is an option of --search; nearest: add --search, or leave it out", name));
    }
  }
  return {};
}

int plan_by_search(const Globals& globals, const PlanCommand& order) {
  auto prepared = prepare(order);
  if (!prepared) {
    return give_up(prepared.error(), "loom plan --help");
  }
  Teller teller(order.search.save);
  const auto run = run_of(order, teller);
  if (!run) {
    return give_up(run.error());
  }
  interrupted = false;
  const auto before = std::signal(SIGINT, on_interrupt);
  const auto begin = Clock::now();
  const auto outcome = run_search(prepared->problem, std::move(prepared->search), prepared->chains, *run);
  std::signal(SIGINT, before);
  teller.end();
  if (!outcome) {
    return give_up(outcome.error(), "loom plan --help");
  }
  auto answered = answer_of(*outcome, prepared->problem, order.explain);
  if (!answered) {
    return give_up(answered.error());
  }
  answered->elapsed_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  if (globals.json) {
    print(json_of(*answered));
  } else {
    std::fputs(text_of(*answered).c_str(), stdout);
  }
  if (outcome->was_cut_short) {
    const Tally tally = tally_of(outcome->search, outcome->judged);
    print_note(format_text("{} after {} of {} proposals; this is the best so far", interrupted ? "interrupted" : "out of time",
                           tally.done, tally.wanted));
  }
  if (const auto written = finish_files(order, *outcome); !written) {
    return give_up(written.error());
  }
  return interrupted ? kInterrupted : kDone;
}

}  // namespace loom::cli
