// SPDX-License-Identifier: Apache-2.0
// Predictions and replays for people (tables) and for programs (JSON; its keys are fixed: docs/json.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "controller/predict/predict.hpp"
#include "controller/predict/replay.hpp"

namespace loom {

/// Keys: api_version, workload, fabric, nodes, bandwidth_gbps, iteration_ms, compute_ms, exposed_comm_ms, dark_ms,
/// phases[]{kind, ranks, bytes, count, start_ms, finish_ms, wire_ms, dark_ms}, assumptions[].
nlohmann::ordered_json predict_json(const Prediction& prediction);
/// Keys: api_version, iteration_ms, compute_ms, exposed_comm_ms, dark_ms, waited_ms, phases[].
nlohmann::ordered_json replay_json(const Replay& replay);

/// One prediction with its phases and assumptions; ends in a line feed.
std::string prediction_table(const Prediction& prediction);
std::string replay_table(const Replay& replay);

}  // namespace loom
