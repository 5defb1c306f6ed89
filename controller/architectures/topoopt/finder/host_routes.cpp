// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, three times: as trees, as one way, and as Yen's detours.
#include "controller/architectures/topoopt/finder/host_routes.hpp"

#include <algorithm>
#include <set>

#include "controller/architectures/topoopt/finder/tie_break.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kNobody = ~0U;
using Path = std::vector<std::uint32_t>;

/// From the parents that a search left behind; both ends included, empty where it did not get there.
Path way_back(const std::uint32_t* parent, std::uint32_t source, std::uint32_t destination) {
  Path path;
  if (parent[destination] == kNobody) {
    return path;
  }
  for (std::uint32_t at = destination; at != source; at = parent[at]) {
    path.push_back(at);
  }
  path.push_back(source);
  std::reverse(path.begin(), path.end());
  return path;
}

/// The shortest way that avoids some nodes and, for the first hop, some neighbours; the least of equal ones from its far end.
Path shortest(const Neighbours& neighbours, std::uint32_t source, std::uint32_t destination, const std::vector<bool>& is_closed,
              const std::set<std::uint32_t>& closed_first) {
  Path parent(neighbours.nodes(), kNobody);
  Path reached{source};
  parent[source] = source;
  for (std::size_t next = 0; next < reached.size() && parent[destination] == kNobody; ++next) {
    const std::uint32_t at = reached[next];
    for (const std::uint32_t to : neighbours.of(at)) {
      if (parent[to] == kNobody && !is_closed[to] && (at != source || !closed_first.contains(to))) {
        parent[to] = at;
        reached.push_back(to);
      }
    }
  }
  return way_back(parent.data(), source, destination);
}

/// Puts those of `to` that have no parent yet on the queue; its new end. Without a branch: nobody can predict who is new.
std::uint32_t visit(std::uint32_t at, std::span<const std::uint32_t> to, std::uint32_t* parent, std::uint32_t* queue,
                    std::uint32_t end) {
  for (const std::uint32_t node : to) {
    const std::uint32_t before = parent[node];
    const std::uint32_t is_new = before == kNobody ? 1 : 0;
    parent[node] = before ^ ((before ^ at) & (0 - is_new));
    queue[end] = node;
    end += is_new;
  }
  return end;
}

}  // namespace

Neighbours::Neighbours(std::uint32_t nodes, std::span<const DirectLink> links) : first_(std::size_t{nodes} + 1) {
  for (const DirectLink& link : links) {
    to_.push_back(link.to);
    ++first_[link.from + 1];
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    first_[node + 1] += first_[node];
  }
}

RouteTrees::RouteTrees(const Neighbours& neighbours, std::span<const std::uint32_t> sources, std::uint64_t seed)
    : nodes_(neighbours.nodes()), row_(nodes_, kNoRow), parent_(sources.size() * std::size_t{nodes_}, kNobody) {
  std::vector<std::uint32_t> queue(std::size_t{nodes_} + 1);
  for (std::uint32_t row = 0; row < sources.size(); ++row) {
    const std::uint32_t source = sources[row];
    row_[source] = row;
    std::uint32_t* const parent = parent_.data() + std::size_t{row} * nodes_;
    parent[source] = source;
    queue[0] = source;
    std::uint32_t end = 1;
    for (std::uint32_t next = 0; next < end && end < nodes_; ++next) {
      const std::uint32_t at = queue[next];
      const std::span<const std::uint32_t> to = neighbours.of(at);
      const auto turn = pick(seed, source, static_cast<std::uint32_t>(to.size()));
      end = visit(at, to.subspan(turn), parent, queue.data(), end);
      end = visit(at, to.first(turn), parent, queue.data(), end);
    }
  }
}

std::vector<std::uint32_t> RouteTrees::path(std::uint32_t source, std::uint32_t destination) const {
  const std::uint32_t* parent = parent_.data() + std::size_t{row_[source]} * nodes_;
  return way_back(parent, source, destination);
}

std::vector<std::vector<std::uint32_t>> k_shortest_paths(const Neighbours& neighbours, std::uint32_t source,
                                                         std::uint32_t destination, std::uint32_t count) {
  std::vector<Path> paths;
  if (source == destination || count == 0) {
    return paths;
  }
  std::vector<bool> is_closed(neighbours.nodes());
  Path first = shortest(neighbours, source, destination, is_closed, {});
  if (first.empty()) {
    return paths;
  }
  const auto before = [](const Path& a, const Path& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; };
  std::set<Path, decltype(before)> detours(before);
  paths.push_back(std::move(first));
  while (paths.size() < count) {
    const Path& last = paths.back();
    std::fill(is_closed.begin(), is_closed.end(), false);
    for (std::size_t spur = 0; spur + 1 < last.size(); ++spur) {  // leave `last` behind its node `spur`
      std::set<std::uint32_t> closed_first;
      for (const Path& path : paths) {
        if (path.size() > spur + 1 &&
            std::equal(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(spur + 1), last.begin())) {
          closed_first.insert(path[spur + 1]);
        }
      }
      const Path rest = shortest(neighbours, last[spur], destination, is_closed, closed_first);
      if (!rest.empty()) {
        Path detour(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(spur));
        detour.insert(detour.end(), rest.begin(), rest.end());
        detours.insert(std::move(detour));
      }
      is_closed[last[spur]] = true;
    }
    if (detours.empty()) {
      break;
    }
    paths.push_back(*detours.begin());
    detours.erase(detours.begin());
  }
  return paths;
}

}  // namespace loom
