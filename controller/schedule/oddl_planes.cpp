// Reading ODDL's shape off a fabric, and claiming wavelength planes.
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

}  // namespace

Result<OddlShape> read_oddl(const Fabric& fabric) {
  OddlShape shape;
  for (const Node& node : fabric.nodes) {
    if (node.transmitters.empty() || node.receivers.empty()) {
      return fail(ErrorCode::unsupported, "scheduler oddl: node " + node.name + " has no transmitter or no receiver");
    }
    const auto port = grating_before(fabric, node.receivers[0]);
    const auto* transmitter = std::get_if<Transmitter>(&fabric.element(node.transmitters[0]).kind);
    if (!port || transmitter == nullptr) {
      return fail(ErrorCode::unsupported, "scheduler oddl: node " + node.name +
                                              " has no cyclic AWG before its receiver; fabric \"" + fabric.name +
                                              "\" is of architecture " + fabric.architecture);
    }
    const Element& grating = fabric.element(port->element);
    const ChannelPlan& channels = std::get<ArrayedWaveguideGrating>(grating.kind).channels;
    if (node.id.value == 0) {
      shape.channels = channels;
      shape.ports = grating.outputs;
    }
    if (channels != shape.channels || transmitter->channels != shape.channels || grating.outputs != shape.ports) {
      return fail(ErrorCode::unsupported, "scheduler oddl: node " + node.name + " has another channel plan or AWG than node 0");
    }
    shape.seats.push_back({node.group, port->port, node.transmitters[0], node.receivers[0]});
    shape.groups = std::max(shape.groups, node.group + 1);
  }
  return shape;
}

StageMap::StageMap(const OddlShape& shape, Planes& planes, JobIndex job)
    : shape_(shape),
      planes_(planes),
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
    if (place(channel) != -1 || !planes_.admits(source.group, channel, job_)) {
      return false;
    }
    place(channel) = target;
    planes_.own(source.group, channel, job_);
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
