// SPDX-License-Identifier: Apache-2.0
// Steady, held, followed.
#include "controller/control/jobs/demand_watch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kChangesKept = 64;

std::string in_seconds(Duration duration) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", seconds_of(duration));
  return text.data();
}

}  // namespace

/// How long demand must have been the same: one hold, and one more for every change beyond the second.
Duration DemandWatch::steadiness(Duration hold) const {
  const auto changes = static_cast<std::int64_t>(changes_.size());
  return hold * std::clamp<std::int64_t>(changes - 1, 1, policy_.hold_times);
}

/// True: it is another demand than before.
bool DemandWatch::notice(Instant now, const DemandReading& reading, const DemandCase& about) {
  if (!present_.empty() && demand_distance(present_, reading.collectives, about.ranks) <= policy_.tolerance) {
    return false;
  }
  const bool is_change = !present_.empty();
  if (is_change) {
    changes_.push_back(now);
  }
  present_ = reading.collectives;
  since_ = now;
  return is_change;
}

void DemandWatch::forget_changes(Instant now, Duration hold) {
  while (!changes_.empty() && (now - changes_.front() > hold * policy_.hold_times || changes_.size() > kChangesKept)) {
    changes_.pop_front();
  }
}

bool DemandWatch::judge(Instant now, const DemandReading& reading, const DemandCase& about) {
  const Duration hold = about.dark * policy_.hold_times;
  const bool is_believed = !reading.collectives.empty();
  const bool is_change = is_believed && notice(now, reading, about);
  forget_changes(now, hold);
  const Duration needed = steadiness(hold);
  const bool was_restless = restless_;
  restless_ = changes_.size() >= policy_.restless && (!is_believed || now - since_ < needed);
  restless_news_ = restless_ && (is_change || !was_restless);
  if (!is_believed) {
    says_ = moving_ || restless_ ? says_ : format_text("not measured: {}; kept", reading.why_not);
    return false;
  }
  if (moving_) {
    return false;
  }
  if (restless_) {
    says_ = format_text("demand of {} changed {} times in {}; its light takes {} to move and is held for {}; kept", about.name,
                        changes_.size(), in_seconds(now - changes_.front()), in_seconds(about.dark), in_seconds(needed));
    return false;
  }
  if (made_for_ != *about.made_for) {
    made_for_ = *about.made_for;
    rejected_.clear();
  }
  if (demand_distance(present_, made_for_, about.ranks) <= policy_.tolerance) {
    const bool is_ours = !moved_because_.empty() && demand_distance(tried_, made_for_, about.ranks) <= policy_.tolerance;
    says_ = is_ours ? moved_because_ : "as the light is made for";
    return false;
  }
  if (!rejected_.empty() && demand_distance(present_, rejected_, about.ranks) <= policy_.tolerance) {
    says_ = rejected_because_;
    return false;
  }
  const Instant due = std::max(since_ + needed, held_since_ == Instant{} ? Instant{} : held_since_ + hold);
  if (now < due) {
    says_ = format_text(
        "differs from what the light is made for; followed in {} if it stays so (a change takes {}, light is held for {})",
        in_seconds(due - now), in_seconds(about.dark), in_seconds(hold));
    return false;
  }
  return true;
}

void DemandWatch::begin(std::string says) {
  tried_ = moving_ ? tried_ : present_;
  moving_ = true;
  rejected_.clear();
  says_ = std::move(says);
}

void DemandWatch::moved(Instant now, std::string says) {
  moving_ = false;
  held_since_ = now;
  moved_because_ = std::move(says);
  says_ = moved_because_;
}

void DemandWatch::kept(Instant now, std::string says) {
  moving_ = false;
  held_since_ = now;
  rejected_ = tried_.empty() ? present_ : tried_;
  rejected_because_ = std::move(says);
  says_ = rejected_because_;
}

}  // namespace loom
