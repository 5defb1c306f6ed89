// SPDX-License-Identifier: Apache-2.0
// MeasuredHeaters: what a driver knows of heaters whose electronics measure them: volts and currents of the pass under way,
// what each was set to last, and what must be read or set next for a target. It never talks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/heater/heater_law.hpp"

namespace loom {

class MeasuredHeaters {
 public:
  /// By channel; empty: there is none yet, and every channel counts as cold.
  using Target = std::span<const HeaterVoltage>;
  struct Reading {
    std::size_t channel = 0;
    bool is_current = false;
  };

  /// A voltage measured within `accuracy_millivolts` of another may be the same.
  MeasuredHeaters(std::vector<RingFilter> rings, std::int32_t accuracy_millivolts);

  std::size_t size() const { return channels_.size(); }
  /// What was measured is forgotten: of all channels, or of those that shall be hot.
  void begin_pass();
  void begin_pass_of_hot(Target target);
  /// Cold channels first, then the currents of hot ones, and the volts of hot ones last: a device that loses its power during a
  /// pass is cold from then on, so that the last of these readings tells it.
  std::optional<Reading> next_reading(Target target, bool with_currents) const;
  void keep(std::size_t channel, std::optional<double> volts, std::optional<double> amperes);
  /// It was set, or may have been, and is to be measured anew. `commanded`: what it took; none: nobody knows.
  void keep_write(std::size_t channel, std::optional<std::int32_t> commanded);
  void keep_limit(std::size_t channel) { channels_[channel].is_limited = true; }
  bool is_limited(std::size_t channel) const { return channels_[channel].is_limited; }
  /// It may have lost its power: what it was told holds no more.
  void forget_commands();

  /// Has one been set since the pass began?
  bool has_written() const;
  /// The first that is not as wanted and was not set since the pass began.
  std::optional<std::size_t> next_write(Target target) const;
  /// All stand as wanted.
  bool agrees(Target target) const { return !target.empty() && !next_write(target); }
  /// Where the ring is as with `millivolts`, as far as light can tell.
  bool stands_at(std::size_t channel, std::int32_t millivolts) const;
  /// A sentence about the first that has voltage and no current; empty: none.
  std::string open_heater() const;

  std::int32_t millivolts(std::size_t channel) const { return channels_[channel].millivolts.value_or(0); }
  /// Of all channels; none: the pass is not over.
  std::optional<std::vector<std::int32_t>> all_millivolts() const;
  /// What they hold: the target's voltage where they stand there, and else the measured one.
  std::vector<HeaterVoltage> held(Target target) const;

 private:
  struct Channel {
    std::optional<std::int32_t> millivolts;
    std::optional<std::int32_t> microamperes;
    std::optional<std::int32_t> commanded;
    bool is_written = false;
    bool is_limited = false;
  };
  static bool is_hot(Target target, std::size_t channel) { return channel < target.size() && target[channel].millivolts > 0; }
  bool must_write(std::size_t channel, std::int32_t wanted) const;

  std::vector<RingFilter> rings_;
  std::int32_t accuracy_;
  std::vector<Channel> channels_;
};

}  // namespace loom
