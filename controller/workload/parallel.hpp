// How a model is spread over nodes, and the task graph of one iteration that follows: data, tensor, pipeline and expert
// parallelism, and ZeRO's sharding. One worker a node. Tasks stand for all groups of their kind in a pipeline stage, so that a
// graph has O(blocks x micro-batches) tasks whatever the number of nodes.
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

/// Rank order is Megatron's, tensor fastest: rank = t + tensor x (d + data x p), with expert rank d mod `expert`.
struct Parallelism {
  std::uint32_t nodes = 1;
  std::uint32_t tensor = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t expert = 1;  ///< divides `data`
  std::uint32_t zero = 0;    ///< stage 0 .. 3: Rajbhandari et al. 2020
  std::int64_t batch = 1;    ///< samples of one data-parallel rank in an iteration
  std::int64_t micro_batch = 1;
  std::int64_t bucket_bytes = 0;
  bool overlapped = true;  ///< communication may hide behind compute; else compute stops while bytes move
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  CollectiveChoice gradients{};   ///< all-reduce, reduce-scatter and all-gather among data-parallel ranks
  CollectiveChoice all_to_all{};  ///< of experts
  Duration compute{};             ///< of one worker in an iteration, stages alike

  std::uint32_t data() const { return nodes / (tensor * pipeline); }
  std::int64_t micro_batches() const { return batch / micro_batch; }
};

/// Why the settings do not fit each other, the model or the nodes. Errors: invalid_argument.
Result<void> check(const Parallelism& parallelism, const Model& model);

/// The graph of one iteration; its assumptions are left to the caller. Errors: as check(Parallelism) and check(TaskGraph).
Result<TaskGraph> iteration_of(const Model& model, const Parallelism& parallelism);

/// Blocks of each stage: first block of each, and one past the last. Cut where each stage has its share of the work.
std::vector<std::size_t> stages_of(const Model& model, std::uint32_t pipeline);

}  // namespace loom
