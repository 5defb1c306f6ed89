// SPDX-License-Identifier: Apache-2.0
// Follows each interface's fibres to its switch.
#include "controller/architectures/topoopt/interfaces.hpp"

#include <string>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

bool is_switch(const Element& element) { return std::holds_alternative<OpticalCircuitSwitch>(element.kind); }

/// Where a fibre from this output ends, or (backwards) where the one to this input begins.
std::optional<PortRef> across(const Fabric& fabric, PortRef port, bool backwards) {
  const auto& fibres = backwards ? fabric.fibre_in[port.element.value] : fabric.fibre_out[port.element.value];
  if (port.port >= fibres.size() || !fibres[port.port]) {
    return std::nullopt;
  }
  const Fibre& fibre = fabric.fibres[fibres[port.port]->value];
  return backwards ? fibre.from : fibre.to;
}

/// What one end of an interface is cabled to: a port of a switch, or of two behind a 1x2 switch.
struct Way {
  std::array<PortRef, 2> at;
  std::optional<ElementId> flip;
};

std::optional<Way> way_of(const Fabric& fabric, ElementId end, bool backwards) {
  const auto next = across(fabric, {end, 0}, backwards);
  if (!next || !is_switch(fabric.element(next->element))) {
    return std::nullopt;
  }
  const Element& first = fabric.element(next->element);
  const bool is_flip = (backwards ? first.outputs : first.inputs) == 1 && (backwards ? first.inputs : first.outputs) == 2;
  if (!is_flip) {
    return Way{{*next, *next}, std::nullopt};
  }
  const auto a = across(fabric, {next->element, 0}, backwards);
  const auto b = across(fabric, {next->element, 1}, backwards);
  if (!a || !b || !is_switch(fabric.element(a->element)) || !is_switch(fabric.element(b->element))) {
    return std::nullopt;
  }
  return Way{{*a, *b}, next->element};
}

std::optional<Interface> interface_of(const Fabric& fabric, ElementId transmitter, ElementId receiver) {
  const auto out = way_of(fabric, transmitter, false);
  const auto in = way_of(fabric, receiver, true);
  if (!out || !in || out->flip.has_value() != in->flip.has_value()) {
    return std::nullopt;
  }
  Interface made;
  made.transmitter = transmitter;
  made.receiver = receiver;
  made.input = out->at[0].port;
  made.output = in->at[0].port;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto device = fabric.device_of_element[out->at[side].element.value];
    const bool is_same =
        out->at[side].element == in->at[side].element && out->at[side].port == made.input && in->at[side].port == made.output;
    if (!device || !is_same) {
      return std::nullopt;
    }
    made.panels[side] = *device;
  }
  if (out->flip) {
    const auto transmit = fabric.device_of_element[out->flip->value];
    const auto receive = fabric.device_of_element[in->flip->value];
    if (!transmit || !receive) {
      return std::nullopt;
    }
    made.look_ahead = Interface::LookAhead{*transmit, *receive};
  }
  return made;
}

std::unexpected<Error> refuse(const Fabric& fabric, const Node& node, const std::string& what) {
  return fail(ErrorCode::unsupported, format_text("scheduler topoopt: node {} {}; fabric \"{}\" is of architecture {}",
                                                  node.name, what, fabric.name, fabric.architecture));
}

}  // namespace

Result<Cabling> read_cabling(const Fabric& fabric) {
  Cabling cabling;
  for (const Node& node : fabric.nodes) {
    if (node.transmitters.empty() || node.transmitters.size() != node.receivers.size() ||
        (!cabling.interfaces.empty() && node.transmitters.size() != cabling.interfaces.front().size())) {
      return refuse(fabric, node,
                    format_text("has {} transmitters and {} receivers, not as many as the others", node.transmitters.size(),
                                node.receivers.size()));
    }
    cabling.interfaces.emplace_back();
    for (std::size_t k = 0; k < node.transmitters.size(); ++k) {
      auto interface = interface_of(fabric, node.transmitters[k], node.receivers[k]);
      if (!interface) {
        return refuse(
            fabric, node,
            format_text("has an interface {} that is not cabled to a circuit switch, nor through 1x2 switches to two", k));
      }
      cabling.interfaces.back().push_back(*interface);
    }
  }
  if (cabling.interfaces.empty()) {
    return fail(ErrorCode::unsupported, format_text("scheduler topoopt: fabric \"{}\" has no nodes", fabric.name));
  }
  const std::vector<Interface>& first = cabling.interfaces.front();
  cabling.is_duplex = first.size() % 2 == 0;
  for (std::size_t k = 0; k + 1 < first.size(); k += 2) {
    cabling.is_duplex = cabling.is_duplex && first[k].panels == first[k + 1].panels;
  }
  return cabling;
}

}  // namespace loom
