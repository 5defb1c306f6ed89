// SPDX-License-Identifier: Apache-2.0
// Time-to-accuracy tables: how many iterations a global batch needs until the model is as good as is wanted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/architectures/sip_ml/strategy.hpp"
#include "core/result.hpp"

namespace loom::cli {

inline constexpr std::size_t kAccuracyRows = 1'024;

/// Rows "global_batch,iterations", or with spaces between as SiP-ML's authors have them, a header by its words, `#` begins a
/// remark. `source` names the file in errors. Errors: invalid_argument (line and column: no number, a batch that is no whole
/// number from 1 on, iterations that are not positive, the same batch twice, no rows), out_of_range (kAccuracyRows, a batch
/// beyond 2^20).
Result<std::vector<AccuracyPoint>> parse_accuracy_table(std::string_view text, const std::string& source);

/// Errors: as above; not_found.
Result<std::vector<AccuracyPoint>> read_accuracy_table(const std::string& path);

}  // namespace loom::cli
