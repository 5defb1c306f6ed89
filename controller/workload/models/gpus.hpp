// SPDX-License-Identifier: Apache-2.0
// GPUs by name: what one computes, holds and hands to its neighbours in the node, from its maker's data sheet. Rates are of
// dense products at boost clock, never with sparsity; what a job sustains of them (`mfu`) is an assumption that is printed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "controller/workload/models/model.hpp"
#include "core/result.hpp"
#include "core/units.hpp"

namespace loom {

/// TFLOP/s; 0: it has no such unit.
struct Gpu {
  std::string_view name;
  std::string_view sheet;  ///< the data sheet
  double fp32 = 0;         ///< outside of the tensor cores
  double fp16 = 0;
  double bf16 = 0;
  double fp8 = 0;
  double gigabytes = 0;
  BitRate node_rate{};  ///< to the GPUs of its node, one way: half of what data sheets add up
};

/// In order of age.
std::span<const Gpu> gpus();

/// Errors: not_found, with the nearest.
Result<Gpu> gpu_of(std::string_view name);

/// Dense FLOP/s. Errors: unsupported (no unit for that precision, naming those that have one).
Result<double> flops_of(const Gpu& gpu, NumberFormat precision);

/// Model FLOP utilisation where nobody says: Grattafiori et al. 2024, table 4, report 38 to 43 % for Llama 3 405B in bf16 on
/// 8192 and 16 384 H100s, communication included.
inline constexpr double kUtilisation = 0.4;

}  // namespace loom
