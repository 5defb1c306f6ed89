// SPDX-License-Identifier: Apache-2.0
// LabJudge: the judge of the simulation over what real processes leave behind: the light logs of the devices that they host,
// and what the controller decided, from its tape. Instants of both are of one clock, that of the lab's host.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/journal/journal.hpp"
#include "core/result.hpp"
#include "sim_backend/devices/optical_state.hpp"
#include "sim_backend/judge/light_checker.hpp"

namespace loom {

/// What a machine asked its journal to keep, and when it asked.
struct TimedRecord {
  Instant at{};
  Record record;
};

/// What the controller decided, of all its incarnations, in the order of deciding: its tape is played into the same controller
/// again. Errors: as replay_tape; conflict (the tape and this program do not decide the same).
Result<std::vector<TimedRecord>> decisions_of_tape(const std::filesystem::path& tape, const Scenario& scenario);

struct LightEvidence {
  std::vector<OpticalChange> light;    ///< of all processes, in any order; what a device did not log stays as at power-up
  std::vector<TimedRecord> decisions;  ///< ascending
};

/// The devices that these nodes' agents drive go dark and cold: their process was killed and took them with it.
std::vector<OpticalChange> power_lost(const Fabric& fabric, const std::vector<NodeId>& nodes, Instant at);

/// Every safety rule at every instant of the light; no liveness, as nobody says when a lab should be at rest.
std::vector<Violation> judge_light(std::shared_ptr<const Fabric> fabric, LightEvidence evidence, const CheckerOptions& options);

}  // namespace loom
