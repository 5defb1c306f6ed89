// SPDX-License-Identifier: Apache-2.0
// UnusableWatch: which devices follow no order at present, since when, and when they are tried again: their driver gave up, a
// commit failed at them, their agent is away, or it keeps its lasers latched. Fed with readings and the ends of commits. It
// only remembers and says so: plans go around what it names, and nobody is darkened by it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/control/agent_sessions.hpp"
#include "controller/control/commit/commit.hpp"
#include "controller/control/facts.hpp"
#include "controller/control/jobs/confirmed_plans.hpp"
#include "controller/control/watch/alarm_board.hpp"
#include "controller/plan/steering.hpp"
#include "core/planning.hpp"

namespace loom {

class UnusableWatch {
 public:
  UnusableWatch(const ControllerFacts& facts, const ConfirmedPlans& confirmed, const AgentSessions& sessions,
                AlarmBoard& alarms)
      : facts_(facts), confirmed_(confirmed), sessions_(sessions), alarms_(alarms) {}

  /// The device's newest reading.
  void observe(const Observation& seen, EffectSink& sink);
  /// The agent's process is another one, and its drivers begin anew.
  void forget(NodeId node);
  /// It was reset by hand, and that went well.
  void forget(DeviceId device) { rows_.erase(device); }
  /// Takes note of what the commit may have left behind, and of the device that it failed at. True: it failed at something that
  /// follows no order now, so that what it was to bring may be planned without that.
  bool commit_failed(const FabricCommit& failed, EffectSink& sink);
  /// The plan went and was not confirmed: its devices may be where it wants them, or on the way.
  void may_have_left(const Plan& plan);
  /// What an earlier incarnation of the controller knew. Precondition: ConfirmedPlans is restored.
  void restore(const SnapshotRecord& state);
  /// Light of this laser, which nobody can prove dark, would meet the devices if they moved: they stay as long as it may be
  /// there.
  void hold_back(const std::vector<DeviceId>& devices, DeviceId laser);
  /// The light of its job begins anew, and this laser, which follows no order, cannot go along: it may go on as it was.
  void leave_behind(DeviceId laser);
  /// What the confirmed plan touched was read back. A laser that it has dark and left alone goes on as it was.
  void commit_confirmed();

  /// For a plan that is asked for now; ascending.
  std::vector<UnusableDevice> devices() const;
  /// The same, of which a plan was made.
  void planned_without(const std::vector<UnusableDevice>& devices);
  bool is_unusable(DeviceId device) const;
  /// Answer again, and are to be ordered to be as planned: their drivers gave up the last order. Ascending.
  std::vector<DeviceId> to_be_tried() const;
  /// A laser that was read dark after whatever was done to it, or whose node is known to be dark. A latch says nothing of one
  /// that follows no order and was last read lit.
  bool is_proven_dark(DeviceId laser) const;
  /// A laser that may send light, and cannot be told not to.
  bool may_emit_light(DeviceId laser) const;
  /// The same, or one that nobody has seen dark since the confirmed plan lit it, or at all where nothing is confirmed.
  bool may_be_lit(DeviceId laser) const;
  /// Why plans do without it; empty: they do not.
  std::string why(DeviceId device) const;
  /// Circuit switches that failed commits may have left otherwise than is planned.
  std::vector<LeftSwitch> left_switches() const;
  /// Something that the last plan did without is of use again: its name, once.
  std::optional<std::string> take_recovery();

 private:
  struct Row {
    std::string why;
    Instant since{};
    std::uint32_t failures = 0;
    Instant retry_at{};     ///< not before; it has to answer as well
    bool is_tried = false;  ///< plans use it again, until it fails again
  };
  /// What a failed commit may have left of a device that it touched, or a plan that left it alone.
  struct Left {
    Instant since{};
    std::vector<FrequencySlot> emissions{};       ///< of a laser
    std::vector<CircuitSwitchSetpoint> states{};  ///< of a circuit switch
  };

  void mark(DeviceId device, std::string why, EffectSink& sink);
  Instant done_at(DeviceId device) const;
  std::optional<std::string> take_freed_port();
  UnusableDevice entry(DeviceId device, std::string why) const;
  /// Of a circuit switch: what somebody else connected, by its last reading, beside what is desired.
  std::vector<CrossConnect> occupied_of(DeviceId device) const;

  const ControllerFacts& facts_;
  const ConfirmedPlans& confirmed_;
  const AgentSessions& sessions_;
  AlarmBoard& alarms_;
  std::map<DeviceId, Row> rows_;
  std::map<DeviceId, Left> left_;                                  ///< until a commit that touches it is confirmed
  std::set<DeviceId> playing_;                                     ///< may play, by a plan that went: until another one sets it
  std::map<DeviceId, DeviceId> held_back_;                         ///< what stays -> the laser
  std::vector<DeviceId> planned_without_;                          ///< ascending
  std::vector<std::pair<DeviceId, CrossConnect>> planned_beside_;  ///< connections of somebody else
};

/// None of the node's own devices is unusable.
bool is_sound(const UnusableWatch& watch, const Fabric& fabric, NodeId node);
/// Of lasers that follow no order, be it that a plan with them dark was confirmed since: they were left alone in it.
std::vector<PossibleLight> possible_light_of(const std::vector<UnusableDevice>& devices);

}  // namespace loom
