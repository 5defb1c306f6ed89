// SPDX-License-Identifier: Apache-2.0
// One rank's PyTorch execution trace: its collectives with kind, group, bytes and splits, as far as the trace tells them.
// Reads both generations: 1.0.1 (arguments in `inputs`) and 1.0.2-chakra and later (the same under `inputs.values`, plus
// attributes). Never compares ranks: trace_merge does.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "controller/workload/import/import.hpp"

namespace loom {

/// A `## process_group:init ##` entry. `ranks` empty: all of them.
struct TraceGroup {
  std::string name;
  std::vector<std::uint32_t> ranks;
  std::uint32_t size = 0;
};

struct RankCollective {
  std::uint64_t node = 0;              ///< id in the task graph
  std::string name;                    ///< as written
  std::optional<CollectiveKind> kind;  ///< nothing: a name that we do not know
  std::string group;
  std::optional<std::int64_t> bytes;      ///< nothing: the trace does not tell
  std::vector<std::int64_t> sent_splits;  ///< bytes to each rank of the group; empty: even
  std::vector<std::int64_t> received_splits;
  std::optional<std::uint32_t> root_or_peer;  ///< broadcast, reduce: the root; send: the destination
  std::vector<std::uint32_t> group_ranks;     ///< from global_rank_start and _stride; empty: not told
  std::uint32_t group_size = 0;               ///< 0: not told
};

struct RankTrace {
  std::string member;
  std::string schema;
  std::uint64_t nodes = 0;
  std::optional<std::uint32_t> rank;
  std::uint32_t iterations = 0;  ///< ProfilerStep# marks
  std::vector<TraceGroup> groups;
  std::vector<RankCollective> collectives;  ///< ascending node id
  std::vector<std::string> warnings;
};

/// Errors: malformed (not JSON, cut short, no "nodes", not an execution trace), out_of_range (limits).
Result<RankTrace> read_pytorch_trace(std::istream& stream, const std::string& member, const ImportLimits& limits);

/// Ranks against each other: groups resolved, every collective cross-checked, one iteration made a job.
/// Errors: malformed (two files of one rank, no rank at all).
Result<TraceSummary> merge_ranks(std::vector<RankTrace> ranks, const std::string& path, const ImportLimits& limits);

}  // namespace loom
