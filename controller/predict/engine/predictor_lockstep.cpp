// SPDX-License-Identifier: Apache-2.0
// Collectives in step in the engine: who may be, who joins whom, and what happens when somebody else comes onto their links.
#include <algorithm>
#include <functional>

#include "controller/predict/engine/predictor.hpp"

namespace loom {

bool Predictor::may_step(std::uint32_t run) {
  const Footprint& of = footprint(run);
  return options_.rounds == RoundOrder::by_rank && plan_of_run(run).is_symmetric &&
         (network_->is_uniform || (of.is_private_rings && of.is_even));
}

void Predictor::own_links(std::uint32_t run, std::uint32_t owner) {
  for (const std::uint32_t link : footprint(run).links) {
    owner_[link] = owner;
  }
}

void Predictor::add_in_step(Bundle& bundle, double now, std::uint32_t run) {
  const RoundPlan& plan = plan_of_run(run);
  const Footprint& of = footprint(run);
  // On a uniform switch all lanes share the ports; else every lane has its links to itself.
  const NetworkLink& port = network_->links.front();
  const double latency = network_->is_uniform ? port.latency_ns + network_->step_latency_ns : of.latency_ns.front();
  const auto flows = network_->is_uniform ? static_cast<std::uint32_t>(plan.lanes.size()) : 1;
  bundle.members.add(now, run, plan, latency, flows);
}

/// The bundle on the links of `run`, made of the computed collective there if need be; kNoSlot: there is nobody to be in step
/// with.
std::uint32_t Predictor::bundle_of(double now, std::uint32_t run) {
  const Footprint& of = footprint(run);
  const std::uint32_t owner = of.links.empty() ? 0 : owner_[of.links.front()];
  if (owner >= kInStep) {
    return bundles_[owner - kInStep].set == of.set ? owner - kInStep : kNoSlot;
  }
  const std::uint32_t other = owner - 1;
  if (owner == 0 || runs_[other].mode != Mode::computed || !runs_[other].began_together || footprint(other).set != of.set) {
    return kNoSlot;
  }
  const auto unused = std::find_if(bundles_.begin(), bundles_.end(), [](const Bundle& each) { return !each.is_used; });
  const auto index = static_cast<std::uint32_t>(unused - bundles_.begin());
  if (unused == bundles_.end()) {
    bundles_.emplace_back();
  }
  ++bundles_used_;
  Bundle& bundle = bundles_[index];
  bundle.is_used = true;
  bundle.set = of.set;
  const double start = runs_[other].starts.front();
  const double rate = network_->is_uniform ? network_->links.front().bytes_per_ns : of.bytes_per_ns.front();
  bundle.members.begin(start, rate, network_->packets);
  add_in_step(bundle, start, other);
  if (bundle.members.advance(now).run == Lockstep::kNobody) {  // else its bytes have left, and it ends as computed
    ++runs_[other].stamp;
  }
  own_links(run, kInStep + index);
  return index;
}

bool Predictor::join_in_step(double now, std::uint32_t run) {
  if (!may_step(run)) {
    return false;
  }
  const std::uint32_t index = bundle_of(now, run);
  if (index == kNoSlot) {
    return false;
  }
  Bundle& bundle = bundles_[index];
  for (Lockstep::Drained member = bundle.members.advance(now); member.run != Lockstep::kNobody;
       member = bundle.members.advance(now)) {
    end_together(member.run, member.arrives);
  }
  add_in_step(bundle, now, run);
  Run& of = runs_[run];
  of.mode = Mode::computed;
  of.was_computed = true;
  ++of.stamp;
  ++counts_.in_step;
  return true;
}

void Predictor::drained(std::uint32_t index, const Lockstep::Drained& member) {
  end_together(member.run, member.arrives);
  if (bundles_[index].members.size() == 0) {
    own_links(member.run, 0);
    bundles_[index].is_used = false;
    --bundles_used_;
  }
}

/// Bundles go on to `until`, or to the first end of a member before it; returns which.
double Predictor::step_bundles(double until) {
  while (bundles_used_ > 0) {
    std::uint32_t first = kNoSlot;
    double least = until;
    double second = until;  // nobody may overtake an end that another bundle brings about
    for (std::uint32_t i = 0; i < bundles_.size(); ++i) {
      if (!bundles_[i].is_used) {
        continue;
      }
      // One alone needs no comparing: it goes on by itself.
      if (const double next = bundles_used_ == 1 ? until : bundles_[i].members.next(); next <= least) {
        second = first == kNoSlot ? until : least;
        least = next;
        first = i;
      } else {
        second = std::min(second, next);
      }
    }
    if (first == kNoSlot) {
      return until;
    }
    if (const Lockstep::Drained member = bundles_[first].members.advance(std::max(least, second));
        member.run != Lockstep::kNobody) {
      drained(first, member);
      until = std::min(until, member.arrives);
    } else if (bundles_used_ == 1) {
      return until;
    }
  }
  return until;
}

Result<void> Predictor::dissolve(double now, std::uint32_t index) {
  Lockstep& members = bundles_[index].members;
  const std::uint32_t any = members.run(0);
  for (Lockstep::Drained member = members.advance(now); member.run != Lockstep::kNobody; member = members.advance(now)) {
    end_together(member.run, member.arrives);
  }
  members.bring_up(now);
  own_links(any, 0);
  bundles_[index].is_used = false;
  --bundles_used_;
  const Lockstep last = members;
  for (std::size_t i = 0; i < last.size(); ++i) {
    LOOM_TRY(play_from(now, last.run(i), last.position(i)));
  }
  return {};
}

/// What was in step goes on rank by rank.
Result<void> Predictor::play_from(double now, std::uint32_t run, const StepPosition& position) {
  Run& of = runs_[run];
  ++of.stamp;
  of.was_computed = of.began_together = false;
  ++counts_.replayed;
  LOOM_TRY(begin_played(now, run));
  CollectiveRun& played = played_[of.slot];
  played.go_on_from(position.round, position.is_sending);
  replayed_bytes_.resize(network_->links.size(), 0);
  const auto nodes = nodes_of_run(run);
  const auto carry = [&](const Flight& flight, double bytes) {
    for_each_path(*network_, nodes[flight.source], nodes[flight.destination], flight.lane,
                  [&](std::span<const std::uint32_t> path, double) {
                    for (const std::uint32_t link : path) {
                      replayed_bytes_[link] += bytes;
                    }
                  });
  };
  played.each_in_round([&](const Flight& flight, double bytes) {
    Medium::Underway underway{flight, {}, position.arrives};
    if (position.is_sending) {
      underway.parts.push_back({nodes[flight.source], nodes[flight.destination], flight.lane, 0, position.bytes_left, 0, 0});
    }
    medium_.resume(now, underway);
    carry(flight, network_->packets.on_wire(bytes) - position.bytes_left);
  });
  const RoundPlan& plan = plan_of_run(run);
  for (std::uint32_t lane = 0; lane < plan.lanes.size(); ++lane) {
    std::uint32_t before = position.round;
    for (const RoundPlan::Run& rounds : plan.lanes[lane].runs) {
      const std::uint32_t whole = std::min(before, rounds.repeats);
      before -= whole;
      for (std::uint32_t rank = 0; rank < plan.size && whole > 0; ++rank) {
        for_each_sent(plan, rounds, rank, [&](std::uint32_t destination, double bytes) {
          carry({run, lane, rank, destination, 0}, whole * network_->packets.on_wire(bytes));
        });
      }
    }
  }
  return {};
}

}  // namespace loom
