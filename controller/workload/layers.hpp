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
};

/// Forward order; 224 x 224 x 3 in, 1000 classes out. Source: Simonyan & Zisserman 2015, table 1 (columns D and E).
std::vector<Layer> vgg16_layers();
std::vector<Layer> vgg19_layers();
/// ResNet-50 v1.5 (stride in the 3x3 convolution), batch normalisation counted: He et al. 2016, table 1.
std::vector<Layer> resnet50_layers();

std::int64_t parameters_of(const std::vector<Layer>& layers);
std::int64_t multiply_accumulates_of(const std::vector<Layer>& layers);

}  // namespace loom
