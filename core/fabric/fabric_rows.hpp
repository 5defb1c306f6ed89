// SPDX-License-Identifier: Apache-2.0
// Rows of a fabric that a template builds: elements, fibres and devices, numbered as they come. Inner header of the templates
// in core/; whoever reads a fabric has no use for it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/fabric/fabric.hpp"

namespace loom {

/// Rows of a fabric under construction; ids are places.
class FabricRows {
 public:
  explicit FabricRows(Fabric& fabric) : fabric_(fabric) {}

  ElementId add_element(std::string name, PortNumber inputs, PortNumber outputs, Db loss, ElementKind kind) {
    const ElementId id{static_cast<std::uint32_t>(fabric_.elements.size())};
    fabric_.elements.push_back({id, std::move(name), inputs, outputs, loss, std::move(kind)});
    return id;
  }

  void connect(PortRef from, PortRef to, std::int64_t length_mm, Db loss) {
    const FibreId id{static_cast<std::uint32_t>(fabric_.fibres.size())};
    fabric_.fibres.push_back({id, from, to, length_mm, loss});
  }

  /// `model` of its driver; empty: the usual one of its role.
  void add_device(std::string name, DeviceRole role, NodeId agent, std::vector<ElementId> elements, std::string model = {}) {
    const BusId bus{static_cast<std::uint32_t>(fabric_.buses.size())};
    fabric_.buses.push_back({bus, "bus-" + name, agent, "sim"});
    const DeviceId id{static_cast<std::uint32_t>(fabric_.devices.size())};
    fabric_.devices.push_back({id, std::move(name), role, agent, bus, 1, std::move(elements), std::move(model)});
  }

 private:
  Fabric& fabric_;
};

}  // namespace loom
