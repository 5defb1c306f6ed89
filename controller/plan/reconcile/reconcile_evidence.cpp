// SPDX-License-Identifier: Apache-2.0
// What differs, in a sentence: desired against observed, with values and limits.
#include <algorithm>
#include <string>

#include "controller/plan/reconcile/reconcile.hpp"
#include "core/fabric/gain_stage.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string describe(const TransmitterSetpoint& wanted) {
  return wanted.emit ? format_text("{} at {}", to_string(centre_of(wanted.slot)), to_string(wanted.power)) : "darkness";
}

std::string describe(const TransmitterObservation& seen) {
  return seen.emitting ? format_text("{} at {}", to_string(seen.frequency), to_string(seen.power)) : "darkness";
}

std::string name_of(const WssRoute& route) {
  return format_text("route n={} m={} from input {} to output {}", route.slot.n, route.slot.m, route.input, route.output);
}

std::string name_of(const CrossConnect& connect) {
  return format_text("cross-connect from input {} to output {}", connect.input, connect.output);
}

/// The first row of `rows` that `others` have not, and how many more there are.
template <class Row>
std::string surplus(const std::vector<Row>& rows, const std::vector<Row>& others) {
  std::string first = "none";
  std::size_t count = 0;
  for (const Row& row : rows) {
    if (std::find(others.begin(), others.end(), row) == others.end()) {
      first = count == 0 ? name_of(row) : first;
      ++count;
    }
  }
  return count > 1 ? format_text("{} and {} more", first, count - 1) : first;
}

template <class Row>
std::string describe_rows(const std::vector<Row>& wanted, const std::vector<Row>& seen) {
  return format_text("desired and not there: {}; there and not desired: {}", surplus(wanted, seen), surplus(seen, wanted));
}

std::string in_gigahertz(std::int64_t mhz) {
  const std::int64_t tenths = (mhz < 0 ? -mhz : mhz) / 100;
  return format_text("{}{}.{} GHz", mhz < 0 ? "-" : "+", tenths / 10, tenths % 10);
}

std::string describe_bank(const Fabric& fabric, const Device& device, const FilterSetpoint& wanted,
                          const FilterObservation& seen, const ReconcileLimits& limits) {
  std::string text;
  std::size_t count = 0;
  for (std::size_t channel = 0; channel < device.elements.size(); ++channel) {
    const auto& ring = std::get<RingFilter>(fabric.element(device.elements[channel]).kind);
    const auto asked = std::find_if(wanted.rings.begin(), wanted.rings.end(),
                                    [&](const RingResonance& candidate) { return candidate.channel == channel; });
    if (channel >= seen.millivolts.size()) {
      if (asked != wanted.rings.end() && count++ == 0) {
        text = format_text("channel {}: desired resonance {}, not read", channel, to_string(asked->resonance));
      }
      continue;
    }
    const Frequency found = resonance_at(ring, set_millivolts(ring, seen, channel));
    const Frequency target = asked == wanted.rings.end() ? ring.cold_resonance : stand_of(ring, *asked);
    const std::int64_t limit = ring.fwhm.mhz / limits.ring_width_parts;
    if (magnitude(found - target).mhz <= limit || count++ > 0) {
      continue;
    }
    if (asked != wanted.rings.end() && asked->drive) {
      text = format_text(
          "channel {}: desired resonance {}, for which its calibration gives {} mV, observed {} mV, off by {}, "
          "limit {}",
          channel, to_string(asked->resonance), *asked->drive, seen.millivolts[channel], in_gigahertz((found - target).mhz),
          in_gigahertz(limit));
      continue;
    }
    text = format_text("channel {}: desired {}, observed {} mV, which is {}, off by {}, limit {}", channel,
                       asked == wanted.rings.end() ? "no heat" : "resonance " + to_string(target), seen.millivolts[channel],
                       to_string(found), in_gigahertz((found - target).mhz), in_gigahertz(limit));
  }
  return count > 1 ? format_text("{}; and {} more channels", text, count - 1) : text;
}

std::string describe_laser(const DevicePlan& plan, const TransmitterObservation& seen, Drift drift,
                           const ReconcileLimits& limits) {
  const auto& wanted = std::get<TransmitterSetpoint>(plan.timeline.front().setpoint);
  std::string text = format_text(
      "desired {}{}, observed {}", describe(wanted),
      plan.timeline.size() > 1 ? format_text(" or another of its {} timeslots", plan.timeline.size()) : "", describe(seen));
  if (drift == Drift::detuned) {
    text += format_text(", off by {}, limit {}", in_gigahertz((seen.frequency - centre_of(wanted.slot)).mhz),
                        in_gigahertz(limits.detuned_beyond.mhz));
  } else if (drift == Drift::dim) {
    const std::int32_t lacking = (wanted.power - seen.power).centi;
    text += format_text(", weaker by {}.{} dB, limit {}.{} dB", lacking / 100, lacking % 100 / 10,
                        limits.dim_beyond.centi / 100, limits.dim_beyond.centi % 100 / 10);
  }
  return text;
}

/// With whoever is in the way.
std::string describe_connects(const std::vector<CrossConnect>& wanted, const CircuitSwitchObservation& seen) {
  std::vector<CrossConnect> there = seen.connects;
  std::ranges::copy_if(wanted, std::back_inserter(there),
                       [&](CrossConnect row) { return is_connected(seen, row) && !contains(seen.connects, row); });
  std::string text = describe_rows(wanted, there);
  const std::vector<CrossConnect> others = others_beside(seen, wanted);
  for (const CrossConnect row : wanted) {
    if (const auto occupant = occupant_of(others, row)) {
      return format_text("{}; {}", text, describe_occupant(*occupant));
    }
  }
  return text;
}

std::string describe_stage(const Element& element, const GainSetpoint& wanted, const GainObservation& seen) {
  std::string said = format_text("desired {}, observed {}", gain_text(wanted.gain), gain_text(seen.gain));
  if (seen.input && seen.output) {
    said += format_text(" with {} before it and {} behind it", to_string(*seen.input), to_string(*seen.output));
  }
  if (wanted.gain == kGainOff || seen.gain == kGainOff) {
    return said;
  }
  const Db error = gain_error(element, seen, wanted.gain);
  const bool is_by_light = error != seen.gain - wanted.gain;
  return said +
         format_text(", off by {}, limit {}", to_string(error), to_string(is_by_light ? kShownGainTolerance : kGainTolerance));
}

std::string describe_reading(const Fabric& fabric, const DevicePlan& plan, const Observation& seen, Drift drift,
                             const ReconcileLimits& limits) {
  const Setpoint& wanted = plan.timeline.front().setpoint;
  if (const auto* laser = std::get_if<TransmitterObservation>(&seen.reading);
      laser && std::holds_alternative<TransmitterSetpoint>(wanted)) {
    return describe_laser(plan, *laser, drift, limits);
  }
  if (const auto* bank = std::get_if<FilterObservation>(&seen.reading);
      bank && std::holds_alternative<FilterSetpoint>(wanted)) {
    return describe_bank(fabric, fabric.device(plan.device), std::get<FilterSetpoint>(wanted), *bank, limits);
  }
  if (const auto* wss = std::get_if<WavelengthSwitchObservation>(&seen.reading);
      wss && std::holds_alternative<WavelengthSwitchSetpoint>(wanted)) {
    return describe_rows(std::get<WavelengthSwitchSetpoint>(wanted).routes, wss->routes);
  }
  if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&seen.reading);
      ocs && std::holds_alternative<CircuitSwitchSetpoint>(wanted)) {
    return describe_connects(std::get<CircuitSwitchSetpoint>(wanted).connects, *ocs);
  }
  if (const auto* stage = std::get_if<GainObservation>(&seen.reading); stage && std::holds_alternative<GainSetpoint>(wanted)) {
    return describe_stage(fabric.element(fabric.device(plan.device).elements.front()), std::get<GainSetpoint>(wanted), *stage);
  }
  return "no reading of its kind";
}

std::string in_milliseconds(Duration duration) { return format_text("{} ms", duration / std::chrono::milliseconds{1}); }

}  // namespace

std::string evidence_of(const Fabric& fabric, const DevicePlan& plan, const Observation* seen, Drift drift, Instant now,
                        const ReconcileLimits& limits) {
  const Device& device = fabric.device(plan.device);
  const std::string head =
      format_text("{} (device {}, node {}) is {}: ", device.name, device.id.value, device.agent.value, to_string(drift));
  if (seen == nullptr) {
    return head + "it was never read";
  }
  const std::string age = format_text("read {} ago", in_milliseconds(now - seen->read_at));
  if (drift == Drift::stale) {
    return format_text("{}{}, limit {}{}", head, age, in_milliseconds(limits.stale_after),
                       seen->fault.empty() ? "" : "; its driver says: " + seen->fault);
  }
  return format_text("{}{} ({})", head, describe_reading(fabric, plan, *seen, drift, limits), age);
}

}  // namespace loom
