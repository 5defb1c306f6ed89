// SPDX-License-Identifier: Apache-2.0
// LightOrder: what the tracing of light needs of a fabric, however anything is set. It follows from the fabric alone, so
// whoever plans on one again and again keeps it (PlanMemory).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/fabric/fabric.hpp"

namespace loom {

struct LightOrder {
  explicit LightOrder(const Fabric& fabric);

  /// A ring filter among `elements`.
  struct Ring {
    bool is_ring = false;
    bool continues = false;  ///< the element before it in the order is the ring filter before it on its bus
    /// Fibres that stray light can come by, or that lead to what it passes: none at a transmitter or a receiver.
    std::optional<FibreId> bus{};  ///< input 0, unless it continues
    std::optional<FibreId> added{};
    std::optional<FibreId> through{};  ///< output 0, unless the next one continues
    std::optional<FibreId> dropped{};
  };

  /// Of what has inputs and outputs: topological, loops opened at their lowest element.
  std::vector<ElementId> elements;
  std::vector<std::uint32_t> place;  ///< by element: its index in `elements`, or kNowhere
  std::vector<Ring> rings;           ///< as elements
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  bool has_loops = false;
  std::vector<double> fibre_factor;  ///< by fibre: power at its end over power at its beginning
  std::vector<bool> is_measured;     ///< by fibre: an amplifier or a receiver is at its end
  std::vector<ElementId> amplifiers;
  std::vector<ElementId> couplers;

 private:
  void find_rings(const Fabric& fabric);
};

}  // namespace loom
