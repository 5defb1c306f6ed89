// SPDX-License-Identifier: Apache-2.0
// How long it takes to compare desired with observed on 1024 nodes: all devices at once, as after a commit, and one device, as
// when a report comes. The floor beside it is one pass over the same observations.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/plan/reconcile/reconcile.hpp"
#include "controller/workload/models/zoo.hpp"

namespace {

using namespace loom;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 200;

Reading reading_of(const Fabric& fabric, const DevicePlan& plan) {
  const Setpoint& setpoint = plan.timeline.front().setpoint;
  if (const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint)) {
    return TransmitterObservation{centre_of(laser->slot), laser->emit ? laser->power : kNoLight, laser->emit, true, 0, 0};
  }
  if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
    return WavelengthSwitchObservation{wss->routes, true};
  }
  if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint)) {
    return CircuitSwitchObservation{ocs->connects, true};
  }
  return FilterObservation{std::vector<std::int32_t>(fabric.device(plan.device).elements.size())};
}

template <class Work>
double microseconds_of(Work work) {
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const auto begin = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

}  // namespace

int main() {
  auto fabric = std::make_shared<const Fabric>(make_oddl({}));
  PlanRequest request;
  request.fabric = fabric;
  request.revision = Revision{1};
  Job job;
  job.id = JobId{1};
  WorkloadSettings settings;
  settings.nodes = 1024;
  auto spec = load_workload("vgg19", settings);
  if (!spec) {
    std::fprintf(stderr, "%s\n", spec.error().message.c_str());
    return 1;
  }
  job.spec = *std::move(spec);
  request.intent.jobs = {job};
  const auto made = make_plan(all_architectures(), request);
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    return 1;
  }
  const Plan& plan = (*made)->plan;
  const Instant now = instant_from_ns(1'000'000);
  std::vector<Observation> seen;
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      seen.push_back({device.device, DeviceHealth::ready, now, reading_of(*fabric, device), ""});
    }
  }
  std::size_t sink = 0;
  const double all = microseconds_of([&] { sink += reconcile(*fabric, plan, seen, now).devices.size(); });
  const double floor = microseconds_of([&] {
    for (const Observation& observation : seen) {
      sink += observation.reading.index();
    }
  });
  const DevicePlan& one = plan.nodes[500].devices.front();
  const double single = microseconds_of([&] {
    for (int i = 0; i < 1'000; ++i) {
      sink += static_cast<std::size_t>(drift_of(*fabric, one, &seen[one.device.value], now, {}));
    }
  });
  std::printf(
      "reconcile %zu devices of %zu nodes: %.1f us (floor, one pass over them: %.1f us; x%.0f), one device %.3f us [%zu]\n",
      seen.size(), fabric->nodes.size(), all, floor, all / std::max(floor, 0.001), single / 1'000, sink);
  return 0;
}
