// SPDX-License-Identifier: Apache-2.0
// Fabrics as rows: what networkx and pandas are made of is Python's own affair.
#include <pybind11/stl.h>

#include <memory>
#include <type_traits>

#include "cli/plan/inputs.hpp"
#include "controller/workload/settings.hpp"
#include "core/fabric/fabric.hpp"
#include "python/bindings/module.hpp"

namespace loom::python {
namespace {

namespace py = pybind11;

using SharedFabric = std::shared_ptr<const Fabric>;

/// As the key `kind` of a fabric file has it.
struct KindWord {
  const char* operator()(const Transmitter&) const { return "transmitter"; }
  const char* operator()(const Receiver&) const { return "receiver"; }
  const char* operator()(const Coupler&) const { return "coupler"; }
  const char* operator()(const WavelengthSelectiveSwitch&) const { return "wavelength_selective_switch"; }
  const char* operator()(const ArrayedWaveguideGrating&) const { return "arrayed_waveguide_grating"; }
  const char* operator()(const Amplifier&) const { return "amplifier"; }
  const char* operator()(const RingFilter&) const { return "ring_filter"; }
  const char* operator()(const OpticalCircuitSwitch&) const { return "optical_circuit_switch"; }
  const char* operator()(const PatchPanel&) const { return "patch_panel"; }
  const char* operator()(const Attenuator&) const { return "attenuator"; }
  const char* operator()(const Tap&) const { return "tap"; }
  const char* operator()(const PacketSwitch&) const { return "packet_switch"; }
};

py::list names_of(const Fabric& fabric, const std::vector<ElementId>& elements) {
  py::list names;
  for (const ElementId id : elements) {
    names.append(fabric.element(id).name);
  }
  return names;
}

py::list nodes_of(const Fabric& fabric) {
  py::list rows;
  for (const Node& node : fabric.nodes) {
    py::dict row;
    row["name"] = node.name;
    row["group"] = node.group;
    row["transmitters"] = names_of(fabric, node.transmitters);
    row["receivers"] = names_of(fabric, node.receivers);
    rows.append(row);
  }
  return rows;
}

py::list elements_of(const Fabric& fabric) {
  py::list rows;
  for (const Element& element : fabric.elements) {
    py::dict row;
    row["name"] = element.name;
    row["kind"] = std::visit(KindWord{}, element.kind);
    row["inputs"] = element.inputs;
    row["outputs"] = element.outputs;
    row["insertion_loss_db"] = element.insertion_loss.centi / 100.0;
    const auto owner = fabric.node_of_element[element.id.value];
    row["node"] = owner ? py::object(py::str(fabric.nodes[owner->value].name)) : py::object(py::none());
    rows.append(row);
  }
  return rows;
}

py::list fibres_of(const Fabric& fabric) {
  py::list rows;
  for (const Fibre& fibre : fabric.fibres) {
    py::dict row;
    row["from"] = fabric.element(fibre.from.element).name;
    row["from_port"] = fibre.from.port;
    row["to"] = fabric.element(fibre.to.element).name;
    row["to_port"] = fibre.to.port;
    row["length_m"] = static_cast<double>(fibre.length_mm) / 1e3;
    row["loss_db"] = fibre.loss.centi / 100.0;
    rows.append(row);
  }
  return rows;
}

py::list devices_of(const Fabric& fabric) {
  py::list rows;
  for (const Device& device : fabric.devices) {
    py::dict row;
    row["name"] = device.name;
    row["role"] = std::string(to_string(device.role));
    row["model"] = device.model.empty() ? py::object(py::none()) : py::object(py::str(device.model));
    row["node"] = fabric.nodes[device.agent.value].name;
    row["bus"] = fabric.buses[device.bus.value].name;
    row["endpoint"] = fabric.buses[device.bus.value].endpoint;
    row["elements"] = names_of(fabric, device.elements);
    rows.append(row);
  }
  return rows;
}

}  // namespace

void bind_fabric(py::module_& module) {
  py::class_<Fabric, std::shared_ptr<Fabric>>(module, "Fabric")
      .def_static(
          "load",
          [](const std::string& name_or_path, std::uint32_t nodes, const Settings& settings) {
            const auto fabric = unlocked([&] { return value_of(cli::fabric_named(name_or_path, nodes, settings)); });
            return std::const_pointer_cast<Fabric>(fabric);  // Python can change nothing of it
          },
          py::arg("name_or_path"), py::arg("nodes") = 0, py::arg("settings") = Settings{})
      .def_readonly("name", &Fabric::name)
      .def_readonly("architecture", &Fabric::architecture)
      .def_readonly("assumptions", &Fabric::assumptions)
      .def("nodes", &nodes_of)
      .def("elements", &elements_of)
      .def("fibres", &fibres_of)
      .def("devices", &devices_of);
}

}  // namespace loom::python
