// The finder's switches as settings (`--set fabric.degree=4`), one reading for whoever plans or plays a topology.
#pragma once

#include <array>
#include <string_view>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/workload/settings.hpp"

namespace loom {

inline constexpr std::array<std::string_view, 3> kFinderVariants{"as-in-paper", "as-in-code-2021", "as-in-code"};
/// Keys that finder_options understands.
inline constexpr std::array<std::string_view, 3> kFinderKeys{"degree", "seed", "variant"};

/// degree=4 (1 .. 64), variant=as-in-paper, seed=1 unless set; other keys are not looked at. Errors: invalid_argument,
/// out_of_range.
Result<FinderOptions> finder_options(const Settings& settings);

}  // namespace loom
