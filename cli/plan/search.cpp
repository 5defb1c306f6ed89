// SPDX-License-Identifier: Apache-2.0
// The command: chains until done, told to stop or out of time, and what came of it.
#include "cli/plan/search.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "cli/plan/answer.hpp"
#include "cli/plan/lit_plan.hpp"
#include "cli/plan/lit_search.hpp"
#include "cli/plan/plan_tables.hpp"
#include "cli/plan/search_file.hpp"
#include "cli/plan/search_inputs.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/figure.hpp"
#include "cli/render/term.hpp"
#include "cli/render/topology_plot.hpp"
#include "controller/architectures/topoopt/finder/finder_explain.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSaveEvery = 5;  ///< s
constexpr double kSayEvery = 10;  ///< s, where no terminal is

std::atomic<bool> interrupted{false};

/// The first Ctrl-C asks for the best so far; the next one ends the process at once.
extern "C" void on_interrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
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
        warn(saved.error().message);
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

/// Parameters of the server that holds most of them, GB.
double fullest_gigabytes(const OpGraph& graph, const Strategy& strategy) {
  std::vector<std::int64_t> held(graph.nodes);
  for (std::size_t op = 0; op < strategy.size(); ++op) {
    for (std::uint32_t part = 0; part < strategy[op].parts; ++part) {
      held[strategy[op].first + part * (graph.nodes / strategy[op].parts)] += parameter_bytes(graph.operators[op]).count;
    }
  }
  return static_cast<double>(*std::ranges::max_element(held)) / 1e9;
}

Result<PlanAnswer> answer_of(const SearchOutcome& outcome, const SearchInputs& inputs, bool explains) {
  const SearchProblem& problem = inputs.problem;
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
  answered.certificate.note = "a topology and a strategy, not lowered to devices; --fabric topoopt lights them";
  answered.jobs = {
      {JobId{1}, outcome.search.model, outcome.search.model, problem.graph.nodes, answered.circuits, answered.circuits, 1, 1}};
  answered.assumptions = {
      "bound: the GPUs' work alone, each operator divided as cheaply as may be and spread evenly; it is not reached where "
      "anything is communicated",
      format_text("alpha {} a ms, start {}, back to the best every {} proposals", digits("%g", options.alpha),
                  options.starts_data_parallel ? "data parallel" : "random", options.reset_span),
      format_text("memory: the search does not look at it; the fullest server holds {} GB of parameters",
                  digits("%.3g", fullest_gigabytes(problem.graph, state.best.strategy)))};
  answered.assumptions.insert(answered.assumptions.end(), inputs.assumptions.begin(), inputs.assumptions.end());
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

/// The result in light, where a fabric is named: the answer gets what a plan has.
Result<void> light(const PlanCommand& order, const SearchInputs& inputs, const Search& search, const SearchPoint& found,
                   PlanAnswer& answered) {
  if (inputs.fabric == nullptr) {
    return {};
  }
  auto lit = inputs_of_search(search, inputs.problem, found, inputs.fabric);
  if (!lit) {
    return std::unexpected(std::move(lit).error());
  }
  PlanCommand rest = order;  // the deadline was the search's, and its topology is drawn by it
  rest.deadline.clear();
  rest.plot.clear();
  rest.explain = false;
  auto planned = plan_in_light(rest, *lit);
  if (!planned) {
    return std::unexpected(std::move(planned).error());
  }
  PlanAnswer& of = planned->answer;
  answered.fabric = std::move(of.fabric);
  answered.circuits = of.circuits;
  answered.touched = of.touched;
  answered.certificate = std::move(of.certificate);
  answered.jobs = std::move(of.jobs);
  answered.iterations = std::move(of.iterations);
  answered.elapsed_of += "; then lowered and verified";
  answered.assumptions.emplace_back(
      "iteration: of the strategy as a job, which knows one clock of compute and one stream of collectives, so that transfers "
      "which "
      "the strategy's task graph makes side by side follow each other; the objective is the task graph's");
  answered.assumptions.insert(answered.assumptions.end(), of.assumptions.begin(), of.assumptions.end());
  return write_files(rest, *lit, *planned);
}

Result<void> finish_files(const PlanCommand& order, const SearchInputs& inputs, const SearchOutcome& outcome) {
  const SearchPoint& found = outcome.judged[best_of(outcome.judged)].best;
  if (!order.search.save.empty()) {
    LOOM_TRY(save_search(order.search.save, outcome.search));
    print_note(format_text("saved to {}; go on: loom plan --search --resume {}", order.search.save, order.search.save));
  }
  if (!order.search.graph.empty()) {
    LOOM_TRY(write_graph(order.search.graph, outcome.search, inputs.problem, found));
    print_note(format_text("the strategy's task graph is in {}; ask for its light: loom job submit {}", order.search.graph,
                           order.search.graph));
  }
  if (!order.links.empty() && inputs.fabric == nullptr) {
    LOOM_TRY(write_table(order.links, circuit_table(found.topology, outcome.search.link)));
    print_note("circuits listed in " + order.links);
  }
  if (!order.plot.empty()) {
    Picture picture = picture_of(
        drawing_of(found.topology, format_text("{}, degree {}", outcome.search.model, outcome.search.options.finder.degree)));
    picture.drawing.caption = inputs.assumptions;
    const auto written = write(plot_files(order), picture);
    if (!written) {
      return std::unexpected(written.error());
    }
    print_note(*written);
  }
  return {};
}

Result<SearchRun> run_of(const PlanCommand& order, Teller& teller) {
  SearchRun run;
  run.threads = order.search.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : order.search.threads;
  run.tell = [&teller](const Search& search, double seconds) { teller.tell(search, seconds); };
  auto deadline = Clock::time_point::max();
  if (!order.deadline.empty()) {
    const auto limit = parse_duration(order.deadline, "--deadline");
    if (!limit) {
      return std::unexpected(limit.error());
    }
    deadline = Clock::now() + *limit;
  }
  run.is_over = [deadline] { return interrupted.load(std::memory_order_relaxed) || Clock::now() >= deadline; };
  return run;
}

}  // namespace

int plan_by_search(const Globals& globals, const PlanCommand& order) {
  auto inputs = read_search_inputs(order);
  if (!inputs) {
    return give_up(inputs.error(), "loom plan --help");
  }
  Teller teller(order.search.save);
  const auto run = run_of(order, teller);
  if (!run) {
    return give_up(run.error());
  }
  interrupted = false;
  const auto before = std::signal(SIGINT, on_interrupt);
  const auto begin = Clock::now();
  const auto outcome = run_search(inputs->problem, std::move(inputs->search), inputs->chains, *run);
  std::signal(SIGINT, before);
  teller.end();
  if (!outcome) {
    return give_up(outcome.error(), "loom plan --help");
  }
  auto answered = answer_of(*outcome, *inputs, order.explain);
  if (!answered) {
    return give_up(answered.error());
  }
  // The search's own files first: nothing of it is lost where its light is refused.
  if (const auto written = finish_files(order, *inputs, *outcome); !written) {
    return give_up(written.error());
  }
  if (const auto lit = light(order, *inputs, outcome->search, outcome->judged[best_of(outcome->judged)].best, *answered);
      !lit) {
    return give_up(lit.error());
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
  return interrupted ? kInterrupted : kDone;
}

}  // namespace loom::cli
