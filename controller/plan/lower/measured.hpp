// SPDX-License-Identifier: Apache-2.0
// What a plan has for measuring: light for no job, heaters at given voltages, and banks that are driven by what was measured.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "controller/plan/light/paths.hpp"
#include "core/demand.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"

namespace loom {

/// Resonances of the bank's rings that positions claim.
FilterSetpoint heater_of(const Fabric& fabric, const Positions& positions, const Device& bank);

/// A ring that is being measured may stand anywhere: no light of a job passes one. Errors: conflict.
Result<void> check_measured(const Fabric& fabric, const Intent& intent, const Path& path, JobId job);

struct ProbeRoutes {
  std::function<std::optional<JobId>(ElementId transmitter)> job_of;
  std::function<Dbm(ElementId transmitter)> power_of;
};
/// Light to measure by takes the ways that circuits leave; by transmitter element. Errors: conflict (a job has the transmitter;
/// it passes a ring that is measured itself), infeasible (no free way).
Result<std::map<std::uint32_t, TransmitterSetpoint>> route_probes(const Fabric& fabric, const Intent& intent,
                                                                  PathFinder& finder, const ProbeRoutes& routes);

/// Banks whose heaters are not driven by the fabric's figures alone. Errors: those of drive_by, with the bank's name.
Result<std::map<DeviceId, FilterSetpoint>> drive_banks(const Fabric& fabric, const Intent& intent, const Positions& positions);

}  // namespace loom
