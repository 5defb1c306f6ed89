// SPDX-License-Identifier: Apache-2.0
// Kahn's order. Where only loops are left, the lowest of their elements goes first, as if nothing came round to it yet.
#include "controller/plan/verify/light_order.hpp"

#include <algorithm>

#include "controller/plan/verify/light_field.hpp"

namespace loom {

LightOrder::LightOrder(const Fabric& fabric) {
  std::vector<std::uint32_t> open(fabric.elements.size());
  std::vector<bool> placed(fabric.elements.size());
  for (const Fibre& fibre : fabric.fibres) {
    ++open[fibre.to.element.value];
    fibre_factor.push_back(verifying::linear(-fibre.loss));
    const ElementKind& end = fabric.element(fibre.to.element).kind;
    is_measured.push_back(std::holds_alternative<Amplifier>(end) || std::holds_alternative<Receiver>(end));
  }
  for (const Element& element : fabric.elements) {
    if (std::holds_alternative<Amplifier>(element.kind)) {
      amplifiers.push_back(element.id);
    } else if (std::holds_alternative<Coupler>(element.kind)) {
      couplers.push_back(element.id);
    }
  }
  const auto append = [&](ElementId id) {
    placed[id.value] = true;
    elements.push_back(id);
  };
  for (const Element& element : fabric.elements) {
    if (open[element.id.value] == 0) {
      append(element.id);
    }
  }
  std::size_t next = 0;
  for (std::size_t i = 0; elements.size() < fabric.elements.size() || i < elements.size(); ++i) {
    if (i == elements.size()) {
      has_loops = true;
      while (placed[next]) {
        ++next;
      }
      append(ElementId{static_cast<std::uint32_t>(next)});
    }
    for (const auto& fibre : fabric.fibre_out[elements[i].value]) {
      if (!fibre) {
        continue;
      }
      const ElementId to = fabric.fibres[fibre->value].to.element;
      if (--open[to.value] == 0 && !placed[to.value]) {
        append(to);
      }
    }
  }
  // Nothing leaks through a transmitter or a receiver, and those are most of a fabric.
  std::erase_if(elements, [&](ElementId id) { return fabric.element(id).inputs == 0 || fabric.element(id).outputs == 0; });
  place.assign(fabric.elements.size(), kNowhere);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    place[elements[i].value] = static_cast<std::uint32_t>(i);
  }
  find_rings(fabric);
}

void LightOrder::find_rings(const Fabric& fabric) {
  const auto port = [](PortTable::Ports ports, std::size_t number) {
    return number < ports.size() ? ports[number] : std::nullopt;
  };
  const auto if_passed = [&](std::optional<FibreId> fibre, ElementId other) {
    return fibre && place[other.value] != kNowhere ? fibre : std::nullopt;
  };
  const auto from = [&](std::optional<FibreId> fibre) {
    return if_passed(fibre, fibre ? fabric.fibres[fibre->value].from.element : ElementId{});
  };
  const auto to = [&](std::optional<FibreId> fibre) {
    return if_passed(fibre, fibre ? fabric.fibres[fibre->value].to.element : ElementId{});
  };
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const ElementId id = elements[i];
    Ring& ring = rings.emplace_back();
    ring.is_ring = std::holds_alternative<RingFilter>(fabric.element(id).kind);
    if (!ring.is_ring) {
      continue;
    }
    const auto in = fabric.fibre_in[id.value];
    const auto out = fabric.fibre_out[id.value];
    ring.bus = from(port(in, 0));
    ring.added = from(port(in, 1));
    ring.through = to(port(out, 0));
    ring.dropped = to(port(out, 1));
    if (i > 0 && rings[i - 1].is_ring && ring.bus && rings[i - 1].through == ring.bus) {
      ring.continues = true;
      ring.bus = rings[i - 1].through = std::nullopt;
    }
  }
}

}  // namespace loom
