// SPDX-License-Identifier: Apache-2.0
// Where a pipeline is cut, in which order a stage works, how degrees lie on nodes, and what does not fit.
#include <algorithm>
#include <optional>
#include <string>

#include "controller/workload/parallel.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::vector<Slot> interleaved_slots(const Parallelism& of, std::uint32_t stage) {
  const std::int64_t stages = of.pipeline;
  const std::int64_t total = of.micro_batches() * of.chunks;
  const auto at = [&](std::int64_t k, bool forward) {  // micro-batches go through all chunks in groups of `stages`
    const std::int64_t within = k % (stages * of.chunks);
    const auto chunk = static_cast<std::uint32_t>(within / stages);
    return Slot{forward, k / (stages * of.chunks) * stages + within % stages, forward ? chunk : of.chunks - 1 - chunk};
  };
  const std::int64_t ahead = std::min(total, (stages - 1 - stage) * 2 + (std::int64_t{of.chunks} - 1) * stages);
  std::vector<Slot> slots;
  for (std::int64_t k = 0; k < ahead; ++k) {
    slots.push_back(at(k, true));
  }
  for (std::int64_t k = 0; k < total; ++k) {
    if (ahead + k < total) {
      slots.push_back(at(ahead + k, true));
    }
    slots.push_back(at(k, false));
  }
  return slots;
}

}  // namespace

std::vector<Slot> slots_of(const Parallelism& of, std::uint32_t stage) {
  if (of.chunks > 1) {
    return interleaved_slots(of, stage);
  }
  const std::int64_t count = of.micro_batches();
  const std::int64_t ahead =
      of.schedule == PipelineSchedule::gpipe ? count : std::min<std::int64_t>(count, of.pipeline - 1 - stage);
  std::vector<Slot> slots;
  for (std::int64_t i = 0; i < ahead; ++i) {
    slots.push_back({true, i});
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (ahead + i < count) {
      slots.push_back({true, ahead + i});
    }
    slots.push_back({false, i});
  }
  return slots;
}

Result<Degrees> degrees_of(const Parallelism& of) {
  std::uint32_t left = of.gpus;  // GPUs of a node that faster degrees leave
  std::optional<Error> fault;
  const auto split = [&](const char* name, std::uint32_t degree) {
    const std::uint32_t inside = std::min(degree, left);
    if (!fault && (degree % inside != 0 || left % inside != 0)) {
      fault =
          Error{ErrorCode::invalid_argument,
                format_text("{} = {} does not fit gpus_per_node = {}: {} GPUs of a node are left for it, and one of the two "
                            "must divide the other",
                            name, degree, of.gpus, left)};
    }
    left /= inside;
    return Degree{inside, degree / inside};
  };
  Degrees made;
  made.tensor = split("tp", of.tensor);
  made.context = split("cp", of.context);
  const std::uint32_t for_data = left;
  made.experts = split("ep", of.expert);
  made.replicas = split("dp / ep", of.data() / of.expert);
  made.data = {for_data / left, of.data() / (for_data / left)};
  if (fault) {
    return std::unexpected(*fault);
  }
  if (left != 1) {
    return fail(
        ErrorCode::invalid_argument,
        format_text("gpus_per_node = {}, but tp x cp x dp = {} x {} x {}: all GPUs of a node work at one pipeline stage, "
                    "so gpus_per_node must divide that product",
                    of.gpus, of.tensor, of.context, of.data()));
  }
  return made;
}

std::vector<std::size_t> stages_of(const Model& model, std::uint32_t pipeline) {
  const auto total = static_cast<double>(multiply_accumulates_of(model));
  std::vector<std::size_t> cuts{0};
  double before = 0;
  for (std::size_t block = 0; block < model.blocks.size(); ++block) {
    const auto work = static_cast<double>(model.blocks[block].multiply_accumulates);
    const auto stage = static_cast<std::size_t>(std::max(0.0, (before + work / 2) / total * pipeline));
    const std::size_t left = model.blocks.size() - block;
    // a stage begins where its share does, and never so late that those after it would be empty
    while (cuts.size() < pipeline && block > cuts.back() && (stage >= cuts.size() || left <= pipeline - cuts.size())) {
      cuts.push_back(block);
    }
    before += work;
  }
  cuts.push_back(model.blocks.size());
  return cuts;
}

namespace {

std::unexpected<Error> refuse(const Model& model, const std::string& why) {
  return fail(ErrorCode::invalid_argument, format_text("{}: {}", model.name, why));
}

/// Degrees against each other and the nodes.
Result<void> check_degrees(const Parallelism& of, const Model& model) {
  if (of.tensor == 0 || of.context == 0 || of.pipeline == 0 || of.chunks == 0 || of.expert == 0 || of.gpus == 0 ||
      of.zero > 3 || of.micro_batch < 1 || of.batch < 1) {
    return refuse(model,
                  "tp, cp, pp, virtual_stages, ep, gpus_per_node, batch and micro_batch need at least 1, zero at most 3");
  }
  if (of.nodes == 0 || of.ranks() % (std::uint64_t{of.tensor} * of.context * of.pipeline) != 0) {
    return refuse(model, format_text("{} GPUs do not fall into replicas of tp x cp x pp = {} x {} x {}", of.ranks(), of.tensor,
                                     of.context, of.pipeline));
  }
  if (of.data() % of.expert != 0) {
    return refuse(model, format_text("ep = {} does not divide the {} data-parallel ranks", of.expert, of.data()));
  }
  if (of.gpus > 1 && of.node_rate.bits_per_second <= 0) {
    return refuse(model, "several GPUs a node need the rate between them (node_rate)");
  }
  if (of.batch % of.micro_batch != 0) {
    return refuse(model, format_text("micro_batch = {} does not divide batch = {}", of.micro_batch, of.batch));
  }
  if (of.chunks > 1 && (of.pipeline < 2 || of.schedule == PipelineSchedule::gpipe || of.micro_batches() % of.pipeline != 0)) {
    return refuse(model, format_text("virtual_stages = {} needs schedule=1f1b, pp of at least 2 and micro-batches (here {}) "
                                     "in multiples of pp = {}",
                                     of.chunks, of.micro_batches(), of.pipeline));
  }
  const auto degrees = degrees_of(of);
  return degrees ? Result<void>{} : Result<void>(refuse(model, degrees.error().message));
}

}  // namespace

Result<void> check(const Parallelism& of, const Model& model) {
  LOOM_TRY(check_degrees(of, model));
  const auto has = [&](auto what) { return std::any_of(model.blocks.begin(), model.blocks.end(), what); };
  if (of.tensor > 1 && !has([](const Block& block) { return block.tensor_reduces > 0; })) {
    return refuse(model, "it has no tensor-parallel form here; tp must be 1");
  }
  if (of.context > 1 && !has([](const Block& block) { return block.context > 0; })) {
    return refuse(model, "it has no attention here whose sequence could be divided; cp must be 1");
  }
  if (of.expert > 1 && !has([&](const Block& block) { return block.experts > 0; })) {
    return refuse(model, "it has no experts; ep must be 1");
  }
  if (has([&](const Block& block) { return block.experts % of.expert != 0; })) {
    return refuse(model, format_text("ep = {} does not divide its experts", of.expert));
  }
  if (std::uint64_t{of.pipeline} * of.chunks > model.blocks.size()) {
    return refuse(model, of.chunks == 1 ? format_text("pp = {} stages for {} blocks", of.pipeline, model.blocks.size())
                                        : format_text("pp x virtual_stages = {} x {} for {} blocks", of.pipeline, of.chunks,
                                                      model.blocks.size()));
  }
  const double tasks_a_block = of.gpus > 1 || of.context > 1 ? 28 : 12;
  const auto tasks = static_cast<double>(model.blocks.size()) * static_cast<double>(of.micro_batches()) * tasks_a_block;
  if (tasks > static_cast<double>(limits::kTasksPerGraph)) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: {} micro-batches of {} blocks are more tasks than {} (kTasksPerGraph)", model.name,
                            of.micro_batches(), model.blocks.size(), limits::kTasksPerGraph));
  }
  return {};
}

}  // namespace loom
