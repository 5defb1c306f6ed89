// SPDX-License-Identifier: Apache-2.0
// One look an interval.
#include "runtime/clock_watch.hpp"

#include <utility>

namespace loom {

class ClockWatch::Core : public std::enable_shared_from_this<ClockWatch::Core> {
 public:
  Core(AsioLoop& loop, Changed changed, ClockReader read, Duration interval)
      : loop_(loop), changed_(std::move(changed)), read_(std::move(read)), interval_(interval) {
    counters_.is_tai = loop.source() == LoopClock::tai;
  }

  /// By the monotonic timer of the loop: a TAI that is stepped far back would otherwise not be looked at for as long.
  void look() {
    if (is_closed_) {
      return;
    }
    ++counters_.checks;
    const auto answer = read_();
    const auto tai = answer ? judge_tai(answer->reading, answer->state) : std::unexpected(answer.error());
    if (answer) {
      counters_.offset_seconds = answer->reading.tai;
      counters_.max_error = std::chrono::microseconds{answer->reading.maxerror};
    }
    if (tai.has_value() != std::exchange(counters_.is_good, tai.has_value())) {
      counters_.losses += tai ? 0U : 1U;
      changed_(ClockJudged{tai ? std::nullopt : std::optional(tai.error())});
    }
    loop_.call_at(loop_.now() + interval_, Precision::ordinary, [self = shared_from_this()] { self->look(); });
  }

  void close() { is_closed_ = true; }
  const ClockCounters& counters() const { return counters_; }

 private:
  AsioLoop& loop_;
  Changed changed_;
  ClockReader read_;
  Duration interval_;
  ClockCounters counters_;
  bool is_closed_ = false;
};

ClockWatch::ClockWatch(AsioLoop& loop, Changed changed, ClockReader read, Duration interval)
    : core_(std::make_shared<Core>(loop, std::move(changed), std::move(read), interval)) {
  if (loop.source() == LoopClock::tai) {
    core_->look();
  }
}

ClockWatch::~ClockWatch() { core_->close(); }

const ClockCounters& ClockWatch::counters() const { return core_->counters(); }

}  // namespace loom
