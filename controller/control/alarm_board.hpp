// AlarmBoard: the alarms that stand at a controller. Equal code, node and device are one alarm that is counted; it goes when
// its cause is known to be gone and somebody has acknowledged it. Soft state: a controller that starts again raises anew what
// is still wrong, so nothing of this is journalled. It never decides what is wrong.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/report.hpp"
#include "core/step.hpp"

namespace loom {

class AlarmBoard {
 public:
  /// Tells the host, and counts it or puts it up. An alarm that does not say what to type next gets its code's command.
  void raise(Alarm alarm, Instant now, EffectSink& sink);
  /// The cause of this alarm is gone. Without a node (device): of any.
  void clear(AlarmCode code, std::optional<NodeId> node = {}, std::optional<DeviceId> device = {});
  /// False: no alarm has this id.
  bool acknowledge(AlarmId id, const std::string& who);
  /// Neither cleared nor acknowledged.
  std::uint32_t open_count() const;
  /// Oldest first.
  const std::deque<StandingAlarm>& rows() const { return rows_; }

 private:
  void keep(Alarm alarm, Instant now);
  void drop_settled();

  std::deque<StandingAlarm> rows_;
  std::uint64_t last_id_ = 0;
};

}  // namespace loom
