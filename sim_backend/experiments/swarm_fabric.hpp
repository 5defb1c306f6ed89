// SPDX-License-Identifier: Apache-2.0
// The fabrics that the swarm draws from: every architecture in several sizes, as texts of fabric files, so that whatever was
// found on one of them can be written down and run again by anybody.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "sim_backend/random.hpp"

namespace loom {

enum class FabricFamily : std::uint8_t {
  oddl,         ///< combiners inside groups, ring filters before receivers
  oddl_planes,  ///< the same, two or three planes
  oddl_open,    ///< receivers without ring filters
  oddl_awgr,    ///< a cyclic router inside each group
  sip_ring,
  sip_ocs,
  topoopt,
  topoopt_panels,
  all_elements,  ///< configs/fabrics/all_elements.yaml
};
inline constexpr std::size_t kFabricFamilies = 9;
std::string_view to_string(FabricFamily family);

struct SwarmFabric {
  FabricFamily family = FabricFamily::oddl;
  std::uint32_t size = 0;  ///< 0: the smallest; below sizes_of(family)
  bool operator==(const SwarmFabric&) const = default;
};

std::uint32_t sizes_of(FabricFamily family);
/// The scheduler that the fabric's architecture is called after; of one that none is called after, ODDL's.
std::string algorithm_of(const Fabric& fabric);
SwarmFabric draw_fabric(Random& random);

/// Errors: not_found (`configs` has no fabrics/all_elements.yaml).
Result<std::string> text_of(const SwarmFabric& fabric, const std::string& configs);
/// Errors: as text_of; internal: a text of ours is no lawful fabric.
Result<std::shared_ptr<const Fabric>> make_fabric(const SwarmFabric& fabric, const std::string& configs);

}  // namespace loom
