// SPDX-License-Identifier: Apache-2.0
// Transformers from one table of shapes. Counts: docs/workloads.md#anchors (a layer of hidden H and feed-forward 4H holds 12
// H^2 + 13 H parameters; forward 12 S H^2 + 2 S^2 H MAC a layer, S H V for the vocabulary).
#include <algorithm>
#include <array>

#include "controller/workload/models/model.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

enum class Style : std::uint8_t {
  bert,     ///< encoder; token types, embedding norm, pooler; the masked-word head computes with the tied embedding
  gpt,      ///< decoder with biases, learned positions, final norm, tied embedding
  seq2seq,  ///< Vaswani et al. 2017: encoder and decoder, sines for positions, one embedding for all
  llama,    ///< no biases, root-mean-square norms, gated feed-forward, grouped keys and values, own head
};

struct Shape {
  std::string_view name;
  Style style = Style::gpt;
  std::int64_t layers = 0;  ///< seq2seq: of the encoder, and as many of the decoder
  std::int64_t hidden = 0;
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;
  std::int64_t positions = 0;   ///< learned
  std::int64_t keys_width = 0;  ///< of all keys (and of all values); llama: grouped
  std::int64_t experts = 0;
  std::int64_t routed = 0;
  std::int64_t bytes = 2;  ///< an element
  std::int64_t batch = 16;
  std::int64_t heads = 0;      ///< of queries; 0: not a setting
  std::int64_t key_heads = 0;  ///< groups of keys and values
  std::string_view gpu{};      ///< whose rate is its pace, in bf16; empty: kHalfFlops or kSingleFlops
};

// BERT: Devlin et al. 2019. GPT-2: Radford et al. 2019. Megatron: Shoeybi et al. 2019, table 1 (vocabulary padded to 51 200).
// GPT-3: Brown et al. 2020, with Megatron's vocabulary. Mixtral: Jiang et al. 2024 (table 1; contexts of 32 768 tokens; `moe`
// is the same with 4096). Llama 3: Grattafiori et al. 2024, table 3, vocabulary 128 256 (128 000 and 256 reserved) as published
// with the weights; 405B in sequences of 8192, 16 a data-parallel rank: table 4 with a batch of 16 M tokens on 128 ranks.
constexpr std::array kShapes{
    Shape{"transformer-base", Style::seq2seq, 6, 512, 2048, 37000, 128, 0, 512, 0, 0, 4, 64},
    Shape{"transformer", Style::seq2seq, 6, 1024, 4096, 37000, 128, 0, 1024, 0, 0, 4, 64},
    Shape{"bert-base", Style::bert, 12, 768, 3072, 30522, 128, 512, 768, 0, 0, 4, 16},
    Shape{"bert-large", Style::bert, 24, 1024, 4096, 30522, 128, 512, 1024, 0, 0, 4, 16},
    Shape{"gpt2-355m", Style::gpt, 24, 1024, 4096, 50257, 1024, 1024, 1024, 0, 0, 2, 8},
    Shape{"gpt2-xl", Style::gpt, 48, 1600, 6400, 50257, 1024, 1024, 1600, 0, 0, 2, 8},
    Shape{"megatron-1.2b", Style::gpt, 40, 1536, 6144, 51200, 1024, 1024, 1536, 0, 0, 2, 8},
    Shape{"megatron-2.5b", Style::gpt, 54, 1920, 7680, 51200, 1024, 1024, 1920, 0, 0, 2, 8},
    Shape{"megatron-4.2b", Style::gpt, 64, 2304, 9216, 51200, 1024, 1024, 2304, 0, 0, 2, 8},
    Shape{"megatron-8.3b", Style::gpt, 72, 3072, 12288, 51200, 1024, 1024, 3072, 0, 0, 2, 8},
    Shape{"gpt3-175b", Style::gpt, 96, 12288, 49152, 51200, 2048, 2048, 12288, 0, 0, 2, 8},
    Shape{"moe", Style::llama, 32, 4096, 14336, 32000, 4096, 0, 1024, 8, 2, 2, 8},
    Shape{"moe-8x22b", Style::llama, 56, 6144, 16384, 32000, 4096, 0, 1024, 8, 2, 2, 8},
    Shape{"mixtral-8x7b", Style::llama, 32, 4096, 14336, 32000, 32768, 0, 1024, 8, 2, 2, 1, 32, 8, "h100"},
    Shape{"llama3-8b", Style::llama, 32, 4096, 14336, 128256, 8192, 0, 1024, 0, 0, 2, 8, 32, 8, "h100"},
    Shape{"llama3-70b", Style::llama, 80, 8192, 28672, 128256, 8192, 0, 1024, 0, 0, 2, 8, 64, 8, "h100"},
    Shape{"llama3-405b", Style::llama, 126, 16384, 53248, 128256, 8192, 0, 1024, 0, 0, 2, 16, 128, 8, "h100"},
};

constexpr std::array<std::string_view, 5> kKeys{"ffn", "hidden", "layers", "seq", "vocab"};
constexpr std::array<std::string_view, 8> kExpertKeys{"experts",   "ffn", "hidden", "layers",
                                                      "moe_every", "seq", "top_k",  "vocab"};
constexpr std::array<std::string_view, 7> kGroupedKeys{"ffn", "heads", "hidden", "kv_heads", "layers", "seq", "vocab"};
constexpr std::array<std::string_view, 10> kGroupedExpertKeys{"experts", "ffn",       "heads", "hidden", "kv_heads",
                                                              "layers",  "moe_every", "seq",   "top_k",  "vocab"};

/// A100 with fp16, of its 312 TFLOP/s; single precision: 6 layers, hidden 768, 256 tokens, 16 sequences a GPU in 62.20 ms are
/// 1.10 TFLOP forward and backward.
constexpr double kHalfFlops = 140e12;
constexpr std::string_view kHalfSource =
    "assumed, not looked up: 140 TFLOP/s sustained on an A100 in fp16, about what Narayanan et al. 2021 (SC'21) report end to "
    "end; "
    "flops replaces it";
constexpr double kSingleFlops = 17.7e12;
constexpr std::string_view kSingleSource =
    "17.7 TFLOP/s sustained on an A100 in fp32: TopoOpt's BERT of 6 layers in 62.20 ms, docs/workloads.md#anchors";

struct LayerPart {
  std::int64_t parameters = 0;
  std::int64_t multiply_accumulates = 0;
};

/// Queries, keys, values and output: `tokens` against `seen` tokens.
LayerPart attention(const Shape& shape) {
  const std::int64_t h = shape.hidden;
  const std::int64_t k = shape.keys_width;
  const std::int64_t weights = 2 * h * h + 2 * h * k;
  const std::int64_t biases = shape.style == Style::llama ? 0 : 2 * h + 2 * k;
  return {weights + biases, shape.sequence * weights + 2 * shape.sequence * shape.sequence * h};
}

/// One feed-forward network; MAC for every token of a sequence.
LayerPart feed_forward(const Shape& shape) {
  const std::int64_t matrices = shape.style == Style::llama ? 3 : 2;
  const std::int64_t weights = matrices * shape.hidden * shape.feed_forward;
  const std::int64_t biases = shape.style == Style::llama ? 0 : shape.hidden + shape.feed_forward;
  return {weights + biases, shape.sequence * weights};
}

std::int64_t norm(const Shape& shape) { return (shape.style == Style::llama ? 1 : 2) * shape.hidden; }

Block layer(const Shape& shape, std::string name, bool cross_attention, bool routed) {
  const LayerPart attend = attention(shape);
  const LayerPart feed = feed_forward(shape);
  const std::int64_t attentions = cross_attention ? 2 : 1;
  Block block{.name = std::move(name),
              .parameters = attentions * (attend.parameters + norm(shape)) + norm(shape),
              .multiply_accumulates = attentions * attend.multiply_accumulates,
              .boundary = shape.sequence * shape.hidden,
              .tensor_reduces = static_cast<std::uint32_t>(attentions + 1),
              .context = attentions * 2 * shape.sequence * shape.keys_width,
              .context_splits = static_cast<std::uint32_t>(shape.key_heads)};
  if (!routed) {
    block.parameters += feed.parameters;
    block.multiply_accumulates += feed.multiply_accumulates;
    return block;
  }
  block.experts = static_cast<std::uint32_t>(shape.experts);
  block.routed = static_cast<std::uint32_t>(shape.routed);
  block.expert_parameters = shape.experts * feed.parameters;
  block.parameters += shape.hidden * shape.experts;  // the router
  block.multiply_accumulates += shape.routed * feed.multiply_accumulates + shape.sequence * shape.hidden * shape.experts;
  return block;
}

Block embedding(const Shape& shape) {
  const std::int64_t h = shape.hidden;
  Block block{.name = "embedding", .parameters = (shape.vocabulary + shape.positions) * h, .boundary = shape.sequence * h};
  if (shape.style == Style::bert) {
    block.parameters += 2 * h + norm(shape);  // two token types
  }
  return block;
}

Block head(const Shape& shape) {
  const std::int64_t h = shape.hidden;
  Block block{.name = "head", .multiply_accumulates = shape.sequence * h * shape.vocabulary, .boundary = shape.sequence * h};
  switch (shape.style) {
    case Style::bert:
      block.parameters = h * h + h;  // the pooler
      break;
    case Style::gpt:
      block.parameters = norm(shape);
      break;
    case Style::seq2seq:
      break;
    case Style::llama:
      block.parameters = norm(shape) + shape.vocabulary * h;
      break;
  }
  return block;
}

Result<void> read_shape(Shape& shape, const Settings& settings) {
  const auto read = [&](std::string_view key, std::int64_t& field, std::int64_t most) -> Result<void> {
    const auto value = whole_number(settings, key, field, 1, most);
    if (!value) {
      return std::unexpected(value.error());
    }
    field = *value;
    return {};
  };
  const bool ungrouped = shape.keys_width == shape.hidden;
  const bool fourfold = shape.feed_forward == 4 * shape.hidden;
  LOOM_TRY(read("layers", shape.layers, 1'024));
  LOOM_TRY(read("hidden", shape.hidden, 65'536));
  shape.keys_width = ungrouped ? shape.hidden : shape.keys_width;
  shape.feed_forward = fourfold ? 4 * shape.hidden : shape.feed_forward;
  LOOM_TRY(read("ffn", shape.feed_forward, 1 << 20));
  LOOM_TRY(read("seq", shape.sequence, 1 << 20));
  shape.positions = shape.positions == 0 ? 0 : std::max(shape.positions, shape.sequence);
  LOOM_TRY(read("vocab", shape.vocabulary, 1 << 20));
  if (shape.experts > 0) {
    LOOM_TRY(read("experts", shape.experts, 4'096));
    shape.routed = std::min(shape.routed, shape.experts);
    LOOM_TRY(read("top_k", shape.routed, shape.experts));
  }
  if (shape.heads > 0) {
    LOOM_TRY(read("heads", shape.heads, 4'096));
    LOOM_TRY(read("kv_heads", shape.key_heads, shape.heads));
    if (shape.hidden % shape.heads != 0 || shape.heads % shape.key_heads != 0) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{}: heads = {} does not divide hidden = {}, or kv_heads = {} does not divide it", shape.name,
                              shape.heads, shape.hidden, shape.key_heads));
    }
    shape.keys_width = shape.hidden / shape.heads * shape.key_heads;
  }
  return {};
}

/// The row's settings as they hold.
Settings settings_of(const Shape& shape, std::int64_t every) {
  Settings said{{"ffn", std::to_string(shape.feed_forward)},
                {"hidden", std::to_string(shape.hidden)},
                {"layers", std::to_string(shape.layers)},
                {"seq", std::to_string(shape.sequence)},
                {"vocab", std::to_string(shape.vocabulary)}};
  if (shape.experts > 0) {
    said.insert({{"experts", std::to_string(shape.experts)},
                 {"moe_every", std::to_string(every)},
                 {"top_k", std::to_string(shape.routed)}});
  }
  if (shape.heads > 0) {
    said.insert({{"heads", std::to_string(shape.heads)}, {"kv_heads", std::to_string(shape.key_heads)}});
  }
  return said;
}

Result<Model> transformer(std::string_view name, const Settings& settings) {
  Shape shape = *std::find_if(kShapes.begin(), kShapes.end(), [&](const Shape& each) { return each.name == name; });
  LOOM_TRY(read_shape(shape, settings));
  const auto every = whole_number(settings, "moe_every", 1, 1, 1'024);
  if (!every) {
    return std::unexpected(every.error());
  }
  Model model;
  model.name = name;
  model.blocks.push_back(embedding(shape));
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const bool routed = shape.experts > 0 && i % *every == *every - 1;
    model.blocks.push_back(
        layer(shape, (shape.style == Style::seq2seq ? "encoder" : "layer") + std::to_string(i), false, routed));
  }
  for (std::int64_t i = 0; shape.style == Style::seq2seq && i < shape.layers; ++i) {
    model.blocks.push_back(layer(shape, format_text("decoder{}", i), true, false));
  }
  model.blocks.push_back(head(shape));
  model.tied_parameters = shape.style == Style::llama ? 0 : shape.vocabulary * shape.hidden;
  model.bytes_per_element = shape.bytes;
  model.precision = shape.bytes == 4 ? NumberFormat::fp32 : shape.gpu.empty() ? NumberFormat::fp16 : NumberFormat::bf16;
  model.gpu = shape.gpu;
  model.batch = shape.batch;
  model.shape = settings_of(shape, *every);
  model.pace = shape.bytes == 2 ? pace_of_flops(kHalfFlops, std::string{kHalfSource})
                                : pace_of_flops(kSingleFlops, std::string{kSingleSource});
  model.assumptions.push_back(format_text("sequences of {} tokens, all of full length", shape.sequence));
  if (shape.experts > 0) {
    model.assumptions.push_back(
        format_text("experts: {} of {} see a token, every expert as many tokens as any other", shape.routed, shape.experts));
  }
  return model;
}

constexpr std::span<const std::string_view> keys_of(const Shape& shape) {
  using Keys = std::span<const std::string_view>;
  if (shape.experts > 0) {
    return shape.heads > 0 ? Keys{kGroupedExpertKeys} : Keys{kExpertKeys};
  }
  return shape.heads > 0 ? Keys{kGroupedKeys} : Keys{kKeys};
}

/// The register's rows, from the table.
constexpr auto kModels = [] {
  std::array<ModelEntry, kShapes.size()> rows{};
  for (std::size_t i = 0; i < kShapes.size(); ++i) {
    rows[i] = {kShapes[i].name, keys_of(kShapes[i]), transformer};
  }
  return rows;
}();

}  // namespace

std::span<const ModelEntry> transformer_models() { return kModels; }

}  // namespace loom
