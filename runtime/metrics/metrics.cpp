// SPDX-License-Identifier: Apache-2.0
// Values into the library's families.
#include "runtime/metrics/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <utility>

namespace loom {
namespace {

prometheus::MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return prometheus::MetricType::Counter;
    case MetricKind::gauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::histogram:
      break;
  }
  return prometheus::MetricType::Histogram;
}

/// The library counts cumulatively and adds the last bucket, which has no bound, itself.
prometheus::ClientMetric::Histogram histogram_of(const DurationHistogram& durations) {
  prometheus::ClientMetric::Histogram histogram;
  std::uint64_t so_far = 0;
  for (std::size_t bucket = 0; bucket < DurationHistogram::kBounds.size(); ++bucket) {
    so_far += durations.count(bucket);
    histogram.bucket.push_back({so_far, in_seconds(DurationHistogram::kBounds[bucket])});
  }
  histogram.sample_count = durations.count();
  histogram.sample_sum = in_seconds(durations.sum());
  return histogram;
}

prometheus::MetricFamily family_of(const Metric& metric) {
  prometheus::MetricFamily family;
  family.name = metric.name;
  family.help = metric.help;
  family.type = type_of(metric.kind);
  for (const MetricSample& sample : metric.samples) {
    prometheus::ClientMetric child;
    for (const auto& [name, value] : sample.labels) {
      child.label.push_back({name, value});
    }
    child.counter.value = child.gauge.value = sample.value;
    if (sample.durations) {
      child.histogram = histogram_of(*sample.durations);
    }
    family.metric.push_back(std::move(child));
  }
  return family;
}

}  // namespace

MetricList Metrics::collect() const {
  MetricList list;
  for (const Source& source : sources_) {
    source(list);
  }
  return list;
}

std::string prometheus_text(const MetricList& list) {
  std::vector<prometheus::MetricFamily> families;
  for (const Metric& metric : list.metrics()) {
    families.push_back(family_of(metric));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace loom
