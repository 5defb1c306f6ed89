// SPDX-License-Identifier: Apache-2.0
// The sentence about a circuit's light: which element, what it read, how old that is, which limit it broke.
#include <algorithm>
#include <string>

#include "controller/plan/light/light_state.hpp"
#include "core/fabric/gain_stage.hpp"
#include "core/ring/ring.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string in_milliseconds(Duration duration) { return format_text("{} ms", duration / std::chrono::milliseconds{1}); }

std::string in_gigahertz(std::int64_t mhz) {
  const std::int64_t tenths = (mhz < 0 ? -mhz : mhz) / 100;
  return format_text("{}{}.{} GHz", mhz < 0 ? "-" : "+", tenths / 10, tenths % 10);
}

/// What the cause alone does not say: readings and limits.
std::string text_of_laser(LightCause cause, const TransmitterObservation& seen, FrequencySlot slot,
                          const ReconcileLimits& limits) {
  const std::string off = format_text("{}, off {} by {}", to_string(seen.frequency), to_string(centre_of(slot)),
                                      in_gigahertz((seen.frequency - centre_of(slot)).mhz));
  switch (cause) {
    case LightCause::weak:
      return format_text("emits {}, weaker than asked for by more than {}", to_string(seen.power),
                         to_string(limits.dim_beyond));
    case LightCause::beside_its_frequency:
      return format_text("reads {}, limit {}", off, in_gigahertz(limits.detuned_beyond.mhz));
    case LightCause::other_frequency:
      return format_text("reads {}, which is out of its slot", off);
    case LightCause::unlocked:
      return "emits, but is not locked to its frequency";
    case LightCause::says_it_is_broken:
      return "emits, but reports a fatal status";
    default:
      return "does not emit";
  }
}

/// `wanted`: null where the plan does not heat it.
std::string text_of_ring(LightCause cause, const RingFilter& ring, const RingResonance* wanted, const FilterObservation& bank,
                         std::size_t channel, FrequencySlot slot, const ReconcileLimits& limits) {
  const std::int32_t millivolts = set_millivolts(ring, bank, channel);
  if (wanted != nullptr && wanted->drive && cause != LightCause::ring_in_the_way) {
    return format_text("reads {} mV, which is {} off the {} mV that its calibration gives it for {}, limit {}", millivolts,
                       in_gigahertz(off_its_place(ring, *wanted, millivolts).mhz), *wanted->drive, to_string(wanted->resonance),
                       in_gigahertz(ring.fwhm.mhz / limits.ring_width_parts));
  }
  const Frequency found = resonance_at(ring, millivolts);
  const std::string reading = format_text("reads {} mV, which is {}, off {} by {}", millivolts, to_string(found),
                                          to_string(centre_of(slot)), in_gigahertz((found - centre_of(slot)).mhz));
  return cause == LightCause::ring_in_the_way
             ? reading + ": it takes the light off its way"
             : format_text("{}, limit {}", reading, in_gigahertz(ring.fwhm.mhz / limits.ring_width_parts));
}

class Sentence {
 public:
  Sentence(const LightPaths& paths, std::size_t index, const MeasuredLight& light, const LightReadings& readings)
      : paths_(paths), readings_(readings), light_(light), index_(index), slot_(paths.plan().circuits[index].slot) {}

  std::string text() const {
    const Fabric& fabric = paths_.fabric();
    const Element& element = fabric.element(*light_.element);
    const auto device = fabric.device_of_element[element.id.value];
    if (is_measurement()) {
      return received(element, device ? &fabric.device(*device) : nullptr);
    }
    if (!device) {  // its node's module measures it, and has nothing to say of this light yet
      return format_text("{} has not measured this light since it was set", element.name);
    }
    const Device& row = fabric.device(*device);
    return format_text("{} (device {}, node {}) {}", row.name, row.id.value, row.agent.value, what(element, row));
  }

 private:
  bool is_measurement() const {
    return light_.cause == LightCause::received_low || light_.cause == LightCause::received_high ||
           light_.cause == LightCause::measured_beside || light_.cause == LightCause::measured_elsewhere;
  }

  /// By whom, what was desired, what was measured, and the limit.
  std::string received(const Element& element, const Device* monitor) const {
    const auto& receiver = std::get<Receiver>(element.kind);
    const auto& measured = readings_.received[element.id.value];
    const auto own = [&](const Sighting& sighting) { return sighting.receiver == element.id; };
    const auto sightings = paths_.sightings(index_);
    const auto sighting = std::find_if(sightings.begin(), sightings.end(), own);
    const SeenLight seen = seen_light(*sighting, receiver, *measured, slot_);
    const std::string by =
        monitor == nullptr ? std::string{}
                           : format_text(" by {} (device {}, node {})", monitor->name, monitor->id.value, monitor->agent.value);
    if (light_.cause == LightCause::received_low || light_.cause == LightCause::received_high) {
      const bool is_low = light_.cause == LightCause::received_low;
      return format_text("{} receives {}: desired {} to {}, measured{} {}, limit {}{}", element.name,
                         is_low ? "too little" : "more than it may", to_string(receiver.sensitivity),
                         to_string(receiver.overload), by, to_string(seen.power.value_or(kNoLight)),
                         to_string(is_low ? receiver.sensitivity : receiver.overload), read_ago(measured->read_at));
    }
    const Circuit& circuit = paths_.plan().circuits[index_];
    const Frequency found = seen.frequency.value_or(Frequency{});
    return format_text("{} is measured{} at {} to emit {}, off {} by {}, limit {}{}",
                       paths_.fabric().element(circuit.transmitter).name, by, element.name, to_string(found),
                       to_string(centre_of(slot_)), in_gigahertz((found - centre_of(slot_)).mhz),
                       in_gigahertz(readings_.limits.detuned_beyond.mhz), read_ago(measured->read_at));
  }

  std::string read_ago(Instant at) const { return format_text(" (read {} ago)", in_milliseconds(readings_.now - at)); }

  std::string what(const Element& element, const Device& device) const {
    const std::optional<Observation>& seen = readings_.devices[device.id.value];
    const std::string fault = seen && !seen->fault.empty() ? "; its driver says: " + seen->fault : "";
    switch (light_.cause) {
      case LightCause::never_read:
        return "was never read" + fault;
      case LightCause::agent_away:
        return "belongs to an agent that is away" + (seen ? read_ago(seen->read_at) : std::string());
      case LightCause::darkening:
        return "was ordered off, and its agent has not said that it is";
      case LightCause::latched:
        return "is latched off by its agent";
      case LightCause::driver_gave_up:
        return format_text("cannot be read{}{}", fault.empty() ? "; its driver gave up" : fault, read_ago(seen->read_at));
      case LightCause::read_too_long_ago:
        return format_text("was read {} ago, limit {}{}", in_milliseconds(light_.age),
                           in_milliseconds(readings_.limits.stale_after), fault);
      case LightCause::not_measured_since:
        return "has not measured this light since it was set" + (seen ? read_ago(seen->read_at) : std::string());
      case LightCause::moving:
        return "is moving" + read_ago(seen->read_at);
      case LightCause::not_settled:
        return format_text("does not settle, and nobody has ordered it to move{}{}", read_ago(seen->read_at), fault);
      case LightCause::uncalibrated:
        return format_text("was never calibrated: where {} stands is known of its kind alone; loom device calibrate {}",
                           element.name, device.id.value);
      case LightCause::not_connected:
        return "does not connect what the plan connects" + read_ago(seen->read_at);
      case LightCause::attenuated:
        return format_text("attenuates it more than planned by more than {}{}", to_string(readings_.limits.dim_beyond),
                           read_ago(seen->read_at));
      case LightCause::no_light_in:
      case LightCause::no_light_out:
        return format_text("measures no light at its {}, limit {}{}", port(element), to_string(kNoLight),
                           read_ago(seen->read_at));
      case LightCause::between_timeslots:
        return "was between its timeslots" + read_ago(seen->read_at);
      case LightCause::played:
        return "has played its timeslots and is dark" + read_ago(seen->read_at);
      default:
        return measured(element, *seen) + read_ago(seen->read_at);
    }
  }

  std::string port(const Element& element) const {
    const auto hops = paths_.hops(index_);
    const auto hop = std::ranges::find(hops, element.id, &Hop::element);
    return light_.cause == LightCause::no_light_in ? format_text("input {}", hop->input)
                                                   : format_text("output {}", hop->output);
  }

  std::string measured(const Element& element, const Observation& seen) const {
    if (const auto* laser = std::get_if<TransmitterObservation>(&seen.reading)) {
      return text_of_laser(light_.cause, *laser, slot_, readings_.limits);
    }
    if (const auto* stage = std::get_if<GainObservation>(&seen.reading)) {
      const DevicePlan* plan = paths_.device(seen.device);
      const Db wanted = std::get<GainSetpoint>(plan->timeline.front().setpoint).gain;
      return format_text("has a gain of {}, desired {}, off by more than {}",
                         gain_text(wanted + gain_error(element, *stage, wanted)), gain_text(wanted),
                         to_string(readings_.limits.dim_beyond));
    }
    const auto* ring = std::get_if<RingFilter>(&element.kind);
    const auto* bank = std::get_if<FilterObservation>(&seen.reading);
    if (ring == nullptr || bank == nullptr) {
      return "reads otherwise";
    }
    const std::size_t channel = paths_.fabric().index_in_device[element.id.value];
    const DevicePlan* plan = paths_.device(*paths_.fabric().device_of_element[element.id.value]);
    const RingResonance* wanted = wanted_of(std::get<FilterSetpoint>(plan->timeline.front().setpoint), channel);
    return text_of_ring(light_.cause, *ring, wanted, *bank, channel, slot_, readings_.limits);
  }

  const LightPaths& paths_;
  const LightReadings& readings_;
  const MeasuredLight& light_;
  std::size_t index_;
  FrequencySlot slot_;
};

}  // namespace

std::string describe_light(const LightPaths& paths, std::size_t index, const MeasuredLight& light,
                           const LightReadings& readings) {
  if (light.cause == LightCause::healthy) {
    return format_text("every element of its way was read as planned, the oldest {} ago", in_milliseconds(light.age));
  }
  if (!light.element) {
    return "the plan's switches do not carry it";
  }
  return Sentence(paths, index, light, readings).text();
}

}  // namespace loom
