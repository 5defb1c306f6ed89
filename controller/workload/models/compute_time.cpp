// SPDX-License-Identifier: Apache-2.0
// Given or inferred.
#include "controller/workload/models/compute_time.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr double kMillisecondsMax = 86'400'000;

}  // namespace

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

Result<ComputeTime> compute_time(const Settings& settings, double inferred_ms, const std::string& source) {
  const auto milliseconds = number(settings, "compute_ms", inferred_ms, 0, kMillisecondsMax);
  if (!milliseconds) {
    return std::unexpected(milliseconds.error());
  }
  if (*milliseconds > kMillisecondsMax) {
    return fail(ErrorCode::out_of_range,
                format_text("an iteration computes for {} ms; at most {}: more nodes, a smaller batch, or compute_ms",
                            printed("%.0f", *milliseconds), printed("%.0f", kMillisecondsMax)));
  }
  const bool given = settings.contains("compute_ms");
  return ComputeTime{
      Duration{std::llround(*milliseconds * 1e6)},
      format_text("compute_ms = {}{}", printed("%.3f", *milliseconds), given ? " (given)" : format_text(" ({})", source))};
}

}  // namespace loom
