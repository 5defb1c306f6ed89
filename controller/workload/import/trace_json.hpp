// SPDX-License-Identifier: Apache-2.0
// A large JSON trace as a stream of its nodes: each element of the top-level "nodes" array is handed over as a small value
// and forgotten, so that memory does not grow with the file. Depth and size of one node are limited.
#pragma once

#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/result.hpp"

namespace loom {

struct NodeStreamSummary {
  std::string schema;  ///< top-level "schema"; empty when absent
  std::uint64_t nodes = 0;
  bool has_nodes = false;   ///< a "nodes" array was there
  bool has_events = false;  ///< a "traceEvents" array was there
};

/// Parses `stream`; calls `node(value)` for every element of "nodes", but for those whose "name" `wants` refuses: what comes
/// after that name is not even built. Errors: malformed (not JSON, cut short, deeper than 64 levels; the byte is named),
/// out_of_range (one node of more than 4 million values); whatever `node` answers.
Result<NodeStreamSummary> stream_nodes(std::istream& stream, const std::function<bool(const std::string& name)>& wants,
                                       const std::function<Result<void>(const nlohmann::json&)>& node);

}  // namespace loom
