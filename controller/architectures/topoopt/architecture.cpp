// What the house knows of TopoOpt.
#include "controller/architectures/topoopt/architecture.hpp"

#include <array>
#include <string_view>

#include "controller/architectures/topoopt/fabric.hpp"
#include "controller/architectures/topoopt/finder/finder_settings.hpp"
#include "controller/architectures/topoopt/network.hpp"
#include "controller/architectures/topoopt/schedule.hpp"
#include "controller/schedule/arena_entry.hpp"

namespace loom {
namespace {

constexpr std::array<std::string_view, 3> kKeys{"degree", "seed", "variant"};

void enter_topoopt(ArenaBuilder& builder) {
  const auto options = finder_options(builder.settings);
  if (!options) {
    builder.error = options.error();
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
                            .compare = enter_topoopt,
                            .compare_keys = kKeys};

}  // namespace loom
