// SPDX-License-Identifier: Apache-2.0
// Words to a problem.
#include "cli/plan/search_inputs.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "cli/plan/inputs.hpp"
#include "cli/plan/search_file.hpp"
#include "cli/render/answer.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/architectures/topoopt/finder/finder_settings.hpp"
#include "controller/architectures/topoopt/interfaces.hpp"
#include "controller/workload/fabric_settings.hpp"
#include "controller/workload/import/model_file.hpp"
#include "controller/workload/models/model_operators.hpp"
#include "controller/workload/quantity_text.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr std::uint64_t kSteps = 20'000;
constexpr std::uint32_t kChains = 2;
constexpr std::uint32_t kChainsMost = 1'024;
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

std::unexpected<Error> refuse(const std::string& what) { return fail(ErrorCode::invalid_argument, what, "loom plan --help"); }

Result<OpTimes> times_for(const SearchCommand& order, const OpGraph& graph) {
  std::string path = order.measures;
  for (const MeasuresOf& each : kMeasures) {
    path = path.empty() && graph.name == each.model ? format_text("{}/measures/{}", order.data, each.file) : path;
  }
  const auto measures = load_measures(path);
  if (!measures) {
    Error error = measures.error();
    if (!order.measures.empty()) {
      return std::unexpected(std::move(error));
    }
    error.message += format_text("; the measured times of {} are needed: --measures FILE, or --data FOLDER", graph.name);
    return std::unexpected(std::move(error));
  }
  return times_of(graph, *measures);
}

bool is_built_in(const std::string& model) {
  const auto names = topoopt_model_names();
  return std::ranges::find(names, model) != names.end();
}

/// The eight of TopoOpt's authors, whose times were measured.
Result<ModelOperators> built_in(const PlanCommand& order, const Search& search) {
  if (!order.nodes.empty()) {
    return refuse(
        format_text("--nodes does not apply to {}: it has its own servers; nearest: a model of the zoo, e.g. --model vgg16 "
                    "--nodes {}",
                    search.model, order.nodes.front()));
  }
  LOOM_TRY(check_keys(search.settings, search.model + " under --search", {}));
  auto graph = topoopt_model(search.model);
  if (!graph) {
    return std::unexpected(std::move(graph).error());
  }
  auto times = times_for(order.search, *graph);
  if (!times) {
    return std::unexpected(std::move(times).error());
  }
  return ModelOperators{*std::move(graph), *std::move(times), {"compute times: measured by TopoOpt's authors on A100s"}};
}

Result<ModelOperators> operators_for(const PlanCommand& order, const Search& search) {
  if (search.model.empty()) {
    return fail(ErrorCode::invalid_argument, "no model is named to search a strategy for",
                "loom plan --search --model vgg16 --nodes 16");
  }
  if (is_built_in(search.model)) {
    return built_in(order, search);
  }
  if (!order.search.measures.empty() && !is_model_file(search.model)) {
    return refuse(
        format_text("--measures {} is for models whose operators were measured, e.g. dlrm-16, or for your own layers "
                    "(.yaml, .json) that say measured_as; {} has its pace from its shapes: --set compute_ms=... or flops=...",
                    order.search.measures, search.model));
  }
  auto made = model_operators(search.model, {search.nodes, search.settings, {}});
  if (!made || order.search.measures.empty()) {
    return made;
  }
  auto times = times_for(order.search, made->graph);
  if (!times) {
    return std::unexpected(std::move(times).error());
  }
  made->times = *std::move(times);
  made->assumptions = {
      format_text("compute times: measured, {}; tensors that skip layers go along the chain", order.search.measures)};
  return made;
}

/// One GPU a node, but for the authors' servers of four.
SearchProblem problem_of(const ModelOperators& model, const Search& search) {
  NetworkTerms terms;
  terms.nodes = model.graph.nodes;
  terms.rate = search.link;
  terms.link_latency = std::chrono::microseconds{1};
  return {model.graph, model.times, terms, is_built_in(search.model) ? InServer{} : InServer{.gpus = 1}};
}

constexpr std::array<std::string_view, 2> kSearchKeys{"alpha", "start"};

Result<SearchOptions> options_of(const PlanCommand& order, const Settings& settings, Settings finder) {
  static constexpr std::array<std::string_view, 2> kStarts{"random", "data-parallel"};
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

bool is_lit(const PlanCommand& order) {
  return !order.fabric.empty() || !order.output.empty() || !order.forwarding.empty() || !order.wiring.empty();
}

/// The interfaces that the topology has to do with, and their rate.
struct Links {
  std::uint32_t degree = 0;
  BitRate rate{};
};

Result<Links> links_of(const Fabric& fabric) {
  const auto cabling = read_cabling(fabric);
  if (!cabling) {
    Error error = cabling.error();
    error.message += "; nearest: --fabric topoopt";
    return std::unexpected(std::move(error));
  }
  const ElementId first = fabric.nodes.front().transmitters.front();
  return Links{cabling->degree(), std::get<Transmitter>(fabric.element(first).kind).rate};
}

/// What --fabric says, or the template for what is searched. `settings`: of the template.
Result<std::shared_ptr<const Fabric>> fabric_for(const PlanCommand& order, std::uint32_t nodes, const Search& search,
                                                 Settings settings) {
  const std::string word = order.fabric.empty() ? "topoopt" : order.fabric;
  if (word == "topoopt") {
    settings.emplace("degree", std::to_string(search.options.finder.degree));
    if (search.link.bits_per_second > 0) {
      settings.emplace("rate", format_text("{} b/s", search.link.bits_per_second));
    }
  }
  auto fabric = fabric_named(word, nodes, settings);
  if (fabric && (*fabric)->nodes.size() < nodes) {
    return fail(ErrorCode::infeasible, format_text("{} needs {} servers; fabric {} has {}", search.model, nodes,
                                                   (*fabric)->name, (*fabric)->nodes.size()));
  }
  return fabric;
}

/// A new search, and what of the settings is the fabric's.
struct NewSearch {
  Search search;
  Settings of_template;
};

Result<NewSearch> new_search(const PlanCommand& order) {
  auto settings = parse_settings(order.settings);
  if (!settings) {
    return std::unexpected(std::move(settings).error());
  }
  SplitSettings split = split_settings(*settings);
  NewSearch made;
  Settings finder = take_options(split.fabric, kFinderKeys);
  made.of_template = std::move(split.fabric);
  const bool is_file = !order.fabric.empty() && order.fabric != "topoopt";
  if (!is_lit(order) || is_file) {
    LOOM_TRY(check_keys(made.of_template, "the topology finder", kFinderKeys));
  }
  std::optional<Links> links;
  if (is_file) {
    const auto fabric = fabric_named(order.fabric, 0, {});
    if (!fabric) {
      return std::unexpected(fabric.error());
    }
    auto own = links_of(**fabric);
    if (!own) {
      return std::unexpected(std::move(own).error());
    }
    links = *own;
    if (finder.contains("degree") || !order.bandwidth.empty()) {
      return refuse(
          format_text("{} is for a search without a fabric file; {} has {} interfaces a server of {}; nearest: leave it "
                      "out",
                      finder.contains("degree") ? "--set fabric.degree" : "--bandwidth", order.fabric, links->degree,
                      text_of(links->rate)));
    }
    finder["degree"] = std::to_string(links->degree);
    if (links->degree == 1) {
      finder.emplace("ring_directions", "one-way");
    }
  }
  Settings own = take_options(split.workload, kSearchKeys);
  const auto options = options_of(order, own, std::move(finder));
  if (!options) {
    return std::unexpected(options.error());
  }
  const auto rate = parse_bit_rate(order.bandwidth.empty() ? kPlanBandwidth : order.bandwidth);
  if (!rate) {
    return std::unexpected(rate.error());
  }
  Search& search = made.search;
  search.model = searched_model(order);
  search.nodes = order.nodes.empty() ? 0 : order.nodes.front();
  search.settings = std::move(split.workload);
  search.options = *options;
  search.link = links ? links->rate : BitRate{rate->bits_per_second / options->finder.degree};
  if (const auto said = made.of_template.find("rate"); said != made.of_template.end()) {
    const auto link = parse_bit_rate(said->second);
    if (!link) {
      return std::unexpected(link.error());
    }
    search.link = *link;
  }
  return made;
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
  if (const std::string model = searched_model(order); !model.empty() && model != search->model) {
    return contradicts("model", model, search->model);
  }
  if (!order.nodes.empty() && order.nodes.front() != search->nodes) {
    return contradicts("nodes", std::to_string(order.nodes.front()), std::to_string(search->nodes));
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

Result<void> check_saved(const SearchInputs& inputs, const std::string& path) {
  const std::string measures = digest_of(inputs.problem.times);
  if (!inputs.search.measures.empty() && inputs.search.measures != measures) {
    return refuse(format_text("{}: a search on other times of {} (digest {}, here {}); nearest: the times that it began with",
                              path, inputs.search.model, inputs.search.measures.substr(0, 16), measures));
  }
  const std::uint32_t nodes = inputs.problem.graph.nodes;
  for (const SearchState& state : inputs.search.chains) {
    if (state.current.topology.nodes != nodes || state.best.topology.nodes != nodes || state.cheapest.topology.nodes != nodes) {
      return refuse(format_text("{}: a topology of other than the model's {} servers", path, nodes));
    }
  }
  return {};
}

/// The fabric in which the result shall be lit; what it has must be what is searched for.
Result<void> read_fabric_into(const PlanCommand& order, const Settings& of_template, SearchInputs& inputs) {
  if (!is_lit(order)) {
    return {};
  }
  auto fabric = fabric_for(order, inputs.problem.graph.nodes, inputs.search, of_template);
  if (!fabric) {
    return std::unexpected(std::move(fabric).error());
  }
  const auto links = links_of(**fabric);
  if (!links) {
    return std::unexpected(links.error());
  }
  const std::uint32_t degree = inputs.search.options.finder.degree;
  if (links->degree != degree || links->rate != inputs.search.link) {
    return refuse(format_text("the search is for {} links of {} a server; fabric {} has {} of {}", degree,
                              text_of(inputs.search.link), (*fabric)->name, links->degree, text_of(links->rate)));
  }
  inputs.fabric = *std::move(fabric);
  return {};
}

}  // namespace

std::string searched_model(const PlanCommand& order) {
  return !order.search.model.empty() ? order.search.model : order.workloads.empty() ? "" : order.workloads.front();
}

Result<SearchInputs> read_search_inputs(const PlanCommand& order) {
  LOOM_TRY(check_search_options(order));
  if (order.search.chains > kChainsMost) {
    return refuse(format_text("--chains {}; the limit is {}", order.search.chains, kChainsMost));
  }
  SearchInputs inputs;
  Settings of_template;
  if (order.search.resume.empty()) {
    auto made = new_search(order);
    if (!made) {
      return std::unexpected(std::move(made).error());
    }
    inputs.search = std::move(made->search);
    of_template = std::move(made->of_template);
  } else {
    auto search = resumed(order);
    if (!search) {
      return std::unexpected(std::move(search).error());
    }
    inputs.search = *std::move(search);
  }
  auto model = operators_for(order, inputs.search);
  if (!model) {
    return std::unexpected(std::move(model).error());
  }
  inputs.problem = problem_of(*model, inputs.search);
  inputs.assumptions = std::move(model->assumptions);
  LOOM_TRY(check_saved(inputs, order.search.resume));
  inputs.search.measures = digest_of(inputs.problem.times);
  LOOM_TRY(read_fabric_into(order, of_template, inputs));
  inputs.search.options.judge_span = inputs.problem.graph.nodes > kJudgedOften ? 0 : 1;
  const auto saved = static_cast<std::uint32_t>(inputs.search.chains.size());
  inputs.chains = saved > 0 ? saved : order.search.chains == 0 ? kChains : order.search.chains;
  return inputs;
}

Result<void> check_search_options(const PlanCommand& order) {
  const std::tuple<bool, const char*, const char*> others[]{
      {!order.demand.empty(), "--demand", "a demand has no strategy to search"},
      {!order.scenario.empty(), "--scenario", "the search plans one model of its own"},
      {order.nodes.size() > 1, "more than one count of --nodes", "the search plans one model"},
      {!order.memory.empty(), "--memory", "the search does not look at memory"},
      {!order.base.empty(), "--base", "the search begins in the dark"},
      {!order.search.accuracy.empty(), "--accuracy",
       "TopoOpt's search minimises an iteration; SiP-ML's takes it (--fabric sip-ring)"},
      {!order.occupancy.empty(), "--occupancy",
       "TopoOpt's circuits share no rings of fibre; SiP-Ring's do (--fabric sip-ring)"},
      {order.workloads.size() + (order.search.model.empty() ? 0 : 1) > 1, "more than one workload",
       "the search plans one model"},
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
                                               {!search.save.empty(), "--save"},
                                               {!search.accuracy.empty(), "--accuracy"},
                                               {!search.graph.empty(), "--graph"}};
  for (const auto& [is_given, name] : its_own) {
    if (is_given) {
      return refuse(format_text("{} is an option of --search; nearest: add --search, or leave it out", name));
    }
  }
  return {};
}

}  // namespace loom::cli
