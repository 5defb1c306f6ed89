// SPDX-License-Identifier: Apache-2.0
// Which devices steer light that is not their own agent's: whose light can come to a fibre, whatever is set on its way.
#include <optional>
#include <utility>
#include <vector>

#include "core/fabric/fabric.hpp"

namespace loom {
namespace {

/// Agents whose light can be on a fibre: nobody's, one's, or several's. It only ever grows, so each fibre changes twice at
/// most.
struct Origin {
  std::optional<NodeId> agent;
  bool is_several = false;

  bool add(const Origin& other) {
    const Origin before = *this;
    is_several = is_several || other.is_several || (agent && other.agent && agent != other.agent);
    agent = agent ? agent : other.agent;
    return is_several != before.is_several || agent != before.agent;
  }
  bool is_beside(NodeId own) const { return is_several || (agent && *agent != own); }
};

class OriginFinder {
 public:
  explicit OriginFinder(const Fabric& fabric)
      : fabric_(fabric), origins_(fabric.fibres.size()), within_(fabric.elements.size()) {}

  std::vector<Origin> find() {
    for (const Element& element : fabric_.elements) {
      const auto device = fabric_.device_of_element[element.id.value];
      if (device && std::holds_alternative<Transmitter>(element.kind)) {
        leave(element.id, 0, {fabric_.device(*device).agent, false});
      }
    }
    while (!open_.empty()) {
      const FibreId fibre = open_.back();
      open_.pop_back();
      pass(fabric_.fibres[fibre.value].to, origins_[fibre.value]);
    }
    return std::move(origins_);
  }

 private:
  void leave(ElementId element, PortNumber output, const Origin& origin) {
    const auto& fibre = fabric_.fibre_out[element.value][output];
    if (fibre && origins_[fibre->value].add(origin)) {
      open_.push_back(*fibre);
    }
  }

  /// Only a panel's wiring is fixed; what else has outputs may send light to any of them.
  void pass(PortRef at, const Origin& origin) {
    const Element& element = fabric_.element(at.element);
    if (std::holds_alternative<PacketSwitch>(element.kind)) {
      return;  // light ends there
    }
    if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
      if (at.port < panel->wiring.size()) {
        leave(element.id, panel->wiring[at.port], origin);
      }
      return;
    }
    Origin& within = within_[element.id.value];
    if (!within.add(origin)) {
      return;  // as much has left it already
    }
    for (PortNumber output = 0; output < element.outputs; ++output) {
      leave(element.id, output, within);
    }
  }

  const Fabric& fabric_;
  std::vector<Origin> origins_;  ///< by fibre
  std::vector<Origin> within_;   ///< by element: of what came to any of its inputs
  std::vector<FibreId> open_;
};

}  // namespace

std::vector<bool> find_steering(const Fabric& fabric) {
  const std::vector<Origin> origins = OriginFinder(fabric).find();
  std::vector<bool> steers(fabric.devices.size());
  for (const Device& device : fabric.devices) {
    if (device.role == DeviceRole::monitor) {
      continue;  // light ends there
    }
    for (const ElementId element : device.elements) {
      for (const auto& fibre : fabric.fibre_in[element.value]) {
        steers[device.id.value] = steers[device.id.value] || (fibre && origins[fibre->value].is_beside(device.agent));
      }
    }
  }
  return steers;
}

}  // namespace loom
