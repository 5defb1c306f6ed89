// Reading ODDL's shape off a fabric, and claiming wavelengths.
#include "controller/schedule/oddl_planes.hpp"

#include <algorithm>
#include <string>

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

/// A node's ends of the planes, or why it has none. Other transceivers (a NIC on an electrical switch) are passed over.
Result<OddlSeat> seat_of(const Fabric& fabric, const Node& node, OddlShape& shape) {
  OddlSeat seat{node.group, 0, {}, {}};
  const std::size_t pairs = std::min(node.transmitters.size(), node.receivers.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto port = grating_before(fabric, node.receivers[i]);
    const auto* transmitter = std::get_if<Transmitter>(&fabric.element(node.transmitters[i]).kind);
    if (!port || transmitter == nullptr) {
      continue;
    }
    const Element& grating = fabric.element(port->element);
    const ChannelPlan& channels = std::get<ArrayedWaveguideGrating>(grating.kind).channels;
    if (shape.ports == 0) {
      shape.channels = channels;
      shape.ports = grating.outputs;
    }
    seat.port = seat.receivers.empty() ? port->port : seat.port;
    if (channels != shape.channels || transmitter->channels != shape.channels || grating.outputs != shape.ports ||
        port->port != seat.port) {
      return fail(ErrorCode::unsupported,
                  "scheduler oddl: node " + node.name + " has another channel plan, AWG or port than node 0");
    }
    seat.transmitters.push_back(node.transmitters[i]);
    seat.receivers.push_back(node.receivers[i]);
  }
  if (seat.receivers.empty()) {
    return fail(ErrorCode::unsupported, "scheduler oddl: node " + node.name +
                                            " has no cyclic AWG before its receiver; fabric \"" + fabric.name +
                                            "\" is of architecture " + fabric.architecture);
  }
  const auto planes = static_cast<std::uint32_t>(seat.receivers.size());
  shape.planes = shape.planes == 0 ? planes : shape.planes;
  if (planes != shape.planes) {
    return fail(ErrorCode::unsupported, "scheduler oddl: node " + node.name + " is on " + std::to_string(planes) +
                                            " planes, node 0 on " + std::to_string(shape.planes));
  }
  return seat;
}

}  // namespace

Result<OddlShape> read_oddl(const Fabric& fabric) {
  OddlShape shape;
  for (const Node& node : fabric.nodes) {
    auto seat = seat_of(fabric, node, shape);
    if (!seat) {
      return std::unexpected(std::move(seat).error());
    }
    shape.seats.push_back(*std::move(seat));
    shape.groups = std::max(shape.groups, node.group + 1);
  }
  return shape;
}

StageMap::StageMap(const OddlShape& shape, std::uint32_t plane, WavelengthOwners& owners, JobIndex job)
    : shape_(shape),
      plane_(plane),
      owners_(owners),
      job_(job),
      destination_(static_cast<std::size_t>(shape.groups) * static_cast<std::size_t>(shape.channels.count), -1) {}

std::optional<std::int32_t> StageMap::claim(const OddlSeat& source, const OddlSeat& destination, std::int32_t preferred,
                                            bool shared) {
  const auto place = [&](std::int32_t channel) -> std::int32_t& {
    return destination_[static_cast<std::size_t>(source.group) * static_cast<std::size_t>(shape_.channels.count) +
                        static_cast<std::size_t>(channel)];
  };
  const auto target = static_cast<std::int32_t>(destination.group);
  if (shared) {
    for (std::int32_t channel = destination.port; channel < shape_.channels.count; channel += shape_.ports) {
      if (place(channel) == target) {
        return channel;
      }
    }
  }
  const auto take = [&](std::int32_t channel) {
    if (place(channel) != -1 || !owners_.admits(plane_, source.group, channel, job_)) {
      return false;
    }
    place(channel) = target;
    owners_.own(plane_, source.group, channel, job_);
    return true;
  };
  if (preferred >= 0 && preferred < shape_.channels.count && preferred % shape_.ports == destination.port && take(preferred)) {
    return preferred;
  }
  for (std::int32_t channel = destination.port; channel < shape_.channels.count; channel += shape_.ports) {
    if (take(channel)) {
      return channel;
    }
  }
  return std::nullopt;
}

}  // namespace loom
