// SPDX-License-Identifier: Apache-2.0
// What SiP-ML knows of a model before it searches a strategy: its operators, each with a compute time for several batch sizes
// on one GPU. The authors measured theirs and did not publish them; ours are read from files of their profiler's form
// (profile_file.hpp), or made from a model's layers and say so. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "controller/architectures/sip_ml/placement.hpp"
#include "controller/workload/models/model.hpp"

namespace loom {

struct ProfiledOperation {
  std::string name;
  std::vector<Duration> compute;      ///< by profiled batch size
  std::vector<Bytes> output;          ///< by profiled batch size: what each consumer gets
  Bytes parameters{};                 ///< what it keeps, whatever the batch
  bool is_memory = false;             ///< as Operation::is_memory
  std::vector<std::uint32_t> inputs;  ///< operators before it in the list
};

struct SipProfile {
  std::string name;
  std::string source;                  ///< where the times come from; printed with whatever rests on them
  std::vector<std::uint32_t> batches;  ///< ascending
  std::vector<ProfiledOperation> operations;
};

/// The operators at one batch size, times and bytes linear between the profiled sizes (docs/systems/sipml.md#strategy-search).
/// Errors: out_of_range (a batch outside the profiled ones, naming them), invalid_argument (a profile whose sizes do not
/// ascend, an operator without a time for each).
Result<std::vector<Operation>> operations_at(const SipProfile& profile, std::uint32_t batch);

/// As synthetic_profile, with the time of each block as it was measured, at the batches at which all were. Errors:
/// invalid_argument (a block without times; no batch common to all).
Result<SipProfile> measured_profile(const Model& model);

/// Synthetic: for each block of the model a memory operator that holds its weights, a forward and a backward operator (one and
/// two thirds of its share of the model's pace), in a chain; what blocks do inside, and skips across them, are not operators.
/// Batches 1, 2, 4 .. 512. `half_batch` stands for how badly small batches fill a GPU: b samples take the time of b +
/// half_batch, so a GPU is half as fast as it can be at a batch of half_batch. 0: time is proportional to the batch, and then
/// nothing speaks against cutting the batch to one sample a GPU; any other value is an assumption, and the source says so.
/// `batch_most`: the largest that is made, beyond 512 the next power of two.
SipProfile synthetic_profile(const Model& model, std::uint32_t half_batch = 0, std::uint32_t batch_most = 512);

/// The profile with all times stretched alike, so that one GPU takes `step` for `batch` samples. Errors: as operations_at;
/// invalid_argument (a profile without compute).
Result<SipProfile> scaled_to(SipProfile profile, std::uint32_t batch, Duration step, const std::string& source);

}  // namespace loom
