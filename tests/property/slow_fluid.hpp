// SPDX-License-Identifier: Apache-2.0
// The slow, obviously right fluid: at every instant at which a flow starts or ends, all rates are found anew by filling all
// links together, and everybody moves on at these rates. Shares no code with the predictor.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

namespace loom::testing {

struct SlowFlow {
  std::vector<unsigned> links;
  double start = 0;
  double bytes = 0;
  double left_at = -1;  ///< when its last byte left
};

/// Rates by the textbook: raise all alike, freeze whoever crosses a link that is full, go on.
inline std::vector<double> filled_rates(const std::vector<double>& capacity, const std::vector<SlowFlow>& flows,
                                        const std::vector<bool>& is_active) {
  std::vector<double> rate(flows.size(), 0);
  std::vector<bool> frozen(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    frozen[i] = !is_active[i];
  }
  for (;;) {
    double level = std::numeric_limits<double>::infinity();
    std::size_t tightest = capacity.size();
    for (std::size_t l = 0; l < capacity.size(); ++l) {
      double used = 0;
      double open = 0;
      for (std::size_t i = 0; i < flows.size(); ++i) {
        for (const unsigned link : flows[i].links) {
          if (link == l && is_active[i]) {
            frozen[i] ? used += rate[i] : open += 1;
          }
        }
      }
      if (open > 0 && (capacity[l] - used) / open < level) {
        level = (capacity[l] - used) / open;
        tightest = l;
      }
    }
    if (tightest == capacity.size()) {
      return rate;
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
      for (const unsigned link : flows[i].links) {
        if (link == tightest && !frozen[i]) {
          frozen[i] = true;
          rate[i] = level;
        }
      }
    }
  }
}

inline void run_slowly(const std::vector<double>& capacity, std::vector<SlowFlow>& flows) {
  std::vector<double> left(flows.size());
  std::vector<bool> is_active(flows.size(), false);
  std::vector<bool> is_done(flows.size(), false);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    left[i] = flows[i].bytes;
  }
  for (double now = 0;;) {
    for (std::size_t i = 0; i < flows.size(); ++i) {
      is_active[i] = !is_done[i] && flows[i].start <= now;
    }
    const std::vector<double> rate = filled_rates(capacity, flows, is_active);
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (is_active[i] && rate[i] > 0) {
        next = std::min(next, now + left[i] / rate[i]);
      } else if (!is_done[i] && !is_active[i]) {
        next = std::min(next, flows[i].start);
      }
    }
    if (!std::isfinite(next)) {
      return;
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (is_active[i]) {
        left[i] -= rate[i] * (next - now);
        if (left[i] <= 1e-12 * flows[i].bytes) {
          is_done[i] = true;
          flows[i].left_at = next;
        }
      }
    }
    now = next;
  }
}

}  // namespace loom::testing
