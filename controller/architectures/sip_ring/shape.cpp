// SPDX-License-Identifier: Apache-2.0
// Walks each bus once round, from filter to filter.
#include "controller/architectures/sip_ring/shape.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// An add/drop filter with its node's transmitter behind it and receiver before it.
struct Stop {
  NodeId node;
  RingPosition bus_position;
  FrequencySlot slot;
};

class Reader {
 public:
  explicit Reader(const Fabric& fabric)
      : fabric_(fabric), stops_(fabric.elements.size()), visited_(fabric.elements.size()), reach_(~0U) {}

  Result<SipRingShape> read() {
    for (const Node& node : fabric_.nodes) {
      LOOM_TRY(read_node(node));
    }
    for (const Element& element : fabric_.elements) {
      if (stops_[element.id.value] && !visited_[element.id.value]) {
        LOOM_TRY(walk(element.id));
      }
    }
    if (shape_.buses.empty()) {
      return unsupported("it has no ring of add/drop filters");
    }
    shape_.reach = reach_;
    return std::move(shape_);
  }

 private:
  Error unsupported_error(const std::string& why) const {
    return {ErrorCode::unsupported, format_text("scheduler sip-ring: fabric \"{}\" is of architecture {}: {}", fabric_.name,
                                                fabric_.architecture, why)};
  }
  std::unexpected<Error> unsupported(const std::string& why) const { return std::unexpected(unsupported_error(why)); }

  Result<void> read_node(const Node& node) {
    if (node.transmitters.empty() || node.receivers.size() != node.transmitters.size()) {
      return unsupported(format_text("node {} has {} transmitters and {} receivers, not one pair a wavelength", node.name,
                                     node.transmitters.size(), node.receivers.size()));
    }
    for (const ElementId transmitter : node.transmitters) {
      const auto& out = fabric_.fibre_out[transmitter.value][0];
      const PortRef filter = out ? fabric_.fibres[out->value].to : PortRef{};
      if (!out || !std::holds_alternative<RingFilter>(fabric_.element(filter.element).kind) || filter.port != 1) {
        return unsupported("no add/drop filter behind transmitter " + fabric_.element(transmitter).name);
      }
      const auto& drop = fabric_.fibre_out[filter.element.value][1];
      const ElementId receiver = drop ? fabric_.fibres[drop->value].to.element : ElementId{};
      if (!drop || fabric_.node_of_element[receiver.value] != node.id) {
        return unsupported(
            format_text("filter {} does not drop to a receiver of node {}", fabric_.element(filter.element).name, node.name));
      }
      const auto& channels = std::get<Transmitter>(fabric_.element(transmitter).kind).channels;
      stops_[filter.element.value] = Stop{node.id, {transmitter, receiver}, channels.first};
    }
    return {};
  }

  /// Once round the bus of this filter.
  Result<void> walk(ElementId first) {
    std::vector<Stop> stops;
    std::int32_t loss = 0;
    ElementId at = first;
    do {
      visited_[at.value] = true;
      const Element& element = fabric_.element(at);
      loss += element.insertion_loss.centi;
      if (stops_[at.value]) {
        stops.push_back(*stops_[at.value]);
      } else if (const auto* amplifier = std::get_if<Amplifier>(&element.kind)) {
        loss -= amplifier->gain.centi;
      }
      const auto& next = fabric_.fibre_out[at.value][0];
      if (!next || stops.size() > fabric_.elements.size()) {
        return unsupported(format_text("the bus of filter {} ends at {}", fabric_.element(first).name, element.name));
      }
      loss += fabric_.fibres[next->value].loss.centi;
      at = fabric_.fibres[next->value].to.element;
      if (at != first && visited_[at.value]) {
        return unsupported(format_text("the bus of filter {} never comes back to it", fabric_.element(first).name));
      }
    } while (at != first);
    LOOM_TRY(add_bus(first, stops));
    measure(first, stops.front(), loss);
    return {};
  }

  Result<void> add_bus(ElementId first, const std::vector<Stop>& stops) {
    const std::string name = "the bus of filter " + fabric_.element(first).name;
    std::vector<NodeId> order;
    std::vector<bool> seen(fabric_.nodes.size());
    for (const Stop& stop : stops) {
      if (!seen[stop.node.value]) {
        seen[stop.node.value] = true;
        order.push_back(stop.node);
      }
    }
    if (order.size() != fabric_.nodes.size() || order.size() < 2) {
      return unsupported(format_text("{} visits {} of {} nodes", name, order.size(), fabric_.nodes.size()));
    }
    if (shape_.nodes.empty()) {
      shape_.nodes = order;
      shape_.position.resize(order.size());
      for (std::uint32_t i = 0; i < order.size(); ++i) {
        shape_.position[order[i].value] = i;
      }
    }
    const auto count = static_cast<std::uint32_t>(order.size());
    const std::uint32_t step = (shape_.position[order[1].value] + count - shape_.position[order[0].value]) % count;
    for (std::uint32_t i = 0; i < count; ++i) {
      const NodeId next = order[(i + 1) % count];
      if ((shape_.position[order[i].value] + step) % count != shape_.position[next.value] || (step != 1 && step + 1 != count)) {
        return unsupported(name + " visits the nodes in another order than the first bus");
      }
    }
    std::map<FrequencySlot, std::vector<std::optional<RingPosition>>> positions;
    for (const Stop& stop : stops) {
      auto& row = positions[stop.slot];
      row.resize(count);
      row[shape_.position[stop.node.value]] = stop.bus_position;
    }
    shape_.buses.push_back({step == 1 ? RingDirection::clockwise : RingDirection::counter_clockwise,
                            static_cast<std::uint32_t>(positions.size())});
    shape_.slots.emplace_back();
    shape_.positions.emplace_back();
    for (const auto& [slot, row] : positions) {
      std::vector<RingPosition> complete;
      for (const auto& bus_position : row) {
        if (!bus_position) {
          return unsupported(format_text("{}: a node has no filter at {}", name, to_string(centre_of(slot))));
        }
        complete.push_back(*bus_position);
      }
      shape_.slots.back().push_back(slot);
      shape_.positions.back().push_back(std::move(complete));
    }
    return {};
  }

  /// Hops between sensitivity and launch power, at the bus's mean loss a hop; verify judges the exact way.
  void measure(ElementId filter, const Stop& stop, std::int32_t lap_loss) {
    const auto& transmitter = std::get<Transmitter>(fabric_.element(stop.bus_position.transmitter).kind);
    const auto& receiver = std::get<Receiver>(fabric_.element(stop.bus_position.receiver).kind);
    const auto& ring = std::get<RingFilter>(fabric_.element(filter).kind);
    const auto nodes = static_cast<std::int32_t>(fabric_.nodes.size());
    const std::int32_t hop = (lap_loss + nodes - 1) / nodes;
    const std::int32_t budget = (transmitter.launch_power - receiver.sensitivity).centi - 2 * ring.drop_loss.centi -
                                2 * fabric_.element(filter).insertion_loss.centi;
    const std::int32_t hops = hop <= 0 ? nodes : std::max(0, budget / hop);
    reach_ = std::min(reach_, static_cast<std::uint32_t>(hops));
  }

  const Fabric& fabric_;
  std::vector<std::optional<Stop>> stops_;  ///< by filter element
  std::vector<bool> visited_;
  std::uint32_t reach_;
  SipRingShape shape_;
};

}  // namespace

Result<SipRingShape> read_sip_ring(const Fabric& fabric) { return Reader(fabric).read(); }

}  // namespace loom
