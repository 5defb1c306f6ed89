// Values into the library's families, and its histograms.
#include "runtime/metrics/metrics.hpp"

#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <chrono>
#include <map>
#include <utility>

namespace loom {
namespace {

/// Commits take milliseconds, their agents' lateness tens of microseconds, a plan of 1024 nodes up to seconds.
const prometheus::Histogram::BucketBoundaries kBuckets{1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.025,
                                                       0.05, 0.1,  0.25, 0.5,  1.0,  2.5,  5.0,  10.0};

prometheus::MetricFamily family_of(const Metric& metric) {
  prometheus::MetricFamily family;
  family.name = metric.name;
  family.help = metric.help;
  family.type = metric.kind == MetricKind::counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  for (const MetricSample& sample : metric.samples) {
    prometheus::ClientMetric child;
    for (const auto& [name, value] : sample.labels) {
      child.label.push_back({name, value});
    }
    child.counter.value = child.gauge.value = sample.value;
    family.metric.push_back(std::move(child));
  }
  return family;
}

}  // namespace

struct Metrics::Histograms {
  prometheus::Registry registry;
  std::map<std::string, prometheus::Family<prometheus::Histogram>*> families;
};

Metrics::Metrics() : histograms_(std::make_unique<Histograms>()) {}
Metrics::~Metrics() = default;

Metrics::Observe Metrics::seconds(const std::string& name, const std::string& help, const MetricLabels& labels) {
  auto& family = histograms_->families[name];
  if (family == nullptr) {
    family = &prometheus::BuildHistogram().Name(name).Help(help).Register(histograms_->registry);
  }
  prometheus::Histogram& child = family->Add({labels.begin(), labels.end()}, kBuckets);
  return [&child](Duration duration) { child.Observe(in_seconds(duration)); };
}

MetricList Metrics::collect() const {
  MetricList list;
  for (const Source& source : sources_) {
    source(list);
  }
  return list;
}

std::string Metrics::text(const MetricList& list) const {
  std::vector<prometheus::MetricFamily> families;
  for (const Metric& metric : list.metrics()) {
    families.push_back(family_of(metric));
  }
  for (prometheus::MetricFamily& family : histograms_->registry.Collect()) {
    families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace loom
