// SPDX-License-Identifier: Apache-2.0
// One element after the other; the worst of them names the circuit's state.
#include "controller/plan/light/light_state.hpp"

#include <algorithm>

#include "controller/plan/light/light_judge.hpp"

namespace loom {
namespace {

/// The worst of what was found so far, and how old the oldest of it is.
struct Verdict {
  MeasuredLight worst;
  bool is_all_read = true;

  void add(const LightFinding& found, ElementId element, std::optional<Duration> age) {
    if (found.state > worst.state || (worst.cause == LightCause::healthy && found.state == worst.state)) {
      worst.state = found.state;
      worst.cause = found.cause;
      worst.element = found.cause == LightCause::healthy ? worst.element : element;
    }
    is_all_read = is_all_read && age.has_value();
    worst.age = std::max(worst.age, age.value_or(Duration{}));
  }
};

MeasuredLight measure(const LightPaths& paths, std::size_t index, const LightReadings& readings, bool asks_monitors) {
  const std::span<const Hop> hops = paths.hops(index);
  if (hops.empty()) {
    return {LightState::dark, LightCause::no_path, Duration{-1}, std::nullopt};
  }
  const LightJudge judge(paths, index, readings);
  const auto measured = asks_monitors ? judge.measured_frequency() : std::nullopt;
  Verdict verdict{{LightState::lit, LightCause::healthy, Duration{}, hops.front().element}};
  Proof proof = Proof::device;
  for (const Hop& hop : hops) {
    verdict.add(judge.judge(hop, measured), hop.element, judge.age_of(hop));
    verdict.add(asks_monitors ? judge.judge_taps(hop) : LightFinding{}, hop.element, Duration{});
    proof = std::min(proof, judge.proof_of(hop).value_or(proof));
  }
  for (const Sighting& sighting : asks_monitors ? paths.sightings(index) : std::span<const Sighting>{}) {
    verdict.add(judge.judge(sighting), sighting.receiver, judge.age_of(sighting));
    proof = judge.is_proven_by(sighting) ? Proof::monitor : proof;
  }
  verdict.worst.proof = proof;
  verdict.worst.age = verdict.is_all_read ? verdict.worst.age : Duration{-1};
  return verdict.worst;
}

}  // namespace

MeasuredLight measure_light(const LightPaths& paths, std::size_t index, const LightReadings& readings) {
  return measure(paths, index, readings, true);
}

MeasuredLight measure_devices(const LightPaths& paths, std::size_t index, const LightReadings& readings) {
  return measure(paths, index, readings, false);
}

std::optional<MeasuredFrequency> measured_frequency(const LightPaths& paths, std::size_t index, const LightReadings& readings) {
  return paths.hops(index).empty() ? std::nullopt : LightJudge(paths, index, readings).measured_frequency();
}

std::optional<std::size_t> missing_at(const LightPaths& paths, ElementId receiver, const LightReadings& readings) {
  for (const std::size_t index : paths.sighted_at(receiver)) {
    const LightJudge judge(paths, index, readings);
    for (const Sighting& sighting : paths.sightings(index)) {
      const bool is_dark = sighting.receiver == receiver && judge.judge(sighting).cause == LightCause::received_low;
      if (is_dark && measure_devices(paths, index, readings).state == LightState::lit) {
        return index;
      }
    }
  }
  return std::nullopt;
}

std::optional<MeasuredLight> missing_in(const LightPaths& paths, std::size_t index, ElementId element,
                                        const LightReadings& readings) {
  const LightJudge judge(paths, index, readings);
  for (const Hop& hop : paths.hops(index)) {
    const LightFinding found = hop.element == element ? judge.judge_taps(hop) : LightFinding{};
    if (found.state == LightState::dark && measure_devices(paths, index, readings).state == LightState::lit) {
      return MeasuredLight{found.state, found.cause, Duration{}, element};
    }
  }
  return std::nullopt;
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
