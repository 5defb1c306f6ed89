// SPDX-License-Identifier: Apache-2.0
// One table for two kinds of forwarding: it answers as a list of routes and a matrix of relays would, and keeps what it
// promises about paths.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/forwarding/forwarding_builder.hpp"

namespace loom {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;
using Path = std::vector<std::uint32_t>;

constexpr std::uint64_t kSeeds = 300;

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(engine_() % end); }

 private:
  std::mt19937_64 engine_;
};

std::vector<NodeId> nodes_of(std::uint32_t ranks) {
  std::vector<NodeId> nodes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    nodes.push_back({1'000 - 3 * rank});
  }
  return nodes;
}

/// Distinct ranks without those of `but`.
Path random_path(Chance& chance, std::uint32_t ranks, const std::set<std::uint32_t>& but, std::uint32_t most) {
  Path path;
  for (std::uint32_t i = chance.below(most + 1); i > 0; --i) {
    const std::uint32_t rank = chance.below(ranks);
    if (!but.contains(rank) && std::find(path.begin(), path.end(), rank) == path.end()) {
      path.push_back(rank);
    }
  }
  return path;
}

Path path_in(const ForwardingTable& table, std::uint32_t source, std::uint32_t destination) {
  const auto through = table.through(source, destination);
  return {through.begin(), through.end()};
}

/// What a table promises, pair by pair, and that its summary is that of its pairs.
void check_promises(const ForwardingTable& table) {
  ForwardedPairs seen;
  std::optional<Pair> before;
  table.for_each([&](std::uint32_t source, std::uint32_t destination, std::span<const std::uint32_t> through) {
    CHECK(before < Pair(source, destination));
    before = Pair(source, destination);
    std::set<std::uint32_t> met{source, destination};
    CHECK(met.size() == 2);
    for (const std::uint32_t rank : through) {
      CHECK(rank < table.ranks());
      CHECK(met.insert(rank).second);
    }
    CHECK(path_in(table, source, destination) == Path(through.begin(), through.end()));
    CHECK(table.next(source, destination) == through.front());
    ++seen.count;
    seen.hops_most = std::max(seen.hops_most, static_cast<std::uint32_t>(through.size() + 1));
  });
  CHECK(table.pairs() == seen);
  std::set<Path> paths;
  std::uint32_t named = 0;  // the first entry that names a path gives it its number
  for (const ForwardingTable::Entry& entry : table.entries) {
    CHECK(entry.path <= named);
    named = std::max(named, entry.path + 1);
  }
  for (std::uint32_t path = 0; path + 1 < table.first_hop.size(); ++path) {
    CHECK(paths.insert(Path(table.path(path).begin(), table.path(path).end())).second);
  }
  CHECK(named == paths.size());
}

TEST_CASE("a_table_answers_as_a_list_of_routes_does") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    Chance chance(seed);
    const std::uint32_t ranks = 2 + chance.below(12);
    std::map<Pair, Path> routes;
    for (std::uint32_t i = chance.below(40); i > 0; --i) {
      const Pair ends{chance.below(ranks), chance.below(ranks)};
      Path path = random_path(chance, ranks, {ends.first, ends.second}, 5);
      if (ends.first != ends.second && !path.empty()) {
        routes[ends] = std::move(path);
      }
    }
    std::vector<std::uint32_t> rows;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      rows.push_back(rank);
    }
    ForwardingBuilder builder(ForwardingMode::cut_through, nodes_of(ranks), rows);
    for (const auto& [ends, path] : routes) {
      builder.add(ends.first, ends.second, path);
    }
    const ForwardingTable table = builder.take();
    for (std::uint32_t source = 0; source < ranks + 2; ++source) {
      for (std::uint32_t destination = 0; destination < ranks + 2; ++destination) {
        const auto route = routes.find({source, destination});
        CHECK(path_in(table, source, destination) == (route == routes.end() ? Path{} : route->second));
      }
    }
    CHECK(table.entries.size() == routes.size());
    check_promises(table);
  }
}

/// One relay a pair, rows shared: rank s hands what it has for d to via[row_of[s] x ranks + d], which is d or s where it goes
/// directly.
struct RelayMatrix {
  std::vector<std::uint32_t> row_of;
  std::vector<std::uint32_t> via;
  std::uint32_t next(std::uint32_t source, std::uint32_t destination) const {
    const std::uint32_t relay = via[row_of[source] * row_of.size() + destination];
    return relay == source ? destination : relay;
  }
};

TEST_CASE("a_table_answers_as_a_matrix_of_relays_does") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    Chance chance(seed);
    const std::uint32_t ranks = 1 + chance.below(12);
    const std::uint32_t rows = 1 + chance.below(ranks);
    RelayMatrix relays;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      relays.row_of.push_back(rank < rows ? rank : chance.below(rows));
    }
    ForwardingBuilder builder(ForwardingMode::store_and_forward, nodes_of(ranks), relays.row_of);
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t destination = 0; destination < ranks; ++destination) {
        const std::uint32_t relay = chance.below(4) == 0 ? destination : chance.below(ranks);
        relays.via.push_back(relay);
        builder.add(row, destination, relay == destination ? Path{} : Path{relay});
      }
    }
    const ForwardingTable table = builder.take();
    for (std::uint32_t source = 0; source < ranks; ++source) {
      for (std::uint32_t destination = 0; destination < ranks; ++destination) {
        if (source != destination) {
          CHECK(table.next(source, destination) == relays.next(source, destination));
        }
      }
    }
    CHECK(table.entries.size() <= relays.via.size());
    check_promises(table);
  }
}

TEST_CASE("of_a_path_over_several_ranks_of_one_row_each_travels_what_is_behind_it") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    Chance chance(seed);
    const std::uint32_t ranks = 1 + chance.below(10);
    std::vector<std::uint32_t> row_of;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      row_of.push_back(chance.below(3));
    }
    const std::uint32_t rows = *std::max_element(row_of.begin(), row_of.end()) + 1;
    std::map<Pair, Path> added;
    ForwardingBuilder builder(ForwardingMode::store_and_forward, nodes_of(ranks), row_of);
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t destination = 0; destination < ranks; ++destination) {
        const Path path = random_path(chance, ranks, {destination}, 4);
        builder.add(row, destination, path);
        added[{row, destination}] = path;
      }
    }
    const ForwardingTable table = builder.take();
    for (std::uint32_t source = 0; source < ranks; ++source) {
      for (std::uint32_t destination = 0; destination < ranks; ++destination) {
        Path path = added[{row_of[source], destination}];
        const auto at = std::find(path.begin(), path.end(), source);
        path.erase(path.begin(), at == path.end() ? path.begin() : at + 1);
        CHECK(path_in(table, source, destination) == (source == destination ? Path{} : path));
      }
    }
    check_promises(table);
    const auto entries = static_cast<std::uint32_t>(table.entries.size());
    ForwardingBuilder again(table.mode, table.nodes, table.row_of);
    for (std::uint32_t first = 0; first < entries;) {
      const std::uint32_t last = std::min(entries, first + 1 + chance.below(7));
      const ForwardingTable piece = piece_of(table, first, last);
      check_promises(piece);
      CHECK(again.is_followed_by(piece));
      again.add(piece, 0, last - first);
      CHECK_FALSE(again.is_followed_by(piece));
      first = last;
    }
    CHECK(again.take() == table);
  }
}

TEST_CASE("a_million_pairs_of_a_thousand_ranks_share_rows_and_paths") {
  constexpr std::uint32_t kRanks = 1'024;
  constexpr std::uint32_t kGroups = 32;
  std::vector<std::uint32_t> row_of;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    row_of.push_back(rank % kGroups);
  }
  ForwardingBuilder builder(ForwardingMode::store_and_forward, nodes_of(kRanks), row_of);
  for (std::uint32_t row = 0; row < kGroups; ++row) {
    for (std::uint32_t destination = 0; destination < kRanks; ++destination) {
      if (destination % kGroups != row) {  // the neighbour whose partner it is
        const std::uint32_t relay = destination - destination % kGroups + row;
        builder.add(row, destination, {&relay, 1});
      }
    }
  }
  const ForwardingTable table = builder.take();
  CHECK(table.pairs() == ForwardedPairs{std::size_t{kRanks} * (kRanks - kRanks / kGroups) - kRanks * (kGroups - 1), 2});
  CHECK(table.entries.size() == kGroups * (kRanks - kRanks / kGroups));
  CHECK(table.hops.size() == kRanks);
}

TEST_CASE("nobody_forwards_by_a_table_that_nobody_made") {
  const ForwardingTable none;
  CHECK(none.mode == ForwardingMode::none);
  CHECK(none.through(0, 1).empty());
  CHECK(none.next(3, 4) == 4);
  CHECK(none.pairs() == ForwardedPairs{});
  CHECK(none == piece_of(none, 0, 0));
}

}  // namespace
}  // namespace loom
