// SPDX-License-Identifier: Apache-2.0
// Sweeps of published figures: a table of each, and a drawing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/render/figure.hpp"
#include "controller/arena/reproduction/sweep.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// Targets that have sweeps.
std::vector<std::string> swept_targets();

/// Errors: invalid_argument (a target without sweeps, with those that have them).
Result<void> check_swept(const std::vector<std::string>& targets);

/// All of one target; takes seconds. Errors: those of the play.
Result<std::vector<Sweep>> sweeps_of(const std::string& target);

std::string table_of(const Sweep& sweep);
nlohmann::ordered_json as_json(const Sweep& sweep);
Picture picture_of(const Sweep& sweep);

/// Every drawing as FOLDER/TARGET-NAME.svg, .pdf and .csv, the folder made if need be; what was written, for people. Errors:
/// storage, naming the path.
Result<std::vector<std::string>> write_drawings(const std::string& folder, const std::vector<Sweep>& sweeps,
                                                bool has_caption = true);

}  // namespace loom::cli
