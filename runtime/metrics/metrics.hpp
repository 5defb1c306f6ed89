// Metrics: the one registry of a process. Sources are read between two steps of the loop; durations are observed into
// histograms as they end. It prints all of it as Prometheus text (docs/metrics.md), and is the only file that knows that
// library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/messages/metric.hpp"
#include "core/time.hpp"

namespace loom {

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  using Source = std::function<void(MetricList& list)>;
  /// `source` is called by collect() and must stay valid as long as that is called.
  void add(Source source) { sources_.push_back(std::move(source)); }

  using Observe = std::function<void(Duration)>;
  /// A histogram of seconds, 10 us to 10 s; children of one name share a help text. The answer is valid as long as this and may
  /// be called from any thread; it takes a lock, so it is no business of a step that fires.
  Observe seconds(const std::string& name, const std::string& help, const MetricLabels& labels = {});

  /// What the sources say now. The loop's thread.
  MetricList collect() const;
  /// Prometheus text 0.0.4 of a collected list and of every histogram. Any thread.
  std::string text(const MetricList& list) const;

 private:
  struct Histograms;
  std::vector<Source> sources_;
  std::unique_ptr<Histograms> histograms_;
};

/// Seconds as Prometheus wants them.
double in_seconds(Duration duration);

}  // namespace loom
