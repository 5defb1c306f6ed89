// SPDX-License-Identifier: Apache-2.0
// What every daemon counts below its step machines: the loop, the hosts, the lanes of its buses (docs/metrics.md).
#pragma once

#include <string>

#include "core/messages/metric.hpp"
#include "runtime/clock_watch.hpp"
#include "runtime/host.hpp"
#include "runtime/journal/journal_file.hpp"
#include "runtime/lanes.hpp"
#include "runtime/loop.hpp"

namespace loom {

/// `program`: "lightloomd"; the version is the build's.
void add_build_info(MetricList& list, const std::string& program);
void add_metrics(MetricList& list, const LoopCounters& loop);
void add_metrics(MetricList& list, const ClockCounters& clock);
/// Of all hosts of the process: see sum().
void add_metrics(MetricList& list, const HostCounters& hosts);
/// Of all lanes of the process.
void add_metrics(MetricList& list, const BusLaneCounters& lanes);

void add_metrics(MetricList& list, const JournalSize& journal);

/// Adds counts, keeps the longest.
void sum(HostCounters& total, const HostCounters& one);
void sum(BusLaneCounters& total, const BusLaneCounters& one);

}  // namespace loom
