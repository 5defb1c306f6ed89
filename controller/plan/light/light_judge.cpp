// SPDX-License-Identifier: Apache-2.0
// Each role's reading against the plan; a monitor's against the range of its receiver and the slot of the light.
#include "controller/plan/light/light_judge.hpp"

#include <algorithm>

#include "core/fabric/gain_stage.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "core/ring/ring.hpp"

namespace loom {
namespace {

constexpr LightFinding kHealthy{};

/// A laser by one entry of its timeline that emits. `is_measured`: a monitor says where its light is, so that it need not.
LightFinding judge_emission(const TransmitterSetpoint& wanted, const TransmitterObservation& seen, bool is_measured,
                            const ReconcileLimits& limits) {
  const FrequencyOffset off = magnitude(seen.frequency - centre_of(wanted.slot));
  if (!is_measured && off.mhz > width_of(wanted.slot).mhz / 2) {
    return {LightState::dark, LightCause::other_frequency};  // no grating and no filter leads it where it shall go
  }
  if (!is_measured && off > limits.detuned_beyond) {
    return {LightState::degraded, LightCause::beside_its_frequency};
  }
  if (!is_measured && !seen.locked) {
    return {LightState::degraded, LightCause::unlocked};
  }
  if (wanted.power - seen.power > limits.dim_beyond) {
    return {LightState::degraded, LightCause::weak};
  }
  return seen.status_fatal != 0 ? LightFinding{LightState::degraded, LightCause::says_it_is_broken} : kHealthy;
}

/// Under timeslots or grants it agrees with any of its entries, darkness in between included.
LightFinding judge_laser(const DevicePlan& plan, const TransmitterObservation& seen, bool is_played, bool is_measured,
                         const ReconcileLimits& limits) {
  const bool plays = plan.timeline.back().hold != kForever;
  if (!seen.emitting || seen.power <= kNoLight) {
    return !plays      ? LightFinding{LightState::dark, LightCause::not_emitting}
           : is_played ? LightFinding{LightState::dark, LightCause::played}
                       : LightFinding{LightState::lit, LightCause::between_timeslots};
  }
  LightFinding best{LightState::dark, LightCause::not_emitting};
  for (const TimedSetpoint& entry : plan.timeline) {
    const auto& wanted = std::get<TransmitterSetpoint>(entry.setpoint);
    if (const LightFinding found = judge_emission(wanted, seen, is_measured, limits);
        wanted.emit && found.state <= best.state) {
      best = found;
    }
  }
  return best;
}

const RingResonance* ring_wanted(const DevicePlan& plan, std::size_t channel) {
  return wanted_of(std::get<FilterSetpoint>(plan.timeline.front().setpoint), channel);
}

bool is_driven(const RingResonance* wanted, FrequencySlot slot) {
  return wanted != nullptr && wanted->drive && wanted->resonance == centre_of(slot);
}

LightFinding judge_ring(const RingFilter& ring, const RingResonance* wanted, const Hop& hop, std::int32_t millivolts,
                        FrequencySlot slot, const ReconcileLimits& limits) {
  const std::int64_t off = (is_driven(wanted, slot) ? off_its_place(ring, *wanted, millivolts)
                                                    : resonance_distance(ring, resonance_at(ring, millivolts), centre_of(slot)))
                               .mhz;
  if (hop.input == 0 && hop.output == 0) {
    return off <= ring.fwhm.mhz / 2 ? LightFinding{LightState::dark, LightCause::ring_in_the_way} : kHealthy;
  }
  return off <= ring.fwhm.mhz / limits.ring_width_parts ? kHealthy
         : off <= ring.fwhm.mhz / 2                     ? LightFinding{LightState::degraded, LightCause::ring_beside}
                                                        : LightFinding{LightState::dark, LightCause::ring_away};
}

/// A switch that does not settle carries nothing that anybody may rely on; that it moves as ordered is no news.
LightFinding judge_motion(bool is_ordered) {
  return is_ordered ? LightFinding{LightState::unknown, LightCause::moving}
                    : LightFinding{LightState::dark, LightCause::not_settled};
}

LightFinding judge_wss(const WavelengthSwitchSetpoint& wanted, const WavelengthSwitchObservation& seen, bool is_ordered,
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
  return found->attenuation - planned > limits.dim_beyond ? LightFinding{LightState::degraded, LightCause::attenuated}
                                                          : kHealthy;
}

/// What is within bounds at the receiver is the receiver's monitor to say; a gain that is off says where it comes from.
LightFinding judge_gain(const Element& element, const GainSetpoint& wanted, const GainObservation& seen, bool is_ordered,
                        const ReconcileLimits& limits) {
  const Db error = gain_error(element, seen, wanted.gain);
  if (error > limits.dim_beyond || -error > limits.dim_beyond) {
    return {LightState::degraded, LightCause::gain_off};
  }
  return seen.settled || is_gain(element, seen, wanted.gain) ? kHealthy : judge_motion(is_ordered);
}

LightFinding judge_ocs(const CircuitSwitchObservation& seen, bool is_ordered, const Hop& hop) {
  if (!is_connected(seen, CrossConnect{hop.input, hop.output})) {
    return {LightState::dark, LightCause::not_connected};
  }
  return seen.settled ? kHealthy : judge_motion(is_ordered);
}

}  // namespace

LightJudge::LightJudge(const LightPaths& paths, std::size_t index, const LightReadings& readings)
    : paths_(paths), readings_(readings), circuit_(paths.plan().circuits[index]), index_(index) {
  for (const Hop& hop : paths.hops(index)) {
    if (const auto id = device_at(hop.element)) {
      light_since_ = std::max(light_since_, proven_at(*id));
      is_moving_ = is_moving_ || is_ordered(*id);
    }
  }
}

/// A ring that nobody has measured may stand anywhere: light that it drops or adds is never proven, whatever it reads.
bool LightJudge::is_unmeasured(const Hop& hop, const DevicePlan& plan) const {
  const auto* ring = std::get_if<RingFilter>(&paths_.fabric().element(hop.element).kind);
  return ring != nullptr && !ring->calibrated && (hop.input != 0 || hop.output != 0) &&
         !is_driven(ring_wanted(plan, paths_.fabric().index_in_device[hop.element.value]), circuit_.slot);
}

LightFinding LightJudge::judge(const Hop& hop, const std::optional<MeasuredFrequency>& measured) const {
  const auto id = device_at(hop.element);
  const bool is_receiver = std::holds_alternative<Receiver>(paths_.fabric().element(hop.element).kind);
  if (!id || is_receiver) {
    return kHealthy;  // what a receiver measures is a sighting
  }
  const DevicePlan* plan = paths_.device(*id);
  const std::optional<Observation>& seen = readings_.devices[id->value];
  const bool is_laser = paths_.fabric().device(*id).role == DeviceRole::transmitter;
  const AgentLight agent = agent_of(*id);
  if (agent == AgentLight::latched && is_laser) {
    return {LightState::dark, LightCause::latched};
  }
  if (plan != nullptr && is_unmeasured(hop, *plan)) {
    return {LightState::unknown, LightCause::uncalibrated};
  }
  const bool is_news = is_read(*id) && readings_.devices[id->value]->read_at > proven_at(*id);
  const LightFinding read = plan != nullptr && is_news ? judge_reading(hop, *plan, *seen, measured) : kHealthy;
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

std::optional<Duration> LightJudge::age_of(const Hop& hop) const {
  const auto id = device_at(hop.element);
  if (!id || std::holds_alternative<Receiver>(paths_.fabric().element(hop.element).kind)) {
    return Duration{};
  }
  return known_at(*id) == Instant::min() ? std::nullopt : std::optional(readings_.now - known_at(*id));
}

std::optional<Duration> LightJudge::age_of(const Sighting& sighting) const {
  const ReceivedPower* received = received_at(sighting.receiver);
  if (received != nullptr) {
    return readings_.now - received->read_at;
  }
  return device_at(sighting.receiver) ? std::nullopt : std::optional(Duration{});
}

std::optional<Proof> LightJudge::proof_of(const Hop& hop) const {
  const auto id = device_at(hop.element);
  if (!id || std::holds_alternative<Receiver>(paths_.fabric().element(hop.element).kind)) {
    return std::nullopt;
  }
  return is_read(*id) ? readings_.devices[id->value]->proof : Proof::assumed;
}

AgentLight LightJudge::agent_of(DeviceId id) const {
  const NodeId node = paths_.fabric().device(id).agent;
  return readings_.agents.empty() ? AgentLight::present : readings_.agents[node.value];
}

Instant LightJudge::proven_at(DeviceId id) const {
  return readings_.proven_at.empty() ? Instant::min() : readings_.proven_at[id.value];
}

bool LightJudge::is_read(DeviceId id) const {
  const std::optional<Observation>& seen = readings_.devices[id.value];
  return seen && seen->health != DeviceHealth::unknown && !std::holds_alternative<std::monostate>(seen->reading);
}

Instant LightJudge::known_at(DeviceId id) const {
  return is_read(id) ? std::max(proven_at(id), readings_.devices[id.value]->read_at) : proven_at(id);
}

bool LightJudge::is_ordered(DeviceId id) const {
  return std::binary_search(readings_.ordered.begin(), readings_.ordered.end(), id);
}

std::optional<LightFinding> LightJudge::uncertainty_of(DeviceId id) const {
  if (known_at(id) == Instant::min()) {
    return LightFinding{LightState::unknown, LightCause::never_read};
  }
  const std::optional<Observation>& seen = readings_.devices[id.value];
  // A module that says that it is broken was read; a driver that gave up knows nothing.
  const auto* laser = seen ? std::get_if<TransmitterObservation>(&seen->reading) : nullptr;
  const bool says_so = laser != nullptr && laser->status_fatal != 0 && seen->fault.empty();
  if (seen && seen->health == DeviceHealth::failed && !says_so) {
    return LightFinding{LightState::unknown, LightCause::driver_gave_up};
  }
  if (readings_.now - known_at(id) > readings_.limits.stale_after) {
    return LightFinding{LightState::unknown, LightCause::read_too_long_ago};
  }
  return std::nullopt;
}

LightFinding LightJudge::judge_reading(const Hop& hop, const DevicePlan& plan, const Observation& seen,
                                       const std::optional<MeasuredFrequency>& measured) const {
  const Setpoint& wanted = plan.timeline.front().setpoint;
  const Element& element = paths_.fabric().element(hop.element);
  if (const auto* laser = std::get_if<TransmitterObservation>(&seen.reading)) {
    const bool is_played = std::binary_search(readings_.played.begin(), readings_.played.end(), circuit_.job);
    return judge_laser(plan, *laser, is_played, measured.has_value(), readings_.limits);
  }
  if (const auto* bank = std::get_if<FilterObservation>(&seen.reading)) {
    const std::size_t channel = paths_.fabric().index_in_device[hop.element.value];
    const auto& ring = std::get<RingFilter>(element.kind);
    return judge_ring(ring, ring_wanted(plan, channel), hop, set_millivolts(ring, *bank, channel), circuit_.slot,
                      readings_.limits);
  }
  if (const auto* wss = std::get_if<WavelengthSwitchObservation>(&seen.reading)) {
    return judge_wss(std::get<WavelengthSwitchSetpoint>(wanted), *wss, is_ordered(seen.device), hop, circuit_.slot,
                     readings_.limits);
  }
  if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&seen.reading)) {
    return judge_ocs(*ocs, is_ordered(seen.device), hop);
  }
  if (const auto* stage = std::get_if<GainObservation>(&seen.reading)) {
    return judge_gain(element, std::get<GainSetpoint>(wanted), *stage, is_ordered(seen.device), readings_.limits);
  }
  return {LightState::unknown, LightCause::never_read};
}

// --- what is measured of the light itself --------------------------------------------------------------------------------

/// A tap measures all light of its port together: that there is none says it of every circuit.
LightFinding LightJudge::judge_taps(const Hop& hop) const {
  const auto id = device_at(hop.element);
  const Observation* read = id && readings_.devices[id->value] ? &*readings_.devices[id->value] : nullptr;
  const auto* seen = read != nullptr ? std::get_if<CircuitSwitchObservation>(&read->reading) : nullptr;
  if (seen == nullptr || seen->powers.empty()) {
    return kHealthy;
  }
  const bool plays = paths_.sightings(index_).empty();
  if (plays || is_moving_ || read->read_at <= light_since_ || agent_of(*id) == AgentLight::away || uncertainty_of(*id)) {
    return kHealthy;
  }
  const auto is_dark = [&](std::uint16_t port, bool is_input) {
    const auto tap = std::ranges::find_if(
        seen->powers, [&](const PortPower& each) { return each.port == port && each.is_input == is_input; });
    return tap != seen->powers.end() && tap->power <= kNoLight;
  };
  return is_dark(hop.input, true)     ? LightFinding{LightState::dark, LightCause::no_light_in}
         : is_dark(hop.output, false) ? LightFinding{LightState::dark, LightCause::no_light_out}
                                      : kHealthy;
}

const ReceivedPower* LightJudge::received_at(ElementId element) const {
  const bool is_measured = !readings_.received.empty() && readings_.received[element.value].has_value();
  return is_measured ? &*readings_.received[element.value] : nullptr;
}

SeenLight seen_light(const Sighting& sighting, const Receiver& receiver, const ReceivedPower& received, FrequencySlot slot) {
  if (received.peaks.empty()) {
    const bool says_it = sighting.is_alone || received.power < receiver.sensitivity;  // no light there is none of anybody's
    return {says_it ? std::optional(received.power) : std::nullopt, std::nullopt};
  }
  const auto is_in_slot = [&](const LightReading& peak) {
    return magnitude(peak.frequency - centre_of(slot)).mhz <= width_of(slot).mhz / 2;
  };
  const LightReading* strongest = nullptr;
  for (const LightReading& peak : received.peaks) {
    const bool may_be_its = sighting.is_alone || (sighting.is_alone_in_slot && is_in_slot(peak));
    const bool is_better =
        strongest == nullptr || (is_in_slot(peak) == is_in_slot(*strongest) ? peak.power > strongest->power : is_in_slot(peak));
    strongest = may_be_its && is_better ? &peak : strongest;
  }
  if (strongest != nullptr) {
    return {strongest->power, strongest->frequency};
  }
  return {sighting.is_alone_in_slot ? std::optional(kNoLight) : std::nullopt, std::nullopt};
}

std::optional<SeenLight> LightJudge::seen(const Sighting& sighting) const {
  const auto* receiver = std::get_if<Receiver>(&paths_.fabric().element(sighting.receiver).kind);
  const ReceivedPower* received = received_at(sighting.receiver);
  if (receiver == nullptr || received == nullptr || is_moving_ || received->read_at <= light_since_ ||
      readings_.now - received->read_at > readings_.limits.stale_after) {
    return std::nullopt;
  }
  return seen_light(sighting, *receiver, *received, circuit_.slot);
}

LightFinding LightJudge::judge(const Sighting& sighting) const {
  const auto monitor = device_at(sighting.receiver);
  const ReceivedPower* received = received_at(sighting.receiver);
  if (is_moving_ || (!monitor && received == nullptr)) {
    return kHealthy;  // it is about to change, or nobody measures it
  }
  if (monitor && agent_of(*monitor) == AgentLight::away) {
    return {LightState::unknown, LightCause::agent_away};
  }
  if (const auto doubt = monitor ? uncertainty_of(*monitor) : std::nullopt) {
    return *doubt;
  }
  if (received == nullptr) {
    return {LightState::unknown, LightCause::never_read};
  }
  if (readings_.now - received->read_at > readings_.limits.stale_after) {
    return {LightState::unknown, LightCause::read_too_long_ago};
  }
  const auto said = seen(sighting);
  if (!said) {
    return {LightState::unknown, LightCause::not_measured_since};
  }
  const auto& receiver = std::get<Receiver>(paths_.fabric().element(sighting.receiver).kind);
  if (said->power && *said->power < receiver.sensitivity) {
    return {LightState::dark, LightCause::received_low};
  }
  const FrequencyOffset off = said->frequency ? magnitude(*said->frequency - centre_of(circuit_.slot)) : FrequencyOffset{0};
  if (off.mhz > width_of(circuit_.slot).mhz / 2) {
    return {LightState::dark, LightCause::measured_elsewhere};
  }
  if (off > readings_.limits.detuned_beyond) {
    return {LightState::degraded, LightCause::measured_beside};
  }
  return said->power && *said->power > receiver.overload ? LightFinding{LightState::degraded, LightCause::received_high}
                                                         : kHealthy;
}

bool LightJudge::is_proven_by(const Sighting& sighting) const {
  const auto said = seen(sighting);
  return sighting.is_final && said && said->power && judge(sighting).cause == LightCause::healthy;
}

std::optional<MeasuredFrequency> LightJudge::measured_frequency() const {
  for (const Sighting& sighting : paths_.sightings(index_)) {
    const auto said = seen(sighting);
    if (said && said->frequency && said->power && *said->power > kNoLight) {
      return MeasuredFrequency{*said->frequency, received_at(sighting.receiver)->read_at, sighting.receiver};
    }
  }
  return std::nullopt;
}

}  // namespace loom
