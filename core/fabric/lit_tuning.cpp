// SPDX-License-Identifier: Apache-2.0
// A walk downstream from each of them.
#include "core/fabric/lit_tuning.hpp"

#include "core/text/format_text.hpp"

namespace loom {
namespace {

bool blocks(const Element& element) {
  return std::holds_alternative<WavelengthSelectiveSwitch>(element.kind) ||
         std::holds_alternative<OpticalCircuitSwitch>(element.kind) || std::holds_alternative<PacketSwitch>(element.kind);
}

/// The first element that others' light enters as well; null: none before something blocks.
const Element* shared_with(const Fabric& fabric, ElementId transmitter) {
  std::vector<bool> seen(fabric.elements.size());
  std::vector<ElementId> open{transmitter};
  while (!open.empty()) {
    const ElementId from = open.back();
    open.pop_back();
    for (const Fibre& fibre : fabric.fibres) {
      const ElementId to = fibre.to.element;
      if (fibre.from.element != from || seen[to.value] || blocks(fabric.element(to))) {
        continue;
      }
      if (fabric.element(to).inputs > 1) {
        return &fabric.element(to);
      }
      seen[to.value] = true;
      open.push_back(to);
    }
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> check_lit_tuning(const Fabric& fabric) {
  std::vector<std::string> faults;
  for (const Element& element : fabric.elements) {
    const auto* transmitter = std::get_if<Transmitter>(&element.kind);
    if (transmitter == nullptr || transmitter->tunes != Tunes::lit) {
      continue;
    }
    if (const Element* shared = shared_with(fabric, element.id)) {
      faults.push_back(
          format_text("transmitter {} tunes lit, and its light shares {} with others before a switch that blocks it: "
                      "expected tunes: dark or blanked, or a switch in between",
                      element.name, shared->name));
    }
  }
  return faults;
}

}  // namespace loom
