// SPDX-License-Identifier: Apache-2.0
// ForwardingTable: which of a job's nodes pass on what is not for them, over which others, and how. One value for servers of a
// direct-connect topology that forward while bytes come in and for relays that store them first. Schedulers build it
// (forwarding_builder.hpp); predictions, judges, reports and the codec read it. It never says which light carries a hop:
// circuits do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ids.hpp"

namespace loom {

enum class ForwardingMode : std::uint8_t {
  none,               ///< nobody forwards: what has no light of its own is not sent
  cut_through,        ///< bytes go on while they come in; where one link of a path is dark, the whole path waits
  store_and_forward,  ///< a relay sends on when it holds all that it will pass on
};

/// What the pairs of a table come to.
struct ForwardedPairs {
  std::size_t count = 0;        ///< (source, destination) with others between
  std::uint32_t hops_most = 0;  ///< circuits one after the other on the longest path of one of them
  bool operator==(const ForwardedPairs&) const = default;
};

/// Ranks are the job's, 0 .. nodes.size() - 1. A rank's row names the destinations that others pass on to, and for each a path:
/// the ranks between, in the order of travel. Ranks may share a row: for a rank that stands on a path of its own row only what
/// is behind it counts. A destination that the row does not name is direct: over a circuit of the pair, or, cut through, over
/// as few circuits as there are.
///
/// Always so, by ForwardingBuilder and by the codec's checks:
/// * `none` has nothing else; any other mode has a row for each rank, and rows from 0 to the greatest number that a rank has;
/// * the entries of a row ascend by destination; a path is not empty, has no rank twice and not the destination, and in a row
///   of one rank not that rank: so what `through` returns has neither end;
/// * equal paths are one, numbered in the order in which entries first name them, and each is named: equal tables have equal
///   values.
///
/// In size: a number or two for each rank and row, two for each entry, one for each hop of each different path.
struct ForwardingTable {
  struct Entry {
    std::uint32_t destination = 0;
    std::uint32_t path = 0;
    bool operator==(const Entry&) const = default;
  };

  ForwardingMode mode = ForwardingMode::none;
  std::vector<NodeId> nodes{};               ///< by rank
  std::vector<std::uint32_t> row_of{};       ///< by rank
  std::vector<std::uint32_t> first_entry{};  ///< by row, and where the last one ends
  std::vector<Entry> entries{};
  std::vector<std::uint32_t> first_hop{};  ///< by path, and where the last one ends
  std::vector<std::uint32_t> hops{};       ///< ranks

  bool empty() const { return entries.empty(); }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(row_of.size()); }
  std::uint32_t rows() const { return first_entry.empty() ? 0 : static_cast<std::uint32_t>(first_entry.size() - 1); }

  std::span<const Entry> row(std::uint32_t number) const {
    return std::span(entries).subspan(first_entry[number], first_entry[number + 1] - first_entry[number]);
  }
  std::span<const std::uint32_t> path(std::uint32_t number) const {
    return std::span(hops).subspan(first_hop[number], first_hop[number + 1] - first_hop[number]);
  }

  /// The ranks that pass on what `source` sends to `destination`, in the order of travel; empty: it goes directly. Of ranks
  /// that the table does not have, and of a rank to itself, always empty. O(log entries of the row).
  std::span<const std::uint32_t> through(std::uint32_t source, std::uint32_t destination) const {
    if (source >= row_of.size() || source == destination) {
      return {};
    }
    const std::span<const Entry> own = row(row_of[source]);
    const auto entry = std::ranges::lower_bound(own, destination, {}, &Entry::destination);
    return entry == own.end() || entry->destination != destination ? std::span<const std::uint32_t>{}
                                                                   : behind(source, path(entry->path));
  }
  /// Whom `source` hands to what is for `destination`.
  std::uint32_t next(std::uint32_t source, std::uint32_t destination) const {
    const std::span<const std::uint32_t> between = through(source, destination);
    return between.empty() ? destination : between.front();
  }
  /// Calls `visit(source, destination, through)` for every pair with others between, ascending. O(pairs).
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::uint32_t source = 0; source < row_of.size(); ++source) {
      for (const Entry& entry : row(row_of[source])) {
        const std::span<const std::uint32_t> between = behind(source, path(entry.path));
        if (entry.destination != source && !between.empty()) {
          visit(source, entry.destination, between);
        }
      }
    }
  }
  /// What for_each would see, without going over ranks that share a row: O(ranks + entries).
  ForwardedPairs pairs() const;

  bool operator==(const ForwardingTable&) const = default;

 private:
  static std::span<const std::uint32_t> behind(std::uint32_t rank, std::span<const std::uint32_t> path) {
    const auto at = std::find(path.begin(), path.end(), rank);
    return at == path.end() ? path : path.subspan(static_cast<std::size_t>(at - path.begin()) + 1);
  }
};

}  // namespace loom
