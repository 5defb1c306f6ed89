// SPDX-License-Identifier: Apache-2.0
// What a lab prints of a job: predicted beside replayed, every stage's time, skew, slack and dark time.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/lab/run/history.hpp"
#include "controller/predict/predict.hpp"
#include "controller/predict/replay.hpp"
#include "core/fabric/light.hpp"
#include "core/messages/report.hpp"
#include "core/timings.hpp"
#include "runtime/state/grant_log.hpp"
#include "sim_backend/judge/job_account.hpp"

namespace loom::cli {

struct JobOutcome {
  BitRate node_rate;  ///< of all its transmitters together: what the electrical fabrics beside it are given
  JobId job;
  Instant begin{};                    ///< when it was acknowledged
  JobReport row;                      ///< the last while it was placed
  std::vector<CommitReport> commits;  ///< that brought it into light
  LightTimeline light;                ///< ground truth between its nodes
  Prediction predicted;
  std::optional<Replay> replayed;  ///< none: its light did not carry an iteration
  std::vector<Prediction> beside;  ///< other fabrics, for comparison
  Transmit transmit = Transmit::slots;
  ControlTimes control{};  ///< under grants
};

struct LabFootprint {
  Duration join{};
  long long controller_bytes = 0;
  std::vector<long long> agent_bytes;
};

/// What a run leaves to be printed.
struct LabReport {
  std::vector<std::optional<JobOutcome>> outcomes;  ///< by submission; none: it never had light
  RunAccount account;
  SafetyVerdict safety;
  LabFootprint footprint;
  bool is_as_expected() const { return safety.violations.empty() && account.is_as_expected(); }
};

/// The rate of the fabric's first transmitter.
BitRate rate_of(const Fabric& fabric);
/// What all transmitters of its first node send together.
BitRate node_rate_of(const Fabric& fabric);

std::string text_of(const LabReport& report);
nlohmann::ordered_json json_of(const LabReport& report);

}  // namespace loom::cli
