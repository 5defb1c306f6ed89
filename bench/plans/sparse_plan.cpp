// SPDX-License-Identifier: Apache-2.0
// A plan in which little changes, on whole fabrics of every architecture: most nodes carry one job, and a job of a few nodes
// comes and goes; before that, the first plan after the large one, in which nothing changes but that its devices are left as
// they are. Beside each the same request without a base, which is a plan from dark: the ratio is what knowing the base saves.
// CPU time of the planning thread, median of several; prints, decides nothing.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/workload/models/zoo.hpp"
#include "core/config/fabric_file.hpp"

namespace {

using namespace loom;

constexpr int kRounds = 9;

/// A fabric, and the nodes of the two jobs: as many as it carries beside each other.
struct Case {
  std::string file;
  std::uint32_t large = 0;
  std::uint32_t small = 0;
};

Job job_of(std::uint64_t id, std::uint32_t nodes) {
  Job job;
  job.id = JobId{id};
  if (auto spec = make_workload("vgg19", {nodes, {}})) {
    job.spec = std::move(*spec);
  }
  return job;
}

struct Timed {
  std::shared_ptr<const PlanResult> result;
  double ms = 0;
};

Timed timed(const PlanRequest& request, int rounds, PlanMemory& memory) {
  std::vector<double> times;
  Timed timed;
  for (int i = 0; i < rounds; ++i) {
    const std::clock_t begin = std::clock();
    auto result = make_plan(all_architectures(), request, memory);
    times.push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    if (!result) {
      std::printf("  refused: %s\n", result.error().message.c_str());
      return timed;
    }
    timed.result = *result;
  }
  std::sort(times.begin(), times.end());
  timed.ms = times[times.size() / 2];
  return timed;
}

void stand_on(PlanRequest& request, const std::shared_ptr<const PlanResult>& result) {
  ++request.revision.value;
  request.base = {result, &result->plan};
  request.intent = result->intent;
  request.next_circuit = result->next_circuit;
}

void print(const char* what, const Timed& sparse, double dark_ms) {
  std::printf("  %-24s %8.1f ms  %5.2f of a plan from dark (%.1f ms)  circuits %zu, touched %zu, agents %zu\n", what, sparse.ms,
              sparse.ms / dark_ms, dark_ms, sparse.result->plan.circuits.size(), sparse.result->plan.touched.size(),
              sparse.result->plan.changed.size());
}

void run(const Case& which) {
  const std::string& file = which.file;
  const auto fabric = load_fabric(file, all_fabric_kinds());
  if (!fabric) {
    std::printf("%s cannot be read\n", file.c_str());
    return;
  }
  PlanMemory memory;  // a controller plans on one fabric for as long as it runs
  PlanRequest request;
  request.fabric = std::make_shared<const Fabric>(*fabric.value);
  request.revision = Revision{1};
  request.intent.jobs = {job_of(1, which.large)};
  std::printf("%s: %zu nodes, %zu devices, a job of %u and one of %u\n", file.c_str(), request.fabric->nodes.size(),
              request.fabric->devices.size(), which.large, which.small);
  const Timed large = timed(request, 1, memory);
  if (!large.result) {
    return;
  }
  stand_on(request, large.result);
  const Timed first = timed(request, kRounds, memory);  // what the large job touched is put to rest
  if (!first.result) {
    return;
  }
  stand_on(request, first.result);
  request.intent.jobs.push_back(job_of(2, which.small));
  const Timed arrival = timed(request, kRounds, memory);
  if (!arrival.result) {
    return;
  }
  PlanRequest from_dark = request;
  from_dark.base = nullptr;
  from_dark.intent = arrival.result->intent;
  const double dark_ms = timed(from_dark, 3, memory).ms;
  print("the first after it came", first, dark_ms);
  print("the small job arrives", arrival, dark_ms);
  stand_on(request, arrival.result);
  print("nothing changes", timed(request, kRounds, memory), dark_ms);
  request.intent.jobs.pop_back();
  print("the small job ends", timed(request, kRounds, memory), dark_ms);
}

}  // namespace

/// sparse_plan [FABRIC LARGE SMALL]
int main(int argc, char** argv) {
  const auto shipped = [](const char* name) { return std::string(LOOM_SOURCE_DIR "/configs/fabrics/") + name + ".yaml"; };
  std::vector<Case> cases{{shipped("oddl_1024"), 1008, 16},
                          {shipped("topoopt_432"), 200, 16},  // a job stays within a block of 216
                          {shipped("sip_ocs_1024"), 1008, 16},
                          {shipped("sip_ring_1024"), 512, 8}};  // more have no wavelengths beside each other
  if (argc == 4) {
    cases = {{argv[1], static_cast<std::uint32_t>(std::atoi(argv[2])), static_cast<std::uint32_t>(std::atoi(argv[3]))}};
  }
  for (const Case& each : cases) {
    run(each);
  }
  return 0;
}
