// SPDX-License-Identifier: Apache-2.0
// Models as ordered blocks: what each holds, computes and hands on, from shapes alone. How a model is spread over nodes is not
// here (parallel.hpp); how long it takes is only a named pace with its source.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workload/settings.hpp"
#include "core/result.hpp"

namespace loom {

/// What was measured on one GPU: samples -> milliseconds, forward and backward.
using TimesByBatch = std::map<std::int64_t, double>;

/// A part of a model that no pipeline cuts; forward order. MAC: multiply-accumulate.
struct Block {
  std::string name;
  std::int64_t parameters = 0;            ///< without experts and tables
  std::int64_t multiply_accumulates = 0;  ///< forward, one sample
  std::int64_t boundary = 0;              ///< elements that one sample hands to the next block
  std::uint32_t tensor_reduces = 0;       ///< all-reduces of `boundary` forward, as many backward, under tensor parallelism
  std::uint32_t experts = 0;              ///< of a mixture-of-experts layer
  std::uint32_t routed = 0;               ///< experts that see a token (top_k)
  std::int64_t expert_parameters = 0;     ///< of all experts
  std::int64_t context = 0;               ///< elements of keys and values of one sample: what context parallelism moves
  std::uint32_t context_splits = 0;       ///< tensor ranks that share them at most (groups of keys and values); 0: any number
  TimesByBatch measured{};                ///< empty: its time follows from the model's pace
  std::string measured_as{};              ///< in a file of measured times; empty: its name
  std::int64_t handed = 0;                ///< elements that a pipeline cut behind it moves, skips included; 0: `boundary`
};

enum class NumberFormat : std::uint8_t { fp32, fp16, bf16, fp8 };

std::string_view to_string(NumberFormat precision);

/// Bytes of an element of each kind of tensor.
struct ElementBytes {
  std::int64_t activations = 4;
  std::int64_t gradients = 4;
  std::int64_t parameters = 4;  ///< as ZeRO gathers them
  std::int64_t dispatched = 4;  ///< tokens on their way to experts, and their gradients back through the combine
  bool operator==(const ElementBytes&) const = default;
};

/// fp8: products, dispatched tokens and gathered parameters 1, activations, combined tokens and gradients 2 (DeepSeek-AI 2024,
/// DeepSeek-V3 Technical Report, 3.3: dispatch in FP8, combine in BF16; that gradients are reduced in 2 is inferred).
ElementBytes element_bytes(NumberFormat precision);

/// So long takes so much: `milliseconds` for `batch` samples of `multiply_accumulates` each, forward and backward.
struct Pace {
  double milliseconds = 0;
  double multiply_accumulates = 0;
  double batch = 1;
  std::string source;
};

/// Milliseconds for `samples`, linear between the batches measured. None: fewer or more samples than were measured.
std::optional<double> milliseconds_at(const TimesByBatch& measured, double samples);
/// Milliseconds for `batch` samples of `multiply_accumulates` at this pace.
double milliseconds_at(const Pace& pace, std::int64_t multiply_accumulates, std::int64_t batch);
/// A pace of so many sustained FLOP/s; training takes 6 FLOP a MAC (docs/workloads.md#anchors: 3x forward, 2 a MAC).
Pace pace_of_flops(double flops_per_second, std::string source);

struct Model {
  std::string name;
  std::vector<Block> blocks;
  std::int64_t tied_parameters = 0;  ///< held by the first and by the last stage of a pipeline
  std::int64_t bytes_per_element = 4;
  NumberFormat precision = NumberFormat::fp32;  ///< what a GPU computes in; named where bytes are
  std::int64_t batch = 32;                      ///< of a data-parallel rank, where no setting says
  Pace pace;
  std::string_view gpu{};  ///< of gpus(), where no setting says; empty: `pace` holds
  std::vector<std::string> assumptions;
  Settings shape;  ///< every setting of its shape as it holds, said or not
};

/// Of its tensors: `bytes_per_element` each, but as element_bytes(fp8) where the model computes in fp8.
ElementBytes bytes_of(const Model& model);

/// Whether the time of each block was measured at several batches; with one, it is a pace.
bool is_measured(const Model& model);
std::int64_t parameters_of(const Model& model);
/// Those that one token meets: of a routed layer's experts the share that is routed to.
std::int64_t active_parameters_of(const Model& model);
std::int64_t multiply_accumulates_of(const Model& model);

/// One row of the zoo. A new model is a new row of a family's table, or a family's file and a row here.
struct ModelEntry {
  std::string_view name;
  std::span<const std::string_view> keys;  ///< settings of its shape
  Result<Model> (*make)(std::string_view name, const Settings& settings);
};

/// Families, each in its file.
std::span<const ModelEntry> vision_models();       ///< models_vision.cpp
std::span<const ModelEntry> transformer_models();  ///< models_transformer.cpp
std::span<const ModelEntry> latent_models();       ///< models_latent.cpp
std::span<const ModelEntry> dense_models();        ///< models_dense.cpp

/// All of them, in the order of printing.
std::span<const ModelEntry> models();
/// The entry of `name`, or null.
const ModelEntry* find_model(std::string_view name);

/// The model with these settings; keys of others are ignored. Errors: not_found (with the nearest name), invalid_argument and
/// out_of_range (settings).
Result<Model> model_of(std::string_view name, const Settings& settings);

}  // namespace loom
