// Counting, clearing, acknowledging.
#include "controller/control/alarm_board.hpp"

#include <algorithm>
#include <utility>

#include "core/result.hpp"

namespace loom {
namespace {

constexpr std::size_t kAlarmsKept = 1'024;

}  // namespace

void AlarmBoard::raise(Alarm alarm, Instant now, EffectSink& sink) {
  if (alarm.next_command.empty()) {
    alarm.next_command = next_command_for(alarm);
  }
  sink.emit(RaiseAlarm{alarm});
  keep(std::move(alarm), now);
}

void AlarmBoard::keep(Alarm alarm, Instant now) {
  LOOM_ASSERT(!alarm.next_command.empty());
  const auto same = std::find_if(rows_.begin(), rows_.end(), [&](const StandingAlarm& row) {
    return row.alarm.code == alarm.code && row.alarm.node == alarm.node && row.alarm.device == alarm.device;
  });
  if (same == rows_.end()) {
    rows_.push_back({AlarmId{++last_id_}, std::move(alarm), now, now, 1, {}, false});
    if (rows_.size() > kAlarmsKept) {
      const auto settled = std::find_if(rows_.begin(), rows_.end(), [](const StandingAlarm& row) { return row.cleared; });
      rows_.erase(settled == rows_.end() ? rows_.begin() : settled);
    }
    return;
  }
  if (same->cleared) {  // it came back: what was acknowledged was the time before
    same->acknowledged_by.clear();
    same->cleared = false;
  }
  same->alarm = std::move(alarm);
  same->last_seen = now;
  ++same->count;
}

void AlarmBoard::clear(AlarmCode code, std::optional<NodeId> node, std::optional<DeviceId> device) {
  for (StandingAlarm& row : rows_) {
    const bool is_meant =
        row.alarm.code == code && (!node || row.alarm.node == node) && (!device || row.alarm.device == device);
    row.cleared = row.cleared || is_meant;
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
