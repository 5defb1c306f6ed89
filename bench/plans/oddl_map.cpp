// SPDX-License-Identifier: Apache-2.0
// ODDL's wavelength map at 1024 nodes with 32 jobs: all jobs at once, and one job more or less beside 31 that are lit. Beside
// it: the whole road from the intent to a verified plan. oddl (reconstruction).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "controller/architectures/oddl/architecture.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/oddl/schedule.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/schedule/estimate.hpp"
#include "controller/schedule/placement.hpp"

namespace {

using namespace loom;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kJobs = 32;
constexpr int kRuns = 41;

Job ring_job(std::uint64_t id, std::uint32_t nodes) {
  Job job;
  job.id = JobId{id};
  job.spec.node_count = nodes;
  job.spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{574'668'960}, 1}};
  return job;
}

/// Each fills a group.
Intent jobs_of(std::uint32_t count) {
  Intent intent;
  for (std::uint32_t i = 0; i < count; ++i) {
    intent.jobs.push_back(ring_job(i + 1, 32));
  }
  return intent;
}

struct Times {
  double p50 = 0;
  double worst = 0;
};

template <class Work>
Times measure(Work work) {
  std::vector<double> ms;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = Clock::now();
    work();
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::sort(ms.begin(), ms.end());
  return {ms[kRuns / 2], ms.back()};
}

void print(const char* what, Times map, Times plan) {
  std::printf("%-34s  map %7.3f / %7.3f ms   intent to verified plan %8.3f / %8.3f ms   (p50 / worst of %d)\n", what, map.p50,
              map.worst, plan.p50, plan.worst, kRuns);
}

/// The map alone, and the whole plan, of `after` when `before` is lit.
bool run(const char* what, const std::shared_ptr<const Fabric>& fabric, const Intent& before, const Intent& after) {
  PlanRequest request;
  request.fabric = fabric;
  request.revision = Revision{1};
  request.intent = before;
  std::shared_ptr<const PlanResult> lit;
  if (!before.jobs.empty()) {
    auto made = make_plan(all_architectures(), request);
    if (!made) {
      std::fprintf(stderr, "%s: %s\n", what, made.error().message.c_str());
      return false;
    }
    lit = *made;
    request.base = {lit, &lit->plan};
    request.next_circuit = lit->next_circuit;
  }
  request.revision = Revision{2};
  request.intent = after;
  for (std::size_t i = 0; lit && i < request.intent.jobs.size() && i < lit->intent.jobs.size(); ++i) {
    request.intent.jobs[i] = lit->intent.jobs[i];
  }
  const auto placed = place(*fabric, &kOddl, request.intent);
  if (!placed) {
    std::fprintf(stderr, "%s: %s\n", what, placed.error().message.c_str());
    return false;
  }
  const Demand demand = estimate(*placed, request.base.get());
  bool works = true;
  const Times map = measure([&] { works = schedule_oddl(*fabric, demand, *placed, {}).has_value() && works; });
  const Times plan = measure([&] { works = make_plan(all_architectures(), request).has_value() && works; });
  print(what, map, plan);
  return works;
}

}  // namespace

int main() {
  const auto fabric = std::make_shared<const Fabric>(make_oddl({}));
  const Intent fewer = jobs_of(kJobs - 1);
  const Intent all = jobs_of(kJobs);
  bool works = run("32 jobs, nothing lit", fabric, {}, all);
  works = run("one job more beside 31", fabric, fewer, all) && works;
  works = run("one job less of 32", fabric, all, fewer) && works;
  return works ? 0 : 1;
}
