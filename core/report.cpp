// Order statistics of what agents measured.
#include "core/report.hpp"

#include <algorithm>

namespace loom {

Spread spread_of(std::vector<Duration>& values) {
  if (values.empty()) {
    return {};
  }
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const auto percentile = [&](std::size_t percent) { return values[(count * percent + 99) / 100 - 1]; };  // nearest rank
  return {values.front(), percentile(50), percentile(99), values.back(), static_cast<std::uint32_t>(count)};
}

}  // namespace loom
