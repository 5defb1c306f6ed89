// SPDX-License-Identifier: Apache-2.0
// The best that any allocation of wavelengths on a ring can do, for small rings, by integer programming (CBC, ADR 0017): what
// heuristics are judged by. For tests and benchmarks only; no part of the controller.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/architectures/sip_ring/waves.hpp"

namespace loom {

enum class WavelengthSense : std::uint8_t {
  as_in_code,  ///< SiP-ML's integer programme (docs/systems/sipml.md#ring-programme): bounds the load of every segment, colours
               ///< nothing
  continuous,  ///< a grant is one wavelength all the way, as filters and lasers have it
};

struct RingOptimum {
  double worst = 0;                   ///< least wavelengths over demand of any pair, demands relative to the largest
  std::vector<std::uint32_t> served;  ///< wavelengths by pair, of one optimal allocation
};

/// Nothing: a level was neither reached nor ruled out within `seconds`. Precondition: at most 12 nodes. Continuous: counts of
/// patterns (the sets of disjoint arcs that one wavelength of one direction can carry: the arcs between neighbours in a set of
/// nodes), so that wavelengths are interchangeable and nothing is left to colour.
std::optional<RingOptimum> ring_optimum(std::uint32_t nodes, const std::vector<RingBus>& buses,
                                        const std::vector<RingPair>& pairs, WavelengthSense sense, double seconds = 60);

}  // namespace loom
