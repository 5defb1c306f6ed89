// SPDX-License-Identifier: Apache-2.0
// Kill points: one change of intent, done again and again from the same seed, with one machine killed at another of its kill
// points each time (World::crash_at). What must hold afterwards is judged from ground truth: what did not change kept its
// light, nothing was mixed, what was answered stands, light is as desired within two seconds, and applying it again writes
// no register.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim_backend/world/world.hpp"

namespace loom {

enum class IntentChange : std::uint8_t { submit, cancel };
std::string_view to_string(IntentChange change);

struct KillExperiment {
  std::shared_ptr<const Fabric> fabric;  ///< at least four nodes
  std::uint64_t seed = 1;
  IntentChange change = IntentChange::submit;
  Duration down_for = std::chrono::milliseconds{100};
  Duration bound = std::chrono::seconds{2};  ///< from the restart until everything is as desired
  /// The same for a device that lost its power: poll bound 3 s, reconcile interval 1 s, repair as above.
  Duration power_bound = std::chrono::seconds{6};
};

/// What was found wrong after one kill; no sentence: nothing.
struct KillTrial {
  std::uint64_t kill_point = 0;
  Duration settled_after{};  ///< from the restart; kForever: not within the bound
  std::vector<std::string> findings;
};

struct KillReport {
  Peer machine;
  std::uint64_t points = 0;   ///< from the order to its confirmation
  std::uint64_t covered = 0;  ///< tried
  Duration slowest{};         ///< settled_after, of those within the bound
  std::vector<KillTrial> failures;
};

/// How many kill points the machine passes between the order and its confirmation. Errors: those of the workload; internal:
/// the change was not confirmed even without a kill.
Result<std::uint64_t> count_kill_points(const KillExperiment& experiment, Peer machine);

/// The controller's kill points from the step that learns that `going` is durable until before the first Proceed: agents may
/// have gone dark for a revision of which only the journal knows. Errors: as above.
struct KillSpan {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  ///< the first that is not in it
};
Result<KillSpan> points_while_going(const KillExperiment& experiment);

/// Errors: those of the workload.
Result<KillTrial> try_kill_point(const KillExperiment& experiment, Peer machine, std::uint64_t kill_point);

/// Every `stride`-th point. Errors: as above.
Result<KillReport> try_kill_points(const KillExperiment& experiment, Peer machine, std::uint64_t stride);
/// Every point of the span. Errors: as above.
Result<KillReport> try_kill_span(const KillExperiment& experiment, Peer machine, KillSpan span);

/// The power of one device is cut for KillExperiment::down_for, at instants `step` apart from the order to its confirmation.
struct PowerReport {
  DeviceId device;
  std::uint64_t points = 0;
  std::uint64_t covered = 0;        ///< tried
  Duration slowest{};               ///< from the return of power until everything is as desired, of those within the bound
  std::vector<KillTrial> failures;  ///< kill_point: which instant
};

/// The devices that either change writes, ascending: what light of the job passes may lose its power in both, though a robot
/// that keeps its patch when the job ends is written in one. Errors: as of count_kill_points.
Result<std::vector<DeviceId>> devices_of_changes(KillExperiment experiment);

/// Judged as a kill is, except that light which passes the device may go out, that a switch moves under light when its power
/// goes, and that the job may be refused with a reason: its device failed. Errors: as of count_kill_points.
Result<PowerReport> try_power_cycles(const KillExperiment& experiment, DeviceId device, Duration step,
                                     std::uint64_t stride = 1);

}  // namespace loom
