// SPDX-License-Identifier: Apache-2.0
// Packet switches: one ideal, trees of them, and nodes joined directly.
#include "controller/architectures/electrical/architecture.hpp"

#include <array>
#include <string_view>

#include "controller/architectures/electrical/expander.hpp"
#include "controller/architectures/electrical/fat_tree.hpp"
#include "controller/architectures/electrical/ideal_switch.hpp"
#include "controller/predict/networks/direct_connect.hpp"
#include "controller/schedule/arena_entry.hpp"
#include "controller/schedule/pair_bytes.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 6> kTreeKeys{"cost_ratio", "oversubscription", "radix", "seed", "segment_mb", "ways"};
constexpr std::array<std::string_view, 2> kExpanderKeys{"degree", "seed"};

void make_ideal(ArenaBuilder& builder) {
  builder.entry.scheduler = "-";
  builder.keep(make_ideal_switch(builder.terms));
}

void make_tree(ArenaBuilder& builder, double oversubscription) {
  FatTreeShape shape;
  shape.radix = builder.count("radix", 0, 0, 65'536);
  shape.oversubscription = builder.read("oversubscription", oversubscription, 1, 1'000);
  shape.cost_ratio = builder.read("cost_ratio", 1, 1e-3, 1);
  shape.seed = builder.count("seed", 1, 0, 4'294'967'295);
  shape.segment_bytes = 1e6 * builder.read("segment_mb", 0, 0, 1e6);
  static constexpr std::array<std::string_view, 2> kWays{"hashed", "sprayed"};
  shape.sprayed = builder.word("ways", "hashed", kWays) == "sprayed";
  builder.entry.scheduler = shape.sprayed ? "spray" : "ecmp";
  builder.keep(make_fat_tree(builder.terms, shape));
}

void make_full_tree(ArenaBuilder& builder) { make_tree(builder, 1); }
void make_oversubscribed_tree(ArenaBuilder& builder) { make_tree(builder, 2); }

void make_random_graph(ArenaBuilder& builder) {
  ExpanderShape shape;
  shape.degree = builder.count("degree", 4, 2, 64);
  shape.seed = builder.count("seed", 1, 0, 4'294'967'295);
  for (const auto& [ends, bytes] : pair_bytes(builder.graph)) {
    shape.routing.pairs.push_back(ends);
  }
  builder.terms.rate = part_of_rate(builder.rate, shape.degree);
  builder.entry.scheduler = "k-shortest";
  builder.entry.circuits = builder.graph.nodes * shape.degree;
  builder.keep(make_expander(builder.terms, shape));
}

void make_electrical_ring(ArenaBuilder& builder) {
  builder.terms.rate = part_of_rate(builder.rate, 2);
  builder.entry.scheduler = "-";
  builder.entry.circuits = 2 * builder.graph.nodes;
  carry_rings_both_ways(builder);
  builder.keep(make_ring(builder.terms));
}

}  // namespace

const Architecture kIdealSwitch{.name = "ideal-switch",
                                .summary = "one switch that never stands in anybody's way",
                                .is_shared = true,
                                .compare = make_ideal};
const Architecture kFatTree{.name = "fat-tree",
                            .summary = "three tiers of packet switches, full bisection",
                            .is_shared = true,
                            .compare = make_full_tree,
                            .compare_keys = kTreeKeys};
const Architecture kFatTreeOversubscribed{.name = "fat-tree-oversub",
                                          .summary = "three tiers of packet switches, oversubscribed 2:1",
                                          .is_shared = true,
                                          .compare = make_oversubscribed_tree,
                                          .compare_keys = kTreeKeys};
const Architecture kExpander{.name = "expander",
                             .summary = "nodes joined directly as a random regular graph",
                             .is_shared = true,
                             .compare = make_random_graph,
                             .compare_keys = kExpanderKeys};
const Architecture kElectricalRing{
    .name = "ring", .summary = "nodes joined to their two neighbours", .is_shared = true, .compare = make_electrical_ring};

}  // namespace loom
