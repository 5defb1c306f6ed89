// SPDX-License-Identifier: Apache-2.0
// AlarmBoard: the alarms that stand at a controller. One cause is one alarm that is counted; it goes when its cause is known to
// be gone and somebody has acknowledged it. Soft state: a controller that starts again raises anew what is still wrong, so
// nothing of this is journalled. It never decides what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/messages/report.hpp"
#include "core/step.hpp"

namespace loom {

/// Who says so. What agents say never takes the place of what the controller says itself.
enum class AlarmSource : std::uint8_t { controller, agent };

class AlarmBoard {
 public:
  /// Tells the host, and counts it or puts it up. An alarm that does not say what to type next gets its code's command. The
  /// text of a damage stays while it stands: the first of an agent, until the controller itself says more.
  void raise(Alarm alarm, Instant now, EffectSink& sink, AlarmSource source = AlarmSource::controller);
  /// One that has a cause of its own, whatever stands with the same code: it takes the place of `standing` if that still
  /// stands. Returns by which it is renewed and cleared.
  AlarmId raise_apart(std::optional<AlarmId> standing, Alarm alarm, Instant now, EffectSink& sink);
  /// The cause of this one is gone.
  void clear(AlarmId id);
  /// The cause of this alarm is gone. Without a node (device): of any.
  void clear(AlarmCode code, std::optional<NodeId> node = {}, std::optional<DeviceId> device = {});
  /// False: no alarm has this id.
  bool acknowledge(AlarmId id, const std::string& who);
  /// Neither cleared nor acknowledged.
  std::uint32_t open_count() const;
  /// Oldest first.
  const std::deque<StandingAlarm>& rows() const { return rows_; }

 private:
  void keep(Alarm alarm, Instant now, AlarmSource source);
  void add(Alarm alarm, Instant now, bool from_agent);
  void make_room(AlarmSource source);
  bool make_room_of(NodeId node);
  void drop_settled();
  void erase(std::deque<StandingAlarm>::iterator row);
  void count(const StandingAlarm& row, int by);
  void settle(StandingAlarm& row);

  std::deque<StandingAlarm> rows_;
  std::map<AlarmCode, int> standing_;                          ///< rows that are not cleared, by code
  std::map<std::pair<AlarmCode, DeviceId>, int> standing_of_;  ///< likewise by code and device; those that have any
  std::uint64_t last_id_ = 0;
};

}  // namespace loom
