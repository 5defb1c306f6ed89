// Reads, plans, answers. Two ways of planning give the same answer: the road (a Schedule, lowered and verified), and TopoOpt's
// finder by itself where no fabric is named.
#include "cli/plan/plan.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

#include "cli/command_line.hpp"
#include "cli/plan/answer.hpp"
#include "cli/plan/inputs.hpp"
#include "cli/plan/plan_tables.hpp"
#include "cli/plan/saved_plan.hpp"
#include "cli/plan/search.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/figure.hpp"
#include "cli/render/term.hpp"
#include "cli/render/topology_plot.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/architectures/topoopt/finder/finder_explain.hpp"
#include "controller/architectures/topoopt/finder/finder_settings.hpp"
#include "controller/schedule/job_alone.hpp"
#include "controller/workload/fabric_settings.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Asks a solve to stop when its time is up.
class Deadline {
 public:
  explicit Deadline(Duration limit)
      : watch_([this, limit] {
          std::unique_lock lock(mutex_);
          if (!over_.wait_for(lock, limit, [this] { return done_; })) {
            stop_ = true;
          }
        }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    over_.notify_one();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  Stop stop() const { return {&stop_}; }

 private:
  std::atomic<bool> stop_{false};
  bool done_ = false;
  std::mutex mutex_;
  std::condition_variable over_;
  std::jthread watch_;  ///< last: it uses everything above
};

/// What a way of planning hands back.
struct Planned {
  PlanAnswer answer;
  std::string drawing;                       ///< SVG; empty unless asked for
  std::shared_ptr<const PlanResult> result;  ///< null: not lowered, so there is nothing to save
  PlanTable links{};
};

Result<Intent> intent_of(const PlanInputs& inputs, const BasePlan* base) {
  Intent intent;
  for (std::size_t i = 0; i < inputs.jobs.size(); ++i) {
    Job job{JobId{i + 1}, inputs.jobs[i].spec, {}, 0};
    if (base != nullptr) {
      const auto ranks = base->ranks.find(job.id);
      if (ranks != base->ranks.end() && ranks->second.size() == job.spec.node_count) {
        job.nodes = ranks->second;
      }
    }
    intent.jobs.push_back(std::move(job));
  }
  return intent;
}

/// Sentences and a drawing, by the account that came with the schedule; without one the circuits alone are drawn.
void account_for(const PlanCommand& order, const PlanInputs& inputs, const PlanResult& result, Planned& planned) {
  const ScheduleAccount& account = result.schedule.account;
  const std::string title = format_text("{} on {}", result.schedule.algorithm, inputs.fabric->name);
  planned.answer.jumps = account.jumps;
  if (account.wavelengths) {
    planned.answer.wavelengths = account.wavelengths;
  }
  if (order.explain) {
    planned.answer.explanation = account.why;
    for (const JobSummary& job : account.why.empty() ? planned.answer.jobs : std::vector<JobSummary>{}) {
      planned.answer.explanation.push_back(
          format_text("job {}: {} stages of {} timeslots in sum; its first stage lights {} circuits", job.job.value, job.stages,
                      job.timeslots, job.circuits));
    }
  }
  if (order.plot.empty()) {
    return;
  }
  const auto nodes = static_cast<std::uint32_t>(inputs.fabric->nodes.size());
  planned.drawing = account.rings.empty() ? draw(drawing_of(result.plan.circuits, nodes, title))
                                          : draw(RingsDrawing{title + ": wavelengths lit on each segment", account.rings,
                                                              account.ring_load, account.ring_channels});
}

/// Each job over the schedule that it would be lit with, by the prediction that a lab's report has.
std::vector<IterationAnswer> iterations_of(const Fabric& fabric, const PlanResult& result) {
  std::vector<IterationAnswer> all;
  const ScheduleTimings timings = timings_on(fabric, {}, *all_architectures().find(result.schedule.algorithm));
  for (const JobSchedule& schedule : result.schedule.jobs) {
    const auto job = std::ranges::find(result.intent.jobs, schedule.job, &Job::id);
    if (job == result.intent.jobs.end()) {
      continue;
    }
    const auto predicted = predict_placed(*job, schedule, timings);
    all.push_back(predicted ? IterationAnswer{job->spec.name, predicted->iteration, predicted->compute, {}}
                            : IterationAnswer{job->spec.name, std::nullopt, job->spec.compute, predicted.error().message});
  }
  return all;
}

PlanAnswer answer_of(const PlanInputs& inputs, const PlanResult& result, const Plan* base) {
  PlanSummary summary = summary_of(result, base);
  PlanAnswer answered;
  answered.algorithm = summary.algorithm;
  answered.fabric = inputs.fabric->name;
  answered.subject = "on the wire of one iteration, the worst job";
  answered.objective = summary.objective;
  answered.bound = summary.bound;
  answered.gap = summary.gap;
  answered.elapsed_of = "place, schedule, lower, verify";
  answered.circuits = summary.circuits;
  answered.touched = summary.touched;
  answered.kept = summary.kept;
  answered.wavelengths = summary.slots;
  answered.certificate = {true,
                          summary.certificate.wavelength_isolated,
                          summary.certificate.physically_isolated,
                          static_cast<std::uint32_t>(summary.certificate.shared_amplifiers.size()),
                          {}};
  answered.jobs = std::move(summary.jobs);
  answered.iterations = iterations_of(*inputs.fabric, result);
  answered.assumptions = result.schedule.assumptions;
  answered.assumptions.insert(answered.assumptions.end(), inputs.fabric->assumptions.begin(), inputs.fabric->assumptions.end());
  return answered;
}

/// A fabric of another kind: say which algorithm it has.
Error with_nearest(Error error, const PlanInputs& inputs) {
  const std::string& own = inputs.fabric->architecture;
  if (error.code == ErrorCode::unsupported && own != inputs.algorithm) {
    error.message += all_architectures().find_scheduler(own) ? "; nearest: --algorithm " + own : std::string{};
  }
  return error;
}

Result<Planned> plan_through_pipeline(const PlanCommand& order, const PlanInputs& inputs) {
  std::optional<BasePlan> base;
  if (!order.base.empty()) {
    auto read = read_base(order.base, inputs.fabric, inputs.algorithm);
    if (!read) {
      return std::unexpected(with_nearest(std::move(read).error(), inputs));
    }
    base = *std::move(read);
  }
  auto intent = intent_of(inputs, base ? &*base : nullptr);
  if (!intent) {
    return std::unexpected(std::move(intent).error());
  }
  PlanRequest request;
  request.fabric = inputs.fabric;
  request.base = base ? base->plan : nullptr;
  request.intent = *std::move(intent);
  request.revision = Revision{base ? 2U : 1U};
  request.next_circuit = base ? base->next_circuit : CircuitId{1};
  request.algorithm = inputs.algorithm;
  request.budget.wants_account = order.explain || !order.plot.empty();
  std::optional<Deadline> deadline;
  if (!order.deadline.empty()) {
    const auto limit = parse_duration(order.deadline);
    if (!limit) {
      return std::unexpected(limit.error());
    }
    request.budget.stop = deadline.emplace(*limit).stop();
  }
  const auto begin = Clock::now();
  auto made = make_plan(all_architectures(), request);
  const double elapsed = milliseconds_since(begin);
  if (!made) {
    return std::unexpected(with_nearest(std::move(made).error(), inputs));
  }
  Planned planned{answer_of(inputs, **made, request.base.get()), {}, *made};
  planned.answer.elapsed_ms = elapsed;
  account_for(order, inputs, **made, planned);
  planned.links = order.links.empty() ? PlanTable{} : circuit_table(*inputs.fabric, (*made)->schedule);
  return planned;
}

/// TopoOpt's finder by itself: a topology of the job's own, wired from nothing.
Result<Planned> plan_topology(const PlanCommand& order, const PlanInputs& inputs) {
  if (inputs.jobs.size() != 1) {
    return fail(ErrorCode::invalid_argument,
                format_text("algorithm {} wires a topology for one job; {} are named; nearest: one workload", inputs.algorithm,
                            inputs.jobs.size()));
  }
  const std::pair<const std::string&, const char*> of_fabrics[]{
      {order.base, "--base"}, {order.output, "-o"}, {order.forwarding, "--forwarding"}, {order.wiring, "--wiring"}};
  for (const auto& [value, name] : of_fabrics) {
    if (!value.empty()) {
      return fail(ErrorCode::unsupported,
                  format_text("{}: a topology by itself is not lowered to a fabric, so that it has none of that; nearest: "
                              "--fabric {}",
                              name, inputs.algorithm));
    }
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
  planned.links = circuit_table(*topology, link);
  planned.drawing =
      order.plot.empty() ? "" : draw(drawing_of(*topology, format_text("topoopt: {} on {}", job.spec.name, answered.fabric)));
  return planned;
}

Result<void> write_files(const PlanCommand& order, const PlanInputs& inputs, const Planned& planned) {
  if (!order.output.empty() && planned.result != nullptr) {
    LOOM_TRY(write_plan(order.output, *inputs.fabric, *planned.result));
    print_note(format_text("saved to {}; plan a change of it: --base {}", order.output, order.output));
  }
  if (!order.links.empty()) {
    LOOM_TRY(write_table(order.links, planned.links));
    print_note(format_text("{} circuits listed in {}", planned.links.rows.size(), order.links));
  }
  if (!order.forwarding.empty()) {
    LOOM_TRY(write_table(order.forwarding, forwarding_table(planned.result->schedule)));
    print_note("forwarding listed in " + order.forwarding);
  }
  if (!order.wiring.empty()) {
    LOOM_TRY(write_table(order.wiring, wiring_table(*inputs.fabric, planned.result->plan)));
    print_note("wiring listed in " + order.wiring);
  }
  if (!order.plot.empty()) {
    LOOM_TRY(write_figure(order.plot, planned.drawing));
    print_note("drawn to " + order.plot);
  }
  return {};
}

}  // namespace

Result<PlanAnswer> answer_to(const PlanCommand& order) {
  LOOM_TRY(check_no_search(order));
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
  auto planned = inputs->fabric == nullptr ? plan_topology(order, *inputs) : plan_through_pipeline(order, *inputs);
  if (!planned) {
    return std::unexpected(std::move(planned).error());
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
    return plan_by_search(globals, order);
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
                   "Models of the zoo, task graphs (.fbuf), traces or demands (.csv, .npy)");
  verb->add_option("--demand", order.demand, "Bytes from node to node (.csv, .tsv, .txt, .npy), instead of a workload");
  verb->add_option("--nodes", order.nodes, "How many nodes: one count for all, or one a workload, e.g. 8,4")->delimiter(',');
  verb->add_option("--scenario", order.scenario, "A scenario's fabric and all of its jobs at once, instead");
  verb->add_option("--algorithm", order.algorithm, "sip-ring, sip-ocs, oddl, topoopt; the fabric's own if not named");
  verb->add_option("--fabric", order.fabric, "Fabric file, or a template: sip-ring, sip-ocs, oddl, topoopt");
  verb->add_option("--bandwidth", order.bandwidth,
                   "TopoOpt without a fabric: a server's total per direction, shared by its links; 100G if not named");
  verb->add_option("--set", order.settings, "Workload parameter key=value, template's fabric.key=value; repeatable");
  verb->add_option("--memory", order.memory, "Of a node, e.g. 80 GB; SiP-ML's authors: 100 GB");
  verb->add_option("--base", order.base, "Plan a change of this: what -o or loom schedule show --json wrote");
  verb->add_option("-o,--output", order.output, "Save the circuits, for --base and loom schedule apply");
  verb->add_option("--links", order.links, "Write a row a circuit: ends, stage, timeslot, ports, wavelength (.csv or .json)");
  verb->add_option("--forwarding", order.forwarding, "Write a row a pair that others pass bytes on for (.csv or .json)");
  verb->add_option("--wiring", order.wiring, "Write a row a wire of patch panels and circuit switches (.csv or .json)");
  verb->add_option("--plot", order.plot, "Write an SVG or PDF of the topology");
  verb->add_option("--deadline", order.deadline, "Stop then, e.g. 50ms; a search prints the best so far");
  verb->add_flag("--explain", order.explain, "Why this split, these jumps, this matching, these wavelengths; what binds");
  SearchCommand& search = order.search;
  verb->add_flag("--search", search.wanted, "TopoOpt: strategy and topology together, by a Markov chain");
  verb->add_option("--model", search.model,
                   "Your own layers (.yaml, .json); with --search: candle-16, dlrm-16, bert-16, vgg16-16, or -128");
  verb->add_option("--measures", search.measures, "File of measured times, instead of the model's in --data");
  verb->add_option("--data", search.data, "Folder with measures/")->default_val("../shared/data")->envname("LOOM_DATA");
  verb->add_option("--steps", search.steps, "Proposals a chain")->check(CLI::PositiveNumber);
  verb->add_option("--chains", search.chains, "Chains, each with a seed of its own")->check(CLI::PositiveNumber);
  verb->add_option("--threads", search.threads, "Instead of the machine's number; changes no result");
  verb->add_option("--seed", search.seed, "Of the first chain");
  verb->add_option("--save", search.save, "Keep the search in this file");
  verb->add_option("--resume", search.resume, "Go on from such a file");
  verb->footer(
      "loom plan vgg19 --nodes 1024 --fabric configs/fabrics/sip_ring_1024.yaml --explain --plot rings.svg\n"
      "loom plan dlrm --nodes 16 --algorithm topoopt --bandwidth 400G --set fabric.degree=4 --explain\n"
      "loom plan --demand bytes.csv --fabric topoopt --links circuits.csv\n"
      "loom plan --search --model candle-16 --bandwidth 400G --save candle.json --deadline 30s");
  line.when(*verb, plan, order);
}

}  // namespace loom::cli
