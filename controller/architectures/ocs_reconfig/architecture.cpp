// SPDX-License-Identifier: Apache-2.0
// OCS-reconfig in the arena.
#include "controller/architectures/ocs_reconfig/architecture.hpp"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/architectures/ocs_reconfig/greedy_degree.hpp"
#include "controller/schedule/arena_entry.hpp"
#include "controller/schedule/pair_bytes.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 4> kKeys{"degree", "delay_us", "forwarding", "seed"};

void enter_ocs_reconfig(ArenaBuilder& builder) {
  const std::uint32_t degree = builder.count("degree", 4, 1, 64);
  const double delay = builder.read("delay_us", 10'000, 1, ArenaBuilder::kMicrosecondsMax);
  static constexpr std::array<std::string_view, 2> kForwards{"yes", "no"};
  const bool forwards = builder.word("forwarding", "yes", kForwards) == "yes";
  const std::uint32_t seed = builder.count("seed", 1, 0, 4'294'967'295);
  if (builder.error) {
    return;
  }
  builder.terms.rate = part_of_rate(builder.rate, degree);
  if (forwards) {
    carry_rings_both_ways(builder);  // links are duplex
  }
  const TopologyPolicy policy = greedy_degree_policy(builder.terms, degree, forwards, seed);
  std::vector<Transfers::Left> all;
  for (const auto& [ends, bytes] : pair_bytes(builder.entry.graph)) {
    all.push_back({ends.first, ends.second, 0, 0, bytes});
  }
  auto first = policy(0, all);
  if (!first) {
    builder.error = std::move(first).error();
    return;
  }
  builder.entry.network = *first;
  auto changing = Reconfiguration::make(ocs_reconfig_terms(Duration{std::llround(delay * 1e3)}), std::move(*first), policy);
  if (!changing) {
    builder.error = std::move(changing).error();
    return;
  }
  builder.entry.changing.emplace(std::move(*changing));
  builder.entry.scheduler = "greedy halving";
  builder.entry.circuits = builder.graph.nodes * degree;
  builder.assume(format_text("ocs-reconfig: live for 4 x {} ms, then all dark for {} ms (TopoOpt's baseline){}",
                             printed("%g", delay / 1e3), printed("%g", delay / 1e3),
                             forwards ? ", nodes forward" : ", no forwarding"));
}

}  // namespace

const Architecture kOcsReconfig{.name = "ocs-reconfig",
                                .summary = "circuit switches set anew by what is queued (TopoOpt's baseline)",
                                .compare = enter_ocs_reconfig,
                                .compare_keys = kKeys};

}  // namespace loom
