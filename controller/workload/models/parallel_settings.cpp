// SPDX-License-Identifier: Apache-2.0
// Keys to a Parallelism, and a Parallelism to sentences.
#include "controller/workload/models/parallel_settings.hpp"

#include <algorithm>
#include <array>

#include "controller/workload/fabric_settings.hpp"
#include "controller/workload/models/compute_time.hpp"
#include "controller/workload/models/gpus.hpp"
#include "controller/workload/quantity_text.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 24> kParallelKeys{"all_to_all",
                                                         "batch",
                                                         "bucket_mb",
                                                         "collective",
                                                         "compute_ms",
                                                         "context",
                                                         "cp",
                                                         "dp",
                                                         "ep",
                                                         "flops",
                                                         "gpu",
                                                         "gpus_per_node",
                                                         "local",
                                                         "mfu",
                                                         "micro_batch",
                                                         "node_rate",
                                                         "overlap",
                                                         "pp",
                                                         "precision",
                                                         "schedule",
                                                         "strides",
                                                         "tp",
                                                         "virtual_stages",
                                                         "zero"};
constexpr std::array<std::string_view, 2> kOverlaps{"bucketed", "none"};
constexpr std::array<std::string_view, 2> kSchedules{"1f1b", "gpipe"};
constexpr std::array<std::string_view, 2> kExchanges{"gather", "ring"};
constexpr std::array kPrecisions{NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32, NumberFormat::fp8};
constexpr std::array kAlgorithms{
    CollectiveAlgorithm::automatic, CollectiveAlgorithm::ring,        CollectiveAlgorithm::bidirectional_ring,
    CollectiveAlgorithm::tree,      CollectiveAlgorithm::double_tree, CollectiveAlgorithm::halving_doubling,
    CollectiveAlgorithm::direct,    CollectiveAlgorithm::pairwise,    CollectiveAlgorithm::hierarchical};

/// PyTorch DistributedDataParallel's bucket_cap_mb.
constexpr double kBucketMegabytes = 25;
/// Whose NVLink it is where no GPU is named: all paces that are not a GPU's are an A100's.
constexpr std::string_view kUnnamedGpu = "a100";

/// One of an enumeration by its name. Errors: as choice().
template <class Value, std::size_t count>
Result<Value> named(const Settings& settings, std::string_view key, Value absent, const std::array<Value, count>& all) {
  std::array<std::string_view, count> words;
  std::transform(all.begin(), all.end(), words.begin(), [](auto each) { return to_string(each); });
  const auto word = choice(settings, key, to_string(absent), words);
  if (!word) {
    return std::unexpected(word.error());
  }
  return all[static_cast<std::size_t>(std::find(words.begin(), words.end(), *word) - words.begin())];
}

Result<CollectiveAlgorithm> algorithm(const Settings& settings, std::string_view key) {
  return named(settings, key, CollectiveAlgorithm::automatic, kAlgorithms);
}

/// Refuses `key` where `applies` is not so.
Result<void> only_with(const Settings& settings, std::string_view key, bool applies, std::string_view what) {
  return applies || !settings.contains(key)
             ? Result<void>{}
             : Result<void>(fail(ErrorCode::invalid_argument, format_text("{} does nothing here: it goes with {}", key, what)));
}

Result<void> read_choices(Parallelism& into, const Settings& settings) {
  const auto gradients = algorithm(settings, "collective");
  const auto exchange = algorithm(settings, "all_to_all");
  const auto strides = number_list(settings, "strides", {}, 1, limits::kNodes);
  const auto local = whole_number(settings, "local", 1, 1, limits::kNodes);
  const auto context = choice(settings, "context", kExchanges[0], kExchanges);
  for (const Error* error :
       {gradients ? nullptr : &gradients.error(), exchange ? nullptr : &exchange.error(), strides ? nullptr : &strides.error(),
        local ? nullptr : &local.error(), context ? nullptr : &context.error()}) {
    if (error != nullptr) {
      return std::unexpected(*error);
    }
  }
  into.gradients = {*gradients, {strides->begin(), strides->end()}, static_cast<std::uint32_t>(*local)};
  into.all_to_all.algorithm = *exchange;
  into.exchange = *context == "ring" ? ContextExchange::ring : ContextExchange::gather;
  return only_with(settings, "context", into.context > 1 || *context == kExchanges[0], "cp of at least 2");
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
  LOOM_TRY(read("gpus_per_node", into.gpus, 1, 1'024));
  LOOM_TRY(read("tp", into.tensor, 1, limits::kNodes));
  LOOM_TRY(read("cp", into.context, 1, limits::kNodes));
  LOOM_TRY(read("pp", into.pipeline, 1, limits::kNodes));
  LOOM_TRY(read("virtual_stages", into.chunks, 1, 1'024));
  LOOM_TRY(read("ep", into.expert, 1, limits::kNodes));
  LOOM_TRY(read("zero", into.zero, 0, 3));
  const std::uint64_t replica = std::uint64_t{into.tensor} * into.context * into.pipeline;
  if (replica > into.ranks() || into.ranks() % replica != 0) {
    const bool plain = into.gpus == 1 && into.context == 1;
    return fail(
        ErrorCode::invalid_argument,
        plain ? format_text("{} nodes do not fall into replicas of tp x pp = {} x {}; nearest: {} nodes", into.nodes,
                            into.tensor, into.pipeline, std::max<std::uint64_t>(1, into.nodes / replica) * replica)
              : format_text("{} nodes of {} GPUs do not fall into replicas of tp x cp x pp = {} x {} x {}; nearest: {} GPUs",
                            into.nodes, into.gpus, into.tensor, into.context, into.pipeline,
                            std::max<std::uint64_t>(1, into.ranks() / replica) * replica));
  }
  std::uint32_t data = into.data();
  LOOM_TRY(read("dp", data, 1, limits::kNodes));
  if (data != into.data()) {
    return fail(ErrorCode::invalid_argument,
                format_text("dp = {}, but {} {} in replicas of {} are {}; dp follows from the others", data, into.ranks(),
                            into.gpus == 1 ? "nodes" : "GPUs", replica, into.data()));
  }
  return {};
}

/// The GPU that a setting or the model names.
Result<Gpu> named_gpu(const Model& model, const Settings& settings) {
  const auto said = settings.find("gpu");
  return gpu_of(said != settings.end() ? std::string_view{said->second} : model.gpu.empty() ? kUnnamedGpu : model.gpu);
}

Result<void> read_node_rate(Parallelism& into, const Model& model, const Settings& settings) {
  LOOM_TRY(only_with(settings, "node_rate", into.gpus > 1, "gpus_per_node of at least 2"));
  const auto said = settings.find("node_rate");
  if (said != settings.end()) {
    const auto rate = parse_bit_rate(said->second);
    if (!rate) {
      return fail(rate.error().code, "node_rate: " + rate.error().message);
    }
    into.node_rate = *rate;
    return {};
  }
  const auto gpu = named_gpu(model, settings);
  if (!gpu) {
    return std::unexpected(gpu.error());
  }
  into.node_rate = gpu->node_rate;
  return {};
}

/// Everything but the compute time.
Result<Parallelism> read_spread(const Model& model, const WorkloadSettings& settings) {
  Parallelism made;
  made.nodes = settings.nodes;
  LOOM_TRY(read_degrees(made, settings.values));
  LOOM_TRY(read_choices(made, settings.values));
  LOOM_TRY(read_node_rate(made, model, settings.values));
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

/// Errors: of a GPU that is not there or has no rate for the model's precision, and of settings that say the rate twice.
Result<Pace> pace_of(const Model& model, const Settings& settings) {
  const bool has_flops = settings.contains("flops");
  const auto rate = number(settings, "flops", 0, 1e-6, 1e6);
  const auto part = number(settings, "mfu", kUtilisation, 1e-4, 1);
  if (!rate || !part) {
    return std::unexpected(rate ? part.error() : rate.error());
  }
  for (const char* key : {"gpu", "mfu"}) {
    if (has_flops && settings.contains(key)) {
      return fail(ErrorCode::invalid_argument,
                  format_text("flops and {} both say how fast a GPU computes: flops is what it sustains, mfu the share that it "
                              "sustains of gpu's peak; give one",
                              key));
    }
  }
  if (has_flops) {
    return pace_of_flops(*rate * 1e12, format_text("given: flops = {} TFLOP/s sustained", printed("%g", *rate)));
  }
  if (model.gpu.empty() && !settings.contains("gpu")) {
    LOOM_TRY(only_with(settings, "mfu", false, "gpu"));
    return model.pace;
  }
  const auto gpu = named_gpu(model, settings);
  if (!gpu) {
    return std::unexpected(gpu.error());
  }
  const auto peak = flops_of(*gpu, model.precision);
  if (!peak) {
    return std::unexpected(peak.error());
  }
  const std::string whose = settings.contains("mfu") ? "given" : "assumed, Llama 3 405B reports 0.38 .. 0.43";
  return pace_of_flops(*peak * *part,
                       format_text("mfu = {} ({}) of {} TFLOP/s, dense {}, {}: {}", printed("%g", *part), whose,
                                   printed("%g", *peak / 1e12), to_string(model.precision), gpu->name, gpu->sheet));
}

Result<ComputeTime> compute_of(const Model& model, const Parallelism& of, const Settings& settings) {
  LOOM_TRY(only_with(settings, "mfu", !settings.contains("compute_ms"), "gpu, not with compute_ms"));
  const auto pace = pace_of(model, settings);
  if (!pace) {
    return std::unexpected(pace.error());
  }
  const double whole = milliseconds_at(*pace, multiply_accumulates_of(model), of.batch);
  return compute_time(settings, whole / static_cast<double>(of.tensor) / of.context / static_cast<double>(of.pipeline),
                      pace->source);
}

/// "9, 8, 8" blocks of each stage, and how much longer than the mean the longest computes.
std::string stages_text(const Model& model, const Parallelism& of) {
  const std::vector<std::size_t> cuts = stages_of(model, of.pipeline * of.chunks);
  std::vector<std::int64_t> work(of.pipeline, 0);
  std::string blocks;
  for (std::size_t chunk = 0; chunk + 1 < cuts.size(); ++chunk) {
    for (std::size_t block = cuts[chunk]; block < cuts[chunk + 1]; ++block) {
      work[chunk % of.pipeline] += model.blocks[block].multiply_accumulates;
    }
    blocks += format_text("{}{}", blocks.empty() ? "" : ", ", cuts[chunk + 1] - cuts[chunk]);
  }
  const double mean = static_cast<double>(multiply_accumulates_of(model)) / of.pipeline;
  const auto [least, most] = std::minmax_element(work.begin(), work.end());
  if (*least == *most || mean <= 0) {
    return "stages of equal work";
  }
  return format_text("uneven stages of {} blocks{}: the longest computes {} of the mean and sets the pace, the shortest {}",
                     blocks, of.chunks > 1 ? " (chunk by chunk)" : "", printed("%.3f", static_cast<double>(*most) / mean),
                     printed("%.3f", static_cast<double>(*least) / mean));
}

void add_node(std::vector<std::string>& all, const Parallelism& of) {
  const auto degrees = degrees_of(of);
  if (of.gpus == 1 || !degrees) {
    return;
  }
  all.push_back(
      format_text("{} GPUs a node, {} between them one way: in a node tp {}, cp {}, dp {}; these reduce, gather and "
                  "exchange among themselves before the node sends: time without fabric, counted as compute",
                  of.gpus, text_of(of.node_rate), degrees->tensor.inside, degrees->context.inside, degrees->data.inside));
}

void add_context(std::vector<std::string>& all, const Parallelism& of) {
  if (of.context == 1) {
    return;
  }
  const std::string split =
      format_text("context parallelism: each of {} ranks has its share of a sequence, of equal work; ", of.context);
  all.push_back(split + (of.exchange == ContextExchange::gather
                             ? "keys and values are all-gathered before attention, anew in backward, and their gradients "
                               "scattered behind it (context=gather, as Llama 3: Grattafiori et al. 2024, 3.3.2)"
                             : "blocks of keys and values travel round the ring while attention computes (context=ring, Liu "
                               "et al. 2023)"));
}

std::string batch_text(const Model& model, const Parallelism& of) {
  const bool plain = of.tensor * of.pipeline * of.context == 1 && of.micro_batch == of.batch;
  const std::string precision{to_string(model.precision)};
  if (model.precision == NumberFormat::fp8) {
    return format_text(
        "batch = {} a data-parallel rank, micro-batches of {}, fp8: dispatched tokens and gathered parameters 1 "
        "byte an element, activations, combined tokens and gradients 2 (DeepSeek-V3, 3.3; gradients inferred)",
        of.batch, of.micro_batch);
  }
  return plain ? format_text("batch = {} {}, {} gradients", of.batch, of.gpus == 1 ? "a node" : "a GPU", precision)
               : format_text("batch = {} a data-parallel rank, micro-batches of {}, {} gradients and activations", of.batch,
                             of.micro_batch, precision);
}

std::string pipeline_text(const Model& model, const Parallelism& of) {
  std::string schedule = of.schedule == PipelineSchedule::gpipe ? "GPipe" : "1F1B";
  if (of.chunks > 1) {
    schedule = format_text("interleaved 1F1B, {} chunks a stage, as many times the messages between stages", of.chunks);
  }
  return format_text("pipeline: {}, {}{}", stages_text(model, of), schedule,
                     model.tied_parameters > 0 ? "; first and last stage add up a tied embedding" : "");
}

}  // namespace

std::span<const std::string_view> parallel_keys() { return kParallelKeys; }

Result<SpreadModel> read_parallelism(Model& model, const WorkloadSettings& settings) {
  const auto precision = named(settings.values, "precision", model.precision, kPrecisions);
  if (!precision) {
    return std::unexpected(precision.error());
  }
  if (settings.values.contains("precision")) {
    model.precision = *precision;
    model.bytes_per_element = element_bytes(*precision).activations;
  }
  auto spread = read_spread(model, settings);
  if (!spread) {
    return std::unexpected(spread.error());
  }
  auto compute = compute_of(model, *spread, settings.values);
  if (!compute) {
    return std::unexpected(compute.error());
  }
  spread->compute = compute->total;
  return SpreadModel{*std::move(spread), std::move(compute->assumption)};
}

std::vector<std::string> assumptions_of(const Model& model, const Parallelism& of, const std::string& compute) {
  std::vector<std::string> all{compute, batch_text(model, of)};
  all.push_back(of.overlapped ? format_text("overlap = bucketed: gradients leave in buckets of {} MB, reverse layer order, "
                                            "ready by each layer's share of the backward pass",
                                            printed("%g", static_cast<double>(of.bucket_bytes) / 1e6))
                              : "overlap = none: one all-reduce after all compute");
  all.insert(all.end(), model.assumptions.begin(), model.assumptions.end());
  if (of.tensor * of.pipeline * of.expert * of.context > 1) {
    all.push_back(of.context == 1
                      ? format_text("tp x pp x dp = {} x {} x {}, ep = {} within dp; rank order tp-ep-dp-pp, tensor fastest; "
                                    "no activation is computed twice",
                                    of.tensor, of.pipeline, of.data(), of.expert)
                      : format_text("tp x cp x pp x dp = {} x {} x {} x {}, ep = {} within dp; rank order tp-cp-ep-dp-pp, "
                                    "tensor fastest; no activation is computed twice",
                                    of.tensor, of.context, of.pipeline, of.data(), of.expert));
  }
  add_node(all, of);
  add_context(all, of);
  if (of.tensor > 1) {
    all.push_back(
        "tensor parallelism: one all-reduce behind attention and one behind the feed-forward network, forward and "
        "backward; norms are counted as if split");
  }
  if (of.pipeline > 1) {
    all.push_back(pipeline_text(model, of));
  }
  if (of.zero > 0) {
    all.push_back(format_text("ZeRO stage {}{}", of.zero,
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

}  // namespace loom
