// SPDX-License-Identifier: Apache-2.0
// Importers: a trace file that a user already has becomes a summary and a job. One file a format; so far PyTorch execution
// traces, both generations (1.0.1, and 1.0.2-chakra .. 1.1.0-chakra), as .json, .json.gz or a .tar.gz with a file a rank.
// Nothing in a file crashes the reader: it is refused by name, or read with a warning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/demand.hpp"
#include "core/limits.hpp"
#include "core/result.hpp"

namespace loom {

/// Collectives of one kind, group and size.
struct TraceCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string name;         ///< as the trace writes it: "all_to_allv"
  std::string group;        ///< process group; empty: not named
  std::uint32_t ranks = 0;  ///< that take part
  Bytes bytes;              ///< of one, in the sense of Collective::bytes
  std::uint32_t count = 0;  ///< how many, over all iterations in the trace; not times the ranks
};

struct TraceSummary {
  std::string format;               ///< "pytorch-et 1.0.1"
  std::uint32_t ranks = 0;          ///< of the job: the largest process group, or the files
  std::uint32_t ranks_present = 0;  ///< files read
  std::uint64_t nodes = 0;          ///< of the task graph, all ranks
  std::uint32_t iterations = 1;     ///< that the trace covers
  std::vector<TraceCollective> collectives;
  std::uint32_t unsized = 0;               ///< collectives whose bytes the trace does not tell
  std::vector<std::string> unsized_names;  ///< what and where, once each
  Duration compute{};                      ///< of one iteration; 0 where the trace has no durations
  std::vector<std::string> warnings;
  JobSpec job;  ///< one iteration; node_count = ranks
};

struct ImportLimits {
  std::size_t bytes = limits::kTraceFileBytes;  ///< once unpacked, all files together
  std::size_t collectives = limits::kCollectivesPerJob;
  std::size_t ranks = limits::kNodes;
};

/// Reads a trace. Blocks on the disk; memory does not grow with the file but with its collectives. Errors: not_found (no
/// such file), malformed (cut short, not JSON, not a trace; file, member and byte are named), out_of_range (a limit, by
/// name), unsupported (a format that is not read yet).
Result<TraceSummary> import_trace(const std::string& path, const ImportLimits& limits = {});

}  // namespace loom
