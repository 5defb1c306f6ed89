// SPDX-License-Identifier: Apache-2.0
// VGG and ResNet from their shapes.
#include "controller/workload/models/layers.hpp"

#include <array>
#include <span>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

struct Convolution {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 3;
  std::int64_t side = 0;  ///< of the output picture

  std::int64_t weights() const { return kernel * kernel * in * out; }
  std::int64_t multiply_accumulates() const { return weights() * side * side; }
};

Layer dense(std::string name, std::int64_t in, std::int64_t out) { return {std::move(name), in * out + out, in * out, out}; }

/// `convolutions`: how many 3x3 convolutions each of the five stages has; a 2x2 max-pool ends each.
std::vector<Layer> vgg(std::span<const int, 5> convolutions, const Pictures& pictures) {
  static constexpr std::array<std::int64_t, 5> kChannels{64, 128, 256, 512, 512};
  std::vector<Layer> layers;
  std::int64_t in = 3;
  std::int64_t side = pictures.side;
  for (std::size_t stage = 0; stage < kChannels.size(); ++stage) {
    for (int i = 1; i <= convolutions[stage]; ++i) {
      side += 2 * ((i <= 2 ? pictures.pad : 1) - 1);
      const Convolution convolution{in, kChannels[stage], 3, side};
      layers.push_back({format_text("conv{}_{}", stage + 1, i), convolution.weights() + convolution.out,
                        convolution.multiply_accumulates(), convolution.out * side * side});
      in = kChannels[stage];
    }
    side /= 2;
  }
  layers.push_back(dense("fc6", in * side * side, 4096));
  layers.push_back(dense("fc7", 4096, 4096));
  layers.push_back(dense("fc8", 4096, pictures.classes));
  return layers;
}

/// Adds a convolution without bias and its batch normalisation (a scale and a shift per channel).
void add_normalised(Layer& layer, const Convolution& convolution) {
  layer.parameters += convolution.weights() + 2 * convolution.out;
  layer.multiply_accumulates += convolution.multiply_accumulates();
  layer.outputs = convolution.out * convolution.side * convolution.side;
}

/// Side of the output of a convolution or pool of stride 2 that pads to "same".
std::int64_t halved(std::int64_t side) { return (side + 1) / 2; }

Layer bottleneck(std::string name, std::int64_t in, std::int64_t width, std::int64_t side_in, std::int64_t side_out) {
  Layer block{std::move(name), 0, 0};
  add_normalised(block, {in, width, 1, side_in});
  add_normalised(block, {width, width, 3, side_out});
  add_normalised(block, {width, 4 * width, 1, side_out});
  if (in != 4 * width) {
    add_normalised(block, {in, 4 * width, 1, side_out});
  }
  return block;
}

std::int64_t sum(const std::vector<Layer>& layers, std::int64_t Layer::* field) {
  std::int64_t total = 0;
  for (const Layer& layer : layers) {
    total += layer.*field;
  }
  return total;
}

}  // namespace

std::vector<Layer> vgg16_layers(const Pictures& pictures) { return vgg(std::array<int, 5>{2, 2, 3, 3, 3}, pictures); }
std::vector<Layer> vgg19_layers(const Pictures& pictures) { return vgg(std::array<int, 5>{2, 2, 4, 4, 4}, pictures); }

std::vector<Layer> resnet50_layers(const Pictures& pictures) {
  static constexpr std::array<int, 4> kBlocks{3, 4, 6, 3};
  std::vector<Layer> layers;
  Layer stem{"conv1", 0, 0};
  add_normalised(stem, {3, 64, 7, halved(pictures.side)});
  layers.push_back(stem);
  std::int64_t in = 64;
  std::int64_t width = 64;
  std::int64_t side = halved(halved(pictures.side));
  for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
    const std::int64_t side_out = stage == 0 ? side : halved(side);
    for (int block = 0; block < kBlocks[stage]; ++block) {
      const std::string name = format_text("layer{}.{}", stage + 1, block);
      layers.push_back(bottleneck(name, in, width, block == 0 ? side : side_out, side_out));
      in = 4 * width;
    }
    side = side_out;
    width *= 2;
  }
  layers.push_back(dense("fc", in, pictures.classes));
  return layers;
}

std::int64_t parameters_of(const std::vector<Layer>& layers) { return sum(layers, &Layer::parameters); }
std::int64_t multiply_accumulates_of(const std::vector<Layer>& layers) { return sum(layers, &Layer::multiply_accumulates); }

}  // namespace loom
