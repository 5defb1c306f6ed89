// What a lab prints of a job: predicted beside replayed, every stage's time, skew, slack and dark time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/grant_log.hpp"
#include "controller/predict/predict.hpp"
#include "controller/predict/replay.hpp"
#include "core/light.hpp"
#include "core/report.hpp"
#include "core/timings.hpp"

namespace loom::cli {

struct JobOutcome {
  BitRate node_rate;  ///< of all its transmitters together: what the electrical fabrics beside it are given
  JobId job;
  Instant begin{};       ///< when it was asked for
  bool is_over = false;  ///< cancelled: nothing later wants it
  JobReport row;
  std::vector<CommitReport> commits;  ///< that brought it into light
  LightTimeline light;                ///< ground truth between its nodes
  Prediction predicted;
  Replay replayed;
  std::vector<Prediction> beside;  ///< other fabrics, for comparison
  Transmit transmit = Transmit::slots;
  ControlTimes control{};  ///< under grants
};

struct LabFootprint {
  Duration join{};
  long long controller_bytes = 0;
  std::vector<long long> agent_bytes;
};

/// The rate of the fabric's first transmitter.
BitRate rate_of(const Fabric& fabric);
/// What all transmitters of its first node send together.
BitRate node_rate_of(const Fabric& fabric);

std::string text_of(const JobOutcome& outcome);
std::string text_of(const LabFootprint& footprint);
nlohmann::ordered_json json_of(const std::vector<JobOutcome>& outcomes, const LabFootprint& footprint);

}  // namespace loom::cli
