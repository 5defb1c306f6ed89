// SPDX-License-Identifier: Apache-2.0
// Metrics: the one registry of a process. Its sources are read between two steps of the loop, and what they said is printed as
// Prometheus text (docs/metrics.md). It keeps no number itself: a part counts and measures in plain values of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/messages/metric.hpp"

namespace loom {

class Metrics {
 public:
  using Source = std::function<void(MetricList& list)>;
  /// `source` is called by collect() and must stay valid as long as that is called.
  void add(Source source) { sources_.push_back(std::move(source)); }

  /// What the sources say now. The loop's thread.
  MetricList collect() const;

 private:
  std::vector<Source> sources_;
};

/// Prometheus text 0.0.4. Any thread.
std::string prometheus_text(const MetricList& list);

}  // namespace loom
