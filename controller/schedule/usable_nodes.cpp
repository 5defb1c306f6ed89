// SPDX-License-Identifier: Apache-2.0
// Along fibres, as long as there is no choice.
#include "controller/schedule/usable_nodes.hpp"

#include <algorithm>
#include <optional>

#include "core/limits.hpp"

namespace loom {
namespace {

/// The one fibre of these ports; nothing: there is none, or a choice.
std::optional<FibreId> only(PortTable::Ports ports) {
  std::optional<FibreId> found;
  for (const auto& port : ports) {
    if (port && found) {
      return std::nullopt;
    }
    found = port ? port : found;
  }
  return found;
}

class Chains {
 public:
  Chains(const Fabric& fabric, const std::vector<UnusableDevice>& unusable) : fabric_(fabric), is_bad_(fabric.elements.size()) {
    for (const UnusableDevice& each : unusable) {
      for (const ElementId element : fabric.device(each.device).elements) {
        is_bad_[element.value] = each.occupied.empty();
      }
    }
  }

  /// From a transmitter up to the first element that light may leave in several ways, or back from a receiver to the first that
  /// it may have come to in several: is any of them unusable?
  bool is_cut(ElementId end, bool outwards) const {
    ElementId at = end;
    for (std::size_t hops = 0; hops < limits::kHopsPerPath; ++hops) {
      if (is_bad_[at.value]) {
        return true;
      }
      const auto fibre = only(outwards ? fabric_.fibre_out[at.value] : fabric_.fibre_in[at.value]);
      if (!fibre) {
        return false;
      }
      const Fibre& way = fabric_.fibres[fibre->value];
      at = outwards ? way.to.element : way.from.element;
    }
    return false;
  }

  std::size_t count_cut(const std::vector<ElementId>& ends, bool outwards) const {
    return static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [&](ElementId end) { return is_cut(end, outwards); }));
  }

 private:
  const Fabric& fabric_;
  std::vector<bool> is_bad_;  ///< by element
};

}  // namespace

NodeFitness fitness_of(const Fabric& fabric, const std::vector<UnusableDevice>& unusable) {
  NodeFitness fitness{std::vector<bool>(fabric.nodes.size()), std::vector<bool>(fabric.nodes.size())};
  if (unusable.empty()) {
    return fitness;
  }
  const Chains chains(fabric, unusable);
  for (const Node& node : fabric.nodes) {
    const std::size_t out = chains.count_cut(node.transmitters, true);
    const std::size_t in = chains.count_cut(node.receivers, false);
    fitness.unfit[node.id.value] = (out > 0 && out == node.transmitters.size()) || (in > 0 && in == node.receivers.size());
    fitness.impaired[node.id.value] = out + in > 0;
  }
  return fitness;
}

}  // namespace loom
