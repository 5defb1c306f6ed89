// Intent -> Demand.
#include "controller/plan/estimate.hpp"

#include <map>

namespace loom {

Demand estimate(const Intent& placed, const Plan* base) {
  Demand demand;
  std::map<JobId, std::size_t> index;
  for (const Job& job : placed.jobs) {
    index.emplace(job.id, demand.jobs.size());
    demand.jobs.push_back({job.id, job.nodes, job.spec.collectives, job.stage, {}, job.spec.transmit});
  }
  if (base != nullptr) {
    for (const Circuit& circuit : base->circuits) {
      if (const auto found = index.find(circuit.job); found != index.end()) {
        demand.jobs[found->second].held.push_back(circuit);
      }
    }
  }
  return demand;
}

}  // namespace loom
