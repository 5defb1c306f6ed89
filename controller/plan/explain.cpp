// SPDX-License-Identifier: Apache-2.0
// The path finder prefers the plan's own positions, so on a plan that carries the circuit it finds the way that is set.
#include "controller/plan/explain.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kHopsMost = 64;

/// Is this hop what the plan sets? Elements without a choice always are.
bool is_set(const Fabric& fabric, const Positions& positions, const Hop& hop, FrequencySlot slot) {
  const Element& element = fabric.element(hop.element);
  const auto& routes = positions.routes[hop.element.value];
  if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
    return std::any_of(routes.begin(), routes.end(), [&](const WssRoute& route) {
      return route.slot == slot && route.input == hop.input && route.output == hop.output;
    });
  }
  return !std::holds_alternative<OpticalCircuitSwitch>(element.kind) ||
         connects_to(positions.connects[hop.element.value], hop.input, hop.output);
}

Db attenuation_of(const Positions& positions, const Hop& hop, FrequencySlot slot) {
  for (const WssRoute& route : positions.routes[hop.element.value]) {
    if (route.slot == slot && route.input == hop.input) {
      return route.attenuation;
    }
  }
  return {};
}

/// As the plan has it; of what no device drives, as the fabric does.
Db gain_of(const Fabric& fabric, const Plan& plan, const Element& element) {
  const auto device = fabric.device_of_element[element.id.value];
  if (!device) {
    return usual_gain(element.kind);
  }
  const auto& planned = plan.nodes[fabric.device(*device).agent.value].devices;
  const auto found = std::ranges::find(planned, *device, &DevicePlan::device);
  const auto* stage = found == planned.end() ? nullptr : std::get_if<GainSetpoint>(&found->timeline.front().setpoint);
  return stage == nullptr ? usual_gain(element.kind) : stage->gain;
}

Dbm launch_power(const Fabric& fabric, const Plan& plan, const Circuit& circuit) {
  const auto device = fabric.device_of_element[circuit.transmitter.value];
  for (const DevicePlan& candidate : plan.nodes[circuit.source.value].devices) {
    const auto* laser = std::get_if<TransmitterSetpoint>(&candidate.timeline.front().setpoint);
    if (device == candidate.device && laser != nullptr) {
      return laser->power;
    }
  }
  return std::get<Transmitter>(fabric.element(circuit.transmitter).kind).launch_power;
}

}  // namespace

std::vector<std::uint32_t> lit_ways(const Fabric& fabric, const Plan& plan) {
  std::vector<std::uint32_t> ways(fabric.devices.size());
  const Positions positions = positions_of(fabric, plan);
  for (const Circuit& circuit : plan.circuits) {
    PortRef at{circuit.transmitter, 0};
    for (std::size_t hops = 0; hops < kHopsMost; ++hops) {
      const auto& fibre = fabric.fibre_out[at.element.value][at.port];
      const PortRef to = fibre ? fabric.fibres[fibre->value].to : at;
      const auto& connects = positions.connects[to.element.value];
      const auto way =
          std::find_if(connects.begin(), connects.end(), [&](const CrossConnect& connect) { return connect.input == to.port; });
      if (!fibre || way == connects.end()) {
        break;
      }
      if (const auto device = fabric.device_of_element[to.element.value]) {
        ++ways[device->value];
      }
      at = {to.element, way->output};
    }
  }
  return ways;
}

std::string_view kind_of(const Element& element) {
  static constexpr std::array<std::string_view, 12> kWords{"transmitter", "receiver",   "coupler", "wss",
                                                           "awg",         "amplifier",  "ring",    "ocs",
                                                           "patch panel", "attenuator", "tap",     "packet switch"};
  static_assert(std::variant_size_v<ElementKind> == kWords.size());
  return kWords[element.kind.index()];
}

namespace {

Result<std::vector<LitHop>> trace(const Fabric& fabric, const Plan& plan, const Positions& positions, PathFinder& finder,
                                  const Circuit& circuit) {
  const auto path = finder.route_light(circuit);
  if (!path) {
    return fail(ErrorCode::infeasible,
                format_text("circuit {}: the fabric has no way at {} from node {} to node {}", circuit.id.value,
                            to_string(centre_of(circuit.slot)), circuit.source.value, circuit.destination.value),
                "loom schedule show");
  }
  Dbm power = launch_power(fabric, plan, circuit);
  std::vector<LitHop> hops;
  for (const Hop& hop : *path) {
    const Element& element = fabric.element(hop.element);
    if (!is_set(fabric, positions, hop, circuit.slot)) {
      return fail(ErrorCode::infeasible, format_text("circuit {}: {} is not set to carry it", circuit.id.value, element.name),
                  "loom schedule diff");
    }
    const Db inside = element.insertion_loss + attenuation_of(positions, hop, circuit.slot) - gain_of(fabric, plan, element);
    const bool is_transmitter = std::holds_alternative<Transmitter>(element.kind);
    power = is_transmitter ? power : power + (-inside);
    const bool has_fibre = hop.output < element.outputs && fabric.fibre_out[hop.element.value][hop.output].has_value();
    const Db fibre = has_fibre ? fabric.fibres[fabric.fibre_out[hop.element.value][hop.output]->value].loss : Db{0};
    hops.push_back({hop, is_transmitter ? fibre : inside + fibre, power});
    power = power + (-fibre);
  }
  return hops;
}

}  // namespace

Result<std::vector<LitHop>> trace_circuit(const Fabric& fabric, const Plan& plan, const Circuit& circuit) {
  const Positions positions = positions_of(fabric, plan);
  PathFinder finder(fabric, positions);
  return trace(fabric, plan, positions, finder, circuit);
}

PowerTrace::PowerTrace(const Fabric& fabric, const Plan& plan)
    : fabric_(fabric), plan_(plan), positions_(positions_of(fabric, plan)), finder_(fabric, positions_) {}

std::optional<Dbm> PowerTrace::at_receiver(const Circuit& light) {
  const auto hops = trace(fabric_, plan_, positions_, finder_, light);
  return hops && !hops->empty() ? std::optional(hops->back().power_out) : std::nullopt;
}

}  // namespace loom
