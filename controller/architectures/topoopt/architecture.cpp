// SPDX-License-Identifier: Apache-2.0
// What the house knows of TopoOpt.
#include "controller/architectures/topoopt/architecture.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "controller/architectures/topoopt/fabric.hpp"
#include "controller/architectures/topoopt/finder/finder_settings.hpp"
#include "controller/architectures/topoopt/network.hpp"
#include "controller/architectures/topoopt/schedule.hpp"
#include "controller/schedule/arena_entry.hpp"
#include "controller/schedule/job_alone.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 10> kOfTheFinder{
    "discount", "matching", "matching_sees", "paths", "primes_beyond", "ring_directions", "seed", "share", "split", "variant"};
constexpr std::array<std::string_view, 12> kKeys{"degree",        "discount", "light",         "matching",
                                                 "matching_sees", "paths",    "primes_beyond", "ring_directions",
                                                 "seed",          "share",    "split",         "variant"};

/// What a job may say of the topology that is found for it.
constexpr std::array<JobOption, 10> kOptions{
    {{"ring_directions", "rings of its topology both-ways | one-way"},
     {"discount", "of a pair's demand a link: halving | harmonic"},
     {"matching", "of pairs: exact | greedy; exact up to 128 servers"},
     {"matching_sees", "demand | rings: discounts what rings join already, near ties by seed"},
     {"paths", "shortest ways kept a pair, 1 .. 64"},
     {"primes_beyond", "servers from which on ring candidates are 1 and primes"},
     {"seed", "of ties"},
     {"share", "of rings among group sizes: as-in-paper | as-in-code"},
     {"split", "of links between rings and pairs: as-in-paper | as-in-code-2021 | as-in-code"},
     {"variant", "of the topology finder: as-in-paper | as-in-code-2021 | as-in-code"}}};

Result<void> check_finder_options(const JobSpec& spec) {
  const auto options = finder_options(spec.options);
  return options ? Result<void>{} : std::unexpected(options.error());
}

/// The schedule of its own scheduler, on switches large enough for all servers.
void light_topology(ArenaBuilder& builder, std::uint32_t degree) {
  TopooptParameters parameters;
  parameters.nodes = builder.graph.nodes;
  parameters.degree = degree;
  parameters.switch_ports = std::max(parameters.switch_ports, parameters.nodes);
  parameters.rate = lit_rate(builder.terms, part_of_rate(builder.rate, degree));
  builder.assume(format_text("topoopt: {} interfaces a server, on switches of {} ports", degree, parameters.switch_ports));
  enter_lit(builder, kTopoopt, make_topoopt(parameters));
}

void enter_topoopt(ArenaBuilder& builder) {
  static constexpr std::array<std::string_view, 2> kLights{"lit", "finder"};
  const std::string light = builder.light(kLights, "finder", kOfTheFinder);
  const auto options = finder_options(builder.settings);
  if (!options) {
    builder.error = options.error();
    return;
  }
  if (builder.error) {
    return;
  }
  if (light == "lit") {
    light_topology(builder, options->degree);
    return;
  }
  builder.terms.rate = part_of_rate(builder.rate, options->degree);
  auto made = make_topoopt_network(builder.graph, builder.terms, *options);
  if (!made) {
    builder.error = std::move(made).error();
    return;
  }
  const auto variant = builder.settings.find("variant");
  builder.entry.scheduler =
      "topology-finder " + (variant == builder.settings.end() ? std::string{kFinderVariants[0]} : variant->second);
  builder.entry.graph = std::move(made->graph);
  builder.entry.network = std::move(made->network);
  builder.entry.circuits = made->links;
  builder.assume(made->summary);
  builder.assume("topoopt: the job's strategy is taken as given, not searched for together with the topology");
}

}  // namespace

const Architecture kTopoopt{.name = "topoopt",
                            .summary = "a topology of its own a job, whose servers forward",
                            .fabric = &kTopooptTemplate,
                            .schedule = &schedule_topoopt,
                            .options = kOptions,
                            .check_options = check_finder_options,
                            .forward_over = &forward_over_given,
                            .search = StrategySearch::alternating,
                            .wires_servers = true,
                            .compare = enter_topoopt,
                            .compare_keys = kKeys};

}  // namespace loom
