// SPDX-License-Identifier: Apache-2.0
// TopoOpt through the planner at 16, 128 and 432 servers: CPU time of a plan (schedule, lower and verify together), and how
// many circuits an arrival, a change of traffic and an end touch. Prints; decides nothing.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "controller/architectures/registry.hpp"
#include "controller/architectures/topoopt/fabric.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/workload/models/zoo.hpp"

namespace {

using namespace loom;
struct Made {
  std::shared_ptr<const PlanResult> plan;
  double ms = 0;  ///< CPU time, median of three
};

class Pipeline {
 public:
  explicit Pipeline(const TopooptParameters& parameters) {
    request_.fabric = std::make_shared<const Fabric>(make_topoopt(parameters));
    request_.algorithm = "topoopt";
  }

  Intent& intent() { return request_.intent; }

  Made plan() {
    ++request_.revision.value;
    std::vector<double> times;
    Made made;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t begin = std::clock();
      auto result = make_plan(all_architectures(), request_);
      times.push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
      if (!result) {
        std::printf("  refused: %s\n", result.error().message.c_str());
        return {base_, times.back()};
      }
      made.plan = *result;
    }
    std::sort(times.begin(), times.end());
    made.ms = times[1];
    base_ = made.plan;
    request_.base = {base_, &base_->plan};
    request_.intent = base_->intent;
    request_.next_circuit = base_->next_circuit;
    return made;
  }

 private:
  PlanRequest request_;
  std::shared_ptr<const PlanResult> base_;
};

Job job_of(std::uint64_t id, const char* workload, std::uint32_t nodes) {
  Job job;
  job.id = JobId{id};
  if (auto spec = make_workload(workload, {nodes, {}})) {
    job.spec = std::move(*spec);
  }
  return job;
}

void print(const char* what, const Made& made) {
  std::size_t routes = 0;
  std::uint32_t waiting = 0;
  for (const JobSchedule& job : made.plan->schedule.jobs) {
    routes += job.forwarding.pairs().count;
    waiting += job.waiting;
  }
  std::printf("  %-34s %9.1f ms  circuits %5zu  touched %5zu  agents %4zu  switches %3zu  routes %6zu  waiting %u\n", what,
              made.ms, made.plan->plan.circuits.size(), made.plan->plan.touched.size(), made.plan->plan.changed.size(),
              made.plan->plan.moved_steering.size(), routes, waiting);
}

void run(const char* title, const TopooptParameters& parameters, std::uint32_t large, std::uint32_t small) {
  std::printf("%s\n", title);
  Pipeline pipeline(parameters);
  pipeline.intent().jobs = {job_of(1, "vgg19", large)};
  print("rings of one job, from dark", pipeline.plan());
  pipeline.intent().jobs.push_back(job_of(2, "dlrm", small));
  print("a job of all-to-all arrives", pipeline.plan());
  pipeline.intent().jobs[1].spec.collectives = job_of(2, "vgg19", small).spec.collectives;
  print("it changes its traffic", pipeline.plan());
  if (parameters.layer == TopooptLayer::look_ahead_panels) {
    print("its panels are wired: it flips", pipeline.plan());
  }
  pipeline.intent().jobs.pop_back();
  print("it ends", pipeline.plan());
  print("nothing changes", pipeline.plan());
  pipeline.intent().jobs[0].spec.collectives = job_of(1, "dlrm", large).spec.collectives;
  print("the large one moves all-to-all", pipeline.plan());
}

}  // namespace

int main() {
  TopooptParameters parameters;
  run("16 servers, 4 circuit switches", parameters, 8, 8);
  parameters.nodes = 128;
  run("128 servers, 4 circuit switches", parameters, 112, 16);
  parameters.nodes = 432;
  run("432 servers, 2 blocks of 216, 8 circuit switches", parameters, 216, 16);
  parameters.switch_ports = 1'008;
  run("432 servers, one block, switches of 432 of 1008 ports", parameters, 416, 16);
  parameters.layer = TopooptLayer::look_ahead_panels;
  run("432 servers, look-ahead panels", parameters, 416, 16);
  return 0;
}
