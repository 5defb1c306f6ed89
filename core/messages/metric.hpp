// Metrics as values: what a part counts and measures, under names that Prometheus expects. A step machine keeps plain numbers;
// whoever publishes them copies them into such a list between two steps, so counting costs a machine nothing but the addition.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace loom {

/// Few values each, known when the program was written: never an id, a name or a text of a peer.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

enum class MetricKind : std::uint8_t {
  counter,  ///< rises from the start of the process; its name ends in _total
  gauge,
};

struct MetricSample {
  MetricLabels labels;
  double value = 0;
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
    add(MetricKind::counter, std::move(name), std::move(help), static_cast<double>(value), std::move(labels));
  }
  void gauge(std::string name, std::string help, double value, MetricLabels labels = {}) {
    add(MetricKind::gauge, std::move(name), std::move(help), value, std::move(labels));
  }
  const std::vector<Metric>& metrics() const { return metrics_; }

 private:
  void add(MetricKind kind, std::string name, std::string help, double value, MetricLabels labels) {
    if (metrics_.empty() || metrics_.back().name != name) {
      metrics_.push_back({std::move(name), std::move(help), kind, {}});
    }
    metrics_.back().samples.push_back({std::move(labels), value});
  }

  std::vector<Metric> metrics_;
};

}  // namespace loom
