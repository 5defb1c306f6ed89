// Orders about single devices, and about alarms.
#include <algorithm>

#include "controller/control/controller.hpp"
#include "controller/control/desk.hpp"
#include "controller/control/timers.hpp"

namespace loom {

void clear_override(Intent& intent, DeviceId device) {
  std::erase_if(intent.overrides, [&](const DeviceOverride& override) { return override.device == device; });
}

void set_override(Intent& intent, const DeviceOverride& wanted) {
  clear_override(intent, wanted.device);
  const auto place = std::lower_bound(intent.overrides.begin(), intent.overrides.end(), wanted.device,
                                      [](const DeviceOverride& override, DeviceId id) { return override.device < id; });
  intent.overrides.insert(place, wanted);
}

namespace {

constexpr std::size_t kCircuitsNamed = 5;
constexpr Duration kResetPatience = std::chrono::seconds{5};

std::string number(std::uint64_t value) { return std::to_string(value); }

Error unknown_device(DeviceId device, std::size_t count) {
  return {ErrorCode::not_found, "device " + number(device.value) + " does not exist; devices are 0.." + number(count - 1),
          "loom device list"};
}

/// Does the confirmed setpoint of this device serve the circuit?
bool serves(const Fabric& fabric, const Device& device, const Setpoint& setpoint, const Circuit& circuit) {
  if (device.kind == DeviceKind::itla_laser) {
    return device.elements[0] == circuit.transmitter;
  }
  if (const auto* heater = std::get_if<HeaterSetpoint>(&setpoint)) {
    const auto& fibre = fabric.fibre_in[circuit.receiver.value][0];
    const std::optional<ElementId> filter = fibre ? std::optional(fabric.fibres[fibre->value].from.element) : std::nullopt;
    return std::any_of(heater->rings.begin(), heater->rings.end(), [&](const RingResonance& ring) {
      return filter == device.elements[ring.channel] && ring.resonance == centre_of(circuit.slot);
    });
  }
  if (const auto* wss = std::get_if<WssSetpoint>(&setpoint)) {
    return std::any_of(wss->routes.begin(), wss->routes.end(),
                       [&](const WssRoute& route) { return route.slot == circuit.slot; });
  }
  return !std::get<OcsSetpoint>(setpoint).connects.empty();
}

}  // namespace

/// "circuits 3, 4 of job 1", or nothing. A switch is used by every circuit whose slot it routes.
std::string Controller::circuits_using(const Device& device) const {
  if (confirmed_ == nullptr) {
    return {};
  }
  const auto& devices = confirmed_->plan.nodes[device.agent.value].devices;
  const auto plan =
      std::find_if(devices.begin(), devices.end(), [&](const DevicePlan& each) { return each.device == device.id; });
  std::string text;
  std::size_t count = 0;
  for (const Circuit& circuit : confirmed_->plan.circuits) {
    if (plan != devices.end() && serves(*options_.fabric, device, plan->timeline.front().setpoint, circuit) &&
        ++count <= kCircuitsNamed) {
      text += (text.empty() ? "circuit " : ", ") + number(circuit.id.value) + " (job " + number(circuit.job.value) + ")";
    }
  }
  return count > kCircuitsNamed ? text + " and " + number(count - kCircuitsNamed) + " more" : text;
}

void Controller::obey(const Asker& asker, const OrderDevice& order, Instant, EffectSink& sink) {
  const Fabric& fabric = *options_.fabric;
  if (order.device.value >= fabric.devices.size()) {
    return refuse(asker, unknown_device(order.device, fabric.devices.size()), sink);
  }
  const Device& device = fabric.device(order.device);
  const std::string node = number(device.agent.value);
  const std::string name = device.name + " (device " + number(device.id.value) + ")";
  const std::string users = circuits_using(device);
  if (order.setpoint && !users.empty()) {
    return refuse(asker, {ErrorCode::refused, name + " carries " + users, "loom node drain " + node}, sink);
  }
  const bool is_set = override_of(device.id) != nullptr;
  if (!order.setpoint && !is_set) {
    return refuse(asker,
                  {ErrorCode::conflict, name + " is neither set by hand nor adopted: there is nothing to clear",
                   "loom device show " + number(device.id.value)},
                  sink);
  }
  if (order.setpoint && emits(*order.setpoint) && (intent_.lasers_off || in_maintenance(device.agent))) {
    return refuse(asker,
                  {ErrorCode::refused, name + " may not emit: its lasers are latched off",
                   intent_.lasers_off ? std::string("loom lasers rearm") : "loom node maintenance " + node + " off"},
                  sink);
  }
  Trial trial{asker,
              {[id = device.id, setpoint = order.setpoint](const Intent& intent) -> Result<Intent> {
                Intent changed = intent;
                clear_override(changed, id);
                if (setpoint) {
                  set_override(changed, {id, *setpoint});
                }
                return changed;
              }},
              device.name + (order.setpoint ? " set by hand" : " is the plan's again"),
              order.dry_run};
  try_out(std::move(trial), sink);
}

// --- reset ---------------------------------------------------------------------------------------------------------------

/// Changes no intent, so nothing is journalled: the agent is asked until it answers, and says what it found.
void Controller::obey(const Asker& asker, const OrderReset& order, Instant now, EffectSink& sink) {
  const Fabric& fabric = *options_.fabric;
  if (order.device.value >= fabric.devices.size()) {
    return refuse(asker, unknown_device(order.device, fabric.devices.size()), sink);
  }
  const Device& device = fabric.device(order.device);
  const std::string node = number(device.agent.value);
  if (!sessions_[device.agent.value].is_present()) {
    return refuse(asker,
                  {ErrorCode::device_silent, device.name + " is driven by node " + node + ", which cannot be heard",
                   "loom node show " + node},
                  sink);
  }
  if (resets_.contains(order.device)) {
    return refuse(
        asker, {ErrorCode::busy, device.name + " is being reset already", "loom device show " + number(device.id.value)}, sink);
  }
  const std::uint64_t number_of_order = (term_.value << 32U) + ++resets_made_;
  resets_[order.device] = {asker, number_of_order, now + kResetPatience};
  say(device.agent, ResetDevice{device.id, number_of_order}, sink);
  sink.emit(SetTimer{timers::kReset, now + options_.timings.retry_interval});
}

void Controller::on_device_reset(NodeId node, const DeviceReset& done, EffectSink& sink) {
  const auto pending = resets_.find(done.device);
  if (pending == resets_.end() || pending->second.order != done.order || options_.fabric->device(done.device).agent != node) {
    return;  // an answer that was repeated
  }
  const Asker asker = pending->second.asker;
  resets_.erase(pending);
  observations_[done.device.value] = done.observation;
  OperatorReply answered;
  answered.outcome = done.outcome;
  answered.writes = done.writes;
  answered.rows = device_rows(Query{Noun::devices, done.device.value}, now_);
  if (answered.outcome.error && answered.outcome.error->next_command.empty()) {
    answered.outcome.error->next_command = "loom device show " + number(done.device.value);
  }
  settle(asker, std::move(answered), sink);
}

void Controller::repeat_resets(Instant now, EffectSink& sink) {
  for (auto it = resets_.begin(); it != resets_.end();) {
    const Device& device = options_.fabric->device(it->first);
    if (now < it->second.deadline) {
      say(device.agent, ResetDevice{device.id, it->second.order}, sink);
      ++it;
      continue;
    }
    const Asker asker = it->second.asker;
    it = resets_.erase(it);
    refuse(asker,
           {ErrorCode::timed_out,
            device.name + ": node " + number(device.agent.value) + " did not say within " +
                number(static_cast<std::uint64_t>(kResetPatience / std::chrono::seconds{1})) + " s that it was reset",
            "loom node show " + number(device.agent.value)},
           sink);
  }
  if (!resets_.empty()) {
    sink.emit(SetTimer{timers::kReset, now + options_.timings.retry_interval});
  }
}

// --- alarms --------------------------------------------------------------------------------------------------------------

/// Soft, like the alarms themselves: a controller that starts again raises anew what is still wrong.
void Controller::obey(const Asker& asker, const AcknowledgeAlarm& order, Instant, EffectSink& sink) {
  if (!alarms_.acknowledge(order.alarm, asker.principal)) {
    return refuse(
        asker,
        {ErrorCode::not_found, "there is no alarm " + number(order.alarm.value) + " (it may be settled)", "loom alarm list"},
        sink);
  }
  settle(asker, {}, sink);
}

}  // namespace loom
