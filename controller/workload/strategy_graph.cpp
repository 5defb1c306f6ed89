// SPDX-License-Identifier: Apache-2.0
// Strategy to task graph. Tasks are laid out in issue order as they are made, without TaskGraphBuilder: a search makes
// thousands of graphs a second.
#include <algorithm>
#include <numeric>

#include "controller/workload/import/topoopt_graph.hpp"
#include "controller/workload/strategy.hpp"

namespace loom {
namespace {

class Layout {
 public:
  Layout(const OpGraph& ops, const OpTimes& times, const Strategy& strategy, const StrategyGraphOptions& options)
      : ops_(ops), times_(times), strategy_(strategy), options_(options), nodes_(ops.nodes) {
    graph_.workload = ops.name;
    graph_.nodes = nodes_;
    graph_.dependence = Dependence::whole;
    graph_.choices.push_back({});
    for (std::uint32_t i = 0; i < 2 * nodes_; ++i) {
      graph_.node_of_worker.push_back(i % nodes_);
      family({{i}}, 1, 1);  // of one worker: its own number
    }
    pair_family_.assign(std::size_t{nodes_} * nodes_, kNone);
  }

  TaskGraph take() && {
    name_operators();
    forward();
    backward();
    lay_out_edges();
    for (const Operator& of : ops_.operators) {
      graph_.parameters += parameter_bytes(of).count / 4;
    }
    return std::move(graph_);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  enum Name : std::uint32_t { kForward, kBackward, kTransfer, kInServer, kReduce };

  void name_operators() { graph_.names = {"forward", "backward", "transfer", std::string(kInServerAllReduce), "all-reduce"}; }

  std::uint32_t family(std::span<const std::uint32_t> members, std::uint32_t size, std::uint32_t count) {
    graph_.families.push_back({static_cast<std::uint32_t>(graph_.members.size()), size, count});
    graph_.members.insert(graph_.members.end(), members.begin(), members.end());
    return static_cast<std::uint32_t>(graph_.families.size() - 1);
  }

  std::uint32_t family_of_pair(std::uint32_t source, std::uint32_t destination) {
    std::uint32_t& known = pair_family_[std::size_t{source} * nodes_ + destination];
    if (known == kNone) {
      known = family({{source, destination}}, 2, 1);
    }
    return known;
  }

  /// Families of the in-server workers of a placement's nodes, and of these nodes.
  std::pair<std::uint32_t, std::uint32_t> families_of_group(const OpPlacement& at) {
    const auto known = std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return group.at == at; });
    if (known != groups_.end()) {
      return {known->in_server, known->among};
    }
    std::vector<std::uint32_t> members;
    for (std::uint32_t part = 0; part < at.parts; ++part) {
      members.push_back(node_of(at, part));
    }
    const std::uint32_t among = family(members, at.parts, 1);
    for (std::uint32_t& member : members) {
      member += nodes_;
    }
    const std::uint32_t in_server = family(members, 1, at.parts);
    groups_.push_back({at, in_server, among});
    return {in_server, among};
  }

  std::uint32_t node_of(const OpPlacement& at, std::uint32_t part) const { return at.first + part * (nodes_ / at.parts); }

  std::uint32_t add(const Task& task) {
    graph_.tasks.push_back(task);
    return static_cast<std::uint32_t>(graph_.tasks.size() - 1);
  }

  std::vector<std::uint32_t> compute(std::uint32_t op, Name name, Duration duration) {
    std::vector<std::uint32_t> tasks;
    const OpPlacement& at = strategy_[op];
    for (std::uint32_t part = 0; part < at.parts; ++part) {
      tasks.push_back(add({.kind = TaskKind::compute, .family = node_of(at, part), .name = name, .duration = duration}));
    }
    return tasks;
  }

  /// Calls `each(part of producer, part of consumer, samples)` where they have some in common.
  template <class Each>
  void overlaps(const OpPlacement& producer, const OpPlacement& consumer, const Each& each) const {
    for (std::uint32_t b = 0; b < consumer.parts; ++b) {
      const std::uint32_t first = b * producer.parts / consumer.parts;
      const std::uint32_t last = ((b + 1) * producer.parts - 1) / consumer.parts;
      for (std::uint32_t a = first; a <= last; ++a) {
        each(a, b, shared_samples(ops_.samples, producer.parts, a, consumer.parts, b));
      }
    }
  }

  /// From task `before` on node `source` to `after` on `destination`; `after` may come later.
  void move(std::uint32_t before, std::uint32_t source, std::uint32_t after, std::uint32_t destination, Bytes bytes) {
    if (source == destination) {
      edges_.emplace_back(before, after);
      return;
    }
    const std::uint32_t transfer = add({.kind = TaskKind::communicate,
                                        .collective = CollectiveKind::point_to_point,
                                        .family = family_of_pair(source, destination),
                                        .name = kTransfer,
                                        .bytes = bytes});
    edges_.emplace_back(before, transfer);
    late_.emplace_back(transfer, after);
  }

  void forward() {
    for (std::uint32_t op = 0; op < ops_.operators.size(); ++op) {
      const Operator& of = ops_.operators[op];
      // Transfers to this operator stand before its parts, which are numbered once the transfers are.
      late_.clear();
      const std::size_t first_edge = edges_.size();
      for (const std::uint32_t input : of.inputs) {
        const std::int64_t a_sample = moved_bytes(ops_, input, op);
        overlaps(strategy_[input], strategy_[op], [&](std::uint32_t a, std::uint32_t b, std::uint32_t samples) {
          move(forward_[input][a], node_of(strategy_[input], a), b | kPart, node_of(strategy_[op], b), {a_sample * samples});
        });
      }
      forward_.push_back(compute(op, kForward, times_.of(op, strategy_[op].parts).forward));
      settle(first_edge, forward_.back());
    }
  }

  void backward() {
    const auto ops = static_cast<std::uint32_t>(ops_.operators.size());
    std::vector<std::vector<std::uint32_t>> consumers(ops);
    for (std::uint32_t op = 0; op < ops; ++op) {
      for (const std::uint32_t input : ops_.operators[op].inputs) {
        consumers[input].push_back(op);
      }
    }
    backward_.resize(ops);
    for (std::uint32_t op = ops; op-- > 0;) {
      late_.clear();
      const std::size_t first_edge = edges_.size();
      for (const std::uint32_t consumer : consumers[op]) {
        const std::int64_t a_sample = moved_bytes(ops_, op, consumer);
        overlaps(strategy_[op], strategy_[consumer], [&](std::uint32_t a, std::uint32_t b, std::uint32_t samples) {
          move(backward_[consumer][b], node_of(strategy_[consumer], b), a | kPart, node_of(strategy_[op], a),
               {a_sample * samples});
        });
      }
      backward_[op] = compute(op, kBackward, times_.of(op, strategy_[op].parts).backward);
      settle(first_edge, backward_[op]);
      for (std::uint32_t part = 0; part < strategy_[op].parts; ++part) {
        edges_.emplace_back(forward_[op][part], backward_[op][part]);
      }
      reduce(op);
    }
  }

  /// Puts the numbers of an operator's parts where move() could only name the part.
  void settle(std::size_t first_edge, const std::vector<std::uint32_t>& parts) {
    edges_.insert(edges_.end(), late_.begin(), late_.end());
    for (std::size_t edge = first_edge; edge < edges_.size(); ++edge) {
      if ((edges_[edge].second & kPart) != 0) {
        edges_[edge].second = parts[edges_[edge].second & ~kPart];
      }
    }
  }

  void reduce(std::uint32_t op) {
    if (strategy_[op].parts < 2) {
      return;
    }
    const Operator& of = ops_.operators[op];
    const auto [in_server, among] = families_of_group(strategy_[op]);
    const std::size_t tensors =
        options_.one_reduce_an_operator ? std::min<std::size_t>(of.parameters.size(), 1) : of.parameters.size();
    for (std::size_t i = 0; i < tensors; ++i) {
      const Bytes bytes = options_.one_reduce_an_operator ? parameter_bytes(of) : of.parameters[i];
      const std::uint32_t inside = add({.kind = TaskKind::compute,
                                        .family = in_server,
                                        .name = kInServer,
                                        .duration = in_server_reduce(bytes, options_.server)});
      const std::uint32_t outside = add({.kind = TaskKind::communicate,
                                         .collective = CollectiveKind::all_reduce,
                                         .family = among,
                                         .name = kReduce,
                                         .bytes = bytes});
      for (const std::uint32_t part : backward_[op]) {
        edges_.emplace_back(part, inside);
      }
      edges_.emplace_back(inside, outside);
    }
  }

  void lay_out_edges() {
    std::vector<std::uint32_t>& first = graph_.first_successor;
    first.assign(graph_.tasks.size() + 1, 0);
    for (const auto& edge : edges_) {
      ++first[edge.first + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> at(first.begin(), first.end() - 1);
    graph_.successors.resize(edges_.size());
    for (const auto& edge : edges_) {
      graph_.successors[at[edge.first]++] = edge.second;
    }
    // Tensors that two operators share more than once leave the same edge again.
    std::uint32_t kept = 0;
    for (std::size_t task = 0; task < graph_.tasks.size(); ++task) {
      const auto from = graph_.successors.begin() + (task == 0 ? 0 : at[task - 1]);
      const auto to = graph_.successors.begin() + at[task];
      std::sort(from, to);
      const auto end = std::unique(from, to);
      first[task] = kept;
      kept = static_cast<std::uint32_t>(std::copy(from, end, graph_.successors.begin() + kept) - graph_.successors.begin());
    }
    first.back() = kept;
    graph_.successors.resize(kept);
  }

  struct Group {
    OpPlacement at;
    std::uint32_t in_server = 0;
    std::uint32_t among = 0;
  };
  static constexpr std::uint32_t kPart = 1U << 31;  ///< a part of the operator at hand, not yet a task

  const OpGraph& ops_;
  const OpTimes& times_;
  const Strategy& strategy_;
  const StrategyGraphOptions& options_;
  std::uint32_t nodes_;
  TaskGraph graph_;
  std::vector<std::uint32_t> pair_family_;
  std::vector<Group> groups_;
  std::vector<std::vector<std::uint32_t>> forward_;
  std::vector<std::vector<std::uint32_t>> backward_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> late_;  ///< of the operator at hand: transfers to its parts
};

}  // namespace

Result<TaskGraph> graph_of(const OpGraph& graph, const OpTimes& times, const Strategy& strategy,
                           const StrategyGraphOptions& options) {
  LOOM_TRY(check(graph, times, strategy));
  return Layout(graph, times, strategy, options).take();
}

}  // namespace loom
