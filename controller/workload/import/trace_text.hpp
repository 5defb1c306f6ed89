// SPDX-License-Identifier: Apache-2.0
// A trace's summary for people (a table) and for programs (JSON; its keys are fixed: docs/json.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "controller/workload/import/import.hpp"

namespace loom {

/// Keys: api_version, format, ranks, ranks_present, nodes, iterations, collectives[]{kind, name, group, ranks, bytes, count},
/// unsized, unsized_names[], compute_ms, warnings[]. `bytes` is the size of one.
nlohmann::ordered_json import_json(const TraceSummary& summary);
/// A few aligned lines, ending in a line feed.
std::string import_table(const TraceSummary& summary);
/// 1536 -> "1.5 KB": decimal units, three significant digits.
std::string byte_text(double bytes);

}  // namespace loom
