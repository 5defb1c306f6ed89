// SPDX-License-Identifier: Apache-2.0
// Counting, clearing, acknowledging.
#include "controller/control/watch/alarm_board.hpp"

#include <algorithm>
#include <utility>

#include "core/messages/intake_limits.hpp"
#include "core/result.hpp"

namespace loom {
namespace {

/// Of the controller's own, and as many of agents'.
constexpr std::size_t kAlarmsKept = 1'024;

/// What all agents of a commit say of it has one cause; anything else is of a node or a device.
bool is_same_cause(const Alarm& a, const Alarm& b) {
  if (a.code != b.code || a.revision.has_value() != b.revision.has_value()) {
    return false;
  }
  return a.revision ? a.revision == b.revision : a.node == b.node && a.device == b.device;
}

/// Something that broke and stays so: what was said of it first knows most.
bool is_damage(AlarmCode code) {
  return code == AlarmCode::journal_damaged || code == AlarmCode::device_failed || code == AlarmCode::fire_underflow;
}

void note_node(StandingAlarm& row, std::optional<NodeId> node) {
  if (node) {
    const auto place = std::lower_bound(row.nodes.begin(), row.nodes.end(), *node);
    if (place == row.nodes.end() || *place != *node) {
      row.nodes.insert(place, *node);
      row.node_count = static_cast<std::uint32_t>(row.nodes.size());
    }
  }
}

/// Once more. One that came back: what was acknowledged was the time before.
void renew(StandingAlarm& row, Instant now) {
  row.last_seen = now;
  ++row.count;
  if (row.cleared) {
    row.acknowledged_by.clear();
    row.cleared = false;
  }
}

}  // namespace

void AlarmBoard::raise(Alarm alarm, Instant now, EffectSink& sink, AlarmSource source) {
  if (alarm.next_command.empty()) {
    alarm.next_command = next_command_for(alarm);
  }
  sink.emit(RaiseAlarm{alarm});
  keep(std::move(alarm), now, source);
}

AlarmId AlarmBoard::raise_apart(std::optional<AlarmId> standing, Alarm alarm, Instant now, EffectSink& sink) {
  if (alarm.next_command.empty()) {
    alarm.next_command = next_command_for(alarm);
  }
  sink.emit(RaiseAlarm{alarm});
  const auto same =
      std::find_if(rows_.begin(), rows_.end(), [&](const StandingAlarm& row) { return standing && row.id == *standing; });
  if (same == rows_.end()) {
    make_room(AlarmSource::controller);
    add(std::move(alarm), now, false);
    return rows_.back().id;
  }
  note_node(*same, alarm.node);
  count(*same, -1);
  same->alarm = std::move(alarm);
  renew(*same, now);
  count(*same, 1);
  return same->id;
}

/// An agent that raises alarms without end displaces its own, and nobody else's.
bool AlarmBoard::make_room_of(NodeId node) {
  const auto is_its = [&](const StandingAlarm& row) { return row.from_agent && row.alarm.node == node; };
  if (static_cast<std::size_t>(std::count_if(rows_.begin(), rows_.end(), is_its)) < limits::kAlarmsPerNode) {
    return false;
  }
  erase(std::find_if(rows_.begin(), rows_.end(), is_its));
  return true;
}

void AlarmBoard::make_room(AlarmSource source) {
  const bool from_agent = source == AlarmSource::agent;
  const auto is_its = [&](const StandingAlarm& row) { return row.from_agent == from_agent; };
  if (static_cast<std::size_t>(std::count_if(rows_.begin(), rows_.end(), is_its)) < kAlarmsKept) {
    return;
  }
  const auto settled =
      std::find_if(rows_.begin(), rows_.end(), [&](const StandingAlarm& row) { return is_its(row) && row.cleared; });
  erase(settled == rows_.end() ? std::find_if(rows_.begin(), rows_.end(), is_its) : settled);
}

void AlarmBoard::keep(Alarm alarm, Instant now, AlarmSource source) {
  LOOM_ASSERT(!alarm.next_command.empty());
  const bool from_agent = source == AlarmSource::agent;
  const auto same =
      std::find_if(rows_.begin(), rows_.end(), [&](const StandingAlarm& row) { return is_same_cause(row.alarm, alarm); });
  if (same == rows_.end()) {
    if (!from_agent || !alarm.node || !make_room_of(*alarm.node)) {
      make_room(source);
    }
    return add(std::move(alarm), now, from_agent);
  }
  note_node(*same, alarm.node);
  count(*same, -1);
  const bool is_better_known = same->from_agent ? from_agent && is_damage(alarm.code) : from_agent || is_damage(alarm.code);
  if (!is_better_known || same->cleared) {
    same->alarm = std::move(alarm);
    same->from_agent = from_agent;
  }
  renew(*same, now);
  count(*same, 1);
}

void AlarmBoard::add(Alarm alarm, Instant now, bool from_agent) {
  StandingAlarm row{AlarmId{++last_id_}, std::move(alarm), now, now, 1, {}, false};
  note_node(row, row.alarm.node);
  row.from_agent = from_agent;
  count(row, 1);
  rows_.push_back(std::move(row));
}

void AlarmBoard::erase(std::deque<StandingAlarm>::iterator row) {
  count(*row, -1);
  rows_.erase(row);
}

void AlarmBoard::count(const StandingAlarm& row, int by) {
  if (!row.cleared) {
    standing_[row.alarm.code] += by;
    if (row.alarm.device && (standing_of_[{row.alarm.code, *row.alarm.device}] += by) == 0) {
      standing_of_.erase({row.alarm.code, *row.alarm.device});
    }
  }
}

void AlarmBoard::settle(StandingAlarm& row) {
  count(row, -1);
  row.cleared = true;
}

void AlarmBoard::clear(AlarmId id) {
  for (StandingAlarm& row : rows_) {
    if (row.id == id) {
      settle(row);
    }
  }
  drop_settled();
}

void AlarmBoard::clear(AlarmCode code, std::optional<NodeId> node, std::optional<DeviceId> device) {
  // Whoever is well says so again and again, and most of the time nothing was ever the matter.
  if (device ? !standing_of_.contains({code, *device}) : standing_[code] == 0) {
    return;
  }
  for (StandingAlarm& row : rows_) {
    const bool is_meant =
        row.alarm.code == code && (!node || row.alarm.node == node) && (!device || row.alarm.device == device);
    if (is_meant) {
      settle(row);
    }
  }
  drop_settled();
}

bool AlarmBoard::acknowledge(AlarmId id, const std::string& who) {
  const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const StandingAlarm& known) { return known.id == id; });
  if (row == rows_.end()) {
    return false;
  }
  row->acknowledged_by = who.empty() ? "somebody" : who;
  drop_settled();
  return true;
}

std::uint32_t AlarmBoard::open_count() const {
  return static_cast<std::uint32_t>(std::count_if(
      rows_.begin(), rows_.end(), [](const StandingAlarm& row) { return !row.cleared && row.acknowledged_by.empty(); }));
}

void AlarmBoard::drop_settled() {
  std::erase_if(rows_, [](const StandingAlarm& row) { return row.cleared && !row.acknowledged_by.empty(); });
}

}  // namespace loom
