// SPDX-License-Identifier: Apache-2.0
// Reading ODDL's shape off a fabric, and claiming wavelengths.
#include "controller/architectures/oddl/planes.hpp"

#include <algorithm>
#include <string>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// The AWG output that feeds a receiver, through at most a ring filter.
std::optional<PortRef> grating_before(const Fabric& fabric, ElementId receiver) {
  ElementId at = receiver;
  for (int step = 0; step < 3; ++step) {
    const auto& inputs = fabric.fibre_in[at.value];
    if (inputs.empty() || !inputs[0]) {
      return std::nullopt;
    }
    const PortRef from = fabric.fibres[inputs[0]->value].from;
    if (std::holds_alternative<ArrayedWaveguideGrating>(fabric.element(from.element).kind)) {
      return from;
    }
    at = from.element;
  }
  return std::nullopt;
}

bool is_fed_by_grating(const Fabric& fabric, ElementId receiver) {
  const PortRef from = fabric.fibres[fabric.fibre_in[receiver.value][0]->value].from;
  return std::holds_alternative<ArrayedWaveguideGrating>(fabric.element(from.element).kind);
}

/// The input of `grating` that the transmitter's fibre ends at.
std::optional<PortNumber> input_of(const Fabric& fabric, ElementId transmitter, ElementId grating) {
  const auto& fibre = fabric.fibre_out[transmitter.value][0];
  if (!fibre || fabric.fibres[fibre->value].to.element != grating) {
    return std::nullopt;
  }
  return fabric.fibres[fibre->value].to.port;
}

/// The one output and the one input of a router that no node's end hangs on, or nothing.
std::optional<OddlShape::Uplink> uplink_of(const Fabric& fabric, const Element& router) {
  std::vector<PortNumber> outputs;
  std::vector<PortNumber> inputs;
  for (PortNumber port = 0; port < router.outputs; ++port) {
    const auto& fibre = fabric.fibre_out[router.id.value][port];
    if (fibre && !std::holds_alternative<Receiver>(fabric.element(fabric.fibres[fibre->value].to.element).kind)) {
      outputs.push_back(port);
    }
  }
  for (PortNumber port = 0; port < router.inputs; ++port) {
    const auto& fibre = fabric.fibre_in[router.id.value][port];
    if (fibre && !std::holds_alternative<Transmitter>(fabric.element(fabric.fibres[fibre->value].from.element).kind)) {
      inputs.push_back(port);
    }
  }
  return outputs.size() == 1 && inputs.size() == 1 ? std::optional{OddlShape::Uplink{outputs[0], inputs[0]}} : std::nullopt;
}

std::unexpected<Error> not_alike(const Node& node, const std::string& what) {
  return fail(ErrorCode::unsupported, format_text("scheduler oddl: node {} has another {} than node 0", node.name, what));
}

/// What of the shape its first receiver says.
void begin(const Fabric& fabric, const Element& grating, ElementId transmitter, ElementId receiver, OddlShape& shape) {
  shape.channels = std::get<ArrayedWaveguideGrating>(grating.kind).channels;
  shape.period = grating.outputs;
  shape.ports = grating.outputs;
  shape.is_open = is_fed_by_grating(fabric, receiver);
  if (input_of(fabric, transmitter, grating.id)) {
    shape.uplink = uplink_of(fabric, grating);
    shape.ports = static_cast<PortNumber>(grating.outputs - 1);
  }
}

/// A node's ends of the planes, or why it has none. Other transceivers (a NIC on an electrical switch) are passed over.
Result<OddlPosition> position_of(const Fabric& fabric, const Node& node, OddlShape& shape) {
  OddlPosition position{node.group, 0, {}, {}};
  const std::size_t pairs = std::min(node.transmitters.size(), node.receivers.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto port = grating_before(fabric, node.receivers[i]);
    const auto* transmitter = std::get_if<Transmitter>(&fabric.element(node.transmitters[i]).kind);
    if (!port || transmitter == nullptr) {
      continue;
    }
    const Element& grating = fabric.element(port->element);
    const auto input = input_of(fabric, node.transmitters[i], grating.id);
    if (shape.period == 0) {
      begin(fabric, grating, node.transmitters[i], node.receivers[i], shape);
    }
    const ChannelPlan& channels = std::get<ArrayedWaveguideGrating>(grating.kind).channels;
    position.port = position.receivers.empty() ? port->port : position.port;
    if (channels != shape.channels || transmitter->channels != shape.channels || grating.outputs != shape.period ||
        port->port != position.port || (input && *input != position.port)) {
      return not_alike(node, "channel plan, AWG or port");
    }
    if (input && (!shape.uplink || uplink_of(fabric, grating) != shape.uplink)) {
      return fail(
          ErrorCode::unsupported,
          format_text("scheduler oddl: {}: expected one output and one input to other groups, at the same ports in every group",
                      grating.name));
    }
    if (input.has_value() != shape.uplink.has_value() || is_fed_by_grating(fabric, node.receivers[i]) != shape.is_open) {
      return not_alike(node, "kind of way to its neighbours or filter");
    }
    position.transmitters.push_back(node.transmitters[i]);
    position.receivers.push_back(node.receivers[i]);
  }
  if (position.receivers.empty()) {
    return fail(
        ErrorCode::unsupported,
        format_text("scheduler oddl: node {} has no cyclic AWG before its receiver; fabric \"{}\" is of architecture {}",
                    node.name, fabric.name, fabric.architecture));
  }
  const auto planes = static_cast<std::uint32_t>(position.receivers.size());
  shape.planes = shape.planes == 0 ? planes : shape.planes;
  if (planes != shape.planes) {
    return fail(ErrorCode::unsupported,
                format_text("scheduler oddl: node {} is on {} planes, node 0 on {}", node.name, planes, shape.planes));
  }
  return position;
}

}  // namespace

std::int32_t OddlShape::first_channel(const OddlPosition& source, const OddlPosition& destination) const {
  if (!uplink) {
    return destination.port;
  }
  const auto from_to = [&](std::int32_t input, std::int32_t output) { return (output - input + period) % period; };
  if (!by_wss(source, destination)) {
    return from_to(source.port, destination.port);
  }
  const std::int32_t up = from_to(source.port, uplink->output);
  return up == from_to(uplink->input, destination.port) ? up : kNoChannel;
}

std::int32_t OddlShape::channel_to(PortNumber port, std::uint32_t order) const {
  const std::int32_t first = uplink ? (port - uplink->input + period) % period : port;
  return first + static_cast<std::int32_t>(order) * period;
}

PortNumber OddlShape::partner(PortNumber port) const {
  return uplink ? static_cast<PortNumber>((uplink->output + uplink->input - port + period) % period) : port;
}

Result<OddlShape> read_oddl(const Fabric& fabric) {
  OddlShape shape;
  for (const Node& node : fabric.nodes) {
    auto position = position_of(fabric, node, shape);
    if (!position) {
      return std::unexpected(std::move(position).error());
    }
    shape.positions.push_back(*std::move(position));
    shape.groups = std::max(shape.groups, node.group + 1);
  }
  return shape;
}

StageMap::StageMap(const OddlShape& shape, std::uint32_t plane, WavelengthOwners& owners, JobIndex job)
    : shape_(shape),
      plane_(plane),
      owners_(owners),
      job_(job),
      destination_(static_cast<std::size_t>(shape.groups) * static_cast<std::size_t>(shape.channels.count), -1),
      source_(destination_) {}

std::optional<std::int32_t> StageMap::claim(const OddlPosition& source, const OddlPosition& destination, std::int32_t preferred,
                                            bool shared) {
  const std::int32_t first = shape_.first_channel(source, destination);
  if (first == kNoChannel || !shape_.by_wss(source, destination)) {
    return first == kNoChannel ? std::nullopt : std::optional{first};  // inside a group no other light takes this way
  }
  const auto target = static_cast<std::int32_t>(destination.group);
  if (shared) {
    for (std::int32_t channel = first; channel < shape_.channels.count; channel += shape_.period) {
      if (group_led_to(source.group, channel) == target) {
        return channel;
      }
    }
  }
  for (std::int32_t channel = first; !shape_.is_open && channel < shape_.channels.count; channel += shape_.period) {
    if (group_let_in(destination.group, channel) != -1) {
      return std::nullopt;  // the drop filter there is tuned to light of another group
    }
  }
  const auto take = [&](std::int32_t channel) {
    if (group_led_to(source.group, channel) != -1 || group_let_in(destination.group, channel) != -1 ||
        !owners_.admits(plane_, source.group, channel, job_)) {
      return false;
    }
    group_led_to(source.group, channel) = target;
    group_let_in(destination.group, channel) = static_cast<std::int32_t>(source.group);
    owners_.own(plane_, source.group, channel, job_);
    return true;
  };
  if (preferred >= first && preferred < shape_.channels.count && (preferred - first) % shape_.period == 0 && take(preferred)) {
    return preferred;
  }
  for (std::int32_t channel = first; channel < shape_.channels.count; channel += shape_.period) {
    if (take(channel)) {
      return channel;
    }
  }
  return std::nullopt;
}

}  // namespace loom
