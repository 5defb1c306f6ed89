// One element after the other; the worst of them names the circuit's state.
#include "controller/plan/light/light_state.hpp"

#include <algorithm>

#include "core/fabric/occupied_ports.hpp"

namespace loom {
namespace {

/// What is wrong with one element, and how bad that is.
struct Finding {
  LightState state = LightState::lit;
  LightCause cause = LightCause::healthy;
};

constexpr Finding kHealthy{};

/// A laser by one entry of its timeline that emits.
Finding judge_emission(const TransmitterSetpoint& wanted, const TransmitterObservation& seen, const ReconcileLimits& limits) {
  const FrequencyOffset off = magnitude(seen.frequency - centre_of(wanted.slot));
  if (off.mhz > width_of(wanted.slot).mhz / 2) {
    return {LightState::dark, LightCause::other_frequency};  // no grating and no filter leads it where it shall go
  }
  if (off > limits.detuned_beyond) {
    return {LightState::degraded, LightCause::beside_its_frequency};
  }
  if (!seen.locked) {
    return {LightState::degraded, LightCause::unlocked};
  }
  if (wanted.power - seen.power > limits.dim_beyond) {
    return {LightState::degraded, LightCause::weak};
  }
  return seen.status_fatal != 0 ? Finding{LightState::degraded, LightCause::says_it_is_broken} : kHealthy;
}

/// Under timeslots or grants it agrees with any of its entries, darkness in between included.
Finding judge_laser(const DevicePlan& plan, const TransmitterObservation& seen, bool is_played, const ReconcileLimits& limits) {
  const bool plays = plan.timeline.back().hold != kForever;
  if (!seen.emitting || seen.power <= kNoLight) {
    return !plays      ? Finding{LightState::dark, LightCause::not_emitting}
           : is_played ? Finding{LightState::dark, LightCause::played}
                       : Finding{LightState::lit, LightCause::between_timeslots};
  }
  Finding best{LightState::dark, LightCause::not_emitting};
  for (const TimedSetpoint& entry : plan.timeline) {
    const auto& wanted = std::get<TransmitterSetpoint>(entry.setpoint);
    if (const Finding found = judge_emission(wanted, seen, limits); wanted.emit && found.state <= best.state) {
      best = found;
    }
  }
  return best;
}

Finding judge_ring(const RingFilter& ring, const Hop& hop, std::int32_t millivolts, FrequencySlot slot,
                   const ReconcileLimits& limits) {
  const std::int64_t off = resonance_distance(ring, resonance_at(ring, millivolts), centre_of(slot)).mhz;
  if (hop.input == 0 && hop.output == 0) {
    return off <= ring.fwhm.mhz / 2 ? Finding{LightState::dark, LightCause::ring_in_the_way} : kHealthy;
  }
  return off <= ring.fwhm.mhz / limits.ring_width_parts ? kHealthy
         : off <= ring.fwhm.mhz / 2                     ? Finding{LightState::degraded, LightCause::ring_beside}
                                                        : Finding{LightState::dark, LightCause::ring_away};
}

/// A switch that does not settle carries nothing that anybody may rely on; that it moves as ordered is no news.
Finding judge_motion(bool is_ordered) {
  return is_ordered ? Finding{LightState::unknown, LightCause::moving} : Finding{LightState::dark, LightCause::not_settled};
}

Finding judge_wss(const WavelengthSwitchSetpoint& wanted, const WavelengthSwitchObservation& seen, bool is_ordered,
                  const Hop& hop, FrequencySlot slot, const ReconcileLimits& limits) {
  const auto carries = [&](const WssRoute& route) {
    return route.slot == slot && route.input == hop.input && route.output == hop.output;
  };
  const auto found = std::find_if(seen.routes.begin(), seen.routes.end(), carries);
  if (found == seen.routes.end()) {
    return {LightState::dark, LightCause::not_connected};
  }
  if (!seen.settled) {
    return judge_motion(is_ordered);
  }
  const auto asked = std::find_if(wanted.routes.begin(), wanted.routes.end(), carries);
  const Db planned = asked == wanted.routes.end() ? Db{0} : asked->attenuation;
  return found->attenuation - planned > limits.dim_beyond ? Finding{LightState::degraded, LightCause::attenuated} : kHealthy;
}

Finding judge_ocs(const CircuitSwitchObservation& seen, bool is_ordered, const Hop& hop) {
  if (!is_connected(seen, CrossConnect{hop.input, hop.output})) {
    return {LightState::dark, LightCause::not_connected};
  }
  return seen.settled ? kHealthy : judge_motion(is_ordered);
}

class Judge {
 public:
  Judge(const LightPaths& paths, std::size_t index, const LightReadings& readings)
      : paths_(paths), readings_(readings), circuit_(paths.plan().circuits[index]) {}

  Finding judge(const Hop& hop) const {
    const auto id = paths_.fabric().device_of_element[hop.element.value];
    if (!id) {
      return judge_received(hop.element);
    }
    const DevicePlan* plan = paths_.device(*id);
    const std::optional<Observation>& seen = readings_.devices[id->value];
    const bool is_laser = paths_.fabric().device(*id).role == DeviceRole::transmitter;
    const AgentLight agent = agent_of(*id);
    if (agent == AgentLight::latched && is_laser) {
      return {LightState::dark, LightCause::latched};
    }
    const bool is_news = is_read(*id) && readings_.devices[id->value]->read_at > proven_at(*id);
    const Finding read = plan != nullptr && is_news ? judge_reading(hop, *plan, *seen) : kHealthy;
    if (is_laser && read.cause == LightCause::not_emitting) {
      return read;  // darkness that was read once is darkness until somebody reads light
    }
    if (agent == AgentLight::away) {
      return {LightState::unknown, LightCause::agent_away};
    }
    if (agent == AgentLight::darkening && is_laser) {
      return {LightState::unknown, LightCause::darkening};
    }
    return uncertainty_of(*id).value_or(read);
  }

  /// Since the device was last known to be as it is: read, or read back by a commit. Nothing: never.
  std::optional<Duration> age_of(const Hop& hop) const {
    const auto id = paths_.fabric().device_of_element[hop.element.value];
    if (!id) {
      const ReceivedPower* received = received_at(hop.element);
      return received == nullptr ? Duration{} : readings_.now - received->read_at;
    }
    return known_at(*id) == Instant::min() ? std::nullopt : std::optional(readings_.now - known_at(*id));
  }

 private:
  AgentLight agent_of(DeviceId id) const {
    const NodeId node = paths_.fabric().device(id).agent;
    return readings_.agents.empty() ? AgentLight::present : readings_.agents[node.value];
  }

  Instant proven_at(DeviceId id) const { return readings_.proven_at.empty() ? Instant::min() : readings_.proven_at[id.value]; }
  /// Read at all, by this process of its agent.
  bool is_read(DeviceId id) const {
    const std::optional<Observation>& seen = readings_.devices[id.value];
    return seen && seen->health != DeviceHealth::unknown && !std::holds_alternative<std::monostate>(seen->reading);
  }
  /// By a reading, or by the read-back of a commit; Instant::min(): never.
  Instant known_at(DeviceId id) const {
    return is_read(id) ? std::max(proven_at(id), readings_.devices[id.value]->read_at) : proven_at(id);
  }

  /// Why nobody may rely on what is known of it.
  std::optional<Finding> uncertainty_of(DeviceId id) const {
    if (known_at(id) == Instant::min()) {
      return Finding{LightState::unknown, LightCause::never_read};
    }
    const std::optional<Observation>& seen = readings_.devices[id.value];
    // A module that says that it is broken was read; a driver that gave up knows nothing.
    const auto* laser = seen ? std::get_if<TransmitterObservation>(&seen->reading) : nullptr;
    const bool says_so = laser != nullptr && laser->status_fatal != 0 && seen->fault.empty();
    if (seen && seen->health == DeviceHealth::failed && !says_so) {
      return Finding{LightState::unknown, LightCause::driver_gave_up};
    }
    if (readings_.now - known_at(id) > readings_.limits.stale_after) {
      return Finding{LightState::unknown, LightCause::read_too_long_ago};
    }
    return std::nullopt;
  }

  Finding judge_reading(const Hop& hop, const DevicePlan& plan, const Observation& seen) const {
    const Setpoint& wanted = plan.timeline.front().setpoint;
    const Element& element = paths_.fabric().element(hop.element);
    const bool is_ordered = std::binary_search(readings_.ordered.begin(), readings_.ordered.end(), seen.device);
    if (const auto* laser = std::get_if<TransmitterObservation>(&seen.reading)) {
      const bool is_played = std::binary_search(readings_.played.begin(), readings_.played.end(), circuit_.job);
      return judge_laser(plan, *laser, is_played, readings_.limits);
    }
    if (const auto* bank = std::get_if<FilterObservation>(&seen.reading)) {
      const std::size_t channel = paths_.fabric().index_in_device[hop.element.value];
      const std::int32_t millivolts = channel < bank->millivolts.size() ? bank->millivolts[channel] : 0;
      return judge_ring(std::get<RingFilter>(element.kind), hop, millivolts, circuit_.slot, readings_.limits);
    }
    if (const auto* wss = std::get_if<WavelengthSwitchObservation>(&seen.reading)) {
      return judge_wss(std::get<WavelengthSwitchSetpoint>(wanted), *wss, is_ordered, hop, circuit_.slot, readings_.limits);
    }
    if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&seen.reading)) {
      return judge_ocs(*ocs, is_ordered, hop);
    }
    return {LightState::unknown, LightCause::never_read};
  }

  const ReceivedPower* received_at(ElementId element) const {
    const bool is_measured = !readings_.received.empty() && readings_.received[element.value].has_value();
    return is_measured ? &*readings_.received[element.value] : nullptr;
  }

  Finding judge_received(ElementId element) const {
    const ReceivedPower* received = received_at(element);
    const auto* receiver = std::get_if<Receiver>(&paths_.fabric().element(element).kind);
    if (received == nullptr || receiver == nullptr) {
      return kHealthy;  // it does not measure
    }
    if (readings_.now - received->read_at > readings_.limits.stale_after) {
      return {LightState::unknown, LightCause::read_too_long_ago};
    }
    return received->power < receiver->sensitivity ? Finding{LightState::dark, LightCause::received_low}
           : received->power > receiver->overload  ? Finding{LightState::degraded, LightCause::received_high}
                                                   : kHealthy;
  }

  const LightPaths& paths_;
  const LightReadings& readings_;
  const Circuit& circuit_;
};

}  // namespace

MeasuredLight measure_light(const LightPaths& paths, std::size_t index, const LightReadings& readings) {
  const std::span<const Hop> hops = paths.hops(index);
  if (hops.empty()) {
    return {LightState::dark, LightCause::no_path, Duration{-1}, std::nullopt};
  }
  const Judge judge(paths, index, readings);
  MeasuredLight worst{LightState::lit, LightCause::healthy, Duration{}, hops.front().element};
  bool is_all_read = true;
  for (const Hop& hop : hops) {
    const Finding found = judge.judge(hop);
    if (found.state > worst.state || (worst.cause == LightCause::healthy && found.state == worst.state)) {
      worst.state = found.state;
      worst.cause = found.cause;
      worst.element = found.cause == LightCause::healthy ? worst.element : hop.element;
    }
    const std::optional<Duration> age = judge.age_of(hop);
    is_all_read = is_all_read && age.has_value();
    worst.age = std::max(worst.age, age.value_or(Duration{}));
  }
  worst.age = is_all_read ? worst.age : Duration{-1};
  return worst;
}

const MeasuredLight& worse(const MeasuredLight& a, const MeasuredLight& b) { return b.state > a.state ? b : a; }

std::string_view oper_state(const MeasuredLight& light) {
  switch (light.state) {
    case LightState::lit:
    case LightState::degraded:
      return "CONNECTED";
    case LightState::unknown:
      return "UNKNOWN";
    case LightState::dark:
      break;
  }
  return light.cause == LightCause::latched || light.cause == LightCause::played ? "PENDING_CONNECTION" : "FAILED";
}

}  // namespace loom
