// SPDX-License-Identifier: Apache-2.0
// A shortest closed walk over the parts, one port of each.
#include "controller/architectures/oddl/entries.hpp"

#include <algorithm>
#include <limits>

#include "controller/architectures/oddl/planes.hpp"

namespace loom {
namespace {

/// What stands against an entry, in the order of how much.
constexpr int kFreeNow = 1;        ///< whoever takes that node later may be refused
constexpr int kOthersEntry = 2;    ///< another ring may come in there from elsewhere, which is no harm
constexpr int kOthersNode = 6;     ///< its owner wants that light, unless an order of the AWG is left
constexpr int kOwnWay = 8;         ///< the job itself wants it
constexpr int kNever = 1'000'000;  ///< more than any sum

/// A job's nodes in one group.
struct Part {
  std::uint32_t group = 0;
  std::vector<NodeId> nodes;
};

class Entries {
 public:
  Entries(const OddlShape& shape, const std::vector<NodeId>& chosen, const std::vector<NodeUse>& taken)
      : shape_(shape), taken_(taken), node_at_(static_cast<std::size_t>(shape.groups) * shape.ports) {
    for (std::uint32_t node = 0; node < shape.positions.size(); ++node) {
      node_at_[place(shape.positions[node].group, shape.positions[node].port)] = NodeId{node};
    }
    for (const NodeId node : chosen) {
      const std::uint32_t group = position(node).group;
      const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& each) { return each.group == group; });
      (part == parts_.end() ? parts_.emplace_back(Part{group, {}}) : *part).nodes.push_back(node);
    }
  }

  std::vector<NodeId> ordered() {
    std::vector<std::size_t> entries(parts_.size(), 0);
    if (parts_.size() > 1) {
      const auto common = shape_.uplink ? std::nullopt : common_port();
      entries = common ? *common : walk();
    }
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::size_t next = (i + 1) % parts_.size();
      append(parts_[i], entries[i], parts_[next].nodes[entries[next]], nodes);
    }
    return nodes;
  }

 private:
  std::size_t place(std::uint32_t group, std::uint32_t port) const { return std::size_t{group} * shape_.ports + port; }
  const OddlPosition& position(NodeId node) const { return shape_.positions[node.value]; }

  /// Entry first; behind routers the next entry's partner last.
  void append(const Part& part, std::size_t entry, NodeId next, std::vector<NodeId>& nodes) const {
    const auto begin = static_cast<std::ptrdiff_t>(nodes.size());
    nodes.insert(nodes.end(), part.nodes.begin(), part.nodes.end());
    std::rotate(nodes.begin() + begin, nodes.begin() + begin + static_cast<std::ptrdiff_t>(entry), nodes.end());
    if (!shape_.uplink || parts_.size() == 1) {
      return;
    }
    const PortNumber wanted = shape_.partner(position(next).port);
    const auto last =
        std::find_if(nodes.begin() + begin + 1, nodes.end(), [&](NodeId node) { return position(node).port == wanted; });
    if (last != nodes.end()) {
      std::rotate(last, last + 1, nodes.end());
    }
  }

  /// The same port in every group is in nobody's way.
  std::optional<std::vector<std::size_t>> common_port() const {
    for (std::size_t first = 0; first < parts_[0].nodes.size(); ++first) {
      std::vector<std::size_t> entries;
      for (const Part& part : parts_) {
        const auto same = std::find_if(part.nodes.begin(), part.nodes.end(), [&](NodeId node) {
          return position(node).port == position(parts_[0].nodes[first]).port;
        });
        if (same == part.nodes.end()) {
          break;
        }
        entries.push_back(static_cast<std::size_t>(same - part.nodes.begin()));
      }
      if (entries.size() == parts_.size()) {
        return entries;
      }
    }
    return std::nullopt;
  }

  /// From the part that came in at `from` into the next one at `to`.
  int cost(const Part& part, NodeId from, NodeId to) const {
    if (shape_.uplink) {
      const PortNumber wanted = shape_.partner(position(to).port);
      const bool has_it = std::any_of(part.nodes.begin(), part.nodes.end(), [&](NodeId node) {
        return position(node).port == wanted && (node != from || part.nodes.size() == 1);
      });
      return has_it ? 0 : kOwnWay;
    }
    const std::optional<NodeId>& there = node_at_[place(part.group, position(to).port)];
    if (!there || *there == from) {
      return 0;
    }
    if (std::find(part.nodes.begin(), part.nodes.end(), *there) != part.nodes.end()) {
      return kOwnWay;
    }
    const NodeUse& taken = taken_[there->value];
    return !taken.owner ? kFreeNow : taken.is_entry ? kOthersEntry : kOthersNode;
  }

  std::vector<std::size_t> walk() const {
    std::vector<std::size_t> best;
    int least = std::numeric_limits<int>::max();
    for (std::size_t first = 0; first < parts_[0].nodes.size() && least > 0; ++first) {
      std::vector<std::vector<int>> sums;               // [part][entry]
      std::vector<std::vector<std::size_t>> came_from;  // [part][entry] -> entry of the part before
      sums.emplace_back(parts_[0].nodes.size(), kNever);
      sums[0][first] = 0;
      came_from.emplace_back(parts_[0].nodes.size(), 0);
      for (std::size_t i = 1; i < parts_.size(); ++i) {
        step(i, sums, came_from);
      }
      const std::size_t last_part = parts_.size() - 1;
      for (std::size_t last = 0; last < parts_[last_part].nodes.size(); ++last) {
        const int sum = sums[last_part][last] + cost(parts_[last_part], parts_[last_part].nodes[last], parts_[0].nodes[first]);
        if (sum < least) {
          least = sum;
          best.assign(parts_.size(), 0);
          best[last_part] = last;
          for (std::size_t i = last_part; i > 0; --i) {
            best[i - 1] = came_from[i][best[i]];
          }
        }
      }
    }
    return best;
  }

  void step(std::size_t i, std::vector<std::vector<int>>& sums, std::vector<std::vector<std::size_t>>& came_from) const {
    const Part& before = parts_[i - 1];
    sums.emplace_back(parts_[i].nodes.size(), kNever);
    came_from.emplace_back(parts_[i].nodes.size(), 0);
    for (std::size_t entry = 0; entry < parts_[i].nodes.size(); ++entry) {
      for (std::size_t from = 0; from < before.nodes.size(); ++from) {
        const int sum = sums[i - 1][from] + cost(before, before.nodes[from], parts_[i].nodes[entry]);
        if (sum < sums[i][entry]) {
          sums[i][entry] = sum;
          came_from[i][entry] = from;
        }
      }
    }
  }

  const OddlShape& shape_;
  const std::vector<NodeUse>& taken_;
  std::vector<std::optional<NodeId>> node_at_;  ///< [group x port]
  std::vector<Part> parts_;
};

}  // namespace

std::vector<NodeId> enter_groups(const OddlShape& shape, const std::vector<NodeId>& chosen, const std::vector<NodeUse>& taken) {
  return Entries(shape, chosen, taken).ordered();
}

}  // namespace loom
