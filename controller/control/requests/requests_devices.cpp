// SPDX-License-Identifier: Apache-2.0
// Requests about single devices, and about alarms.
#include <algorithm>
#include <optional>
#include <utility>

#include "controller/control/requests/operator_requests.hpp"
#include "controller/plan/light/light_path.hpp"
#include "core/ring/ring.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kCircuitsNamed = 5;

std::string number(std::uint64_t value) { return std::to_string(value); }

Error unknown_device(DeviceId device, std::size_t count) {
  return {ErrorCode::not_found, format_text("device {} does not exist; devices are 0..{}", device.value, count - 1),
          "loom device list"};
}

/// Does the confirmed setpoint of this device serve the circuit?
bool serves(const Fabric& fabric, const Device& device, const Setpoint& setpoint, const Circuit& circuit) {
  if (device.role == DeviceRole::transmitter) {
    return device.elements[0] == circuit.transmitter;
  }
  if (const auto* heater = std::get_if<FilterSetpoint>(&setpoint)) {
    const auto& fibre = fabric.fibre_in[circuit.receiver.value][0];
    const std::optional<ElementId> filter = fibre ? std::optional(fabric.fibres[fibre->value].from.element) : std::nullopt;
    return std::any_of(heater->rings.begin(), heater->rings.end(), [&](const RingResonance& ring) {
      return filter == device.elements[ring.channel] && ring.resonance == centre_of(circuit.slot);
    });
  }
  if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
    return std::any_of(wss->routes.begin(), wss->routes.end(),
                       [&](const WssRoute& route) { return route.slot == circuit.slot; });
  }
  const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint);
  return ocs != nullptr && !ocs->connects.empty();
}

/// The setpoint that is asked for, with the resonances of heaters that are given in volts.
Result<std::optional<Setpoint>> with_heaters(const Fabric& fabric, const Device& device, const DeviceRequest& request) {
  if (request.heaters.empty()) {
    return request.setpoint;
  }
  const auto* asked = request.setpoint ? std::get_if<FilterSetpoint>(&*request.setpoint) : nullptr;
  if (device.role != DeviceRole::filter || asked == nullptr) {
    return fail(ErrorCode::invalid_argument, format_text("{} has no heaters to be given in volts", device.name));
  }
  FilterSetpoint bank = *asked;
  for (const HeaterByHand& heater : request.heaters) {
    if (heater.channel >= device.elements.size()) {
      return fail(ErrorCode::not_found, format_text("{} channel {}: the bank has channels 0 to {}", device.name, heater.channel,
                                                    device.elements.size() - 1));
    }
    const auto& ring = std::get<RingFilter>(fabric.element(device.elements[heater.channel]).kind);
    const auto resonance = resonance_by_hand(ring, static_cast<std::int32_t>(heater.millivolts));
    if (!resonance) {
      return fail(resonance.error().code,
                  format_text("{} channel {}: {}", device.name, heater.channel, resonance.error().message));
    }
    const auto channel = static_cast<std::uint16_t>(heater.channel);
    std::erase_if(bank.rings, [&](const RingResonance& each) { return each.channel == channel; });
    bank.rings.insert(std::ranges::lower_bound(bank.rings, channel, {}, &RingResonance::channel), {channel, *resonance});
  }
  return std::optional<Setpoint>(std::move(bank));
}

}  // namespace

std::string circuits_using(const Device& device, const ConfirmedPlans& confirmed, const Fabric& fabric) {
  if (!confirmed.exists()) {
    return {};
  }
  const auto& devices = confirmed.plan().nodes[device.agent.value].devices;
  const auto plan =
      std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == device.id; });
  std::optional<LightFollower> follower;  // of a device that light of any circuit may pass, whatever it is set to
  if (device.role == DeviceRole::gain_stage) {
    follower.emplace(fabric, confirmed.plan());
  }
  const auto is_served = [&](const Circuit& circuit) {
    if (!follower) {
      return plan != devices.end() && serves(fabric, device, plan->timeline.front().setpoint, circuit);
    }
    const auto path = follower->follow(circuit);
    return path && std::ranges::find(*path, device.elements.front(), &Hop::element) != path->end();
  };
  std::string text;
  std::size_t count = 0;
  for (const Circuit& circuit : confirmed.plan().circuits) {
    if (is_served(circuit) && ++count <= kCircuitsNamed) {
      text += format_text("{}{} (job {})", text.empty() ? "circuit " : ", ", circuit.id.value, circuit.job.value);
    }
  }
  return count > kCircuitsNamed ? format_text("{} and {} more", text, count - kCircuitsNamed) : text;
}

void OperatorRequests::handle(const Requester& requester, const DeviceRequest& request, EffectSink& sink) {
  const Fabric& fabric = *facts_.fabric;
  if (request.device.value >= fabric.devices.size()) {
    return refuse(requester, unknown_device(request.device, fabric.devices.size()), sink);
  }
  const Device& device = fabric.device(request.device);
  const auto wanted = with_heaters(fabric, device, request);
  if (!wanted) {
    return refuse(requester, {wanted.error().code, wanted.error().message, format_text("loom device show {}", device.id.value)},
                  sink);
  }
  const std::optional<Setpoint>& setpoint = *wanted;
  const std::string node = number(device.agent.value);
  const std::string name = format_text("{} (device {})", device.name, device.id.value);
  const std::string users = circuits_using(device, confirmed_, fabric);
  if (setpoint && !users.empty()) {
    return refuse(requester, {ErrorCode::refused, format_text("{} carries {}", name, users), "loom node drain " + node}, sink);
  }
  const bool is_set = desired_.override_of(device.id) != nullptr;
  if (!setpoint && !is_set) {
    return refuse(requester,
                  {ErrorCode::conflict, name + " is neither set by hand nor adopted: there is nothing to clear",
                   format_text("loom device show {}", device.id.value)},
                  sink);
  }
  if (setpoint && emits(*setpoint) && (desired_.intent().lasers_off || desired_.in_maintenance(device.agent))) {
    return refuse(
        requester,
        {ErrorCode::refused, name + " may not emit: its lasers are latched off",
         desired_.intent().lasers_off ? std::string("loom lasers rearm") : format_text("loom node maintenance {} off", node)},
        sink);
  }
  TentativePlan plan = change_for(requester, {[id = device.id, setpoint = setpoint](const Intent& intent) -> Result<Intent> {
                                    Intent changed = intent;
                                    clear_override(changed, id);
                                    if (setpoint) {
                                      set_override(changed, {id, *setpoint});
                                    }
                                    return changed;
                                  }},
                                  device.name + (setpoint ? " set by hand" : " is the plan's again"), request.dry_run);
  changes_.begin(std::move(plan), sink);
}

void OperatorRequests::handle(const Requester& requester, const ResetRequest& request, EffectSink& sink) {
  const Fabric& fabric = *facts_.fabric;
  if (request.device.value >= fabric.devices.size()) {
    return refuse(requester, unknown_device(request.device, fabric.devices.size()), sink);
  }
  resets_.begin(requester, fabric.device(request.device), sink);
}

/// Soft, like the alarms themselves: a controller that starts again raises anew what is still wrong.
void OperatorRequests::handle(const Requester& requester, const AcknowledgeAlarm& request, EffectSink& sink) {
  if (!alarms_.acknowledge(request.alarm, requester.principal)) {
    return refuse(
        requester,
        {ErrorCode::not_found, format_text("there is no alarm {} (it may be settled)", request.alarm.value), "loom alarm list"},
        sink);
  }
  answers_.answer(requester, {}, sink);
}

}  // namespace loom
