// SPDX-License-Identifier: Apache-2.0
// One port, shared evenly.
#include "controller/predict/collectives/lockstep.hpp"

#include "core/result.hpp"

namespace loom {

void Lockstep::begin(double now, double bytes_per_ns, const PacketTerms& packets) {
  members_.clear();
  packets_ = &packets;
  rate_ = bytes_per_ns;
  flows_ = served_ = 0;
  since_ = now;
}

void Lockstep::enter(Member& member) const {
  const RoundPlan::Run& run = member.plan->lanes.front().runs[member.at];
  const double transfers = run.pattern == RoundPattern::all_pairs ? member.plan->size - 1 : 1;
  member.flows = member.flows_a_lane * transfers;
  member.on_wire = packets_->on_wire(run.bytes);
  member.left = run.repeats;
}

void Lockstep::launch(Member& member) {
  served_ = flows_ == 0 ? 0 : served_;
  flows_ += member.flows;
  member.due = served_ + member.on_wire;
  member.is_sending = true;
}

void Lockstep::bring_up(double now) {
  if (flows_ > 0) {
    served_ += rate_ / flows_ * (now - since_);
  }
  since_ = now;
}

void Lockstep::add(double now, std::uint32_t run, const RoundPlan& plan, double latency_ns, std::uint32_t flows_a_lane) {
  LOOM_ASSERT(plan.is_symmetric && !plan.lanes.empty());
  bring_up(now);
  Member member;
  member.plan = &plan;
  member.latency = latency_ns;
  member.run = run;
  member.flows_a_lane = flows_a_lane;
  enter(member);
  launch(member);
  members_.push_back(member);
}

std::size_t Lockstep::first() const {
  std::size_t sends = members_.size();
  std::size_t waits = members_.size();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    std::size_t& best = members_[i].is_sending ? sends : waits;
    best = best == members_.size() || members_[i].due < members_[best].due ? i : best;
  }
  if (sends == members_.size() || waits == members_.size()) {
    return sends == members_.size() ? waits : sends;
  }
  return time_of(members_[sends]) <= members_[waits].due ? sends : waits;
}

double Lockstep::next() const {
  const std::size_t member = first();
  return member == members_.size() ? std::numeric_limits<double>::infinity() : time_of(members_[member]);
}

Lockstep::Drained Lockstep::advance(double until) {
  while (!members_.empty()) {
    const std::size_t index = first();
    Member& member = members_[index];
    const double now = time_of(member);
    if (now > until) {
      break;
    }
    if (!member.is_sending) {
      bring_up(now);
      launch(member);
    } else if (const Drained drained = leave(index, now); drained.run != kNobody) {
      return drained;
    }
  }
  return {};
}

Lockstep::Drained Lockstep::leave(std::size_t index, double now) {
  Member& member = members_[index];
  served_ = member.due > served_ ? member.due : served_;
  since_ = now;
  flows_ -= member.flows;
  member.is_sending = false;
  member.due = now + member.latency;
  ++member.round;
  if (--member.left > 0) {
    return {};
  }
  if (++member.at < member.plan->lanes.front().runs.size()) {
    enter(member);
    return {};
  }
  const Drained drained{member.run, member.due};
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
  return drained;
}

StepPosition Lockstep::position(std::size_t index) const {
  const Member& member = members_[index];
  if (member.is_sending) {
    return {member.round, true, member.due > served_ ? member.due - served_ : 0, 0};
  }
  return {member.round - 1, false, 0, member.due};
}

}  // namespace loom
