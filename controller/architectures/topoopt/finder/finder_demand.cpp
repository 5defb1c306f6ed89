// SPDX-License-Identifier: Apache-2.0
// What the finder is asked for: rings of groups in sum, everything else pair by pair.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/workload/import/flows.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

class DemandSum {
 public:
  explicit DemandSum(std::uint32_t nodes) : nodes_(nodes) {}

  /// `ranks` spelled out; `times` repetitions. Bytes in sum stop at kTrafficBytes.
  void add(const Collective& collective, std::int64_t times) {
    const bool is_once = collective.kind == CollectiveKind::all_gather || collective.kind == CollectiveKind::reduce_scatter;
    if (is_once || collective.kind == CollectiveKind::all_reduce) {
      grow(reduces_[collective.ranks], is_once ? collective.bytes.count / 2 : collective.bytes.count, times);
      return;
    }
    for (const Flow& flow : flows_of(collective, nodes_)) {
      grow(pairs_[{flow.source, flow.destination}], flow.bytes, times);
    }
  }

  FinderDemand demand() const {
    FinderDemand made{nodes_, {}, {}};
    for (const auto& [members, bytes] : reduces_) {
      made.reduces.push_back({members, bytes});
    }
    for (const auto& [ends, bytes] : pairs_) {
      made.pairs.push_back({ends.first, ends.second, bytes});
    }
    return made;
  }

 private:
  static void grow(std::int64_t& sum, std::int64_t bytes, std::int64_t times) {
    const std::int64_t room = limits::kTrafficBytes - sum;
    sum = bytes > 0 && times > room / bytes ? limits::kTrafficBytes : sum + bytes * times;
  }

  std::uint32_t nodes_;
  std::map<std::vector<std::uint32_t>, std::int64_t> reduces_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> pairs_;
};

}  // namespace

FinderDemand finder_demand(const TaskGraph& graph) {
  DemandSum sum(graph.nodes);
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    const Task& task = graph.tasks[i];
    if (task.kind != TaskKind::communicate) {
      continue;
    }
    const GroupFamily& family = graph.families[task.family];
    for (std::uint32_t group = 0; group < family.count; ++group) {
      const std::span<const std::uint32_t> members = graph.group(family, group);
      Collective collective{task.collective, {members.begin(), members.end()}, task.bytes};
      if (i < graph.splits_of_task.size() && graph.splits_of_task[i] != 0) {
        collective.splits = graph.splits[graph.splits_of_task[i] - 1];
      }
      sum.add(collective, 1);
    }
  }
  return sum.demand();
}

Result<FinderDemand> finder_demand(const JobDemand& job) {
  const auto ranks = static_cast<std::uint32_t>(job.nodes.size());
  DemandSum sum(ranks);
  for (const Collective& collective : job.collectives) {
    if (const std::string fault = fault_of(collective, ranks); !fault.empty()) {
      return fail(ErrorCode::out_of_range, format_text("job {}: {}", job.job.value, fault));
    }
    Collective spelled = collective;
    spelled.ranks = ranks_of(collective, ranks);
    spelled.count = 1;
    sum.add(spelled, collective.count);
  }
  return sum.demand();
}

}  // namespace loom
