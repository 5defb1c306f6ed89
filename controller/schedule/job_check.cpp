// SPDX-License-Identifier: Apache-2.0
// Union of ranks that exchange bytes, and bytes a parameter.
#include "controller/schedule/job_check.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr double kBytesOfWeights = 2;
constexpr double kBytesOfGradients = 2;
constexpr double kBytesOfOptimiser = 12;
constexpr double kBytesOfTables = 4;

class Parts {
 public:
  explicit Parts(std::uint32_t ranks) : parent_(ranks) { std::iota(parent_.begin(), parent_.end(), 0U); }

  std::uint32_t of(std::uint32_t rank) {
    while (parent_[rank] != rank) {
      parent_[rank] = parent_[parent_[rank]];
      rank = parent_[rank];
    }
    return rank;
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[std::max(of(a), of(b))] = std::min(of(a), of(b)); }

 private:
  std::vector<std::uint32_t> parent_;
};

/// True: it moves something.
bool join_ranks(const Collective& collective, std::uint32_t nodes, Parts& parts) {
  std::vector<std::uint32_t> ranks = collective.ranks;
  if (ranks.empty()) {
    ranks.resize(nodes);
    std::iota(ranks.begin(), ranks.end(), 0U);
  }
  if (collective.kind == CollectiveKind::barrier || collective.count == 0 || ranks.size() < 2) {
    return false;
  }
  bool moves = false;
  if (!collective.splits.empty()) {
    for (std::size_t i = 0; i < collective.splits.size(); ++i) {
      const std::size_t from = i / ranks.size();
      const std::size_t to = i % ranks.size();
      if (from != to && collective.splits[i].count > 0) {
        parts.join(ranks[from], ranks[to]);
        moves = true;
      }
    }
    return moves;
  }
  for (std::size_t i = 1; collective.bytes.count > 0 && i < ranks.size(); ++i) {
    parts.join(ranks.front(), ranks[i]);
    moves = true;
  }
  return moves;
}

std::string describe(const JobSpec& spec) { return "job " + (spec.name.empty() ? spec.workload : spec.name); }

Error disconnected(const JobSpec& spec, const std::map<std::uint32_t, std::uint32_t>& sizes) {
  std::string text;
  std::uint32_t idle = 0;
  std::size_t named = 0;
  for (const auto& [first, size] : sizes) {
    idle += size == 1 ? 1 : 0;
    if (named++ < 4) {
      text += format_text("{}{}{}{}{}", text.empty() ? "" : ", ", size, size == 1 ? " rank (" : " ranks from ", first,
                          size == 1 ? ")" : "");
    }
  }
  text += sizes.size() > 4 ? ", ..." : "";
  const std::size_t others = sizes.size() - idle;
  const std::string nearest =
      others == 1 ? format_text("{} nodes", spec.node_count - idle) : format_text("{} jobs, one a part", others);
  return {ErrorCode::infeasible,
          format_text("infeasible: {}: its demand is disconnected: {} parts exchange nothing with each other ({}); nearest: {}",
                      describe(spec), sizes.size(), text, nearest)};
}

}  // namespace

Result<void> check_job(const JobSpec& spec) {
  if (spec.node_count < 2) {
    return fail(ErrorCode::infeasible, format_text("infeasible: {}: {} node has nobody to exchange with; nearest: 2 nodes",
                                                   describe(spec), spec.node_count));
  }
  Parts parts(spec.node_count);
  bool moves = false;
  for (const Collective& collective : spec.collectives) {
    moves = join_ranks(collective, spec.node_count, parts) || moves;
  }
  if (!moves) {
    return fail(ErrorCode::infeasible, format_text("infeasible: {}: its {} nodes move no bytes in an iteration, so it needs no "
                                                   "circuits; nearest: a workload with a collective of at least 1 byte",
                                                   describe(spec), spec.node_count));
  }
  std::map<std::uint32_t, std::uint32_t> sizes;
  for (std::uint32_t rank = 0; rank < spec.node_count; ++rank) {
    ++sizes[parts.of(rank)];
  }
  if (sizes.size() > 1) {
    return std::unexpected(disconnected(spec, sizes));
  }
  return {};
}

Bytes bytes_a_node(const ModelMemory& memory) {
  const double replicas = std::max(1.0, static_cast<double>(memory.nodes) / memory.parts);
  double bytes = kBytesOfWeights / (memory.zero >= 3 ? replicas : 1);
  bytes += kBytesOfGradients / (memory.zero >= 2 ? replicas : 1);
  bytes += kBytesOfOptimiser / (memory.zero >= 1 ? replicas : 1);
  const double tables = kBytesOfTables * static_cast<double>(memory.tables) / std::max(memory.nodes, 1U);
  return {static_cast<std::int64_t>(bytes * static_cast<double>(memory.parameters) / memory.parts + tables)};
}

Result<void> check_memory(const ModelMemory& memory, Bytes limit) {
  if (bytes_a_node(memory).count <= limit.count) {
    return {};
  }
  const auto gigabytes = [](std::int64_t bytes) { return format_text("{} GB", (bytes + 500'000'000) / 1'000'000'000); };
  ModelMemory larger = memory;
  if (memory.parameters == 0) {
    while (bytes_a_node(larger).count > limit.count) {
      ++larger.nodes;
    }
    return fail(ErrorCode::infeasible, format_text("infeasible: memory exceeded: tables of {} parameters over {} nodes take {} "
                                                   "a node at 4 bytes each, the limit is {}; nearest: {} nodes",
                                                   memory.tables, memory.nodes, gigabytes(bytes_a_node(memory).count),
                                                   gigabytes(limit.count), larger.nodes));
  }
  while (bytes_a_node(larger).count > limit.count && larger.parts < (1U << 30)) {
    larger.parts *= 2;
    larger.nodes = std::max(larger.nodes, larger.parts);
  }
  const std::string more_nodes = larger.parts > memory.nodes ? format_text(" on {} nodes", larger.parts) : "";
  return fail(ErrorCode::infeasible,
              format_text("infeasible: memory exceeded: {} parameters in {}{} (tp x pp) take {} a node at 16 bytes each, the "
                          "limit is {}; nearest: tp x pp = {}{}",
                          memory.parameters, memory.parts, memory.parts == 1 ? " part" : " parts",
                          gigabytes(bytes_a_node(memory).count), gigabytes(limit.count), larger.parts, more_nodes));
}

}  // namespace loom
