// SPDX-License-Identifier: Apache-2.0
// Transfers over windows of light: rings by recurrence, chains as pipelines, direct transfers pair by pair.
#include "controller/predict/replay.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "controller/predict/collective_time.hpp"
#include "controller/predict/forwarded_light.hpp"
#include "controller/predict/iteration_clock.hpp"
#include "controller/predict/light_windows.hpp"
#include "controller/workload/ring_groups.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

Duration rounded(double ns) { return Duration{std::llround(ns)}; }

constexpr std::uint32_t kNobody = 0xffffffff;

/// What one collective took.
struct Outcome {
  double finish = 0;
  double lit_ns = 0;  ///< it would have taken with light always there
};

/// Whom bytes are stored at on their way. What cuts through is replay_forwarded's.
const ForwardingTable& relays_of(const ReplayOptions& options) {
  static const ForwardingTable kDirect;
  return options.schedule != nullptr && options.schedule->forwarding.mode == ForwardingMode::store_and_forward
             ? options.schedule->forwarding
             : kDirect;
}

/// Hops that begin together at a node: when it holds all that it passes on.
struct Pass {
  std::vector<Flow> flows;
  std::vector<bool> is_passed_on;  ///< [source x rank]: some of the hop's bytes go on from there
};

class Replayer {
 public:
  Replayer(const JobSpec& job, const LightTimeline& light, const ReplayOptions& options)
      : job_(job),
        forwarding_(relays_of(options)),
        windows_(light, options.start),
        latency_(static_cast<double>(options.latency.count())),
        watched_(options.watched.value_or(kNobody)) {}

  Result<Replay> in_issue_order() {
    IterationClock clock{job_.compute, job_.node_count};
    IterationClock lit{job_.compute, job_.node_count};
    for (const Collective& collective : job_.collectives) {
      const double start = clock.start_of(collective);
      double at = start;
      double lit_at = lit.start_of(collective);
      for (std::uint32_t i = 0; i < collective.count; ++i) {
        const auto ran = run(collective, at);
        if (!ran) {
          return std::unexpected(ran.error());
        }
        at = ran->finish;
        lit_at += ran->lit_ns;
      }
      note(collective, start, at, lit_at - lit.start_of(collective));
      watch(collective, start, at);
      lit.finish(collective, lit_at);
      clock.finish(collective, at);
    }
    const double end = clock.end();
    lane_.computes = clock.computes();
    return finish(end, lit.end());
  }

  /// Direct transfers together, then the rings as schedules group them: a group's rings side by side, group after group. What
  /// needs no light comes last. Time 0 is when compute is done.
  Result<Replay> merged() {
    const auto direct = run_pairs();
    if (!direct) {
      return std::unexpected(direct.error());
    }
    Outcome so_far = *direct;
    std::vector<bool> is_moved(job_.collectives.size());
    for (const RingGroup& group : ring_groups_of(job_.collectives, job_.node_count)) {
      LOOM_TRY(run_group(group.collectives, so_far));
      for (const std::uint32_t index : group.collectives) {
        is_moved[index] = true;
      }
    }
    for (std::uint32_t index = 0; index < job_.collectives.size(); ++index) {
      if (!is_moved[index] && !is_direct(job_.collectives[index])) {
        LOOM_TRY(run_group({index}, so_far));
      }
    }
    const auto compute = static_cast<double>(job_.compute.count());
    for (Phase& phase : replay_.phases) {
      phase.start += job_.compute;
      phase.finish += job_.compute;
    }
    for (auto* intervals : {&lane_.communicates, &waits_, &moves_}) {
      for (LaneInterval& each : *intervals) {
        each.from += compute;
        each.to += compute;
      }
    }
    lane_.computes = {{0, compute}};
    return finish(compute + so_far.finish, compute + so_far.lit_ns);
  }

 private:
  NodeId node(std::uint32_t rank) const { return job_.placement[rank]; }

  bool is_direct(const Collective& collective) const {
    const Movement movement = plan_of(collective, job_.node_count).movement;
    return movement == Movement::direct || movement == Movement::single;
  }

  /// Rings that share no rank, each with its collectives one after the other, all from `so_far` on.
  Result<void> run_group(const std::vector<std::uint32_t>& collectives, Outcome& so_far) {
    std::vector<Outcome> of_rank(job_.node_count, so_far);
    Outcome last = so_far;
    for (const std::uint32_t index : collectives) {
      const Collective& collective = job_.collectives[index];
      const Outcome before = of_rank[collective.ranks.empty() ? 0 : collective.ranks.front()];
      Outcome now = before;
      for (std::uint32_t i = 0; i < collective.count; ++i) {
        const auto ran = run(collective, now.finish);
        if (!ran) {
          return std::unexpected(ran.error());
        }
        now = {ran->finish, now.lit_ns + ran->lit_ns};
      }
      for (const std::uint32_t rank : ranks_of(collective, job_.node_count)) {
        of_rank[rank] = now;
      }
      note(collective, before.finish, now.finish, now.lit_ns - before.lit_ns);
      watch(collective, before.finish, now.finish);
      last = {std::max(last.finish, now.finish), std::max(last.lit_ns, now.lit_ns)};
    }
    so_far = last;
    return {};
  }

  /// The watched rank takes part in it.
  void watch(const Collective& collective, double start, double finish) {
    if (watched_ != kNobody &&
        (collective.ranks.empty() || std::ranges::find(collective.ranks, watched_) != collective.ranks.end())) {
      lane_.communicates.push_back({start, finish});
    }
  }

  /// A transfer of the watched rank, ready at `ready`, whose last byte left at `left`: when it moved, and when it waited for
  /// light. `lane` as it was before.
  void watch_transfer(const WindowLane& lane, double ready, double left) {
    double at = std::max(ready, lane.free);
    for (const Window* window = lane.next; window != lane.last && at < left; ++window) {
      if (window->end <= at) {
        continue;
      }
      if (at < window->begin) {
        extend(waits_, {at, window->begin});
        at = window->begin;
      }
      const double to = std::min(window->end, left);
      extend(moves_, {at, to});
      at = to;
    }
  }

  /// Transfers of one lane follow each other, so that most of what is added touches the last.
  static void extend(std::vector<LaneInterval>& intervals, LaneInterval by) {
    if (!intervals.empty() && intervals.back().from <= by.from && by.from <= intervals.back().to) {
      intervals.back().to = std::max(intervals.back().to, by.to);
    } else {
      intervals.push_back(by);
    }
  }

  /// What is in `some` and in none of `others`.
  static std::vector<LaneInterval> without(std::vector<LaneInterval> some, std::vector<LaneInterval> others) {
    std::ranges::sort(others, {}, &LaneInterval::from);
    std::vector<LaneInterval> joined;
    for (const LaneInterval& each : others) {
      extend(joined, each);
    }
    std::vector<LaneInterval> left;
    for (const LaneInterval& each : some) {
      double at = each.from;
      auto other = std::ranges::upper_bound(joined, at, {}, &LaneInterval::to);
      for (; other != joined.end() && other->from < each.to; ++other) {
        if (at < other->from) {
          left.push_back({at, other->from});
        }
        at = std::max(at, other->to);
      }
      if (at < each.to) {
        left.push_back({at, each.to});
      }
    }
    return left;
  }

  void note(const Collective& collective, double start, double finish, double lit_ns) {
    const Duration wire = std::min(rounded(lit_ns), rounded(finish) - rounded(start));  // parts rounded up do not exceed it
    replay_.phases.push_back({collective.kind, plan_of(collective, job_.node_count).size, collective.bytes, collective.count,
                              rounded(start), rounded(finish), wire, rounded(finish) - rounded(start) - wire});
  }

  Replay finish(double iteration, double lit) {
    replay_.iteration = rounded(iteration);
    replay_.compute = job_.compute;
    replay_.exposed = replay_.iteration - replay_.compute;
    replay_.dark = std::max(Duration{0}, replay_.iteration - rounded(lit));
    replay_.waited = rounded(waited_);
    if (watched_ != kNobody) {
      lane_.dark = without(waits_, moves_);
      replay_.lane = lane_of(node(watched_).value, lane_, static_cast<double>(replay_.iteration.count()));
    }
    return std::move(replay_);
  }

  Result<Outcome> run(const Collective& collective, double start) {
    const CollectivePlan plan = plan_of(collective, job_.node_count);
    if (collective.kind == CollectiveKind::barrier) {  // no bytes: it passes on the control network if need be
      const double time = plan.steps * latency_;
      return Outcome{start + time, time};
    }
    switch (plan.movement) {
      case Movement::nothing:
        return Outcome{start, 0};
      case Movement::ring:
        return ring(collective, plan, start);
      case Movement::chain:
        return chain(collective, plan, start);
      case Movement::direct:
      case Movement::single:
        return direct(collective, start);
    }
    return Outcome{start, 0};
  }

  Error no_light(std::int64_t bytes, NodeId source, NodeId destination) const {
    const auto windows = windows_.between(source, destination);
    std::array<char, 64> when{};
    std::snprintf(when.data(), when.size(), "after %.6f ms", windows.empty() ? 0 : windows.back().end * 1e-6);
    return {ErrorCode::infeasible, format_text("bytes {} from node {} to node {}: no light {}", bytes, source.value,
                                               destination.value, windows.empty() ? "ever" : when.data())};
  }

  /// A collective that never waited took what full light takes; else the closed form says what that is (to the rounding of
  /// its chunks, a byte a step).
  Outcome outcome(const std::vector<WindowLane>& lanes, double start, double finish, double lit_ns) {
    double longest = 0;
    for (const WindowLane& lane : lanes) {
      longest = std::max(longest, lane.waited);
    }
    waited_ = std::max(waited_, longest);
    return {finish, longest > 0 ? std::min(lit_ns, finish - start) : finish - start};
  }

  /// Lanes of the ring's links, in rank order.
  std::vector<WindowLane> ring_lanes(const std::vector<std::uint32_t>& ranks, double start) const {
    std::vector<WindowLane> lanes;
    lanes.reserve(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      lanes.push_back(windows_.lane(node(ranks[i]), node(ranks[i + 1 == ranks.size() ? 0 : i + 1]), start));
    }
    return lanes;
  }

  /// The same ring with every link lit for ever at its (first) rate.
  double lit_ring_ns(const std::vector<WindowLane>& lanes, const CollectivePlan& plan, double chunk) const {
    std::vector<LinkTerms> links;
    for (const WindowLane& lane : lanes) {
      links.push_back({lane.next == lane.last ? 0 : lane.next->ns_per_byte, latency_});
    }
    const bool uniform = std::all_of(links.begin(), links.end(), [&](const LinkTerms& link) {
      return !(link.ns_per_byte < links[0].ns_per_byte) && !(link.ns_per_byte > links[0].ns_per_byte);
    });
    return uniform ? plan.steps * (chunk * links[0].ns_per_byte + latency_) : ring_ns(links, plan.steps, chunk);
  }

  /// When a ring ends whose links are all lit at one rate for as long as it takes: then no chunk waits for another but smaller
  /// ones for larger ones, and a larger one is as late as all larger ones. To the last digit what going through all steps of
  /// all ranks gives. Nothing: its light is not so, or somebody watches a rank.
  std::optional<double> even_ring(std::vector<WindowLane>& lanes, const CollectivePlan& plan, std::int64_t bytes,
                                  double start) const {
    double end = kNoLightEver;
    for (WindowLane& lane : lanes) {
      while (lane.next != lane.last && lane.next->end <= start) {
        ++lane.next;
      }
      const bool is_lit = lane.next != lane.last && lane.next->begin <= start;
      const bool is_even = is_lit && !(lane.next->ns_per_byte < lanes.front().next->ns_per_byte) &&
                           !(lane.next->ns_per_byte > lanes.front().next->ns_per_byte);
      if (!is_even || watched_ != kNobody) {
        return std::nullopt;
      }
      end = std::min(end, lane.next->end);
    }
    const double time = static_cast<double>(bytes) * lanes.front().next->ns_per_byte;
    double at = start;
    for (std::uint32_t step = 0; step < plan.steps && at <= end; ++step) {
      at = at + time + latency_;
    }
    return at <= end ? std::optional(at) : std::nullopt;
  }

  Result<Outcome> ring(const Collective& collective, const CollectivePlan& plan, double start) {
    const std::vector<std::uint32_t> ranks = ranks_of(collective, job_.node_count);
    std::vector<WindowLane> lanes = ring_lanes(ranks, start);
    const double lit = lit_ring_ns(lanes, plan, static_cast<double>(collective.bytes.count) / plan.size);
    const std::int64_t whole = collective.bytes.count / plan.size;
    const std::int64_t larger = collective.bytes.count % plan.size;  // so many chunks have a byte more
    if (const auto end = even_ring(lanes, plan, whole + (larger > 0 ? 1 : 0), start)) {
      return outcome(lanes, start, *end, lit);
    }
    std::vector<double> arrived(plan.size, start);
    std::vector<double> arriving(plan.size, start);
    for (std::uint32_t step = 0; step < plan.steps; ++step) {
      std::uint32_t chunk = (plan.size - step % plan.size) % plan.size;  // of rank 0 in this round; rank i sends chunk + i
      for (std::uint32_t i = 0; i < plan.size; ++i) {
        const std::int64_t bytes = whole + (chunk < larger ? 1 : 0);
        const bool is_watched = ranks[i] == watched_ || ranks[i + 1 == plan.size ? 0 : i + 1] == watched_;
        const WindowLane before = is_watched ? lanes[i] : WindowLane{};
        const double left = lanes[i].move(arrived[i], static_cast<double>(bytes));
        if (left == kNoLightEver) {
          return std::unexpected(no_light(bytes, node(ranks[i]), node(ranks[(i + 1) % plan.size])));
        }
        if (is_watched) {
          watch_transfer(before, arrived[i], left);
        }
        arriving[i + 1 == plan.size ? 0 : i + 1] = left + latency_;
        chunk = chunk + 1 == plan.size ? 0 : chunk + 1;
      }
      std::swap(arrived, arriving);
    }
    return outcome(lanes, start, *std::max_element(arrived.begin(), arrived.end()), lit);
  }

  Result<Outcome> chain(const Collective& collective, const CollectivePlan& plan, double start) {
    std::vector<std::uint32_t> ranks = ranks_of(collective, job_.node_count);
    if (collective.kind == CollectiveKind::reduce) {
      std::rotate(ranks.begin(), ranks.begin() + 1, ranks.end());  // the root comes last
    }
    std::vector<WindowLane> lanes = ring_lanes(ranks, start);
    lanes.pop_back();
    double slowest = 0;
    for (const WindowLane& lane : lanes) {
      slowest = std::max(slowest, lane.next == lane.last ? 0 : lane.next->ns_per_byte);
    }
    double last = start;
    for (std::uint32_t piece = 0; piece < plan.pieces; ++piece) {
      const std::int64_t bytes = part_of(collective.bytes.count, plan.pieces, piece);
      double arrived = start;
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        const WindowLane before = lanes[i];
        const double left = lanes[i].move(arrived, static_cast<double>(bytes));
        if (left == kNoLightEver) {
          return std::unexpected(no_light(bytes, node(ranks[i]), node(ranks[i + 1])));
        }
        if (ranks[i] == watched_ || ranks[i + 1] == watched_) {
          watch_transfer(before, arrived, left);
        }
        arrived = left + latency_;
      }
      last = std::max(last, arrived);
    }
    return outcome(lanes, start, last, uniform_ns(collective, job_.node_count, {slowest, latency_}));
  }

  /// Tallies what each rank sends and receives, for the time that light alone would not have shortened.
  class Load {
   public:
    explicit Load(std::uint32_t ranks) : sent_(ranks, 0), received_(ranks, 0) {}
    void add(std::uint32_t source, std::uint32_t destination, double ns) {
      sent_[source] += ns;
      received_[destination] += ns;
    }
    double busiest() const {
      return std::max(*std::max_element(sent_.begin(), sent_.end()), *std::max_element(received_.begin(), received_.end()));
    }

   private:
    std::vector<double> sent_;
    std::vector<double> received_;
  };

  /// One pair's bytes; adds to `load`. The finish, or the error.
  Result<double> pair(const Flow& flow, double start, Load& load) {
    WindowLane lane = windows_.lane(node(flow.source), node(flow.destination), start);
    load.add(flow.source, flow.destination,
             lane.next == lane.last ? 0 : static_cast<double>(flow.bytes) * lane.next->ns_per_byte);
    const double left = lane.move(start, static_cast<double>(flow.bytes));
    if (left == kNoLightEver) {
      return std::unexpected(no_light(flow.bytes, node(flow.source), node(flow.destination)));
    }
    waited_ = std::max(waited_, lane.waited);
    if (flow.source == watched_ || flow.destination == watched_) {
      watch_transfer(windows_.lane(node(flow.source), node(flow.destination), start), start, left);
      lane_.communicates.push_back({start, left + latency_});
    }
    return left + latency_;
  }

  Result<Outcome> direct(const Collective& collective, double start) {
    Load load{job_.node_count};
    double last = start;
    for (const Flow& flow : flows_of(collective, job_.node_count)) {
      const auto finish = pair(flow, start, load);
      if (!finish) {
        return std::unexpected(finish.error());
      }
      last = std::max(last, *finish);
    }
    return Outcome{last, load.busiest() > 0 ? load.busiest() + latency_ : 0};
  }

  /// One flow a pair, ascending.
  static void join_pairs(std::vector<Flow>& flows) {
    std::sort(flows.begin(), flows.end(), [](const Flow& a, const Flow& b) {
      return a.source != b.source ? a.source < b.source : a.destination < b.destination;
    });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < flows.size(); ++i) {
      if (flows[kept].source == flows[i].source && flows[kept].destination == flows[i].destination) {
        flows[kept].bytes += flows[i].bytes;
      } else {
        flows[++kept] = flows[i];
      }
    }
    flows.resize(kept + 1);
  }

  /// All direct collectives of the iteration as one, from time 0.
  Result<Outcome> run_pairs() {
    std::vector<Flow> flows;
    Collective all{.kind = CollectiveKind::all_to_all};
    for (const Collective& collective : job_.collectives) {
      if (is_direct(collective)) {
        for (Flow flow : flows_of(collective, job_.node_count)) {
          flow.bytes *= collective.count;
          flows.push_back(flow);
        }
        all.bytes = all.bytes + Bytes{collective.bytes.count * collective.count};
      }
    }
    if (flows.empty()) {
      return Outcome{0, 0};
    }
    const std::vector<Pass> passes = hops_of(flows);
    Load load{job_.node_count};
    std::vector<double> arrived(job_.node_count, 0);                    // the last of what a rank passes on
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> is_free;  // a pair's light serves one transfer after the other
    double last = 0;
    for (const Pass& pass : passes) {
      std::vector<double> arriving(job_.node_count, 0);
      for (const Flow& flow : pass.flows) {
        double& free = is_free[{flow.source, flow.destination}];
        const auto finish = pair(flow, std::max(arrived[flow.source], free), load);
        if (!finish) {
          return std::unexpected(finish.error());
        }
        free = *finish - latency_;
        last = std::max(last, *finish);
        if (pass.is_passed_on[std::size_t{flow.source} * job_.node_count + flow.destination]) {
          arriving[flow.destination] = std::max(arriving[flow.destination], *finish);
        }
      }
      std::swap(arrived, arriving);
    }
    const double lit = load.busiest() + latency_ * static_cast<double>(passes.size());
    note(all, 0, last, lit);
    return Outcome{last, lit};
  }

  /// First hops, second hops of what is passed on, and so on; at least one pass. One flow a pair each.
  std::vector<Pass> hops_of(const std::vector<Flow>& flows) const {
    std::vector<Pass> passes;
    const auto add = [&](std::size_t number, const Flow& hop, bool is_passed_on) {
      if (number == passes.size()) {
        passes.push_back({{}, std::vector<bool>(std::size_t{job_.node_count} * job_.node_count)});
      }
      passes[number].flows.push_back(hop);
      if (is_passed_on) {
        passes[number].is_passed_on[std::size_t{hop.source} * job_.node_count + hop.destination] = true;
      }
    };
    for (const Flow& flow : flows) {
      Flow hop = flow;
      std::size_t number = 0;
      for (const std::uint32_t relay : forwarding_.through(flow.source, flow.destination)) {
        hop.destination = relay;
        add(number++, hop, true);
        hop.source = relay;
      }
      hop.destination = flow.destination;
      add(number, hop, false);
    }
    for (Pass& pass : passes) {
      join_pairs(pass.flows);
    }
    return passes;
  }

  const JobSpec& job_;
  const ForwardingTable& forwarding_;
  LightWindows windows_;
  double latency_;
  double waited_ = 0;
  std::uint32_t watched_;  ///< rank
  LaneParts lane_{};
  std::vector<LaneInterval> waits_;  ///< of the watched rank's transfers, for light
  std::vector<LaneInterval> moves_;
  Replay replay_;
};

Result<void> check(const JobSpec& job) {
  if (job.node_count == 0 || job.placement.size() != job.node_count) {
    return fail(ErrorCode::invalid_argument,
                format_text("job {}: {} nodes placed, {} ranks", job.name, job.placement.size(), job.node_count));
  }
  if (std::set<NodeId>(job.placement.begin(), job.placement.end()).size() != job.placement.size()) {
    return fail(ErrorCode::invalid_argument, format_text("job {}: two ranks on one node", job.name));
  }
  for (const Collective& collective : job.collectives) {
    const std::string fault = fault_of(collective, job.node_count);
    if (!fault.empty()) {
      return fail(ErrorCode::invalid_argument, format_text("job {}: {}", job.name, fault));
    }
  }
  return {};
}

}  // namespace

Result<Replay> replay(const JobSpec& job, const LightTimeline& light, const ReplayOptions& options) {
  LOOM_TRY(check(job));
  if (options.order == TransferOrder::forwarded) {
    LOOM_ASSERT(options.schedule != nullptr);
    return replay_forwarded(job, light, options);
  }
  if (const ForwardingTable& relays = relays_of(options); !relays.empty() && relays.ranks() != job.node_count) {
    return fail(ErrorCode::invalid_argument,
                format_text("job {}: forwarding of {} ranks, the job has {}", job.name, relays.ranks(), job.node_count));
  }
  Replayer replayer{job, light, options};
  return options.order == TransferOrder::merged ? replayer.merged() : replayer.in_issue_order();
}

}  // namespace loom
