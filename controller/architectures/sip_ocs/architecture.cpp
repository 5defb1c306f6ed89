// SPDX-License-Identifier: Apache-2.0
// What the house knows of SiP-OCS.
#include "controller/architectures/sip_ocs/architecture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controller/architectures/sip_ml/strategy.hpp"
#include "controller/architectures/sip_ocs/fabric.hpp"
#include "controller/architectures/sip_ocs/schedule.hpp"
#include "controller/predict/networks/matchings.hpp"
#include "controller/schedule/arena_entry.hpp"
#include "controller/schedule/job_alone.hpp"
#include "controller/schedule/pair_bytes.hpp"
#include "controller/schedule/permutations.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 2> kKeys{"light", "switches"};

void light_switches(ArenaBuilder& builder, std::uint32_t switches) {
  SipOcsParameters parameters;
  parameters.nodes = builder.graph.nodes;
  parameters.switches = switches;
  parameters.rate = lit_rate(builder.terms, part_of_rate(builder.rate, switches));
  builder.assume(format_text("sip-ocs: {} switches, every node one port on each; lit once for the job", switches));
  enter_lit(builder, kSipOcs, make_sip_ocs(parameters));
}

void enter_sip_ocs(ArenaBuilder& builder) {
  static constexpr std::array<std::string_view, 2> kLights{"lit", "one-shot"};
  const std::uint32_t switches = builder.count("switches", 20, 1, 4'096);
  const std::string light = builder.light(kLights, "one-shot", {});
  if (builder.error) {
    return;
  }
  if (light == "lit") {
    light_switches(builder, switches);
    return;
  }
  std::vector<SwitchPair> pairs;
  for (const auto& [ends, bytes] : pair_bytes(builder.graph)) {
    pairs.push_back({ends.first, ends.second, std::clamp<std::int64_t>(std::llround(bytes), 1, (std::int64_t{1} << 50) - 1)});
  }
  const auto counts = share_ports(builder.graph.nodes, switches, pairs);
  if (!counts) {
    std::map<std::uint32_t, std::uint32_t> peers;
    for (const SwitchPair& pair : pairs) {
      ++peers[pair.source];
    }
    const auto most =
        std::max_element(peers.begin(), peers.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    builder.error = Error{
        ErrorCode::infeasible,
        format_text("sip-ocs: node {} sends to {} others over {} switches, so somebody would get nothing (fabric.switches)",
                    most->first, most->second, switches)};
    return;
  }
  std::vector<Matching> matchings(switches, Matching(builder.graph.nodes, kIdlePort));
  for (const SwitchGrant& grant : into_permutations(builder.graph.nodes, switches, pairs, *counts)) {
    matchings[grant.on][pairs[grant.pair].source] = pairs[grant.pair].destination;
    ++builder.entry.circuits;
  }
  builder.terms.rate = part_of_rate(builder.rate, switches);
  builder.entry.scheduler = "max-min, one shot";
  builder.keep(make_matchings(builder.terms, matchings));
  builder.assume(
      format_text("sip-ocs: {} switches, every node one port on each; set once before the job, no forwarding", switches));
}

}  // namespace

const Architecture kSipOcs{.name = "sip-ocs",
                           .summary = "parallel circuit switches, set once before a job",
                           .fabric = &kSipOcsTemplate,
                           .schedule = &schedule_sip_ocs,
                           .node_memory = kSipMlNodeMemory,
                           .search = StrategySearch::time_to_accuracy,
                           .compare = enter_sip_ocs,
                           .compare_keys = kKeys};

}  // namespace loom
