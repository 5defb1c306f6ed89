// SPDX-License-Identifier: Apache-2.0
// Mirrors that turn.
#include "sim_backend/devices/ocs/circuit_switch_model.hpp"

#include <algorithm>

#include "sim_backend/devices/wire.hpp"

namespace loom {
namespace {

constexpr Dbm kDarkPort{-6'000};   ///< what a monitor says of no light
constexpr Db kInsertionLoss{100};  ///< Polatis class, about 1 dB [K]

bool holds(const std::vector<std::uint32_t>& ports, std::uint32_t port) {
  return std::ranges::find(ports, port) != ports.end();
}

}  // namespace

CircuitSwitchModel::CircuitSwitchModel(const Device& device, const Element& element, const SimDeviceOptions& options,
                                       PortRectangle ports)
    : SimulatedDevice(device.id, options),
      serial_(device.serial.empty() ? std::to_string(100'000 + device.id.value) : device.serial),
      element_(element.id),
      ports_(ports),
      settle_max_(std::get<OpticalCircuitSwitch>(element.kind).settle_max),
      outputs_(ports.whole.inputs, -1),
      shut_(ports.whole.inputs + ports.whole.outputs) {
  for (const CrossConnect each : options.ocs.occupied) {
    if (each.input < ports.whole.inputs && each.output < ports.whole.outputs) {
      outputs_[each.input] = each.output;
    }
  }
  for (const std::uint32_t port : options.ocs.shut) {
    if (port < shut_.size()) {
      shut_[port] = true;
    }
  }
}

std::vector<CrossConnect> CircuitSwitchModel::inside() const {
  std::vector<CrossConnect> all;
  for (std::size_t input = 0; input < outputs_.size(); ++input) {
    const bool passes =
        outputs_[input] >= 0 && !shut_[input] && !shut_[ports_.whole.inputs + static_cast<std::uint32_t>(outputs_[input])];
    if (passes) {
      all.push_back({static_cast<std::uint16_t>(input), static_cast<std::uint16_t>(outputs_[input])});
    }
  }
  return ports_.seen_of(all).inside;
}

OpticalState CircuitSwitchModel::light(Instant at) const {
  OcsLight light;
  if (has_fault(DeviceFaultKind::fail, at)) {
    return light;
  }
  if (motion_.is_over(at)) {
    light.connects = inside();
    return light;
  }
  light.connects = motion_.steady();
  light.moving = motion_.moving();
  return light;
}

std::vector<CrossConnect> CircuitSwitchModel::listed(Instant at) const {
  const auto seen = std::get<OcsLight>(light(at));
  std::vector<CrossConnect> all;
  for (std::size_t input = 0; input < outputs_.size() && !has_fault(DeviceFaultKind::fail, at); ++input) {
    if (outputs_[input] >= 0) {
      all.push_back({static_cast<std::uint16_t>(input), static_cast<std::uint16_t>(outputs_[input])});
    }
  }
  std::erase_if(all, [&](const CrossConnect& each) {
    const SeenConnects one = ports_.seen_of({&each, 1});
    return !one.inside.empty() && std::ranges::find(seen.moving, one.inside.front()) != seen.moving.end();
  });
  return all;
}

void CircuitSwitchModel::append_breakpoints(Instant, std::vector<Instant>& instants) const {
  instants.push_back(motion_.end());
}

void CircuitSwitchModel::misroute(OpticalState& state) const {
  auto& light = std::get<OcsLight>(state);
  const SwitchSize size = ports_.ours;
  for (auto* ways : {&light.connects, &light.moving}) {
    for (CrossConnect& way : *ways) {
      PortNumber& port = size.outputs > 1 ? way.output : way.input;
      port = static_cast<PortNumber>((port + 1) % (size.outputs > 1 ? size.outputs : size.inputs));
    }
  }
}

void CircuitSwitchModel::power_up(Instant) {
  outputs_.assign(outputs_.size(), -1);
  motion_ = {};
}

ModelReply CircuitSwitchModel::refuse(Instant, const Transaction&) {
  return {{BusStatus::nack, 0, {}, {}}, options().device_time};
}

CircuitSwitchModel::Refusal CircuitSwitchModel::add(Outputs& outputs, std::uint32_t input, std::uint32_t output) const {
  if (input >= ports_.whole.inputs || output >= ports_.whole.outputs) {
    return Refusal::no_such_port;
  }
  if (outputs[input] >= 0 || std::ranges::find(outputs, static_cast<std::int32_t>(output)) != outputs.end()) {
    return Refusal::conflict;
  }
  if (fitness(input) != Fitness::enabled || fitness(ports_.whole.inputs + output) != Fitness::enabled) {
    return Refusal::unfit;
  }
  outputs[input] = static_cast<std::int32_t>(output);
  return Refusal::none;
}

CircuitSwitchModel::Refusal CircuitSwitchModel::take_away(Outputs& outputs, std::uint32_t input, std::int32_t output) const {
  if (input >= ports_.whole.inputs || output >= static_cast<std::int32_t>(ports_.whole.outputs)) {
    return Refusal::no_such_port;
  }
  if (outputs[input] < 0 || (output >= 0 && outputs[input] != output)) {
    return Refusal::conflict;
  }
  outputs[input] = -1;
  return Refusal::none;
}

void CircuitSwitchModel::turn_to(Instant now, Instant at, const Outputs& wanted) {
  if (wanted == outputs_ || has_fault(DeviceFaultKind::stick, now)) {
    return;
  }
  motion_.keep_before(at, inside());
  for (std::size_t input = 0; input < outputs_.size(); ++input) {
    if (outputs_[input] != wanted[input]) {
      record(at, static_cast<std::uint32_t>(input), wanted[input]);
    }
  }
  outputs_ = wanted;
  motion_.begin(at, stretched(at, part_of(settle_max_, draw(), 60, 100)), inside());
  light_changed(now, at);
}

CircuitSwitchModel::Fitness CircuitSwitchModel::fitness(std::uint32_t port) const {
  return holds(options().ocs.failed, port)     ? Fitness::failed
         : holds(options().ocs.disabled, port) ? Fitness::disabled
                                               : Fitness::enabled;
}

void CircuitSwitchModel::shut(Instant now, Instant at, std::uint32_t port, bool closed) {
  if (shut_[port] == closed || options().ocs.shutters_stick || has_fault(DeviceFaultKind::stick, now)) {
    return;
  }
  motion_.keep_before(at, inside());
  shut_[port] = closed;
  motion_.begin(at, stretched(at, part_of(settle_max_, draw(), 60, 100)), inside());
  light_changed(now, at);
}

/// From the fabric, or as the options say; ports that the fabric has not are dark beside ones that it has.
std::optional<Dbm> CircuitSwitchModel::power_in(std::uint32_t input) const {
  const auto& lit = options().ocs.lit;
  if (const auto found = std::ranges::find(lit, input, &std::pair<std::uint32_t, Dbm>::first); found != lit.end()) {
    return found->second;
  }
  const bool is_ours = input >= ports_.before_inputs && input - ports_.before_inputs < ports_.ours.inputs;
  const auto lights =
      sight_ && is_ours ? sight_({element_, static_cast<PortNumber>(input - ports_.before_inputs)}) : std::nullopt;
  if (!lights) {
    return lit.empty() && (!sight_ || is_ours) ? std::nullopt : std::optional(kDarkPort);
  }
  Milliwatt sum;
  for (const ArrivingLight& each : *lights) {
    sum = sum + to_milliwatt(each.power);
  }
  return lights->empty() ? kDarkPort : std::max(to_dbm(sum), kDarkPort);
}

/// At an input what comes, at an output what the connection leaves of it.
std::optional<Dbm> CircuitSwitchModel::power_at(Instant at, std::uint32_t port) const {
  if (port < ports_.whole.inputs) {
    return power_in(port);
  }
  const auto output = static_cast<std::uint16_t>(port - ports_.whole.inputs);
  const std::vector<CrossConnect> all = listed(at);
  const auto feeds = std::ranges::find(all, output, &CrossConnect::output);
  if (feeds == all.end() || shut_[feeds->input] || shut_[port] || has_fault(DeviceFaultKind::fail, at)) {
    return kDarkPort;
  }
  const auto comes = power_in(feeds->input);
  return comes && *comes != kDarkPort ? std::optional(*comes - kInsertionLoss) : comes;
}

}  // namespace loom
