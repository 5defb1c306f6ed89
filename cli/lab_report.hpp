// What a lab prints of a job: predicted beside replayed, every stage's time, skew, slack and dark time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "controller/predict/predict.hpp"
#include "controller/predict/replay.hpp"
#include "core/light.hpp"
#include "core/report.hpp"
#include "core/timings.hpp"

namespace loom::cli {

struct JobOutcome {
  JobId job;
  Instant begin{};       ///< when it was asked for
  bool is_over = false;  ///< cancelled: nothing later wants it
  JobReport row;
  std::vector<CommitReport> commits;  ///< that brought it into light
  LightTimeline light;                ///< ground truth between its nodes
  Prediction predicted;
  Replay replayed;
  std::vector<Prediction> beside;  ///< other fabrics, for comparison
};

struct LabFootprint {
  Duration join{};
  long long controller_bytes = 0;
  std::vector<long long> agent_bytes;
};

/// From the last light of one stage to the first of the next: the darkness that a commit's own steps cost.
Duration stage_change_of(const Fabric& fabric, const ControllerTimings& timings);
/// What a node sends with all of its transmitters lit: the fabric's first node, for all; there is one.
BitRate node_rate_of(const Fabric& fabric);

std::string text_of(const JobOutcome& outcome);
std::string text_of(const LabFootprint& footprint);
nlohmann::ordered_json json_of(const std::vector<JobOutcome>& outcomes, const LabFootprint& footprint);

}  // namespace loom::cli
