// SPDX-License-Identifier: Apache-2.0
// The models of TopoOpt's evaluation (docs/systems/topoopt.md#models), operator by operator as FlexFlow's example programs
// build them; names are those of the measurements. Checked against the public task graphs: operators in order, all-reduce
// sizes, transfers.
#include <algorithm>
#include <array>
#include <utility>

#include "controller/workload/models/op_graph.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Inputs = std::vector<std::uint32_t>;

class Model {
 public:
  Model(std::string name, std::uint32_t nodes, std::uint32_t samples) {
    graph_.name = std::move(name);
    graph_.nodes = nodes;
    graph_.samples = samples;
  }

  std::uint32_t add(Operator of) {
    graph_.operators.push_back(std::move(of));
    return static_cast<std::uint32_t>(graph_.operators.size() - 1);
  }
  /// `shape`: of the output; its last extent is what the layer is as wide as.
  std::uint32_t dense(Inputs inputs, std::uint32_t from, std::vector<std::uint32_t> shape) {
    const std::uint32_t to = shape.back();
    return add({format_text("Dense_{}_{}", from, to),
                std::move(shape),
                std::move(inputs),
                {{std::int64_t{4} * from * to}, {std::int64_t{4} * to}}});
  }
  std::uint32_t concat(Inputs inputs, std::uint32_t width) { return add({"Concat_1", {width}, std::move(inputs), {}}); }
  OpGraph take() && { return std::move(graph_); }

 private:
  OpGraph graph_;
};

/// Uno: the five inputs with towers (RNA sequence, and descriptors and fingerprints of two drugs); two doses join bare.
OpGraph candle(std::string name, std::uint32_t nodes, std::uint32_t width, std::uint32_t tower_depth) {
  Model model(std::move(name), nodes, 4 * 256 * nodes);
  Inputs towers;
  for (const std::uint32_t features : {942U, 5270U, 2048U, 5270U, 2048U}) {
    std::uint32_t top = model.dense({}, features, {width});
    for (std::uint32_t i = 1; i < tower_depth; ++i) {
      top = model.dense({top}, width, {width});
    }
    towers.push_back(top);
  }
  std::uint32_t top = model.concat(towers, 5 * width + 2);
  top = model.dense({top}, 5 * width + 2, {width});
  for (std::uint32_t i = 1; i < 8; ++i) {
    top = model.dense({top}, width, {width});
  }
  top = model.dense({top}, width, {1});
  model.dense({top}, 1, {1});
  return std::move(model).take();
}

struct DlrmShape {
  std::uint32_t tables = 0;
  std::uint32_t dimension = 0;
  std::uint32_t bottom = 0;  ///< width of its 8 layers, that is 7 operators
  std::uint32_t top = 0;     ///< width of its 16
  std::uint32_t batch = 0;   ///< of a GPU
};

OpGraph dlrm(std::string name, std::uint32_t nodes, const DlrmShape& shape) {
  Model model(std::move(name), nodes, 4 * shape.batch * nodes);
  Inputs joined{model.dense({}, shape.bottom, {shape.bottom})};
  for (std::uint32_t i = 1; i < 7; ++i) {
    joined[0] = model.dense({joined[0]}, shape.bottom, {shape.bottom});
  }
  for (std::uint32_t i = 0; i < shape.tables; ++i) {
    Operator table{format_text("Embed_10000000x{}", shape.dimension),
                   {shape.dimension},
                   {},
                   {{std::int64_t{4} * 10'000'000 * shape.dimension}}};
    table.copies =
        2;  // the public task graphs move 2 MiB where 1024 samples of 256 floats are 1 MiB, both ways, also in dlrm_128
    table.is_divisible = false;
    joined.push_back(model.add(std::move(table)));
  }
  const std::uint32_t width = shape.tables * shape.dimension + shape.bottom;
  std::uint32_t top = model.dense({model.concat(joined, width)}, width, {shape.top});
  for (std::uint32_t i = 1; i < 15; ++i) {
    top = model.dense({top}, shape.top, {shape.top});
  }
  model.dense({top}, shape.top, {1});
  return std::move(model).take();
}

/// FlexFlow's transformer: an encoder and a decoder stack side by side; the decoder's second attention looks at the encoder.
OpGraph bert(std::string name, std::uint32_t nodes, std::uint32_t layers, std::uint32_t sequence, std::uint32_t hidden,
             std::uint32_t heads) {
  Model model(std::move(name), nodes, 4 * 16 * nodes);
  const auto attention = [&](const Inputs& query, const Inputs& keys) {
    Inputs inputs = query;
    inputs.insert(inputs.end(), keys.begin(), keys.end());  // keys and values are one tensor each
    inputs.insert(inputs.end(), keys.begin(), keys.end());
    const std::uint32_t attended = model.add({format_text("MultiHeadAttention_{}{}", hidden, heads),
                                              {sequence, hidden},
                                              inputs,
                                              {{std::int64_t{16} * hidden * hidden}}});
    Inputs summed = query;
    summed.push_back(attended);
    return Inputs{model.add({"ElementBinary_31", {sequence, hidden}, summed, {}})};
  };
  const auto feed_forward = [&](const Inputs& below) {
    const std::uint32_t inner = model.dense(below, hidden, {sequence, hidden});
    return Inputs{model.dense({inner}, hidden, {sequence, hidden})};
  };
  Inputs encoded;  // empty: the input data
  Inputs decoded;
  for (std::uint32_t i = 0; i < layers; ++i) {
    encoded = feed_forward(attention(encoded, encoded));
    decoded = attention(decoded, decoded);
    decoded = feed_forward(attention(decoded, encoded));
  }
  model.dense(decoded, hidden, {sequence, 1});
  return std::move(model).take();
}

/// 229 x 229 pixels, convolutions padded by 2, pools of 3 with stride 2: what reaches the first dense layer is 512 x 11 x 11.
OpGraph vgg16(std::string name, std::uint32_t nodes) {
  Model model(std::move(name), nodes, 4 * 64 * nodes);
  std::uint32_t pixels = 229;
  std::uint32_t channels = 3;
  Inputs below;
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 5> kBlocks{{{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}}};
  for (const auto& [width, convolutions] : kBlocks) {
    for (std::uint32_t i = 0; i < convolutions; ++i) {
      pixels += 2;
      below = {model.add({format_text("Conv2D_3_3_{}", width),
                          {width, pixels, pixels},
                          below,
                          {{std::int64_t{36} * channels * width}, {std::int64_t{4} * width}}})};
      channels = width;
    }
    pixels = (pixels - 3) / 2 + 1;
    below = {model.add({"Pool2D_3_3", {width, pixels, pixels}, below, {}})};
  }
  const std::uint32_t flat = channels * pixels * pixels;
  below = {model.add({"Flat", {flat}, below, {}})};
  below = {model.dense(below, flat, {4096})};
  below = {model.dense(below, 4096, {4096})};
  below = {model.dense(below, 4096, {1000})};
  model.add({"Softmax", {1000}, below, {}});
  return std::move(model).take();
}

}  // namespace

std::vector<std::string_view> topoopt_model_names() {
  return {"bert-128", "bert-16", "candle-128", "candle-16", "dlrm-128", "dlrm-16", "vgg16-128", "vgg16-16"};
}

Result<OpGraph> topoopt_model(std::string_view name) {
  const std::string text(name);
  if (name == "candle-16" || name == "candle-128") {
    return name == "candle-16" ? candle(text, 16, 4096, 12) : candle(text, 128, 16384, 16);
  }
  if (name == "dlrm-16" || name == "dlrm-128") {
    return name == "dlrm-16" ? dlrm(text, 16, {16, 256, 1024, 2048, 256}) : dlrm(text, 128, {64, 128, 2048, 4096, 128});
  }
  if (name == "bert-16" || name == "bert-128") {
    return name == "bert-16" ? bert(text, 16, 6, 256, 768, 12) : bert(text, 128, 12, 64, 1024, 16);
  }
  if (name == "vgg16-16" || name == "vgg16-128") {
    return vgg16(text, name == "vgg16-16" ? 16 : 128);
  }
  std::string known;
  for (const std::string_view each : topoopt_model_names()) {
    known += (known.empty() ? "" : ", ") + std::string(each);
  }
  return fail(ErrorCode::not_found, format_text("no TopoOpt model '{}'; there are {}", text, known));
}

}  // namespace loom
