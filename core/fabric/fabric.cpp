// SPDX-License-Identifier: Apache-2.0
// Derived indices of a fabric, and every way in which one can be unlawful.
#include "core/fabric/fabric.hpp"

#include <algorithm>
#include <array>

#include "core/fabric/lit_tuning.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

template <class Rows>
void check_dense(const Rows& rows, const char* noun, std::vector<std::string>& faults) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].id.value != i) {
      faults.push_back(format_text("{} at place {}: has the id {}; ids must be dense from 0", noun, i, rows[i].id.value));
    }
  }
}

struct PortRange {
  PortNumber inputs_min = 1;
  PortNumber inputs_max = 0xffff;
  PortNumber outputs_min = 1;
  PortNumber outputs_max = 0xffff;
};

PortRange ports_of(const ElementKind& kind) {
  if (std::holds_alternative<Transmitter>(kind)) {
    return {0, 0, 1, 1};
  }
  if (std::holds_alternative<Receiver>(kind)) {
    return {1, 1, 0, 0};
  }
  if (std::holds_alternative<Amplifier>(kind) || std::holds_alternative<Attenuator>(kind)) {
    return {1, 1, 1, 1};
  }
  if (std::holds_alternative<RingFilter>(kind)) {
    return {1, 2, 2, 2};
  }
  return std::holds_alternative<Tap>(kind) ? PortRange{1, 1, 2, 2} : PortRange{};
}

std::string range_text(PortNumber least, PortNumber most) {
  return least == most    ? std::to_string(least)
         : most == 0xffff ? format_text("{} or more", least)
                          : format_text("{}..{}", least, most);
}

void check_panel(const Element& element, const PatchPanel& panel, std::vector<std::string>& faults) {
  std::vector<PortNumber> outputs = panel.wiring;
  std::sort(outputs.begin(), outputs.end());
  if (outputs.size() != element.inputs || std::adjacent_find(outputs.begin(), outputs.end()) != outputs.end() ||
      (!outputs.empty() && outputs.back() >= element.outputs)) {
    faults.push_back(format_text("patch panel {}: each input must lead to an output of its own", element.name));
  }
}

/// A value of a kind that no device of that kind can have.
std::string unlawful_value(const ElementKind& kind) {
  if (const auto* amplifier = std::get_if<Amplifier>(&kind); amplifier && amplifier->input_max <= amplifier->input_min) {
    return "input_max is not above input_min";
  }
  if (const GainRange range = gain_range(kind); usual_gain(kind) < range.least || usual_gain(kind) > range.most) {
    return std::holds_alternative<Amplifier>(kind) ? "gain is not within gain_min and gain_max" : "loss is above loss_max";
  }
  if (const auto* receiver = std::get_if<Receiver>(&kind); receiver && receiver->overload <= receiver->sensitivity) {
    return "overload is not above the sensitivity";
  }
  if (const auto* grating = std::get_if<ArrayedWaveguideGrating>(&kind);
      grating && (grating->channels.count < 1 || grating->channels.step_n < 1 || grating->passband.mhz < 1)) {
    return "it has no channels, no spacing or no passband";
  }
  if (const auto* packet = std::get_if<PacketSwitch>(&kind); packet && packet->port_rate.bits_per_second < 1) {
    return "port_rate is not above 0";
  }
  const auto* ring = std::get_if<RingFilter>(&kind);
  if (ring == nullptr) {
    return {};
  }
  if (ring->fwhm.mhz < 1 || !(ring->mhz_per_milliwatt > 0) || !(ring->heater_ohm > 0) || !(ring->heater_volt_max > 0)) {
    return "fwhm, tuning efficiency, heater resistance and voltage must be above 0";
  }
  return ring->free_spectral_range.mhz != 0 && ring->free_spectral_range <= ring->fwhm
             ? format_text("free spectral range {} MHz is not above fwhm {} MHz", ring->free_spectral_range.mhz, ring->fwhm.mhz)
             : std::string{};
}

void check_elements(const Fabric& fabric, std::vector<std::string>& faults) {
  for (const Element& element : fabric.elements) {
    if (const auto* panel = std::get_if<PatchPanel>(&element.kind)) {
      check_panel(element, *panel, faults);
    }
    const PortRange ports = ports_of(element.kind);
    if (element.inputs < ports.inputs_min || element.inputs > ports.inputs_max || element.outputs < ports.outputs_min ||
        element.outputs > ports.outputs_max) {
      faults.push_back(format_text("{}: has {} inputs and {} outputs; its kind has {} and {}", element.name, element.inputs,
                                   element.outputs, range_text(ports.inputs_min, ports.inputs_max),
                                   range_text(ports.outputs_min, ports.outputs_max)));
    }
    if (const std::string unlawful = unlawful_value(element.kind); !unlawful.empty()) {
      faults.push_back(format_text("{}: {}", element.name, unlawful));
    }
    if (element.insertion_loss < Db{0}) {
      faults.push_back(element.name + ": insertion loss is below 0; what gains is an amplifier");
    }
  }
}

/// Light of a packet switch's ports is in no plan, so nothing that a plan sets may be on its way.
void check_packet_fibre(const Fabric& fabric, const Fibre& fibre, std::vector<std::string>& faults) {
  const Element& from = fabric.element(fibre.from.element);
  const Element& to = fabric.element(fibre.to.element);
  const bool lawful_out = std::holds_alternative<Receiver>(to.kind) || std::holds_alternative<PacketSwitch>(to.kind);
  const bool lawful_in = std::holds_alternative<Transmitter>(from.kind) || std::holds_alternative<PacketSwitch>(from.kind);
  if ((std::holds_alternative<PacketSwitch>(from.kind) && !lawful_out) ||
      (std::holds_alternative<PacketSwitch>(to.kind) && !lawful_in)) {
    faults.push_back(
        format_text("fibre {}: joins {} and {}; a port of a packet switch goes straight to a transmitter, a receiver or "
                    "another packet switch",
                    fibre.id.value, from.name, to.name));
  }
}

void check_ports(const Fabric& fabric, std::vector<std::string>& faults) {
  std::vector<std::vector<bool>> used_out(fabric.elements.size());
  std::vector<std::vector<bool>> used_in(fabric.elements.size());
  for (std::size_t i = 0; i < fabric.elements.size(); ++i) {
    used_out[i].resize(fabric.elements[i].outputs);
    used_in[i].resize(fabric.elements[i].inputs);
  }
  for (const Fibre& fibre : fabric.fibres) {
    const std::string name = format_text("fibre {}", fibre.id.value);
    if (fibre.from.element.value >= fabric.elements.size() || fibre.to.element.value >= fabric.elements.size()) {
      faults.push_back(name + ": ends at an element that does not exist");
      continue;
    }
    const Element& from = fabric.element(fibre.from.element);
    const Element& to = fabric.element(fibre.to.element);
    if (fibre.from.port >= from.outputs || fibre.to.port >= to.inputs) {
      faults.push_back(format_text("{}: {} has outputs 0..{} (exclusive) and {} inputs 0..{} (exclusive)", name, from.name,
                                   from.outputs, to.name, to.inputs));
      continue;
    }
    if (used_out[fibre.from.element.value][fibre.from.port] || used_in[fibre.to.element.value][fibre.to.port]) {
      faults.push_back(format_text("{}: two fibres at one port ({} output {} or {} input {})", name, from.name, fibre.from.port,
                                   to.name, fibre.to.port));
    }
    check_packet_fibre(fabric, fibre, faults);
    used_out[fibre.from.element.value][fibre.from.port] = true;
    used_in[fibre.to.element.value][fibre.to.port] = true;
  }
}

template <class Kind>
void check_owned(const Fabric& fabric, const Node& node, const std::vector<ElementId>& ids, std::vector<bool>& owned,
                 std::vector<std::string>& faults) {
  for (const ElementId id : ids) {
    if (id.value >= fabric.elements.size()) {
      faults.push_back(format_text("node {}: element {} does not exist", node.name, id.value));
      continue;
    }
    if (!std::holds_alternative<Kind>(fabric.element(id).kind)) {
      faults.push_back(
          format_text("node {}: {} is listed among transmitters or receivers and is none", node.name, fabric.element(id).name));
    }
    if (owned[id.value]) {
      faults.push_back(format_text("node {}: {} has two owners", node.name, fabric.element(id).name));
    }
    owned[id.value] = true;
  }
}

void check_nodes(const Fabric& fabric, std::vector<std::string>& faults) {
  std::vector<bool> owned(fabric.elements.size());
  for (const Node& node : fabric.nodes) {
    check_owned<Transmitter>(fabric, node, node.transmitters, owned, faults);
    check_owned<Receiver>(fabric, node, node.receivers, owned, faults);
  }
}

void check_devices(const Fabric& fabric, std::vector<std::string>& faults) {
  std::vector<bool> driven(fabric.elements.size());
  for (const Device& device : fabric.devices) {
    if (device.agent.value >= fabric.nodes.size()) {
      faults.push_back(format_text("device {}: agent {} is not a node", device.name, device.agent.value));
    }
    if (device.bus.value >= fabric.buses.size()) {
      faults.push_back(format_text("device {}: bus {} does not exist", device.name, device.bus.value));
    } else if (fabric.buses[device.bus.value].agent != device.agent) {
      faults.push_back(format_text("device {}: its bus belongs to another agent", device.name));
    }
    const bool has_channels = device.role == DeviceRole::filter || device.role == DeviceRole::monitor;
    const std::size_t most = has_channels ? limits::kRingsPerBank : 1;
    if (device.elements.empty() || device.elements.size() > most) {
      faults.push_back(format_text("device {}: drives {} elements; a device of its kind drives 1..{}", device.name,
                                   device.elements.size(), most));
    }
    for (const ElementId element : device.elements) {
      if (element.value >= fabric.elements.size()) {
        faults.push_back(format_text("device {}: element {} does not exist", device.name, element.value));
        continue;
      }
      if (!drives(device.role, fabric.element(element).kind)) {
        faults.push_back(
            format_text("device {}: is of a kind that cannot drive {}", device.name, fabric.element(element).name));
      }
      if (driven[element.value]) {
        faults.push_back(format_text("device {}: {} has two drivers", device.name, fabric.element(element).name));
      }
      driven[element.value] = true;
    }
  }
}

}  // namespace

std::string_view to_string(DeviceRole role) {
  static constexpr std::array<std::string_view, kDeviceRoles.size()> kWords{"transmitter",    "filter",  "wavelength_switch",
                                                                            "circuit_switch", "monitor", "gain_stage"};
  return kWords.at(static_cast<std::size_t>(role));
}

bool drives(DeviceRole device, const ElementKind& element) {
  switch (device) {
    case DeviceRole::transmitter:
      return std::holds_alternative<Transmitter>(element);
    case DeviceRole::filter:
      return std::holds_alternative<RingFilter>(element);
    case DeviceRole::wavelength_switch:
      return std::holds_alternative<WavelengthSelectiveSwitch>(element);
    case DeviceRole::circuit_switch:
      return std::holds_alternative<OpticalCircuitSwitch>(element);
    case DeviceRole::monitor:
      return std::holds_alternative<Receiver>(element);
    case DeviceRole::gain_stage:
      return std::holds_alternative<Amplifier>(element) || std::holds_alternative<Attenuator>(element);
  }
  return false;
}

GainRange gain_range(const ElementKind& element) {
  if (const auto* amplifier = std::get_if<Amplifier>(&element)) {
    return {amplifier->gain_min.value_or(amplifier->gain), amplifier->gain_max.value_or(amplifier->gain)};
  }
  const auto* attenuator = std::get_if<Attenuator>(&element);
  return attenuator == nullptr ? GainRange{} : GainRange{-attenuator->loss_max, Db{0}};
}

Db usual_gain(const ElementKind& element) {
  if (const auto* amplifier = std::get_if<Amplifier>(&element)) {
    return amplifier->gain;
  }
  const auto* attenuator = std::get_if<Attenuator>(&element);
  return attenuator == nullptr ? Db{0} : -attenuator->loss;
}

std::vector<std::string> check_fabric(const Fabric& fabric) {
  std::vector<std::string> faults;
  check_dense(fabric.nodes, "node", faults);
  check_dense(fabric.elements, "element", faults);
  check_dense(fabric.devices, "device", faults);
  check_dense(fabric.buses, "bus", faults);
  check_dense(fabric.fibres, "fibre", faults);
  check_elements(fabric, faults);
  check_nodes(fabric, faults);
  for (const Bus& bus : fabric.buses) {
    if (bus.agent.value >= fabric.nodes.size()) {
      faults.push_back(format_text("bus {}: agent {} is not a node", bus.name, bus.agent.value));
    }
  }
  check_ports(fabric, faults);
  check_devices(fabric, faults);
  if (faults.empty()) {
    faults = check_lit_tuning(fabric);
  }
  return faults;
}

void build_index(Fabric& fabric) {
  const std::size_t elements = fabric.elements.size();
  fabric.fibre_out.assign(elements, [&](std::size_t i) { return fabric.elements[i].outputs; });
  fabric.fibre_in.assign(elements, [&](std::size_t i) { return fabric.elements[i].inputs; });
  for (const Fibre& fibre : fabric.fibres) {
    fabric.fibre_out.set(fibre.from.element, fibre.from.port, fibre.id);
    fabric.fibre_in.set(fibre.to.element, fibre.to.port, fibre.id);
  }
  fabric.device_of_element.assign(elements, std::nullopt);
  fabric.index_in_device.assign(elements, 0);
  fabric.devices_of_agent.assign(fabric.nodes.size(), {});
  for (const Device& device : fabric.devices) {
    fabric.devices_of_agent[device.agent.value].push_back(device.id);
    for (std::size_t i = 0; i < device.elements.size(); ++i) {
      fabric.device_of_element[device.elements[i].value] = device.id;
      fabric.index_in_device[device.elements[i].value] = static_cast<std::uint16_t>(i);
    }
  }
  fabric.node_of_element.assign(elements, std::nullopt);
  for (const Node& node : fabric.nodes) {
    for (const auto* list : {&node.transmitters, &node.receivers}) {
      for (const ElementId id : *list) {
        fabric.node_of_element[id.value] = node.id;
      }
    }
  }
  fabric.steers_others = find_steering(fabric);
  // Whoever runs keeps a fabric for as long as he lives, and a row has some hundred bytes.
  fabric.elements.shrink_to_fit();
  fabric.fibres.shrink_to_fit();
  fabric.buses.shrink_to_fit();
  fabric.devices.shrink_to_fit();
}

}  // namespace loom
