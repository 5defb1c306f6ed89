// SPDX-License-Identifier: Apache-2.0
// Rounds launched as their conditions come true.
#include "controller/predict/collectives/collective_run.hpp"

namespace loom {

void CollectiveRun::begin(const RoundPlan& plan, std::span<const std::uint32_t> nodes, std::uint32_t index, RoundOrder order,
                          std::span<const FluidRun> fluids) {
  plan_ = &plan;
  nodes_ = nodes;
  index_ = index;
  order_ = order;
  fluids_ = fluids;
  states_.assign(plan.lanes.size() * plan.size, {});
  first_count_.clear();
  std::size_t counts = 0;
  for (const RoundPlan::Lane& lane : plan.lanes) {
    first_count_.push_back(counts);
    counts += order == RoundOrder::fluid                     ? lane.runs.size()
              : lane.is_ring || order == RoundOrder::barrier ? 0
                                                             : std::size_t{plan.size} * lane.rounds;
  }
  counts_.assign(order == RoundOrder::fluid ? 0 : counts, 0);
  for (std::uint32_t lane = 0; lane < plan.lanes.size(); ++lane) {
    for (std::uint32_t rank = 0; rank < plan.size; ++rank) {
      state(lane, rank).run_left = plan.lanes[lane].runs.front().repeats;
    }
  }
  is_started_.assign(plan.size, false);
  lanes_left_.assign(plan.size, static_cast<std::uint32_t>(plan.lanes.size()));
  finished_.clear();
  unfinished_ = plan.size;
  started_ = 0;
  outstanding_ = 0;
}

const RoundPlan::Run& CollectiveRun::run_at(std::uint32_t lane, std::uint32_t round) const {
  std::size_t at = 0;
  for (; round >= plan_->lanes[lane].runs[at].repeats; ++at) {
    round -= plan_->lanes[lane].runs[at].repeats;
  }
  return plan_->lanes[lane].runs[at];
}

void CollectiveRun::go_on_from(std::uint32_t round, bool is_sending) {
  LOOM_ASSERT(order_ == RoundOrder::by_rank);
  is_started_.assign(plan_->size, true);
  started_ = plan_->size;
  for (std::uint32_t lane = 0; lane < plan_->lanes.size(); ++lane) {
    const std::vector<RoundPlan::Run>& runs = plan_->lanes[lane].runs;
    for (std::uint32_t rank = 0; rank < plan_->size; ++rank) {
      RankState& at = state(lane, rank);
      at.launched = round + 1;
      at.received = round;
      std::uint32_t launched = at.launched;
      for (; at.run < runs.size() && launched >= runs[at.run].repeats; ++at.run) {
        launched -= runs[at.run].repeats;
      }
      at.run_left = at.run < runs.size() ? runs[at.run].repeats - launched : 0;
      at.awaited = awaited_by(*plan_, run_at(lane, round), rank);
    }
  }
  if (is_sending) {
    each_in_round([&](const Flight& flight, double) { ++state(flight.lane, flight.source).sending; });
  }
}

bool CollectiveRun::is_round_over(std::uint32_t lane, std::uint32_t rank) {
  const RankState& at = state(lane, rank);
  if (at.sending > 0) {
    return false;
  }
  if (at.launched == 0) {
    return true;
  }
  return plan_->lanes[lane].is_ring ? at.received >= at.launched : count(lane, rank, at.launched - 1) >= at.awaited;
}

bool CollectiveRun::launch(double now, std::uint32_t lane, std::uint32_t rank, Medium& medium) {
  RankState& at = state(lane, rank);
  const RoundPlan::Run& run = plan_->lanes[lane].runs[at.run];
  bool is_sent = true;
  const std::uint32_t round = at.launched;
  for_each_sent(*plan_, run, rank, [&](std::uint32_t destination, double bytes) {
    ++at.sending;
    ++outstanding_;
    if (!medium.send(now, nodes_[rank], nodes_[destination], bytes, {index_, lane, rank, destination, round})) {
      unconnected_ = {nodes_[rank], nodes_[destination]};
      is_sent = false;
    }
  });
  at.awaited = awaited_by(*plan_, run, rank);
  ++at.launched;
  if (--at.run_left == 0 && ++at.run < plan_->lanes[lane].runs.size()) {
    at.run_left = plan_->lanes[lane].runs[at.run].repeats;
  }
  return is_sent;
}

bool CollectiveRun::go_on(double now, std::uint32_t lane, std::uint32_t rank, Medium& medium) {
  if (!is_started_[rank]) {
    return true;
  }
  RankState& at = state(lane, rank);
  const std::uint32_t rounds = plan_->lanes[lane].rounds;
  while (at.launched <= rounds && is_round_over(lane, rank)) {
    if (at.launched == rounds) {
      ++at.launched;  // said once
      if (--lanes_left_[rank] == 0) {
        --unfinished_;
        finished_.push_back(rank);
      }
      return true;
    }
    if (!launch(now, lane, rank, medium)) {
      return false;
    }
  }
  return true;
}

bool CollectiveRun::next_together(double now, Medium& medium) {
  while (outstanding_ == 0) {
    bool is_any = false;
    for (std::uint32_t lane = 0; lane < plan_->lanes.size(); ++lane) {
      for (std::uint32_t rank = 0; rank < plan_->size && state(lane, rank).launched < plan_->lanes[lane].rounds; ++rank) {
        is_any = true;
        if (!launch(now, lane, rank, medium)) {
          return false;
        }
      }
    }
    if (!is_any) {
      finish_all();
      return true;
    }
  }
  return true;
}

void CollectiveRun::finish_all() {
  for (std::uint32_t rank = 0; rank < plan_->size && unfinished_ > 0; ++rank) {
    finished_.push_back(rank);
  }
  unfinished_ = 0;
}

void CollectiveRun::next_fluid(double now, std::uint32_t lane, Medium& medium) {
  RankState& at = state(lane, 0);
  std::uint32_t& run = at.run;
  if (run == plan_->lanes[lane].runs.size()) {
    if (--lanes_left_[0] == 0) {
      finish_all();
    }
    return;
  }
  const FluidRun& fluid = fluids_[first_count_[lane] + run];
  const RoundPlan::Run& rounds = plan_->lanes[lane].runs[run];
  const double on_wire = medium.network().packets.on_wire(largest_of(rounds));
  const auto after = static_cast<float>(rounds.repeats * latency_beside(fluid, on_wire));
  for (at.sending = 0; at.sending < fluid.ways; ++at.sending) {
    medium.send_over(now, fluid.first_way + at.sending, rounds.repeats * on_wire, {index_, lane, 0, 0, run, after});
  }
  ++run;
}

bool CollectiveRun::start(double now, std::uint32_t rank, Medium& medium) {
  is_started_[rank] = true;
  ++started_;
  if (order_ == RoundOrder::fluid) {
    for (std::uint32_t lane = 0; lane < plan_->lanes.size() && started_ == plan_->size; ++lane) {
      next_fluid(now, lane, medium);
    }
    return true;
  }
  if (order_ == RoundOrder::barrier) {
    return started_ < plan_->size || next_together(now, medium);
  }
  if (plan_->lanes.empty()) {
    --unfinished_;
    finished_.push_back(rank);
    return true;
  }
  for (std::uint32_t lane = 0; lane < plan_->lanes.size(); ++lane) {
    if (!go_on(now, lane, rank, medium)) {
      return false;
    }
  }
  return true;
}

bool CollectiveRun::left(double now, const Flight& flight, Medium& medium) {
  if (order_ == RoundOrder::fluid) {
    return true;
  }
  --state(flight.lane, flight.source).sending;
  return order_ == RoundOrder::barrier || go_on(now, flight.lane, flight.source, medium);
}

bool CollectiveRun::arrived(double now, const Flight& flight, Medium& medium) {
  if (order_ == RoundOrder::fluid) {
    if (--state(flight.lane, 0).sending == 0) {
      next_fluid(now, flight.lane, medium);
    }
    return true;
  }
  if (order_ == RoundOrder::barrier) {
    return --outstanding_ > 0 || next_together(now, medium);
  }
  if (plan_->lanes[flight.lane].is_ring) {
    ++state(flight.lane, flight.destination).received;
  } else {
    ++count(flight.lane, flight.destination, flight.round);
  }
  return go_on(now, flight.lane, flight.destination, medium);
}

std::vector<std::uint32_t> CollectiveRun::take_finished() { return std::exchange(finished_, {}); }

}  // namespace loom
