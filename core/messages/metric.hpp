// SPDX-License-Identifier: Apache-2.0
// Metrics as values: what a part counts and measures, under names that Prometheus expects. A step machine keeps plain numbers;
// whoever publishes them copies them into such a list between two steps, so counting costs a machine nothing but the addition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/messages/duration_histogram.hpp"

namespace loom {

/// Few values each, known when the program was written: never a name or a text of a peer. Of ids only a job's, whose series end
/// with it: limits::kJobs are the most that there can be at a time.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

enum class MetricKind : std::uint8_t {
  counter,  ///< rises from the start of the process; its name ends in _total
  gauge,
  histogram,  ///< of durations; its name ends in _seconds
};

/// Seconds as Prometheus wants them.
inline double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

struct MetricSample {
  MetricLabels labels;
  double value = 0;                              ///< of a counter or gauge
  std::optional<DurationHistogram> durations{};  ///< of a histogram
};

struct Metric {
  std::string name;  ///< "lightloom_", snake_case, the base unit at the end (seconds, bytes)
  std::string help;
  MetricKind kind = MetricKind::gauge;
  std::vector<MetricSample> samples;
};

/// In the order of adding; samples of one name stand together.
class MetricList {
 public:
  void counter(std::string name, std::string help, std::uint64_t value, MetricLabels labels = {}) {
    add(MetricKind::counter, std::move(name), std::move(help), {std::move(labels), static_cast<double>(value)});
  }
  void gauge(std::string name, std::string help, double value, MetricLabels labels = {}) {
    add(MetricKind::gauge, std::move(name), std::move(help), {std::move(labels), value});
  }
  /// A counter of seconds.
  void seconds(std::string name, std::string help, Duration value, MetricLabels labels = {}) {
    add(MetricKind::counter, std::move(name), std::move(help), {std::move(labels), in_seconds(value)});
  }
  void histogram(std::string name, std::string help, const DurationHistogram& durations, MetricLabels labels = {}) {
    add(MetricKind::histogram, std::move(name), std::move(help), {std::move(labels), 0, durations});
  }
  const std::vector<Metric>& metrics() const { return metrics_; }

 private:
  void add(MetricKind kind, std::string name, std::string help, MetricSample sample) {
    if (metrics_.empty() || metrics_.back().name != name) {
      metrics_.push_back({std::move(name), std::move(help), kind, {}});
    }
    metrics_.back().samples.push_back(std::move(sample));
  }

  std::vector<Metric> metrics_;
};

}  // namespace loom
