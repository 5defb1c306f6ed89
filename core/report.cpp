// Order statistics of what agents measured.
#include "core/report.hpp"

#include <algorithm>

namespace loom {

Spread spread_of(std::vector<Duration>& values) {
  if (values.empty()) {
    return {};
  }
  std::sort(values.begin(), values.end());
  const std::size_t last = values.size() - 1;
  return {values.front(), values[last / 2], values[last * 99 / 100], values.back(), static_cast<std::uint32_t>(values.size())};
}

}  // namespace loom
