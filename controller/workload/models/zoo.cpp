// The zoo's door: names and keys, task graphs from settings, and jobs from task graphs.
#include "controller/workload/models/zoo.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "controller/workload/import/demand_file.hpp"
#include "controller/workload/import/import.hpp"
#include "controller/workload/import/model_file.hpp"
#include "controller/workload/import/tables.hpp"
#include "controller/workload/load_graph.hpp"
#include "controller/workload/models/compute_time.hpp"
#include "controller/workload/parallel.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 17> kParallelKeys{
    "all_to_all",  "batch",   "bucket_mb", "collective", "compute_ms", "dp",      "ep", "flops", "local",
    "micro_batch", "overlap", "pp",        "precision",  "schedule",   "strides", "tp", "zero"};
constexpr std::array<std::string_view, 1> kTraceKeys{"compute_ms"};
constexpr std::array<std::string_view, 2> kOverlaps{"bucketed", "none"};
constexpr std::array<std::string_view, 2> kPrecisions{"fp16", "fp32"};
constexpr std::array<std::string_view, 2> kSchedules{"1f1b", "gpipe"};
constexpr std::array kAlgorithms{CollectiveAlgorithm::automatic,          CollectiveAlgorithm::ring,
                                 CollectiveAlgorithm::bidirectional_ring, CollectiveAlgorithm::tree,
                                 CollectiveAlgorithm::halving_doubling,   CollectiveAlgorithm::direct,
                                 CollectiveAlgorithm::pairwise,           CollectiveAlgorithm::hierarchical};

/// PyTorch DistributedDataParallel's bucket_cap_mb.
constexpr double kBucketMegabytes = 25;

struct Names {
  std::vector<std::string_view> all;
  std::map<std::string_view, std::vector<std::string_view>> keys;
};

const Names& names() {
  static const Names kNames = [] {
    Names made;
    const auto add = [&](std::string_view name, std::initializer_list<std::span<const std::string_view>> lists) {
      made.all.push_back(name);
      auto& keys = made.keys[name];
      for (const auto list : lists) {
        keys.insert(keys.end(), list.begin(), list.end());
      }
      std::sort(keys.begin(), keys.end());
    };
    for (const ModelEntry& entry : models()) {
      add(entry.name, {entry.keys, kParallelKeys});
    }
    for (const std::string_view name : table_model_names()) {
      add(name, {table_model_keys()});
    }
    return made;
  }();
  return kNames;
}

bool is_name(std::string_view name) { return names().keys.contains(name); }

/// An algorithm by its name. Errors: as choice().
Result<CollectiveAlgorithm> algorithm(const Settings& settings, std::string_view key) {
  std::array<std::string_view, kAlgorithms.size()> words;
  std::transform(kAlgorithms.begin(), kAlgorithms.end(), words.begin(), [](auto each) { return to_string(each); });
  const auto word = choice(settings, key, to_string(CollectiveAlgorithm::automatic), words);
  if (!word) {
    return std::unexpected(word.error());
  }
  return kAlgorithms[static_cast<std::size_t>(std::find(words.begin(), words.end(), *word) - words.begin())];
}

Result<void> read_choices(Parallelism& into, const Settings& settings) {
  const auto gradients = algorithm(settings, "collective");
  const auto exchange = algorithm(settings, "all_to_all");
  const auto strides = number_list(settings, "strides", {}, 1, limits::kNodes);
  const auto local = whole_number(settings, "local", 1, 1, limits::kNodes);
  for (const Error* error : {gradients ? nullptr : &gradients.error(), exchange ? nullptr : &exchange.error(),
                             strides ? nullptr : &strides.error(), local ? nullptr : &local.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  into.gradients = {*gradients, {strides->begin(), strides->end()}, static_cast<std::uint32_t>(*local)};
  into.all_to_all.algorithm = *exchange;
  return {};
}

Result<void> read_degrees(Parallelism& into, const Settings& settings) {
  const auto read = [&](std::string_view key, std::uint32_t& field, std::int64_t least, std::int64_t most) -> Result<void> {
    const auto value = whole_number(settings, key, field, least, most);
    if (!value) {
      return std::unexpected(value.error());
    }
    field = static_cast<std::uint32_t>(*value);
    return {};
  };
  LOOM_TRY(read("tp", into.tensor, 1, limits::kNodes));
  LOOM_TRY(read("pp", into.pipeline, 1, limits::kNodes));
  LOOM_TRY(read("ep", into.expert, 1, limits::kNodes));
  LOOM_TRY(read("zero", into.zero, 0, 3));
  const std::uint64_t replica = std::uint64_t{into.tensor} * into.pipeline;
  if (replica > into.nodes || into.nodes % replica != 0) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} nodes do not fall into replicas of tp x pp = {} x {}; nearest: {} nodes", into.nodes,
                            into.tensor, into.pipeline, std::max<std::uint64_t>(1, into.nodes / replica) * replica));
  }
  std::uint32_t data = into.data();
  LOOM_TRY(read("dp", data, 1, limits::kNodes));
  if (data != into.data()) {
    return fail(ErrorCode::invalid_argument,
                format_text("dp = {}, but {} nodes in replicas of {} are {}; dp follows from the others", data, into.nodes,
                            replica, into.data()));
  }
  return {};
}

/// Everything but the compute time.
Result<Parallelism> read_parallelism(const Model& model, const WorkloadSettings& settings) {
  Parallelism made;
  made.nodes = settings.nodes;
  LOOM_TRY(read_degrees(made, settings.values));
  LOOM_TRY(read_choices(made, settings.values));
  const auto batch = whole_number(settings.values, "batch", model.batch, 1, 1'048'576);
  const std::int64_t all = batch ? *batch : 1;
  const auto micro = whole_number(settings.values, "micro_batch", made.pipeline > 1 ? 1 : all, 1, 1'048'576);
  const auto overlap = choice(settings.values, "overlap", "bucketed", kOverlaps);
  const auto schedule = choice(settings.values, "schedule", "1f1b", kSchedules);
  const auto bucket_mb = number(settings.values, "bucket_mb", kBucketMegabytes, 0, 1'048'576);
  for (const Error* error :
       {batch ? nullptr : &batch.error(), micro ? nullptr : &micro.error(), overlap ? nullptr : &overlap.error(),
        schedule ? nullptr : &schedule.error(), bucket_mb ? nullptr : &bucket_mb.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  made.batch = *batch;
  made.micro_batch = *micro;
  made.bucket_bytes = static_cast<std::int64_t>(*bucket_mb * 1e6);
  made.overlapped = *overlap == "bucketed";
  made.schedule = *schedule == "gpipe" ? PipelineSchedule::gpipe : PipelineSchedule::one_forward_one_backward;
  LOOM_TRY(check(made, model));
  return made;
}

Result<ComputeTime> compute_of(const Model& model, const Parallelism& of, const Settings& settings) {
  const auto rate = number(settings, "flops", 0, 1e-6, 1e6);
  if (!rate) {
    return std::unexpected(rate.error());
  }
  const Pace pace = settings.contains("flops")
                        ? pace_of_flops(*rate * 1e12, format_text("given: flops = {} TFLOP/s sustained", printed("%g", *rate)))
                        : model.pace;
  const double whole = milliseconds_at(pace, multiply_accumulates_of(model), of.batch);
  return compute_time(settings, whole / static_cast<double>(of.tensor) / static_cast<double>(of.pipeline), pace.source);
}

std::vector<std::string> assumptions_of(const Model& model, const Parallelism& of, const std::string& compute) {
  const auto text = [](auto value) { return std::to_string(value); };
  const std::string precision = model.bytes_per_element == 2 ? "fp16" : "fp32";
  const bool plain = of.tensor * of.pipeline == 1 && of.micro_batch == of.batch;
  std::vector<std::string> all{compute};
  all.push_back(plain ? format_text("batch = {} a node, {} gradients", text(of.batch), precision)
                      : format_text("batch = {} a data-parallel rank, micro-batches of {}, {} gradients and activations",
                                    text(of.batch), text(of.micro_batch), precision));
  all.push_back(of.overlapped ? format_text("overlap = bucketed: gradients leave in buckets of {} MB, reverse layer order, "
                                            "ready by each layer's share of the backward pass",
                                            printed("%g", static_cast<double>(of.bucket_bytes) / 1e6))
                              : "overlap = none: one all-reduce after all compute");
  all.insert(all.end(), model.assumptions.begin(), model.assumptions.end());
  if (of.tensor * of.pipeline * of.expert > 1) {
    all.push_back(
        format_text("tp x pp x dp = {} x {} x {}, ep = {} within dp; rank order tp-ep-dp-pp, tensor fastest; no activation is "
                    "computed twice",
                    text(of.tensor), text(of.pipeline), text(of.data()), text(of.expert)));
  }
  if (of.tensor > 1) {
    all.push_back(
        "tensor parallelism: one all-reduce behind attention and one behind the feed-forward network, forward and "
        "backward; norms are counted as if split");
  }
  if (of.pipeline > 1) {
    all.push_back(format_text("pipeline: stages of equal work, {}; first and last stage add up a tied embedding",
                              of.schedule == PipelineSchedule::gpipe ? "GPipe" : "1F1B"));
  }
  if (of.zero > 0) {
    all.push_back(format_text("ZeRO stage {}{}", text(of.zero),
                              of.zero == 3 ? ": parameters are gathered a block ahead, gradients scattered "
                                             "after every micro-batch"
                                           : ": gradients scattered, parameters gathered after the update, "
                                             "which takes no time"));
  }
  if (of.gradients.algorithm != CollectiveAlgorithm::automatic || !of.gradients.strides.empty()) {
    all.push_back(format_text("gradients by {}", to_string(of.gradients.algorithm)));
  }
  return all;
}

Result<TaskGraph> graph_of_model(Model model, const WorkloadSettings& settings) {
  const auto precision =
      choice(settings.values, "precision", model.bytes_per_element == 2 ? kPrecisions[0] : kPrecisions[1], kPrecisions);
  if (!precision) {
    return std::unexpected(precision.error());
  }
  if (settings.values.contains("precision")) {
    model.bytes_per_element = *precision == "fp16" ? 2 : 4;
  }
  auto parallelism = read_parallelism(model, settings);
  if (!parallelism) {
    return std::unexpected(parallelism.error());
  }
  const auto compute = compute_of(model, *parallelism, settings.values);
  if (!compute) {
    return std::unexpected(compute.error());
  }
  parallelism->compute = compute->total;
  auto graph = iteration_of(model, *parallelism);
  if (graph) {
    graph->assumptions = assumptions_of(model, *parallelism, compute->assumption);
  }
  return graph;
}

Result<TaskGraph> make_model_graph(std::string_view name, const WorkloadSettings& settings) {
  LOOM_TRY(check_keys(settings.values, name, workload_keys(name)));
  auto model = model_of(name, settings.values);
  return model ? graph_of_model(*std::move(model), settings) : Result<TaskGraph>(std::unexpected(model.error()));
}

/// Whether the last bucket of gradients, ready when all compute is done, keeps that instant in the job. All else that waits for
/// all compute says kForever; journals and digests hold both.
bool keeps_last_instant(bool is_model, const Settings& settings) {
  const auto overlap = settings.find("overlap");
  return is_model && (overlap == settings.end() || overlap->second == "bucketed");
}

}  // namespace

std::span<const std::string_view> workload_names() { return names().all; }

std::span<const std::string_view> workload_keys(std::string_view name) {
  const auto found = names().keys.find(name);
  if (found != names().keys.end()) {
    return found->second;
  }
  return is_model_file(name) ? std::span<const std::string_view>{kParallelKeys} : std::span<const std::string_view>{};
}

Result<TaskGraph> make_task_graph(std::string_view name, const WorkloadSettings& settings) {
  if (!is_name(name)) {
    return fail(ErrorCode::not_found, format_text("no workload '{}': neither a known name nor a file; did you mean '{}'?",
                                                  name.substr(0, 256), nearest(name, names().all)));
  }
  if (settings.nodes < 1 || settings.nodes > limits::kNodes) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} nodes; it needs 1 .. {} (kNodes); give --nodes", name, settings.nodes, limits::kNodes));
  }
  if (find_model(name) != nullptr) {
    return make_model_graph(name, settings);
  }
  const auto model = table_model_of(name, settings.values);
  if (!model) {
    return std::unexpected(model.error());
  }
  return table_graph(*model, settings.values, settings.nodes);
}

Result<TaskGraph> graph_of_model_file(std::string_view path, const WorkloadSettings& settings) {
  LOOM_TRY(check_keys(settings.values, path, kParallelKeys));
  if (settings.nodes < 1 || settings.nodes > limits::kNodes) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} nodes; it needs 1 .. {} (kNodes); give --nodes", path, settings.nodes, limits::kNodes));
  }
  const auto batch = whole_number(settings.values, "batch", 0, 1, 1'048'576);
  if (!batch) {
    return std::unexpected(batch.error());
  }
  auto model = read_model_file(std::string{path}, *batch);
  return model ? graph_of_model(*std::move(model), settings) : Result<TaskGraph>(std::unexpected(model.error()));
}

namespace {

Result<JobSpec> job_of_iteration(const Result<TaskGraph>& graph, bool keeps_instant) {
  if (!graph) {
    return std::unexpected(graph.error());
  }
  auto job = job_of(*graph);
  if (job && job->compute > Duration{0} && !keeps_instant) {
    for (Collective& collective : job->collectives) {
      collective.ready = collective.ready == job->compute ? kForever : collective.ready;
    }
  }
  return job;
}

}  // namespace

Result<JobSpec> make_workload(std::string_view name, const WorkloadSettings& settings) {
  return job_of_iteration(make_task_graph(name, settings), keeps_last_instant(find_model(name) != nullptr, settings.values));
}

JobOptions take_options(Settings& values, std::span<const std::string_view> keys) {
  JobOptions taken;
  for (const std::string_view key : keys) {
    if (const auto found = values.find(key); found != values.end()) {
      taken.insert(values.extract(found));
    }
  }
  return taken;
}

namespace {

Result<JobSpec> load_demand(std::string_view path, const WorkloadSettings& settings) {
  LOOM_TRY(check_keys(settings.values, "a demand", kTraceKeys));
  auto demand = read_demand_file(std::string{path}, settings.nodes);
  if (!demand) {
    return std::unexpected(std::move(demand).error());
  }
  auto compute = compute_time(settings.values, 0, "a demand says nothing of compute");
  if (!compute) {
    return std::unexpected(compute.error());
  }
  JobSpec job = job_of_demand(*std::move(demand), std::string{path}, compute->total);
  job.assumptions.push_back(std::move(compute->assumption));
  return job;
}

Result<JobSpec> load_without_options(std::string_view name_or_path, const WorkloadSettings& settings) {
  if (is_demand_file(name_or_path)) {
    return load_demand(name_or_path, settings);
  }
  if (name_or_path.ends_with(".fbuf") && !is_name(name_or_path)) {
    return job_of_iteration(load_task_graph(name_or_path, settings), false);
  }
  if (is_model_file(name_or_path)) {
    return job_of_iteration(graph_of_model_file(name_or_path, settings), keeps_last_instant(true, settings.values));
  }
  std::error_code ignored;
  if (is_name(name_or_path) || !std::filesystem::is_regular_file(std::filesystem::path{name_or_path}, ignored)) {
    return make_workload(name_or_path, settings);
  }
  LOOM_TRY(check_keys(settings.values, "a trace", kTraceKeys));
  auto trace = import_trace(std::string{name_or_path});
  if (!trace) {
    return std::unexpected(trace.error());
  }
  if (settings.nodes != 0 && settings.nodes != trace->job.node_count) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} brings {} ranks, --nodes says {}", name_or_path, trace->job.node_count, settings.nodes));
  }
  if (settings.values.contains("compute_ms")) {
    auto compute = compute_time(settings.values, 0, "");
    if (!compute) {
      return std::unexpected(compute.error());
    }
    trace->job.compute = compute->total;
    trace->job.assumptions.push_back(compute->assumption);
  }
  return std::move(trace->job);
}

}  // namespace

Result<JobSpec> load_workload(std::string_view name_or_path, const WorkloadSettings& settings) {
  WorkloadSettings rest = settings;
  JobOptions options = take_options(rest.values, settings.option_keys);
  auto job = load_without_options(name_or_path, rest);
  if (job) {
    job->options = std::move(options);
  }
  return job;
}

}  // namespace loom
