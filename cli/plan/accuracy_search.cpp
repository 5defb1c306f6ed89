// SPDX-License-Identifier: Apache-2.0
// Settings to a profile and a table; candidates to light.
#include "cli/plan/accuracy_search.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "cli/plan/accuracy_table.hpp"
#include "cli/plan/inputs.hpp"
#include "cli/plan/lit_plan.hpp"
#include "cli/plan/lit_search.hpp"
#include "cli/plan/search_inputs.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/architectures/sip_ml/profile.hpp"
#include "controller/architectures/sip_ml/profile_file.hpp"
#include "controller/architectures/sip_ml/strategy.hpp"
#include "controller/workload/fabric_settings.hpp"
#include "controller/workload/models/compute_time.hpp"
#include "controller/workload/models/model_operators.hpp"
#include "controller/workload/quantity_text.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<std::string_view, 6> kKeys{"half_batch", "hops", "latency_us", "lit", "quantum_us", "reading"};
constexpr std::int64_t kHops = 16;            ///< d_max of the authors' ring
constexpr std::int64_t kLit = 4;              ///< candidates that are planned in light
constexpr double kQuantumMicroseconds = 100;  ///< the authors': 1 for ResNet-50 and the transformer, 100 for GPT-2

struct AccuracyInputs {
  std::string model;
  SipProfile profile;
  std::vector<AccuracyPoint> table;
  SipStrategyOptions options;
  std::shared_ptr<const Fabric> fabric;
  std::string algorithm;
  std::size_t lit = 0;  ///< candidates
  std::vector<std::string> assumptions;
};

/// A candidate as it would run.
struct LitCandidate {
  std::size_t candidate = 0;
  PlanInputs inputs;
  Planned planned;
  Duration iteration{};
};

std::unexpected<Error> refuse(const std::string& what) { return fail(ErrorCode::invalid_argument, what, "loom plan --help"); }

Result<void> check_obeyed(const PlanCommand& order) {
  const std::tuple<bool, const char*, const char*> others[]{
      {!order.demand.empty(), "--demand", "a demand has no strategy to search"},
      {!order.scenario.empty(), "--scenario", "the search plans one model of its own"},
      {!order.base.empty(), "--base", "the search begins in the dark"},
      {!order.bandwidth.empty(), "--bandwidth", "the fabric says its rates: --set fabric.rate=..."},
      {!order.search.measures.empty() && !searched_model(order).empty(), "a model beside --measures",
       "SiP-ML's profile is the model"},
      {order.search.steps != 0, "--steps", "every division is looked at"},
      {order.search.chains != 0, "--chains", "every division is looked at"},
      {order.search.threads != 0, "--threads", "it runs on one"},
      {order.search.seed.has_value(), "--seed", "nothing is left to chance"},
      {!order.search.save.empty(), "--save", "it ends by itself"},
      {!order.search.resume.empty(), "--resume", "it ends by itself"},
      {order.nodes.size() != 1, "--nodes other than one count", "the search divides so many GPUs; nearest: --nodes 16"},
      {order.workloads.size() + (order.search.model.empty() ? 0 : 1) > 1, "more than one workload",
       "the search plans one model"},
  };
  for (const auto& [is_given, name, why] : others) {
    if (is_given) {
      return refuse(format_text("{} does not apply to this --search: {}", name, why));
    }
  }
  return {};
}

/// Of a node, all of its transmitters.
BitRate rate_of(const Fabric& fabric) {
  BitRate sum{};
  for (const ElementId transmitter : fabric.nodes.front().transmitters) {
    sum.bits_per_second += std::get<Transmitter>(fabric.element(transmitter).kind).rate.bits_per_second;
  }
  return sum;
}

Result<void> read_options(const PlanCommand& order, const Settings& own, SipStrategyOptions& options) {
  const auto hops = whole_number(own, "hops", kHops, 1, limits::kNodes);
  const auto latency = number(own, "latency_us", 1, 0, 1e6);
  const auto quantum = number(own, "quantum_us", kQuantumMicroseconds, 1e-3, 1e9);
  for (const Error* error :
       {hops ? nullptr : &hops.error(), latency ? nullptr : &latency.error(), quantum ? nullptr : &quantum.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  options.gpus = order.nodes.front();
  options.quantum = Duration{std::llround(*quantum * 1e3)};
  options.placement.hops_most = static_cast<std::uint32_t>(*hops);
  options.latency = Duration{std::llround(*latency * 1e3)};
  if (!order.memory.empty()) {
    const auto bytes = parse_quantity(order.memory, kBytesUnits);
    if (!bytes) {
      return refuse("--memory: " + bytes.error().message);
    }
    options.placement.memory = Bytes{*bytes};
  }
  return {};
}

/// The profile that SiP-ML's tools wrote, and the table that they look for beside it.
Result<void> read_profile_of_files(const PlanCommand& order, const Settings& own, const Settings& of_model,
                                   AccuracyInputs& inputs) {
  static constexpr std::array<std::string_view, 2> kReadings{"measured", "as-in-code"};
  const auto reading = choice(own, "reading", kReadings[0], kReadings);
  if (!reading) {
    return std::unexpected(reading.error());
  }
  LOOM_TRY(check_keys(of_model, "a search on measured profiles", {}));
  if (own.contains("half_batch")) {
    return refuse("half_batch is for models without measured times; --measures brings what a small batch takes");
  }
  const std::string prefix = profile_prefix(order.search.measures);
  auto profile = read_profile_files(prefix, *reading == kReadings[0] ? ProfileReading::measured : ProfileReading::as_in_code);
  if (!profile) {
    return std::unexpected(std::move(profile).error());
  }
  inputs.profile = *std::move(profile);
  inputs.model = inputs.profile.name;
  inputs.assumptions = {inputs.profile.source + "; linear between the batches measured"};
  const auto table = profile_accuracy_table(prefix);
  if (inputs.table.empty() && std::filesystem::exists(table)) {
    auto rows = read_accuracy_table(table.string());
    if (!rows) {
      return std::unexpected(std::move(rows).error());
    }
    inputs.table = *std::move(rows);
    inputs.assumptions.push_back("iterations to accuracy: " + table.string());
  } else if (inputs.table.empty()) {
    const std::uint32_t batch = std::min(inputs.profile.batches.back() * inputs.options.gpus, 1'048'576U);
    inputs.table.push_back({batch, 1});
  }
  return {};
}

/// The model at all batches that a candidate's group may have.
Result<void> read_profile(const Settings& own, const Settings& of_model, AccuracyInputs& inputs) {
  const auto half_batch = whole_number(own, "half_batch", 0, 0, 1'048'576);
  if (!half_batch) {
    return std::unexpected(half_batch.error());
  }
  const auto model = paced_model(inputs.model, {inputs.options.gpus, of_model, {}});
  if (!model) {
    return std::unexpected(model.error());
  }
  if (inputs.table.empty()) {
    const std::int64_t batch = model->batch * inputs.options.gpus;
    if (batch > 1'048'576) {
      return fail(ErrorCode::out_of_range, format_text("a batch of {} on each of {} GPUs; all together at most 1048576",
                                                       model->batch, inputs.options.gpus));
    }
    inputs.table.push_back({static_cast<std::uint32_t>(batch), 1});
  }
  const auto most = std::ranges::max(inputs.table, {}, &AccuracyPoint::global_batch).global_batch;
  if (is_measured(*model)) {
    if (own.contains("half_batch")) {
      return refuse("half_batch is for models without measured times; this one says what a small batch takes");
    }
    auto profile = measured_profile(*model);
    if (!profile) {
      return std::unexpected(std::move(profile).error());
    }
    inputs.profile = *std::move(profile);
    inputs.assumptions = {inputs.profile.source + "; linear between the batches measured"};
  } else {
    inputs.profile = synthetic_profile(*model, static_cast<std::uint32_t>(*half_batch), most);
    inputs.assumptions = {inputs.profile.source + "; times are linear in the samples but for half_batch: nothing was measured"};
  }
  inputs.assumptions.insert(inputs.assumptions.end(), model->assumptions.begin(), model->assumptions.end());
  return {};
}

Result<AccuracyInputs> read_inputs(const PlanCommand& order) {
  LOOM_TRY(check_obeyed(order));
  auto settings = parse_settings(order.settings);
  if (!settings) {
    return std::unexpected(std::move(settings).error());
  }
  SplitSettings split = split_settings(*settings);
  const Settings own = take_options(split.workload, kKeys);
  AccuracyInputs inputs;
  inputs.model = searched_model(order);
  const auto lit = whole_number(own, "lit", kLit, 1, 1'000);
  if (!lit) {
    return std::unexpected(lit.error());
  }
  inputs.lit = static_cast<std::size_t>(*lit);
  LOOM_TRY(read_options(order, own, inputs.options));
  if (!order.search.accuracy.empty()) {
    auto table = read_accuracy_table(order.search.accuracy);
    if (!table) {
      return std::unexpected(std::move(table).error());
    }
    inputs.table = *std::move(table);
  }
  if (!order.search.measures.empty()) {
    LOOM_TRY(read_profile_of_files(order, own, split.workload, inputs));
  } else if (own.contains("reading")) {
    return refuse("reading is of SiP-ML's profiles: --measures NAME_bs1.pb");
  } else {
    LOOM_TRY(read_profile(own, split.workload, inputs));
  }
  auto fabric = fabric_named(order.fabric.empty() ? order.algorithm : order.fabric, inputs.options.gpus, split.fabric);
  if (!fabric) {
    return std::unexpected(std::move(fabric).error());
  }
  inputs.fabric = *std::move(fabric);
  inputs.algorithm = order.algorithm.empty() ? inputs.fabric->architecture : order.algorithm;
  if (inputs.fabric->nodes.size() < inputs.options.gpus) {
    return fail(ErrorCode::infeasible, format_text("--nodes {}; fabric {} has {}", inputs.options.gpus, inputs.fabric->name,
                                                   inputs.fabric->nodes.size()));
  }
  inputs.options.rate = rate_of(*inputs.fabric);
  inputs.assumptions.push_back(
      "shards of one operator meet their own of the next only, as in the authors' code: inside a group "
      "nothing is gathered or reduced");
  return inputs;
}

std::string words_of(const SipCandidate& candidate) {
  return format_text("{} group{} of {} GPU{}, global batch {}", candidate.data, candidate.data == 1 ? "" : "s", candidate.model,
                     candidate.model == 1 ? "" : "s", candidate.global_batch);
}

double iterations_of(const AccuracyInputs& inputs, const SipCandidate& candidate) {
  return std::ranges::find(inputs.table, candidate.global_batch, &AccuracyPoint::global_batch)->iterations;
}

std::string milliseconds(Duration time) { return printed("%.3f", static_cast<double>(time.count()) / 1e6) + " ms"; }

Result<LitCandidate> light(const PlanCommand& order, const AccuracyInputs& inputs, const SipSearch& search, std::size_t index) {
  auto graph = graph_of_candidate(inputs.profile, search.candidates[index], inputs.options);
  if (!graph) {
    return std::unexpected(std::move(graph).error());
  }
  graph->workload = inputs.model;
  auto spec = job_of(*graph);
  if (!spec) {
    return std::unexpected(std::move(spec).error());
  }
  LitCandidate lit;
  lit.candidate = index;
  lit.inputs.algorithm = inputs.algorithm;
  lit.inputs.fabric = inputs.fabric;
  lit.inputs.jobs.push_back({*std::move(graph), *std::move(spec)});
  auto planned = plan_in_light(order, lit.inputs);
  if (!planned) {
    return std::unexpected(std::move(planned).error());
  }
  lit.planned = *std::move(planned);
  const auto& iterations = lit.planned.answer.iterations;
  if (iterations.empty() || !iterations.front().iteration) {
    return fail(ErrorCode::infeasible, iterations.empty() ? "nothing to play" : iterations.front().why_not);
  }
  lit.iteration = *iterations.front().iteration;
  return lit;
}

/// Candidates that take part, by estimate.
std::vector<std::size_t> by_estimate(const SipSearch& search) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < search.candidates.size(); ++i) {
    if (!search.candidates[i].rejected) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return search.candidates[i].seconds_to_accuracy; });
  return order;
}

/// The first of the lit ones by seconds to accuracy as predicted over their light; `why` gets a sentence each.
Result<LitCandidate> best_in_light(const PlanCommand& order, const AccuracyInputs& inputs, const SipSearch& search,
                                   std::vector<std::string>& why) {
  std::optional<LitCandidate> best;
  std::optional<Error> first_error;
  const auto seconds = [&](const LitCandidate& lit) {
    return static_cast<double>(lit.iteration.count()) * iterations_of(inputs, search.candidates[lit.candidate]);
  };
  const std::vector<std::size_t> candidates = by_estimate(search);
  for (std::size_t i = 0; i < std::min(inputs.lit, candidates.size()); ++i) {
    const std::string words = words_of(search.candidates[candidates[i]]);
    print_note(format_text("  in light: {} ({} of {})", words, i + 1, std::min(inputs.lit, candidates.size())));
    auto lit = light(order, inputs, search, candidates[i]);
    if (!lit) {
      why.push_back(format_text("in light, {}: {}", words, lit.error().message));
      first_error = first_error ? first_error : std::move(lit).error();
      continue;
    }
    why.push_back(format_text("in light, {}: {} an iteration", words, milliseconds(lit->iteration)));
    if (!best || seconds(*lit) < seconds(*best)) {
      best = *std::move(lit);
    }
  }
  if (!best) {
    return std::unexpected(*std::move(first_error));
  }
  return *std::move(best);
}

std::vector<std::string> rows_of(const SipSearch& search) {
  std::vector<std::string> rows;
  for (const SipCandidate& each : search.candidates) {
    rows.push_back(each.rejected ? format_text("{}: rejected: {}", words_of(each), each.rejected->message)
                                 : format_text("{}: group {} + gradients {} an iteration, {} s to accuracy, estimated",
                                               words_of(each), milliseconds(each.group), milliseconds(each.gradients),
                                               printed("%.6g", each.seconds_to_accuracy)));
  }
  return rows;
}

/// All GPUs at work all the time, nothing on the wire.
double least_seconds(const AccuracyInputs& inputs, const SipCandidate& candidate) {
  const auto operations = operations_at(inputs.profile, candidate.global_batch);
  Duration work{};
  for (const Operation& each : operations.value_or(std::vector<Operation>{})) {
    work += each.compute;
  }
  return static_cast<double>(work.count()) * 1e-9 / inputs.options.gpus;
}

PlanAnswer answer_of(const AccuracyInputs& inputs, const SipSearch& search, LitCandidate& lit) {
  const SipCandidate& candidate = search.candidates[lit.candidate];
  PlanAnswer answered = lit.planned.answer;
  const double iterations = iterations_of(inputs, candidate);
  answered.subject =
      format_text("to accuracy: {} iterations of {}, predicted in light", printed("%g", iterations), words_of(candidate));
  answered.objective = static_cast<double>(lit.iteration.count()) * 1e-9 * iterations;
  answered.bound = least_seconds(inputs, candidate) * iterations;
  answered.gap = gap_of(answered.objective, answered.bound);
  answered.elapsed_of = format_text("{} candidates partitioned, placed and estimated; the first {} planned in light",
                                    search.candidates.size(), std::min(inputs.lit, search.candidates.size()));
  std::vector<std::string> assumptions{
      "bound: all GPUs at work all the time and nothing communicated; it is not reached where anything is",
      format_text(
          "estimates: list scheduling at {} a GPU, gradients by the authors' 2 x weights / rate; operators cut by {}, reach {} "
          "hops",
          text_of(inputs.options.rate), milliseconds(inputs.options.quantum), inputs.options.placement.hops_most)};
  if (inputs.table.size() == 1 && iterations == 1) {
    assumptions.emplace_back("no table of iterations to accuracy was given: one iteration of one global batch counts");
  }
  assumptions.insert(assumptions.end(), inputs.assumptions.begin(), inputs.assumptions.end());
  answered.assumptions.insert(answered.assumptions.begin(), assumptions.begin(), assumptions.end());
  return answered;
}

Result<PlanAnswer> answer_to_search(const PlanCommand& order) {
  const auto inputs = read_inputs(order);
  if (!inputs) {
    return std::unexpected(inputs.error());
  }
  const auto begin = Clock::now();
  const auto search = search_strategy(inputs->profile, inputs->table, inputs->options);
  if (!search) {
    return std::unexpected(search.error());
  }
  std::vector<std::string> why;
  auto best = best_in_light(order, *inputs, *search, why);
  if (!best) {
    return std::unexpected(std::move(best).error());
  }
  PlanAnswer answered = answer_of(*inputs, *search, *best);
  answered.elapsed_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  if (order.explain) {
    std::vector<std::string> rows = rows_of(*search);
    rows.insert(rows.end(), why.begin(), why.end());
    answered.explanation.insert(answered.explanation.begin(), rows.begin(), rows.end());
  }
  LOOM_TRY(write_files(order, best->inputs, best->planned));
  if (!order.search.graph.empty()) {
    LOOM_TRY(write_task_graph(order.search.graph, best->inputs.jobs.front().graph, {}));
    print_note(format_text("the strategy's task graph is in {}; ask for its light: loom job submit {}", order.search.graph,
                           order.search.graph));
  }
  return answered;
}

}  // namespace

StrategySearch search_of(const PlanCommand& order) {
  std::string word = order.algorithm.empty() ? order.fabric : order.algorithm;
  if (word.empty() || !order.search.resume.empty()) {
    return StrategySearch::alternating;
  }
  const Architecture* own = all_architectures().find(word);
  if (own == nullptr && order.algorithm.empty()) {
    std::ranges::replace(word, '_', '-');
    own = all_architectures().find(word);
    if (own == nullptr) {
      const auto fabric = fabric_named(order.fabric, 0, {});
      own = fabric ? all_architectures().find((*fabric)->architecture) : nullptr;
    }
  }
  return own == nullptr ? StrategySearch::alternating : own->search;
}

int plan_by_accuracy(const Globals& globals, const PlanCommand& order) {
  const auto answered = answer_to_search(order);
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

}  // namespace loom::cli
