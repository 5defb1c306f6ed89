// SPDX-License-Identifier: Apache-2.0
// How a model is spread over nodes, and the task graph of one iteration that follows: data, tensor, context, pipeline and
// expert parallelism, and ZeRO's sharding. The GPUs of a node compute alike and are one worker; what they hand each other is a
// second one and never enters the fabric. Tasks stand for all groups of their kind in a pipeline stage, so that a graph has
// O(blocks x micro-batches) tasks whatever the number of nodes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workload/models/model.hpp"
#include "controller/workload/task_graph.hpp"

namespace loom {

enum class PipelineSchedule : std::uint8_t {
  one_forward_one_backward,  ///< Narayanan et al. 2019 (PipeDream-flush), as in Megatron
  gpipe,                     ///< Huang et al. 2019: all forward, then all backward
};

/// How keys and values reach the other ranks of a sequence.
enum class ContextExchange : std::uint8_t {
  gather,  ///< all-gather before attention, as Llama 3 (Grattafiori et al. 2024, 3.3.2)
  ring,    ///< blocks travel while attention computes: ring attention (Liu et al. 2023)
};

/// A degree of parallelism over nodes and, inside each, over its GPUs.
struct Degree {
  std::uint32_t inside = 1;
  std::uint32_t across = 1;
};

/// Ranks are GPUs, in Megatron's order, tensor fastest: rank = t + tensor x (c + context x (d + data x p)), with expert rank d
/// mod `expert`; `gpus` ranks in a row are a node.
struct Parallelism {
  std::uint32_t nodes = 1;
  std::uint32_t gpus = 1;  ///< of a node
  std::uint32_t tensor = 1;
  std::uint32_t context = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t chunks = 1;  ///< of a pipeline stage: interleaved 1F1B (Narayanan et al. 2021) if more than 1
  std::uint32_t expert = 1;  ///< divides `data`
  std::uint32_t zero = 0;    ///< stage 0 .. 3: Rajbhandari et al. 2020
  std::int64_t batch = 1;    ///< samples of one data-parallel rank in an iteration
  std::int64_t micro_batch = 1;
  std::int64_t bucket_bytes = 0;
  bool overlapped = true;  ///< communication may hide behind compute; else compute stops while bytes move
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  ContextExchange exchange = ContextExchange::gather;
  BitRate node_rate{};            ///< between GPUs of a node, one way; > 0 if there are several
  CollectiveChoice gradients{};   ///< all-reduce, reduce-scatter and all-gather among data-parallel ranks
  CollectiveChoice all_to_all{};  ///< of experts
  Duration compute{};             ///< of one worker in an iteration, stages alike

  std::uint32_t data() const { return static_cast<std::uint32_t>(ranks() / (std::uint64_t{tensor} * context * pipeline)); }
  std::uint64_t ranks() const { return std::uint64_t{nodes} * gpus; }
  std::int64_t micro_batches() const { return batch / micro_batch; }
};

/// The degrees of a lawful Parallelism, fastest first; `experts` and `replicas` (of the same experts) make up `data`.
struct Degrees {
  Degree tensor;
  Degree context;
  Degree data;
  Degree experts;
  Degree replicas;
};
/// Errors: invalid_argument (a node would hold half a group of one degree and half of another; naming both).
Result<Degrees> degrees_of(const Parallelism& parallelism);

/// Why the settings do not fit each other, the model or the nodes. Errors: invalid_argument.
Result<void> check(const Parallelism& parallelism, const Model& model);

/// The graph of one iteration; its assumptions are left to the caller. Errors: as check(Parallelism) and check(TaskGraph).
Result<TaskGraph> iteration_of(const Model& model, const Parallelism& parallelism);

/// Blocks of each stage: first block of each, and one past the last. Cut where each stage has its share of the work. With
/// several chunks a stage, `pipeline` is stages x chunks and chunk k belongs to stage k mod stages.
std::vector<std::size_t> stages_of(const Model& model, std::uint32_t pipeline);

struct Slot {
  bool forward = true;
  std::int64_t micro = 0;
  std::uint32_t chunk = 0;  ///< of the stage's
  bool operator==(const Slot&) const = default;
};
/// In which order a stage works off its micro-batches. Interleaved: as Megatron-LM's
/// forward_backward_pipelining_with_interleaving.
std::vector<Slot> slots_of(const Parallelism& parallelism, std::uint32_t stage);

}  // namespace loom
