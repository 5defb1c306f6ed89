// SPDX-License-Identifier: Apache-2.0
// Copies, with everything renumbered.
#include "controller/workload/cluster_graph.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

class Layout {
 public:
  /// `dependence`: whole where that is every job's.
  Layout(std::uint32_t servers, Dependence dependence) {
    cluster_.graph.workload = "cluster";
    cluster_.graph.nodes = servers;
    cluster_.graph.dependence = dependence;
    cluster_.graph.names.emplace_back("end of an iteration");
  }

  void add(const ClusterJob& job) {
    const TaskGraph& from = *job.graph;
    TaskGraph& to = cluster_.graph;
    const auto worker = static_cast<std::uint32_t>(to.node_of_worker.size());
    for (const std::uint32_t node : from.node_of_worker) {
      to.node_of_worker.push_back(job.servers[node]);
    }
    const std::uint32_t computing = add_families(from, [&](std::uint32_t member) { return worker + member; });
    const std::uint32_t sending = add_families(from, [&](std::uint32_t member) {
      // A family of workers is copied here as well, and never used as one of nodes.
      return member < job.servers.size() ? job.servers[member] : 0;
    });
    const Bases bases{computing, sending, append(to.choices, from.choices), append(to.names, from.names),
                      append(to.splits, from.splits)};
    const std::uint32_t end_family = static_cast<std::uint32_t>(to.families.size());
    to.families.push_back({static_cast<std::uint32_t>(to.members.size()), 1, 1});
    to.members.push_back(worker);
    cluster_.last_task.emplace_back();
    cluster_.first_task.push_back(static_cast<std::uint32_t>(to.tasks.size()));
    for (std::uint32_t i = 0; i < job.iterations; ++i) {
      add_iteration(from, bases, end_family);
    }
  }

  ClusterGraph take() {
    TaskGraph& graph = cluster_.graph;
    cluster_.first_task.push_back(static_cast<std::uint32_t>(graph.tasks.size()));
    graph.first_successor.assign(graph.tasks.size() + 1, 0);
    for (const auto& edge : edges_) {
      ++graph.first_successor[edge.first + 1];
    }
    std::partial_sum(graph.first_successor.begin(), graph.first_successor.end(), graph.first_successor.begin());
    std::vector<std::uint32_t> at(graph.first_successor.begin(), graph.first_successor.end() - 1);
    graph.successors.resize(edges_.size());
    for (const auto& edge : edges_) {
      graph.successors[at[edge.first]++] = edge.second;
    }
    return std::move(cluster_);
  }

 private:
  struct Bases {
    std::uint32_t computing = 0;
    std::uint32_t sending = 0;
    std::uint32_t choice = 0;
    std::uint32_t name = 0;
    std::uint32_t split = 0;
  };

  template <class T>
  static std::uint32_t append(std::vector<T>& to, const std::vector<T>& from) {
    const auto base = static_cast<std::uint32_t>(to.size());
    to.insert(to.end(), from.begin(), from.end());
    return base;
  }

  template <class Number>
  std::uint32_t add_families(const TaskGraph& from, const Number& number) {
    TaskGraph& to = cluster_.graph;
    const auto base = static_cast<std::uint32_t>(to.families.size());
    const auto first = static_cast<std::uint32_t>(to.members.size());
    for (const std::uint32_t member : from.members) {
      to.members.push_back(number(member));
    }
    for (const GroupFamily& family : from.families) {
      to.families.push_back({first + family.first, family.size, family.count});
    }
    return base;
  }

  void add_iteration(const TaskGraph& from, const Bases& bases, std::uint32_t end_family) {
    TaskGraph& to = cluster_.graph;
    const auto base = static_cast<std::uint32_t>(to.tasks.size());
    std::vector<bool> is_awaited(from.tasks.size(), false);  // somebody before it
    const auto end = base + static_cast<std::uint32_t>(from.tasks.size());
    for (std::uint32_t i = 0; i < from.tasks.size(); ++i) {
      Task task = from.tasks[i];
      task.family += task.kind == TaskKind::compute ? bases.computing : bases.sending;
      task.choice += bases.choice;
      task.name += bases.name;
      to.tasks.push_back(task);
      const std::uint32_t split = from.splits_of_task.empty() ? 0 : from.splits_of_task[i];
      to.splits_of_task.push_back(split == 0 ? 0 : split + bases.split);
      for (const std::uint32_t next : from.successors_of(i)) {
        edges_.emplace_back(base + i, base + next);
        is_awaited[next] = true;
      }
      if (from.successors_of(i).empty()) {
        edges_.emplace_back(base + i, end);
      }
    }
    to.tasks.push_back({.kind = TaskKind::compute, .family = end_family});
    to.splits_of_task.push_back(0);
    if (to.dependence == Dependence::by_node) {  // the end waits for everybody, and everybody for the end
      for (std::uint32_t i = 0; i < from.tasks.size(); ++i) {
        to.is_awaited_whole.push_back(from.dependence == Dependence::whole || from.successors_of(i).empty());
      }
      to.is_awaited_whole.push_back(true);
    }
    auto& ends = cluster_.last_task.back();
    const bool may_begin_anywhere = from.dependence == Dependence::by_node;  // on a node that nothing before it is on
    for (std::uint32_t i = 0; i < from.tasks.size() && !ends.empty(); ++i) {
      if (!is_awaited[i] || may_begin_anywhere) {
        edges_.emplace_back(ends.back(), base + i);
      }
    }
    ends.push_back(end);
  }

  ClusterGraph cluster_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

}  // namespace

Result<ClusterGraph> graph_of_cluster(std::span<const ClusterJob> jobs, std::uint32_t servers) {
  std::vector<bool> is_taken(servers, false);
  for (const ClusterJob& job : jobs) {
    const std::string name = format_text("cluster: job '{}' ", job.graph->workload);
    if (job.servers.size() != job.graph->nodes || job.iterations == 0) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{}of {} nodes on {} servers, {} iterations: a server a node and an iteration are needed", name,
                              job.graph->nodes, job.servers.size(), job.iterations));
    }
    for (const std::uint32_t server : job.servers) {
      if (server >= servers || is_taken[server]) {
        return fail(ErrorCode::invalid_argument,
                    format_text("{}on server {} of {}, which is not there or has a job", name, server, servers));
      }
      is_taken[server] = true;
    }
  }
  const bool are_whole =
      std::ranges::all_of(jobs, [](const ClusterJob& job) { return job.graph->dependence == Dependence::whole; });
  Layout layout(servers, are_whole ? Dependence::whole : Dependence::by_node);
  for (const ClusterJob& job : jobs) {
    layout.add(job);
  }
  ClusterGraph cluster = layout.take();
  LOOM_TRY(check(cluster.graph));
  return cluster;
}

}  // namespace loom
