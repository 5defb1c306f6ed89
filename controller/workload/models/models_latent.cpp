// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V3: attention whose keys and values come from a short latent, and many small experts beside a shared one. Source:
// DeepSeek-AI 2024, DeepSeek-V3 Technical Report (arXiv:2412.19437), sections 2.1, 3.2, 3.3 and 4.2, and the configuration
// published with the weights. The multi-token prediction module (14 B parameters beside the 671 B) is not in it.
#include <array>
#include <string>

#include "controller/workload/models/model.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// A field and the setting that changes it.
struct Shape {
  std::int64_t layers = 61;
  std::int64_t dense_layers = 3;  ///< the first ones
  std::int64_t hidden = 7168;
  std::int64_t dense_ffn = 18432;
  std::int64_t ffn = 2048;  ///< of an expert
  std::int64_t experts = 256;
  std::int64_t shared_experts = 1;
  std::int64_t top_k = 8;
  std::int64_t heads = 128;
  std::int64_t q_lora = 1536;  ///< width of the queries' latent
  std::int64_t kv_lora = 512;  ///< of that of keys and values
  std::int64_t nope = 128;     ///< of a head's query and key: without position
  std::int64_t rope = 64;      ///< with position; of the key one for all heads
  std::int64_t v_head = 128;
  std::int64_t sequence = 4096;
  std::int64_t vocabulary = 129280;
};

constexpr std::array<std::string_view, 16> kKeys{"dense_ffn",      "dense_layers", "experts", "ffn",    "heads", "hidden",
                                                 "kv_lora",        "layers",       "nope",    "q_lora", "rope",  "seq",
                                                 "shared_experts", "top_k",        "v_head",  "vocab"};

struct Field {
  std::string_view key;
  std::int64_t Shape::* at;
  std::int64_t least;
  std::int64_t most;
};

constexpr std::array kFields{
    Field{"layers", &Shape::layers, 1, 1'024},
    Field{"dense_layers", &Shape::dense_layers, 0, 1'024},
    Field{"hidden", &Shape::hidden, 1, 65'536},
    Field{"dense_ffn", &Shape::dense_ffn, 1, 1 << 20},
    Field{"ffn", &Shape::ffn, 1, 1 << 20},
    Field{"experts", &Shape::experts, 1, 4'096},
    Field{"shared_experts", &Shape::shared_experts, 0, 64},
    Field{"top_k", &Shape::top_k, 1, 4'096},
    Field{"heads", &Shape::heads, 1, 4'096},
    Field{"q_lora", &Shape::q_lora, 1, 65'536},
    Field{"kv_lora", &Shape::kv_lora, 1, 65'536},
    Field{"nope", &Shape::nope, 1, 4'096},
    Field{"rope", &Shape::rope, 0, 4'096},
    Field{"v_head", &Shape::v_head, 1, 4'096},
    Field{"seq", &Shape::sequence, 1, 1 << 20},
    Field{"vocab", &Shape::vocabulary, 1, 1 << 20},
};
static_assert(kFields.size() == kKeys.size());

Result<Shape> shape_of(const Settings& settings) {
  Shape shape;
  for (const Field& field : kFields) {
    const auto value = whole_number(settings, field.key, shape.*field.at, field.least, field.most);
    if (!value) {
      return std::unexpected(value.error());
    }
    shape.*field.at = *value;
  }
  if (shape.dense_layers > shape.layers || shape.top_k > shape.experts) {
    return fail(ErrorCode::invalid_argument,
                format_text("dense_layers = {} of {} layers, top_k = {} of {} experts: at most all of them", shape.dense_layers,
                            shape.layers, shape.top_k, shape.experts));
  }
  return shape;
}

/// The seven matrices of one layer's attention, without the two latents' norms.
std::int64_t attention_weights(const Shape& of) {
  const std::int64_t queries = of.hidden * of.q_lora + of.q_lora * of.heads * (of.nope + of.rope);
  const std::int64_t keys = of.hidden * (of.kv_lora + of.rope) + of.kv_lora * of.heads * (of.nope + of.v_head);
  return queries + keys + of.heads * of.v_head * of.hidden;
}

/// A gated feed-forward network: three matrices.
std::int64_t gated(const Shape& of, std::int64_t width) { return 3 * of.hidden * width; }

Block layer(const Shape& of, std::int64_t index) {
  const std::int64_t attention = attention_weights(of);
  const std::int64_t pairs = of.sequence * of.sequence * of.heads;  // of query and key, the masked half counted
  Block block{.name = format_text("layer{}", index),
              .parameters = attention + of.q_lora + of.kv_lora + 2 * of.hidden,
              .multiply_accumulates = of.sequence * attention + pairs * (of.nope + of.rope + of.v_head),
              .boundary = of.sequence * of.hidden,
              .tensor_reduces = 2,
              // the latent travels and every rank expands it: what is cached of a token is what is moved of it
              .context = of.sequence * (of.kv_lora + of.rope),
              .context_splits = 1};
  if (index < of.dense_layers) {
    block.parameters += gated(of, of.dense_ffn);
    block.multiply_accumulates += of.sequence * gated(of, of.dense_ffn);
    return block;
  }
  const std::int64_t router = of.hidden * of.experts;
  block.parameters += router + of.experts + of.shared_experts * gated(of, of.ffn);  // a bias for each expert's balance
  block.multiply_accumulates += of.sequence * (router + (of.shared_experts + of.top_k) * gated(of, of.ffn));
  block.experts = static_cast<std::uint32_t>(of.experts);
  block.routed = static_cast<std::uint32_t>(of.top_k);
  block.expert_parameters = of.experts * gated(of, of.ffn);
  return block;
}

Result<Model> latent(std::string_view name, const Settings& settings) {
  const auto shape = shape_of(settings);
  if (!shape) {
    return std::unexpected(shape.error());
  }
  Model model;
  model.name = name;
  const std::int64_t tokens = shape->sequence * shape->hidden;
  model.blocks.push_back({.name = "embedding", .parameters = shape->vocabulary * shape->hidden, .boundary = tokens});
  for (std::int64_t i = 0; i < shape->layers; ++i) {
    model.blocks.push_back(layer(*shape, i));
  }
  model.blocks.push_back({.name = "head",
                          .parameters = shape->hidden + shape->vocabulary * shape->hidden,
                          .multiply_accumulates = tokens * shape->vocabulary,
                          .boundary = tokens});
  model.bytes_per_element = 2;
  model.precision = NumberFormat::bf16;
  model.gpu = "h800";
  model.batch = 8;
  for (const Field& field : kFields) {
    model.shape.emplace(field.key, std::to_string((*shape).*field.at));
  }
  model.assumptions.push_back(format_text("sequences of {} tokens, all of full length", shape->sequence));
  model.assumptions.push_back(
      format_text("experts: {} of {} see a token, every expert as many tokens as any other; a token travels once for each of "
                  "them, whatever node they are on",
                  shape->top_k, shape->experts));
  model.assumptions.emplace_back("the module that predicts a second token is left out");
  return model;
}

constexpr std::array<ModelEntry, 1> kModels{ModelEntry{"deepseek-v3", kKeys, latent}};

}  // namespace

std::span<const ModelEntry> latent_models() { return kModels; }

}  // namespace loom
