// SPDX-License-Identifier: Apache-2.0
// LabLight: what the devices of a lab did to light, put together from the light logs of its processes and emulators: ground
// truth for accounts, replays and judges. Instants are of this host's monotonic clock.
#pragma once

#include <memory>
#include <vector>

#include "cli/lab/session.hpp"
#include "core/fabric/light.hpp"
#include "sim_backend/devices/optical_state.hpp"

namespace loom::cli {

class LabLight {
 public:
  explicit LabLight(const LabRecord& lab) : lab_(lab) {}

  /// Rings behind a real heater bank leave no light log: their resonance follows from the voltages that the bank's
  /// registers hold now (P = V^2 / R), read over the bank's own protocol, and counts from `since` on.
  Result<void> read_banks(Instant since);
  /// The simulated devices of an agent process died with it.
  void note_death(std::uint32_t process, Instant at);
  /// Everything that has happened by now, ascending; waits until the logs tell it. Errors: timed_out (an agent process does not
  /// write), malformed.
  Result<std::vector<OpticalChange>> changes() const;

 private:
  Result<Instant> await_logs() const;

  const LabRecord& lab_;
  std::vector<OpticalChange> noted_;  ///< beside the logs
};

/// The windows of `changes`, all instants counted from `zero`.
LightTimeline windows_of(std::shared_ptr<const Fabric> fabric, std::vector<OpticalChange> changes, Instant zero);

}  // namespace loom::cli
