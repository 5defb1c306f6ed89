// SPDX-License-Identifier: Apache-2.0
// Interpolation, and operators from blocks.
#include "controller/architectures/sip_ml/profile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr double kForwardPart = 1.0 / 3;  ///< of a training step: the backward pass costs twice the forward one

Duration between(Duration a, Duration b, double part) {
  return Duration{a.count() + std::llround(static_cast<double>((b - a).count()) * part)};
}

Bytes between(Bytes a, Bytes b, double part) {
  return Bytes{a.count + std::llround(static_cast<double>(b.count - a.count) * part)};
}

/// Milliseconds of a block, forward and backward.
using BlockTime = std::function<double(const Block&, std::uint32_t batch)>;

/// Forward or backward through one block.
struct Pass {
  const Block& block;
  double part = 0;            ///< of the block's time
  std::int64_t elements = 0;  ///< of one sample, handed on
};

ProfiledOperation computing(std::string name, const Model& model, const Pass& pass, const BlockTime& time,
                            const std::vector<std::uint32_t>& batches, std::vector<std::uint32_t> inputs) {
  ProfiledOperation operation{std::move(name), {}, {}, {}, false, std::move(inputs)};
  for (const std::uint32_t batch : batches) {
    operation.compute.push_back(Duration{std::llround(pass.part * time(pass.block, batch) * 1e6)});
    operation.output.push_back(Bytes{pass.elements * model.bytes_per_element * batch});
  }
  return operation;
}

/// A memory, a forward and a backward operator a block, in a chain.
void add_operations(const Model& model, const BlockTime& time, SipProfile& profile) {
  auto& operations = profile.operations;
  const std::size_t sizes = profile.batches.size();
  const auto last = [&] { return static_cast<std::uint32_t>(operations.size()) - 1; };
  std::vector<std::uint32_t> weights;
  std::vector<std::uint32_t> forward;
  for (const Block& block : model.blocks) {
    const std::int64_t parameters = (block.parameters + block.expert_parameters) * model.bytes_per_element;
    operations.push_back(
        {block.name + ".weights", std::vector<Duration>(sizes), std::vector<Bytes>(sizes), Bytes{parameters}, true, {}});
    weights.push_back(last());
    std::vector<std::uint32_t> inputs{weights.back()};
    if (!forward.empty()) {
      inputs.push_back(forward.back());
    }
    operations.push_back(computing(block.name + ".forward", model, {block, kForwardPart, block.boundary}, time, profile.batches,
                                   std::move(inputs)));
    forward.push_back(last());
  }
  for (std::size_t i = model.blocks.size(); i-- > 0;) {
    const Block& block = model.blocks[i];
    const std::uint32_t before = last();  // the loss, or the backward pass of the block behind
    std::vector<std::uint32_t> inputs{weights[i], forward[i]};
    if (before != forward[i]) {
      inputs.push_back(before);
    }
    const std::int64_t handed_back = i == 0 ? 0 : model.blocks[i - 1].boundary;
    operations.push_back(computing(block.name + ".backward", model, {block, 1 - kForwardPart, handed_back}, time,
                                   profile.batches, std::move(inputs)));
  }
}

}  // namespace

Result<std::vector<Operation>> operations_at(const SipProfile& profile, std::uint32_t batch) {
  const auto& batches = profile.batches;
  if (batches.empty() || !std::is_sorted(batches.begin(), batches.end(), std::less_equal<>{})) {
    return fail(ErrorCode::invalid_argument, format_text("profile '{}': its batch sizes do not ascend", profile.name));
  }
  if (batch < batches.front() || batch > batches.back()) {
    return fail(ErrorCode::out_of_range, format_text("profile '{}' has batches of {} .. {}, not of {}", profile.name,
                                                     batches.front(), batches.back(), batch));
  }
  const auto above = static_cast<std::size_t>(std::lower_bound(batches.begin(), batches.end(), batch) - batches.begin());
  const std::size_t below = batches[above] == batch ? above : above - 1;
  const double part = above == below ? 0 : static_cast<double>(batch - batches[below]) / (batches[above] - batches[below]);
  std::vector<Operation> operations;
  for (const ProfiledOperation& each : profile.operations) {
    if (each.compute.size() != batches.size() || each.output.size() != batches.size()) {
      return fail(ErrorCode::invalid_argument,
                  format_text("profile '{}': operator '{}' has {} times and {} outputs for {} batch sizes", profile.name,
                              each.name, each.compute.size(), each.output.size(), batches.size()));
    }
    operations.push_back({each.name, between(each.compute[below], each.compute[above], part),
                          between(each.output[below], each.output[above], part), each.parameters, each.is_memory, each.inputs});
  }
  return operations;
}

SipProfile synthetic_profile(const Model& model, std::uint32_t half_batch, std::uint32_t batch_most) {
  SipProfile profile{model.name, "synthetic, from layer shapes: " + model.pace.source, {}, {}};
  if (half_batch > 0) {
    profile.source += format_text("; assumed: half the speed at a batch of {}", half_batch);
  }
  for (std::uint32_t batch = 1; batch < 2 * std::bit_ceil(batch_most); batch *= 2) {
    profile.batches.push_back(batch);
  }
  add_operations(
      model,
      [&](const Block& block, std::uint32_t batch) {
        return milliseconds_at(model.pace, block.multiply_accumulates, std::int64_t{batch} + half_batch);
      },
      profile);
  return profile;
}

Result<SipProfile> measured_profile(const Model& model) {
  SipProfile profile{model.name, model.pace.source, {}, {}};
  for (const Block& block : model.blocks) {
    if (block.measured.empty()) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{}: layer '{}' has no measured times, others have", model.name, block.name));
    }
  }
  for (const auto& [batch, time] : model.blocks.empty() ? TimesByBatch{} : model.blocks.front().measured) {
    if (std::ranges::all_of(model.blocks, [&](const Block& block) { return block.measured.contains(batch); })) {
      profile.batches.push_back(static_cast<std::uint32_t>(batch));
    }
  }
  if (profile.batches.empty()) {
    return fail(ErrorCode::invalid_argument, model.name + ": no batch at which all layers were measured");
  }
  add_operations(model, [](const Block& block, std::uint32_t batch) { return block.measured.at(batch); }, profile);
  return profile;
}

Result<SipProfile> scaled_to(SipProfile profile, std::uint32_t batch, Duration step, const std::string& source) {
  const auto operations = operations_at(profile, batch);
  if (!operations) {
    return std::unexpected(operations.error());
  }
  const auto total = std::accumulate(operations->begin(), operations->end(), Duration{},
                                     [](Duration sum, const Operation& each) { return sum + each.compute; });
  if (total <= Duration{} || step <= Duration{}) {
    return fail(ErrorCode::invalid_argument, format_text("profile '{}': no compute to stretch, or to no time", profile.name));
  }
  const double factor = static_cast<double>(step.count()) / static_cast<double>(total.count());
  for (ProfiledOperation& each : profile.operations) {
    for (Duration& time : each.compute) {
      time = Duration{std::llround(static_cast<double>(time.count()) * factor)};
    }
  }
  profile.source +=
      format_text("; stretched so that one GPU takes {} us for {} samples ({})", step.count() / 1000, batch, source);
  return profile;
}

}  // namespace loom
