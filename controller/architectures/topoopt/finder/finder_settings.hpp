// SPDX-License-Identifier: Apache-2.0
// The finder's switches as settings (`--set fabric.degree=4`), one reading for whoever plans or plays a topology.
#pragma once

#include <array>
#include <string_view>

#include "controller/architectures/topoopt/finder/topology_finder.hpp"
#include "controller/workload/settings.hpp"

namespace loom {

inline constexpr std::array<std::string_view, 3> kFinderVariants{"as-in-paper", "as-in-code-2021", "as-in-code"};
/// Keys that finder_options understands.
inline constexpr std::array<std::string_view, 11> kFinderKeys{"degree", "discount",      "matching",        "matching_sees",
                                                              "paths",  "primes_beyond", "ring_directions", "seed",
                                                              "share",  "split",         "variant"};

/// degree=4 (1 .. 64), variant=as-in-paper, seed=1 unless set. A variant says the rest, of which each may be said by itself:
/// ring_directions=both-ways|one-way, split=as-in-paper|as-in-code-2021|as-in-code, share=as-in-paper|as-in-code,
/// discount=harmonic|halving, matching=exact|greedy,
/// matching_sees=demand|rings, primes_beyond (nodes), paths (k shortest a pair, 1 .. 64). Other keys are
/// not looked at. Errors: invalid_argument, out_of_range.
Result<FinderOptions> finder_options(const Settings& settings);

}  // namespace loom
