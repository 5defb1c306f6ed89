// SPDX-License-Identifier: Apache-2.0
// Layer tables of the model zoo, computed from layer shapes: parameters and multiply-accumulates of one sample's forward
// pass. Never a measured time: how long a layer takes is its share of a named compute time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

/// A layer (or a residual block) whose gradient becomes ready as a whole.
struct Layer {
  std::string name;
  std::int64_t parameters = 0;
  std::int64_t multiply_accumulates = 0;  ///< forward, one sample
  std::int64_t outputs = 0;               ///< elements of its output, one sample
};

/// What a picture network is fed with.
struct Pictures {
  std::int64_t side = 224;  ///< pixels, three channels
  std::int64_t pad = 1;     ///< VGG: of the first two convolutions of a stage; a third and fourth keep 1
  std::int64_t classes = 1000;
};

/// Forward order. Source: Simonyan & Zisserman 2015, table 1 (columns D and E).
std::vector<Layer> vgg16_layers(const Pictures& pictures = {});
std::vector<Layer> vgg19_layers(const Pictures& pictures = {});
/// ResNet-50 v1.5 (stride in the 3x3 convolution), batch normalisation counted: He et al. 2016, table 1.
std::vector<Layer> resnet50_layers(const Pictures& pictures = {});

std::int64_t parameters_of(const std::vector<Layer>& layers);
std::int64_t multiply_accumulates_of(const std::vector<Layer>& layers);

}  // namespace loom
