// SPDX-License-Identifier: Apache-2.0
// Lower: a schedule's desired stages become absolute setpoints of every device of the fabric, and the difference to the base
// plan becomes what is touched. Knows nothing of any one architecture: paths are found on the fabric's graph.
#pragma once

#include <memory>
#include <vector>

#include "controller/plan/light/paths.hpp"
#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/planning.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"

namespace loom {

struct LowerRequest {
  const Fabric& fabric;
  const Schedule& schedule;
  const Intent& intent;  ///< placed; says each job's stage and whether lasers are off
  const Plan* base;      ///< null = everything dark, nothing configured
  Revision revision;
  CircuitId next_circuit;
  std::vector<ElementId> frozen{};   ///< elements, ascending, that follow no order: they stay as the base has them
  std::vector<Circuit> lingering{};  ///< of the base; nobody wants it, and nobody can put it out
  std::vector<ElementId> lost{};     ///< of `frozen`, ascending: nobody knows how they are
  std::vector<ElementId> darken{};   ///< transmitters, ascending, whose light goes dark for this revision although it stays
  Duration fire_skew{};              ///< measured: guards of grants are no shorter
  std::vector<ObservedLight> occupied{};  ///< light that nobody takes away: its way through the base stays as it is
  std::vector<OccupiedPorts> others{};    ///< ports of circuit switches that somebody else uses: no way leads through them
  std::shared_ptr<const WayIndex> ways = nullptr;  ///< the fabric's; null: made for this
  Stop stop{};
};

struct Lowered {
  Plan plan;
  /// Ids of the desired stages' circuits, in the order jobs x timeslots x circuits of the schedule: light of
  /// several timeslots is one circuit.
  std::vector<CircuitId> ids;
  CircuitId next_circuit;
  std::vector<Circuit>
      circuits{};             ///< the plan's, in the order in which they were laid; with lasers off those that would be lit
  std::vector<Path> paths{};  ///< of them
};

/// Its light is lit once, without an end: no laser retunes inside the stage.
bool is_standing(const Stage& stage);
/// The device emits at no time.
bool is_dark(const DevicePlan& plan);
/// Equal but for the id.
inline bool is_same_light(const Circuit& a, Circuit b) {
  b.id = a.id;
  return a == b;
}
/// The device's row; null: the plan has none.
const DevicePlan* device_of(const Fabric& fabric, const Plan& plan, DeviceId id);

/// A circuit whose transmitter's whole timeline, and whose path, are as in the base keeps its id and is not touched; every
/// other one gets a new id. With lasers off the plan has no circuits, only positions.
/// Errors: timed_out (it was stopped), out_of_range (stage, timeslots), infeasible (no free path, naming the circuit and where
/// it is blocked).
Result<Lowered> lower(const LowerRequest& request);

}  // namespace loom
