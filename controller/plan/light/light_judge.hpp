// SPDX-License-Identifier: Apache-2.0
// LightJudge: what the latest readings say of one circuit, element by element and monitor by monitor. The inside of
// light_state; nobody else includes it.
#pragma once

#include <optional>

#include "controller/plan/light/light_state.hpp"

namespace loom {

/// What is wrong with one element, and how bad that is.
struct LightFinding {
  LightState state = LightState::lit;
  LightCause cause = LightCause::healthy;
};

class LightJudge {
 public:
  LightJudge(const LightPaths& paths, std::size_t index, const LightReadings& readings);

  /// A device on its way. `measured`: its frequency by a monitor, which outranks a laser's own word.
  LightFinding judge(const Hop& hop, const std::optional<MeasuredFrequency>& measured) const;
  /// The taps of a switch on its way: light that does not come in, or does not go out.
  LightFinding judge_taps(const Hop& hop) const;
  /// A receiver that may measure it.
  LightFinding judge(const Sighting& sighting) const;
  /// Does a monitor there see it as it shall be?
  bool is_proven_by(const Sighting& sighting) const;
  /// What a monitor there says of it that is newer than its light, and that no commit under way is about to change.
  std::optional<SeenLight> seen(const Sighting& sighting) const;
  std::optional<MeasuredFrequency> measured_frequency() const;

  /// Since the device was last known to be as it is: read, or read back by a commit. Nothing: never.
  std::optional<Duration> age_of(const Hop& hop) const;
  std::optional<Duration> age_of(const Sighting& sighting) const;
  /// What the device says that it rests on; nothing: the element has no device, or it is a monitor.
  std::optional<Proof> proof_of(const Hop& hop) const;

 private:
  AgentLight agent_of(DeviceId id) const;
  Instant proven_at(DeviceId id) const;
  /// Read at all, by this process of its agent.
  bool is_read(DeviceId id) const;
  /// By a reading, or by the read-back of a commit; Instant::min(): never.
  Instant known_at(DeviceId id) const;
  /// Why nobody may rely on what is known of it.
  std::optional<LightFinding> uncertainty_of(DeviceId id) const;
  bool is_unmeasured(const Hop& hop, const DevicePlan& plan) const;
  LightFinding judge_reading(const Hop& hop, const DevicePlan& plan, const Observation& seen,
                             const std::optional<MeasuredFrequency>& measured) const;
  std::optional<DeviceId> device_at(ElementId element) const { return paths_.fabric().device_of_element[element.value]; }
  const ReceivedPower* received_at(ElementId element) const;
  bool is_ordered(DeviceId id) const;

  const LightPaths& paths_;
  const LightReadings& readings_;
  const Circuit& circuit_;
  std::size_t index_;
  Instant light_since_ = Instant::min();  ///< the last commit that touched a device on its way was confirmed
  bool is_moving_ = false;                ///< a commit under way touches one
};

}  // namespace loom
