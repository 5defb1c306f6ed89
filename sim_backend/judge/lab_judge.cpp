// SPDX-License-Identifier: Apache-2.0
// One sweep over light and decisions in the order of time.
#include "sim_backend/judge/lab_judge.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"
#include "sim_backend/experiments/tape_replay.hpp"

namespace loom {
namespace {

OpticalState dark_state_of(const Fabric& fabric, const Device& device) {
  switch (device.role) {
    case DeviceRole::transmitter:
      return LaserLight{};
    case DeviceRole::filter: {
      RingLight cold;
      for (const ElementId element : device.elements) {
        cold.resonances.push_back(std::get<RingFilter>(fabric.element(element).kind).cold_resonance);
      }
      return cold;
    }
    case DeviceRole::wavelength_switch:
      return WssLight{};
    case DeviceRole::circuit_switch:
      return OcsLight{};
    case DeviceRole::monitor:
      return MonitorLight{};
    case DeviceRole::gain_stage:
      return GainLight{kGainOff};
  }
  return LaserLight{};
}

}  // namespace

Result<std::vector<TimedRecord>> decisions_of_tape(const std::filesystem::path& tape, const Scenario& scenario) {
  std::vector<TimedRecord> decisions;
  const auto verdict =
      replay_tape(tape, scenario, [&](Instant at, const Record& record) { decisions.push_back({at, record}); });
  if (!verdict) {
    return std::unexpected(verdict.error());
  }
  if (verdict->divergence) {
    return fail(ErrorCode::conflict,
                format_text("{}: from event {} on this program decides otherwise than the session that was recorded",
                            tape.string(), verdict->divergence->event));
  }
  return decisions;
}

std::vector<OpticalChange> power_lost(const Fabric& fabric, const std::vector<NodeId>& nodes, Instant at) {
  std::vector<OpticalChange> changes;
  for (const NodeId node : nodes) {
    for (const DeviceId device : fabric.devices_of_agent[node.value]) {
      changes.push_back({at, device, 0, dark_state_of(fabric, fabric.device(device))});
    }
  }
  return changes;
}

std::vector<Violation> judge_light(std::shared_ptr<const Fabric> fabric, LightEvidence evidence,
                                   const CheckerOptions& options) {
  std::ranges::stable_sort(evidence.light, {}, &OpticalChange::at);
  LightModel light(std::move(fabric));
  LightChecker checker(light, options);
  auto decided = evidence.decisions.begin();
  Instant bound = kNever;
  // What was decided at an instant counts for the light of that instant; bounds that pass without any change are judged, too.
  const auto advance = [&](Instant to) {
    while (decided != evidence.decisions.end() && decided->at <= to) {
      for (; bound <= decided->at; bound = checker.next_bound(bound)) {
        checker.judge_all(bound);
      }
      checker.learn(decided->at, decided->record);
      bound = checker.next_bound(decided->at);
      ++decided;
    }
    for (; bound <= to; bound = checker.next_bound(bound)) {
      checker.judge_all(bound);
    }
  };
  for (const OpticalChange& change : evidence.light) {
    advance(change.at);
    const auto changed = light.apply(change);
    checker.judge(change.at, changed);
  }
  advance(evidence.decisions.empty() ? Instant{} : evidence.decisions.back().at);
  return checker.violations();
}

}  // namespace loom
