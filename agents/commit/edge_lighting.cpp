// SPDX-License-Identifier: Apache-2.0
// A laser is readied once, a line armed once, and every one asked at one deadline.
#include "agents/commit/edge_lighting.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// From the instant of an edge until its devices are asked whether it came: longer than the lateness of a thread that gives one
/// [K]. Their light does not wait for it, their proof does.
constexpr Duration kPatience = std::chrono::milliseconds{1};

}  // namespace

void EdgeLighting::ready(StepContext context, std::size_t unit, const Setpoint& light, Instant at) {
  const DeviceUnit& device = units_[unit];
  if (!units_.edges().fires(device.device->id) || !device.driver->can_prepare() || !device.is_proven(darkened(light))) {
    return;
  }
  if (!std::exchange(lasers_[unit].is_readied, true)) {
    units_.prepare(context, unit, &light);
  }
  if (!device.preparing && !device.driver->preparation_failed()) {
    units_.edges().arm(context, device.device->id, at);
  }
}

bool EdgeLighting::takes(StepContext context, std::size_t unit, Instant at) {
  const DeviceUnit& device = units_[unit];
  const bool is_ready = lasers_[unit].is_readied && !device.preparing && !device.driver->preparation_failed();
  if (!is_ready || !units_.edges().is_armed(device.device->id, at)) {
    return false;
  }
  lasers_[unit].awaits_edge = true;
  proof_.set(context, later(at, kPatience));
  return true;
}

std::vector<std::size_t> EdgeLighting::take_due(Instant now) {
  std::vector<std::size_t> due;
  if (!proof_.passed(now)) {
    return due;
  }
  proof_.forget();
  for (std::size_t i = 0; i < lasers_.size(); ++i) {
    if (std::exchange(lasers_[i].awaits_edge, false)) {
      lasers_[i].writes = units_[i].writes;
      due.push_back(i);
    }
  }
  return due;
}

void EdgeLighting::conclude(StepContext context, Revision revision) {
  std::string late;
  for (std::size_t i = 0; i < lasers_.size(); ++i) {
    if (lasers_[i].writes) {
      const bool is_fired = units_[i].writes == *lasers_[i].writes;
      units_.edges().count(is_fired);
      late = is_fired ? late : units_[i].device->name;
    }
  }
  std::optional<std::string> why = units_.edges().take_refusal();
  if (!why && !late.empty()) {
    why = format_text("no edge set {} within {} of its instant", late, in_microseconds(kPatience));
  }
  if (why) {
    Alarm alarm{AlarmCode::fire_underflow, {}, {}, {}, {}};
    alarm.evidence = format_text("{}; what revision {} lights there was lit by a word over its bus", *why, revision.value);
    alarm.next_command = format_text("loom node show {}", envelopes_.node.value);
    alarm.revision = revision;
    envelopes_.warn(context, std::move(alarm));
  }
}

void EdgeLighting::forget() {
  proof_.forget();
  std::ranges::fill(lasers_, Laser{});
}

}  // namespace loom
