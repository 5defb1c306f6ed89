// SPDX-License-Identifier: Apache-2.0
// Timelines: plays the timeslots of this node's devices between the commits, without the controller. Light only within
// [guard end, hold end], and only if the device has settled by guard end; else the timeslot stays dark and is an underflow.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agents/commit/timeline.hpp"
#include "agents/devices/device_units.hpp"
#include "agents/envelope_sender.hpp"

namespace loom {

/// What became of a pass.
struct PassEnd {
  std::uint32_t missed = 0;          ///< timeslots that stayed dark
  std::optional<DeviceId> device{};  ///< the first one whose did
};

class Timelines {
 public:
  Timelines(const EnvelopeSender& envelopes, DeviceUnits& units);

  /// What became of the first timeslot of a device.
  enum class First : std::uint8_t { pending, played, missed };

  /// A new revision begins to play at `start`; CycleDone will be said about it.
  void begin(StepContext context, const NodePlan& plan, Instant start);
  /// Precondition: nobody above Activity::timeline holds the lane; begin() was called.
  void play(StepContext context, std::size_t unit, std::shared_ptr<const NodePlan> plan, const DevicePlan& device,
            Instant start);
  /// The lane is no longer played here; its device is left as it is. Real-time safe.
  void stop(std::size_t unit);
  void stop_all();
  /// One pass more over what was played, counted from `start`. Who holds a lane above us keeps it: its timeslots stay dark.
  void begin_pass(StepContext context, Instant start);
  /// A pass of a plan with iterations is over; once each.
  std::optional<PassEnd> take_pass_end();
  /// Between two passes: a laser that is not proven dark at its first timeslot. None: the next pass may begin.
  std::optional<DeviceId> untuned() const;
  /// The time that lasers have for their first timeslot. Precondition: a plan with timeslots was begun.
  Duration first_guard() const;
  /// No CycleDone about this revision any more.
  void withdraw(Revision revision);
  /// Carries out every edge that has come, and says CycleDone. Real-time safe apart from underflow alarms.
  void advance(StepContext context);
  /// CycleDone once more, until the cap: nobody acknowledges it.
  void repeat_cycle_done(StepContext context);
  /// A new incarnation of the controller asks who we are: what was played to its end may not have been received.
  void send_again() { repeats_left_ = is_done_ ? kCycleDoneRepeats : repeats_left_; }

  bool plays_any() const;
  First first(std::size_t unit) const { return players_[unit].first; }
  std::uint32_t underflows() const { return underflows_; }

 private:
  struct Player {
    std::optional<Playback> playback;
    First first = First::pending;
    Deadline edge{TimerId{}};
    std::shared_ptr<const NodePlan> plan;  ///< that is played again, pass after pass
    const DevicePlan* device = nullptr;
    bool is_tuning = false;  ///< to its first timeslot, between two passes
  };
  void advance(StepContext context, std::size_t unit);
  void pass_edge(StepContext context, std::size_t unit);
  void place(StepContext context, std::size_t unit);
  void light(StepContext context, std::size_t unit);
  void blank(StepContext context, std::size_t unit);
  void finish_pass(StepContext context, std::size_t unit);
  void tune(StepContext context, std::size_t unit);
  void miss(StepContext context, std::size_t unit, std::uint64_t timeslots);
  void send_cycle_done(StepContext context) const;

  const EnvelopeSender& envelopes_;
  DeviceUnits& units_;
  std::vector<Player> players_;
  Revision revision_;
  std::uint32_t cycles_ = 0;
  std::uint32_t underflows_ = 0;
  static constexpr int kCycleDoneRepeats = 20;
  int repeats_left_ = 0;
  bool is_done_ = false;  ///< every cycle of revision_ was played
  Duration pass_{};       ///< of a plan with iterations: the length of one
  bool is_pass_over_ = false;
  bool is_at_work_ = false;  ///< a laser plays or tunes, or did when it was looked at last
  PassEnd pass_end_;
  Deadline cycle_end_{kCycleTimer};
};

}  // namespace loom
