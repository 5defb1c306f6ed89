// SPDX-License-Identifier: Apache-2.0
// Groups of nodes with tunable lasers behind a WSS each, fixed receiver filters (the reconstruction of ODDL): wavelength j of
// group g leads to receiver j of the one group that the map names; nodes relay where it leads elsewhere.
#pragma once

#include "controller/predict/networks/network_terms.hpp"

namespace loom {

inline constexpr std::uint32_t kDarkWavelength = 0xffffffff;

/// Row g, column j: the group where wavelength j of group g goes, or kDarkWavelength. Groups x group size entries.
struct WavelengthMap {
  std::uint32_t group_size = 0;
  std::vector<std::uint32_t> destination_group;
};

/// Wavelengths 1 .. stay in their group, wavelength 0 leads on to the next: neighbours of a ring in rank order in one hop.
WavelengthMap ring_map(std::uint32_t groups, std::uint32_t group_size);
/// Wavelength j of group g leads to group g + j: everybody in two hops when there are no more groups than wavelengths.
WavelengthMap latin_map(std::uint32_t groups, std::uint32_t group_size);

/// One transmitter and one receiver of the terms' rate a node. `relays_max`: nodes that may pass a transfer on; each takes rate
/// of its receiver and its transmitter. Pairs out of reach wait for the next map. Errors: begin_network; invalid_argument (a
/// map of the wrong size, two groups on one wavelength of a destination group), out_of_range (relays).
Result<Network> make_wavelength_network(const NetworkTerms& terms, const WavelengthMap& map, std::uint32_t relays_max);

}  // namespace loom
