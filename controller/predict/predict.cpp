// Symbolic prediction: closed forms per collective, guards and map changes on ODDL, overlap by the iteration clock.
#include "controller/predict/predict.hpp"

#include <cmath>

#include "controller/predict/collective_time.hpp"
#include "controller/predict/iteration_clock.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

Duration rounded(double ns) { return Duration{std::llround(ns)}; }

/// Counts the darkness that ODDL's fast and slow plane cost, collective after collective.
class OddlPlanes {
 public:
  OddlPlanes(const FabricModel& fabric, const JobSpec& job) : fabric_(fabric) {
    for (const Collective& collective : job.collectives) {  // where the iteration before has left the maps
      dark_ns(collective, job.node_count);
    }
  }

  double dark_ns(const Collective& collective, std::uint32_t node_count) {
    const CollectivePlan plan = plan_of(collective, node_count);
    const std::uint32_t groups = (plan.size + fabric_.group_size - 1) / fabric_.group_size;
    const auto guard = static_cast<double>(fabric_.guard.count());
    const auto map_change = static_cast<double>(fabric_.map_change.count());
    switch (plan.movement) {
      case Movement::nothing:
        return 0;
      case Movement::ring:
      case Movement::chain: {
        const bool retune = lasers_ != Lasers::ring && lasers_ != Lasers::unknown;
        const bool move = retune && groups > 1;
        lasers_ = Lasers::ring;
        return move ? map_change : retune ? guard : 0;
      }
      case Movement::direct: {
        const std::uint32_t timeslots = groups > 1 ? groups * fabric_.group_size - 1 : plan.size - 1;
        // The first map of a latin all-to-all keeps each group to itself; the last one left another behind.
        const std::uint32_t changes = groups > 1 ? groups - 1 + (lasers_ == Lasers::unknown ? 0 : 1) : 0;
        lasers_ = Lasers::timeslots;
        return collective.count * (timeslots * guard + changes * map_change);
      }
      case Movement::single: {
        lasers_ = Lasers::timeslots;
        return groups > 1 ? map_change : guard;
      }
    }
    return 0;
  }

 private:
  enum class Lasers : std::uint8_t { unknown, ring, timeslots };

  const FabricModel& fabric_;
  Lasers lasers_ = Lasers::unknown;
};

Result<void> check(const JobSpec& job) {
  if (job.node_count == 0 || job.node_count > limits::kNodes) {
    return fail(ErrorCode::invalid_argument, job.workload + ": " + std::to_string(job.node_count) + " nodes, needs 1 .. " +
                                                 std::to_string(limits::kNodes) + " (kNodes)");
  }
  for (const Collective& collective : job.collectives) {
    const std::string fault = fault_of(collective, job.node_count);
    if (!fault.empty()) {
      return fail(ErrorCode::invalid_argument, job.workload + ": " + fault);
    }
  }
  return {};
}

}  // namespace

Result<Prediction> predict(const JobSpec& job, const PredictOptions& options) {
  LOOM_TRY(check(job));
  const FabricModel& fabric = options.fabric;
  const LinkTerms link = link_terms(fabric.transfer_rate(), fabric.path_latency());
  OddlPlanes planes{fabric, job};
  IterationClock clock{job.compute, job.node_count};
  IterationClock lit{job.compute, job.node_count};  // the same iteration without darkness
  Prediction prediction{job.workload, fabric.name, job.node_count, fabric.rate, {}, job.compute, {}, {}, {}, job.assumptions};
  for (const Collective& collective : job.collectives) {
    const double wire = uniform_ns(collective, job.node_count, link) * collective.count;
    const double dark = fabric.form == FabricForm::timeslots ? planes.dark_ns(collective, job.node_count) : 0;
    const double start = clock.start_of(collective);
    clock.finish(collective, start + wire + dark);
    lit.finish(collective, lit.start_of(collective) + wire);
    prediction.phases.push_back({collective.kind, plan_of(collective, job.node_count).size, collective.bytes, collective.count,
                                 rounded(start), rounded(start + wire + dark), rounded(wire), rounded(dark)});
  }
  prediction.iteration = rounded(clock.end());
  prediction.exposed = prediction.iteration - prediction.compute;
  prediction.dark = prediction.iteration - rounded(lit.end());
  prediction.assumptions.insert(prediction.assumptions.end(), fabric.assumptions.begin(), fabric.assumptions.end());
  prediction.assumptions.emplace_back("flow level: no packet headers, no congestion control; ranks run in step");
  return prediction;
}

}  // namespace loom
