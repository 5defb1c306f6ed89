// SPDX-License-Identifier: Apache-2.0
// How far a lit laser's fine trim goes next. Pure arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/units.hpp"

namespace loom::itla {

struct TrimRule {
  FrequencyOffset threshold{};  ///< an error beyond it is trimmed, until half of it is left at most
  FrequencyOffset step{};       ///< of one write
};

/// FTF (MHz) after one more step; nothing: the error is small enough, or `limit` (of FTF, either way) is reached.
/// `error`: where it should be, less where it is.
inline std::optional<std::int16_t> trim_step(const TrimRule& rule, FrequencyOffset limit, FrequencyOffset error,
                                             std::int16_t trim, bool is_under_way) {
  const std::int64_t enough = is_under_way ? rule.threshold.mhz / 2 : rule.threshold.mhz;
  if (magnitude(error).mhz <= enough) {
    return std::nullopt;
  }
  const std::int64_t bound = std::clamp<std::int64_t>(limit.mhz, 0, INT16_MAX);
  const std::int64_t step = std::clamp(error.mhz, -rule.step.mhz, rule.step.mhz);
  const auto next = static_cast<std::int16_t>(std::clamp(trim + step, -bound, bound));
  return next == trim ? std::nullopt : std::optional(next);
}

}  // namespace loom::itla
