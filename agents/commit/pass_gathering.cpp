// SPDX-License-Identifier: Apache-2.0
// Words in, sums out.
#include "agents/commit/pass_gathering.hpp"

#include <algorithm>

#include "agents/commit/deadline.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

Duration percentile_of(std::vector<Duration> lengths, std::size_t hundredth) {
  if (lengths.empty()) {
    return Duration{};
  }
  const auto place = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) * hundredth / 100);
  std::ranges::nth_element(lengths, place);
  return *place;
}

}  // namespace

void PassGathering::begin(const std::vector<NodeId>& members) {
  *this = PassGathering();
  members_ = members;
  heard_.resize(members.size());
}

bool PassGathering::hear(Instant now, NodeId from, const PassReady& word) {
  const auto index = static_cast<std::size_t>(std::ranges::lower_bound(members_, from) - members_.begin());
  Member& member = heard_[index];
  const bool is_news = !member.is_over || word.missed > member.word.missed || (word.is_ready && !member.is_ready);
  if (!is_news) {
    return false;
  }
  const std::uint32_t missed_before = member.word.missed;
  const std::uint32_t missed = std::max(word.missed, missed_before);
  missed_ += missed - missed_before;
  missed_of_all_ += missed - missed_before;
  if (over_ == 0) {
    quiet_since_ = now;
  }
  if (!member.is_over) {
    ++over_;
    const Duration ago = word.is_ready ? std::max(word.computed_in, word.tuned_in) : word.tuned_in;
    over_at_ = std::max(over_at_, later(now, -ago));
  }
  if (word.is_ready && !member.is_ready) {
    ++ready_;
    last_ready_ = index;
  }
  member.is_over = true;
  member.is_ready = member.is_ready || word.is_ready;
  member.word = word;
  member.word.missed = missed;
  return true;
}

/// The present pass takes its place in the ledger of its iteration.
void PassGathering::close_pass(Instant now, Instant light, Next next) {
  if (next == Next::again) {
    const auto dark = std::ranges::find_if(heard_, [](const Member& each) { return each.word.missed > 0; });
    ledger_.dark += light_ == kNever ? Duration{} : between(light_, light);
    dark_.cause = DelayCause::dark;
    dark_.node = members_[static_cast<std::size_t>(dark - heard_.begin())];
    dark_.device = dark->word.device;
    dark_.took = ledger_.dark;
    return;
  }
  if (light_ != kNever) {
    ledger_.light += between(light_, over_at_);
  }
  ledger_.lead += between(now, light);
  const Duration gap = between(over_at_, now);
  if (next == Next::of_iteration) {
    ledger_.waited += gap;
    return;
  }
  Duration least = gap;
  for (const Member& member : heard_) {
    least = std::min(least, member.word.computed_in);
  }
  ledger_.compute += least;
  ledger_.waited += gap - least;
}

/// What the last node to be ready was waited for.
SlowIteration PassGathering::slowness(Instant now) const {
  if (dark_.cause != DelayCause::none && dark_.took >= ledger_.waited) {
    return dark_;
  }
  SlowIteration slow;
  const PassReady& last = heard_[last_ready_].word;
  slow.node = members_[last_ready_];
  const Duration gap = between(over_at_, now);
  const Duration own = std::max(last.computed_in, last.tuned_in);
  if (gap - own > own) {
    slow.cause = DelayCause::words;
    slow.took = gap - own;
  } else if (last.tuned_in > last.computed_in) {
    slow.cause = DelayCause::tuning;
    slow.device = last.device;
    slow.took = last.tuned_in;
  } else {
    slow.cause = DelayCause::training;
    slow.took = last.computed_in;
  }
  return slow;
}

void PassGathering::go_on(Instant now, Instant light, Next next, std::uint64_t iteration) {
  close_pass(now, light, next);
  if (next == Next::of_next_iteration) {
    if (is_whole_) {
      Played played{ledger_, slowness(now)};
      played.slow.iteration = iteration - 1;
      played.slow.length = ledger_.total();
      if (kept_.size() < limits::kIterationsKept) {
        kept_.push_back(played);
      } else {
        kept_[iteration % limits::kIterationsKept] = played;
      }
    }
    ledger_ = {};
    dark_ = {};
    is_whole_ = true;
  }
  iteration_ = iteration;
  heard_.assign(members_.size(), {});
  over_ = 0;
  ready_ = 0;
  missed_ = 0;
  light_ = light;
  over_at_ = light;
}

std::optional<AwaitedNode> PassGathering::awaited(Instant now) const {
  if (over_ == 0) {
    return std::nullopt;  // everybody plays
  }
  const bool is_for_end = over_ < members_.size();
  const auto late =
      std::ranges::find_if(heard_, [&](const Member& each) { return is_for_end ? !each.is_over : !each.is_ready; });
  if (late == heard_.end()) {
    return std::nullopt;
  }
  return AwaitedNode{members_[static_cast<std::size_t>(late - heard_.begin())], !is_for_end,
                     between(is_for_end ? quiet_since_ : over_at_, now)};
}

void PassGathering::describe(Instant now, IterationReport& report) const {
  report.missed = missed_of_all_;
  report.awaited = awaited(now);
  if (kept_.empty()) {
    return;
  }
  std::vector<Duration> lengths;
  const Played* slowest = &kept_.front();
  for (const Played& played : kept_) {
    lengths.push_back(played.slow.length);
    report.ledger.light += played.ledger.light;
    report.ledger.compute += played.ledger.compute;
    report.ledger.waited += played.ledger.waited;
    report.ledger.dark += played.ledger.dark;
    report.ledger.lead += played.ledger.lead;
    slowest = played.slow.length > slowest->slow.length ? &played : slowest;
  }
  const auto count = static_cast<std::int64_t>(kept_.size());
  report.ledger = {report.ledger.light / count, report.ledger.compute / count, report.ledger.waited / count,
                   report.ledger.dark / count, report.ledger.lead / count};
  report.slowest = slowest->slow;
  report.p50 = percentile_of(lengths, 50);
  report.p99 = percentile_of(std::move(lengths), 99);
}

}  // namespace loom
