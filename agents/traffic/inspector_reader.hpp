// SPDX-License-Identifier: Apache-2.0
// InspectorReader: dumps of NCCL's Inspector plugin, read as they grow: JSON, one object a line, a file a process. Handed bytes
// of files, never a file. Half a line waits for its other half; a line that cannot be read is counted, named and skipped;
// nothing in a file crashes it, and what it keeps is bounded (core/limits.hpp).
// Source of the format: NVIDIA/nccl, plugins/profiler/inspector, inspector_json.cc, format v4.0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/traffic.hpp"

namespace loom {

/// What one line says. Nothing: a line that is about no traffic between nodes.
struct InspectorLine {
  std::optional<TrafficRecord> record{};
  bool is_transfer = false;  ///< between two ranks (p2p_perf)
};

/// One line without its end. `coll_msg_size_bytes` counts the elements of one rank's call: for an all-gather what each rank
/// gives, for a reduce-scatter what each gets (inspector.cc multiplies both by the ranks for its bandwidths), for an all-to-all
/// what goes to one peer (inferred from ncclAlltoAll's count). Collectives inside one node (nnodes = 1) are no light's to
/// carry. Errors: malformed (no JSON object, a field missing or of another type), wrong_version (not v4), unsupported (a
/// collective that is not known), out_of_range (ranks, bytes).
Result<InspectorLine> read_inspector_line(std::string_view line);

class InspectorReader {
 public:
  /// More bytes of the file that the caller calls `file`; `restarted`: it begins anew (it was cut, or replaced).
  void read(std::uint64_t file, std::string_view bytes, bool restarted);
  /// The file is gone; what is left of a line is dropped.
  void forget(std::uint64_t file);
  /// What was read since the last time.
  TrafficReported take();

 private:
  /// The beginning of a line that has not come whole.
  struct Rest {
    std::string text;
    bool is_overlong = false;  ///< the rest of the line is skipped
  };

  void read_line(std::string_view line);
  void refuse(std::string fault);

  std::map<std::uint64_t, Rest> rests_;
  TrafficReported reported_;
};

}  // namespace loom
