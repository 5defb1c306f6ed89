// SPDX-License-Identifier: Apache-2.0
// Collectives in the engine: computed while they have their links to themselves, played round by round otherwise.
#include <algorithm>
#include <functional>

#include "controller/predict/collective_time.hpp"
#include "controller/predict/engine/predictor.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint64_t kTransfersAtOnce = 1u << 24;  ///< of one collective that is played; some 340 B each
constexpr std::uint64_t kRoundsCounted = 1u << 28;    ///< ranks x rounds of one collective that is played

/// Errors: out_of_range, by the limit's name.
Result<void> check_playable(const RoundPlan& plan) {
  std::uint64_t at_once = 0;
  std::uint64_t counted = 0;
  for (const RoundPlan::Lane& lane : plan.lanes) {
    std::uint64_t most = plan.size;
    for (const RoundPlan::Run& run : lane.runs) {
      most = run.pattern == RoundPattern::all_pairs ? std::uint64_t{plan.size} * plan.size : most;
    }
    at_once += most;
    counted += lane.is_ring ? 0 : std::uint64_t{plan.size} * lane.rounds;
  }
  if (at_once > kTransfersAtOnce || counted > kRoundsCounted) {
    return fail(ErrorCode::out_of_range, format_text("a collective of {} ranks has too many transfers to play one by one: more "
                                                     "than {} at once (kTransfersAtOnce) or {} ranks x rounds (kRoundsCounted)",
                                                     plan.size, kTransfersAtOnce, kRoundsCounted));
  }
  return {};
}

}  // namespace

std::uint32_t Predictor::run_of(std::uint32_t part) const {
  const std::uint32_t task = index_->task_of_part[part];
  const std::uint32_t size = graph_->families[graph_->tasks[task].family].size;
  return index_->first_run[task] + (part - index_->first_part[task]) / size;
}

std::uint32_t Predictor::part_of(std::uint32_t run, std::uint32_t rank) const {
  const std::uint32_t task = task_of_run(run);
  const std::uint32_t size = graph_->families[graph_->tasks[task].family].size;
  return index_->first_part[task] + (run - index_->first_run[task]) * size + rank;
}

std::span<const std::uint32_t> Predictor::nodes_of_run(std::uint32_t run) const {
  const std::uint32_t task = task_of_run(run);
  return graph_->group(graph_->families[graph_->tasks[task].family], run - index_->first_run[task]);
}

bool Predictor::is_free(const Footprint& of) const {
  return std::all_of(of.links.begin(), of.links.end(),
                     [&](std::uint32_t link) { return owner_[link] == 0 && users_[link] == 0; });
}

void Predictor::claim(std::uint32_t run) {
  for (const std::uint32_t link : footprint(run).links) {
    owner_[link] = run + 1;
  }
}

void Predictor::release(std::uint32_t run) {
  for (const std::uint32_t link : footprint(run).links) {
    owner_[link] = owner_[link] == run + 1 ? 0 : owner_[link];
  }
}

bool Predictor::claim_rank(std::uint32_t run, std::uint32_t rank) {
  const Footprint& of = footprint(run);
  const std::uint32_t size = plan_of_run(run).size;
  bool is_mine = true;
  for (std::uint32_t at = rank; at < of.place.size(); at += size) {
    for (std::uint32_t i = of.first_link[of.place[at]]; i < of.first_link[of.place[at] + 1]; ++i) {
      std::uint32_t& owner = owner_[of.way_links[i]];
      is_mine = is_mine && owner == 0 && users_[of.way_links[i]] == 0;
      owner = owner == 0 ? run + 1 : owner;
    }
  }
  return is_mine;
}

void Predictor::release_rank(std::uint32_t run, std::uint32_t rank) {
  const Footprint& of = footprint(run);
  const std::uint32_t size = plan_of_run(run).size;
  for (std::uint32_t at = rank; at < of.place.size(); at += size) {
    for (std::uint32_t i = of.first_link[of.place[at]]; i < of.first_link[of.place[at] + 1]; ++i) {
      std::uint32_t& owner = owner_[of.way_links[i]];
      owner = owner == run + 1 ? 0 : owner;
    }
  }
}

void Predictor::end_run(double now, std::uint32_t run, std::uint32_t stamp) {
  Run& of = runs_[run];
  if (of.stamp != stamp || of.mode != Mode::computed) {
    return;
  }
  of.mode = Mode::done;
  release(run);
  for (std::uint32_t rank = 0; rank < plan_of_run(run).size; ++rank) {
    finish_part(now, part_of(run, rank));
  }
}

void Predictor::end_rank(double now, std::uint32_t part, std::uint32_t stamp) {
  const std::uint32_t run = run_of(part);
  Run& of = runs_[run];
  if (of.stamp != stamp || of.mode != Mode::computed) {
    return;
  }
  release_rank(run, part - part_of(run, 0));
  if (--of.left == 0) {
    of.mode = Mode::done;
  }
  finish_part(now, part);
}

void Predictor::end_together(std::uint32_t run, double finish) {
  Run& of = runs_[run];
  of.mode = Mode::computed;
  of.was_computed = true;
  ++of.stamp;
  timed_.push_back({finish, task_of_run(run), run, of.stamp, true});
  std::push_heap(timed_.begin(), timed_.end(), std::greater<>{});
}

void Predictor::end_at(std::uint32_t run, std::span<const double> finishes) {
  if (std::all_of(finishes.begin(), finishes.end(), [&](double each) { return each == finishes.front(); })) {
    return end_together(run, finishes.front());
  }
  Run& of = runs_[run];
  of.mode = Mode::computed;
  of.was_computed = true;
  ++of.stamp;
  of.left = static_cast<std::uint32_t>(finishes.size());
  for (std::uint32_t rank = 0; rank < finishes.size(); ++rank) {
    timed_.push_back({finishes[rank], task_of_run(run), part_of(run, rank), of.stamp, false});
    std::push_heap(timed_.begin(), timed_.end(), std::greater<>{});
  }
}

void Predictor::compute_rings(std::uint32_t run) {
  const Run& of = runs_[run];
  const Footprint& ways = footprint(run);
  const RoundPlan& plan = plan_of_run(run);
  std::vector<double> finishes(plan.size, 0);
  const bool is_together =
      std::all_of(of.starts.begin(), of.starts.end(), [&](double each) { return each == of.starts.front(); });
  for (std::uint32_t lane = 0; lane < plan.lanes.size(); ++lane) {
    const RoundPlan::Run& rounds = plan.lanes[lane].runs.front();
    const double on_wire = network_->packets.on_wire(rounds.bytes);
    const std::size_t first = std::size_t{lane} * plan.size;
    if (is_together && ways.is_even) {
      const double each = on_wire / ways.bytes_per_ns[first] + ways.latency_ns[first];
      for (double& finish : finishes) {
        finish = std::max(finish, of.starts.front() + rounds.repeats * each);
      }
      continue;
    }
    std::vector<double> starts(plan.size);
    std::vector<double> cost(plan.size);
    for (std::uint32_t i = 0; i < plan.size; ++i) {
      starts[i] = of.starts[ways.order[first + i]];
      cost[i] = on_wire / ways.bytes_per_ns[first + i];
    }
    const auto latency = std::span{ways.latency_ns}.subspan(first, plan.size);
    const std::vector<double> along = ring_finishes_ns(starts, cost, latency, rounds.repeats);
    for (std::uint32_t i = 0; i < plan.size; ++i) {
      double& finish = finishes[ways.order[first + i]];
      finish = std::max(finish, along[i]);
    }
  }
  ++(is_together && ways.is_even ? counts_.closed_forms : counts_.recurrences);
  runs_[run].began_together = is_together && may_step(run);
  end_at(run, finishes);
}

double Predictor::barrier_ns(std::uint32_t run) {
  Footprint& of = footprint(run);
  const RoundPlan& plan = plan_of_run(run);
  if (!check_playable(plan) || segment_bytes(*network_) > 0) {
    return -1;
  }
  const std::uint32_t plan_index = plan_of_task_[task_of_run(run)];
  if (of.barrier_plan == plan_index) {
    return of.barrier_ns;
  }
  // Rounds in which every lane does the same as in the round before take as long as that one.
  std::vector<std::size_t> at(plan.lanes.size(), 0);
  std::vector<std::uint32_t> left;
  for (const RoundPlan::Lane& lane : plan.lanes) {
    left.push_back(lane.runs.front().repeats);
  }
  double sum = 0;
  for (;;) {
    RoundPlan once;
    once.size = plan.size;
    std::uint32_t repeats = 0xffffffff;
    for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
      if (at[lane] < plan.lanes[lane].runs.size()) {
        repeats = std::min(repeats, left[lane]);
        RoundPlan::Lane one{{plan.lanes[lane].runs[at[lane]]}, 1, false};
        one.runs.front().repeats = 1;
        once.lanes.push_back(std::move(one));
      }
    }
    if (once.lanes.empty()) {
      break;
    }
    aside_.reset(*network_);
    CollectiveRun alone;
    alone.begin(once, nodes_of_run(run), 0, RoundOrder::barrier);
    double now = 0;
    bool is_connected = true;
    for (std::uint32_t rank = 0; rank < plan.size; ++rank) {
      is_connected = alone.start(0, rank, aside_) && is_connected;
    }
    aside_.settle(0);
    while (is_connected && alone.unfinished() > 0 && aside_.next() < std::numeric_limits<double>::infinity()) {
      now = aside_.next();
      for (const FlightEvent& event : aside_.advance(now)) {
        const Flight flight = aside_.flight(event);
        event.has_arrived() ? alone.arrived(now, flight, aside_) : alone.left(now, flight, aside_);
      }
      aside_.settle(now);
    }
    if (alone.unfinished() > 0) {
      return -1;  // played, it will name the pair
    }
    sum += repeats * now;
    for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane) {
      if (at[lane] < plan.lanes[lane].runs.size() && (left[lane] -= repeats) == 0 &&
          ++at[lane] < plan.lanes[lane].runs.size()) {
        left[lane] = plan.lanes[lane].runs[at[lane]].repeats;
      }
    }
  }
  of.barrier_plan = plan_index;
  of.barrier_ns = sum;
  return sum;
}

bool Predictor::compute_run(double now, std::uint32_t run) {
  const RoundPlan& plan = plan_of_run(run);
  const bool is_closed = options_.rounds == RoundOrder::by_rank && network_->is_uniform && plan.is_symmetric;
  if ((!is_closed && options_.rounds != RoundOrder::barrier) || !is_free(footprint(run))) {
    return false;
  }
  const NetworkLink& port = network_->links.front();
  const double takes = is_closed ? symmetric_ns(plan, port.bytes_per_ns, port.latency_ns + network_->step_latency_ns,
                                                [&](double bytes) { return network_->packets.on_wire(bytes); })
                                 : barrier_ns(run);
  if (takes < 0) {
    return false;
  }
  claim(run);
  runs_[run].starts.assign(plan.size, now);
  runs_[run].began_together = may_step(run);
  ++counts_.closed_forms;
  end_together(run, now + takes);
  return true;
}

Result<void> Predictor::gather(double now, std::uint32_t run, std::span<const std::uint32_t> fresh) {
  Run& of = runs_[run];
  const std::uint32_t size = plan_of_run(run).size;
  if (of.mode == Mode::waiting) {
    of.mode = Mode::gathering;
    of.starts.assign(size, -1);
  }
  bool is_alone = true;
  for (const std::uint32_t rank : fresh) {
    of.starts[rank] = now;
    is_alone = claim_rank(run, rank) && is_alone;
  }
  if (!is_alone) {
    return replay(now, run);
  }
  if (of.started == size) {
    compute_rings(run);
  }
  return {};
}

Result<void> Predictor::decide(double now, std::uint32_t run) {
  Run& of = runs_[run];
  const RoundPlan& plan = plan_of_run(run);
  const std::vector<std::uint32_t> fresh = std::exchange(of.fresh, {});
  if (plan.lanes.empty()) {  // nobody to talk to
    for (const std::uint32_t rank : fresh) {
      finish_part(now, part_of(run, rank));
    }
    return {};
  }
  const bool may_compute = is_fixed_ && !options_.plays_everything && options_.rounds != RoundOrder::fluid;
  if (of.mode == Mode::waiting && may_compute && of.started == plan.size && fresh.size() == plan.size &&
      (compute_run(now, run) || join_in_step(now, run))) {
    return {};
  }
  if (options_.rounds == RoundOrder::barrier && of.mode == Mode::waiting && of.started < plan.size) {
    return {};  // nothing leaves before the last rank is here
  }
  if (options_.rounds == RoundOrder::barrier && of.mode == Mode::waiting) {
    if (may_compute && compute_run(now, run)) {
      return {};
    }
    std::vector<std::uint32_t> all(plan.size);
    for (std::uint32_t rank = 0; rank < plan.size; ++rank) {
      all[rank] = rank;
    }
    LOOM_TRY(begin_played(now, run));
    return start_ranks(now, run, all);
  }
  const bool is_rings = may_compute && options_.rounds == RoundOrder::by_rank && footprint(run).is_private_rings;
  if (of.mode == Mode::gathering || (of.mode == Mode::waiting && is_rings)) {
    return gather(now, run, fresh);
  }
  if (of.mode == Mode::waiting) {
    LOOM_TRY(begin_played(now, run));
  }
  return start_ranks(now, run, fresh);
}

Result<void> Predictor::begin_played(double now, std::uint32_t run) {
  const RoundPlan& plan = plan_of_run(run);
  const std::vector<FluidRun>& fluids = footprint(run).fluids;
  const bool is_fluid = options_.rounds == RoundOrder::fluid && fluids.size() == plan.runs();
  const RoundOrder order = options_.rounds == RoundOrder::fluid && !is_fluid ? RoundOrder::by_rank : options_.rounds;
  if (!is_fluid) {
    LOOM_TRY(check_playable(plan));
  }
  Run& of = runs_[run];
  of.mode = Mode::played;
  ++counts_.played;
  if (free_played_.empty()) {
    free_played_.push_back(static_cast<std::uint32_t>(played_.size()));
    played_.emplace_back();
  }
  of.slot = free_played_.back();
  free_played_.pop_back();
  played_[of.slot].begin(plan, nodes_of_run(run), run, order, fluids);
  for (std::size_t lane = 0; lane < plan.lanes.size() && !is_fluid; ++lane) {
    if (plan.lanes[lane].runs.front().pattern == RoundPattern::all_pairs) {
      medium_.reserve(std::size_t{plan.size} * (plan.size - 1));
    }
  }
  if (!is_fixed_) {
    return {};
  }
  for (const std::uint32_t link : footprint(run).links) {
    ++users_[link];
    if (owner_[link] >= kInStep) {
      LOOM_TRY(dissolve(now, owner_[link] - kInStep));
    } else if (owner_[link] != 0 && owner_[link] != run + 1) {
      LOOM_TRY(replay(now, owner_[link] - 1));
    }
  }
  return {};
}

Result<void> Predictor::replay(double now, std::uint32_t run) {
  Run& of = runs_[run];
  ++of.stamp;  // what was computed no longer holds
  of.was_computed = of.began_together = false;
  ++counts_.replayed;
  release(run);
  LOOM_TRY(begin_played(now, run));
  CollectiveRun& played = played_[of.slot];
  std::vector<std::uint32_t> order;
  for (std::uint32_t rank = 0; rank < of.starts.size(); ++rank) {
    if (of.starts[rank] >= 0) {
      order.push_back(rank);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return of.starts[a] < of.starts[b]; });
  Medium medium;
  medium.reset(*network_);
  double at = order.empty() ? now : of.starts[order.front()];
  std::size_t next = 0;
  bool is_connected = true;
  while (at <= now && is_connected) {
    for (const FlightEvent& event : medium.advance(at)) {
      const Flight flight = medium.flight(event);
      is_connected =
          is_connected && (event.has_arrived() ? played.arrived(at, flight, medium) : played.left(at, flight, medium));
    }
    for (; next < order.size() && of.starts[order[next]] <= at && is_connected; ++next) {
      is_connected = played.start(at, order[next], medium);
    }
    medium.settle(at);
    const double start = next < order.size() ? of.starts[order[next]] : std::numeric_limits<double>::infinity();
    at = std::min(start, medium.next());
  }
  if (!is_connected) {
    return not_connected(run, played.unconnected());
  }
  for (const Medium::Underway& each : medium.underway(now)) {
    medium_.resume(now, each);
  }
  const std::vector<double> carried = medium.carried(now);
  replayed_bytes_.resize(carried.size(), 0);
  std::transform(carried.begin(), carried.end(), replayed_bytes_.begin(), replayed_bytes_.begin(), std::plus<>{});
  finish_ranks(now, run);
  return {};
}

Result<void> Predictor::start_ranks(double now, std::uint32_t run, std::span<const std::uint32_t> fresh) {
  for (const std::uint32_t rank : fresh) {
    CollectiveRun& played = played_[runs_[run].slot];
    if (!played.start(now, rank, medium_)) {
      return not_connected(run, played.unconnected());
    }
  }
  finish_ranks(now, run);
  return {};
}

Result<void> Predictor::deliver(double now) {
  constexpr std::uint64_t kLooksAnEvent = 50;
  const std::span<const FlightEvent> events = medium_.advance(now);
  looks_ += kLooksAnEvent * events.size();
  for (const FlightEvent& event : events) {
    const Flight flight = medium_.flight(event);
    const std::uint32_t run = flight.run;
    CollectiveRun& played = played_[runs_[run].slot];
    const bool is_connected = event.has_arrived() ? played.arrived(now, flight, medium_) : played.left(now, flight, medium_);
    if (!is_connected) {
      return not_connected(run, played.unconnected());
    }
    finish_ranks(now, run);
  }
  return {};
}

void Predictor::finish_ranks(double now, std::uint32_t run) {
  Run& of = runs_[run];
  CollectiveRun& played = played_[of.slot];
  if (!played.has_finished()) {
    return;
  }
  for (const std::uint32_t rank : played.take_finished()) {
    if (const std::uint32_t part = part_of(run, rank); parts_[part].finish < 0) {
      finish_part(now, part);
    }
  }
  if (played.unfinished() > 0) {
    return;
  }
  of.mode = Mode::done;
  free_played_.push_back(of.slot);
  for (std::size_t i = 0; is_fixed_ && i < footprint(run).links.size(); ++i) {
    --users_[footprint(run).links[i]];
  }
}

std::unexpected<Error> Predictor::not_connected(std::uint32_t run, std::pair<std::uint32_t, std::uint32_t> ends) const {
  return fail(ErrorCode::unreachable,
              format_text("network '{}': no path from node {} to node {}, which task '{}' needs", network_->name, ends.first,
                          ends.second, graph_->names[graph_->tasks[task_of_run(run)].name]));
}

std::unexpected<Error> Predictor::stuck(double now) const {
  for (std::uint32_t part = 0; part < parts_.size(); ++part) {
    if (parts_[part].finish < 0) {
      return fail(ErrorCode::infeasible,
                  format_text("after {} ms nothing can go on: task '{}' on node {}{}", std::to_string(now / 1e6),
                              graph_->names[graph_->tasks[index_->task_of_part[part]].name], node_of(part),
                              parts_[part].start < 0 ? " never starts" : " never ends"));
    }
  }
  return fail(ErrorCode::internal, "nothing is left, and yet the iteration does not end");
}

}  // namespace loom
