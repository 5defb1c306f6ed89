// SPDX-License-Identifier: Apache-2.0
// The door for trace files: unpack, read every rank, merge.
#include "controller/workload/import/import.hpp"

#include "controller/workload/import/trace_archive.hpp"
#include "controller/workload/import/trace_pytorch.hpp"
#include "core/text/format_text.hpp"

namespace loom {

Result<TraceSummary> import_trace(const std::string& path, const ImportLimits& limits) {
  std::vector<RankTrace> ranks;
  LOOM_TRY(for_each_member(path, limits.bytes, [&](const std::string& member, std::istream& stream) -> Result<void> {
    if (ranks.size() >= limits.ranks) {
      return fail(ErrorCode::out_of_range, format_text("more than {} files, one a rank (kNodes)", limits.ranks));
    }
    auto trace = read_pytorch_trace(stream, member, limits);
    if (!trace) {
      return std::unexpected(trace.error());
    }
    ranks.push_back(std::move(*trace));
    return {};
  }));
  return merge_ranks(std::move(ranks), path, limits);
}

}  // namespace loom
