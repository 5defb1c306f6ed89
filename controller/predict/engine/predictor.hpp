// SPDX-License-Identifier: Apache-2.0
// The engine: plays one iteration of a task graph on a network, event by event, exactly in the fluid model. Compute tasks run
// on their workers in order of readiness, collectives round by round over max-min shared links; a collective that has its links
// to itself is not played but computed (closed form or ring recurrence), and played after all if somebody joins it there.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "controller/predict/collectives/round_plan.hpp"
#include "controller/predict/engine/graph_index.hpp"
#include "controller/predict/engine/play_state.hpp"
#include "controller/predict/engine/reconfiguration.hpp"

namespace loom {

struct PlayOptions {
  RoundOrder rounds = RoundOrder::by_rank;
  bool plays_everything = false;  ///< no closed forms: every transfer is an event
  /// A run whose rates took more looks at a transfer on a link (some 3 ns each) ends with timed_out; 0: no limit.
  std::uint64_t looks_max = 0;
  /// At most so many states of a run are kept; after set_duration() and set_bytes() the next run goes on from the last one in
  /// which none of the changed tasks had begun, with the very result of a run from the start. Each costs about as much memory
  /// as the engine's own state. 0: none.
  std::uint32_t checkpoints = 0;
};

class Predictor : private PlayState {
 public:
  /// `graph` and `network` must live as long. Errors: those of check(graph), check(network), rounds_of; invalid_argument (a
  /// network with fewer end points than nodes).
  static Result<Predictor> make(const TaskGraph& graph, const Network& network, const PlayOptions& options);

  /// One task's size for the runs to come, without laying the graph out anew; see PlayOptions::checkpoints. Errors: not_found,
  /// invalid_argument (a compute task has no bytes, a communication no duration), those of rounds_of.
  Result<void> set_duration(std::uint32_t task, Duration duration);
  Result<void> set_bytes(std::uint32_t task, Bytes bytes);

  /// Plays one iteration. `changing`: the network is what this machine says instead (it starts at 0 and is used up). Returns
  /// the iteration in ns. Errors: unreachable (two nodes that must talk are not connected, by name), infeasible (a rate of 0,
  /// or nothing can go on), timed_out (PlayOptions::looks_max), invalid_argument (fluids on a network that changes).
  Result<double> run(Reconfiguration* changing = nullptr);
  /// Time at which the last run took up a checkpoint, ns; 0: it began at the start.
  double resumed_at() const { return resumed_at_; }

  // Of the last run:
  std::span<const PartTime> parts() const { return parts_; }
  std::span<const std::uint32_t> first_part() const { return index_->first_part; }
  const std::vector<NodeTimes>& nodes() const { return node_times_; }
  const PlayCounts& counts() const { return counts_; }
  /// Parts from the iteration's end back to its start, each waiting for the next one.
  std::vector<std::uint32_t> critical_path() const;
  /// Bytes that each link of the network carried; with `changing`, only the sum over all links means something.
  std::vector<double> carried() const;
  /// The collective that a communicate part belongs to.
  std::uint32_t run_of(std::uint32_t part) const;
  std::uint32_t task_of(std::uint32_t part) const { return index_->task_of_part[part]; }
  std::uint32_t node_of(std::uint32_t part) const { return node_of_part_[part]; }
  const TaskGraph& graph() const { return *graph_; }
  const Network& network() const { return *network_; }

 private:
  /// Links of a group's collective, and for rings what the recurrence needs.
  struct Footprint {
    std::vector<std::uint32_t> links;
    bool is_private_rings = false;  ///< all rings, no link in two transfers
    // Of private rings, lane by lane, in the ring's order:
    std::vector<std::uint32_t> order;  ///< ranks
    std::vector<std::uint32_t> place;  ///< by rank: where in `order`
    std::vector<double> bytes_per_ns;  ///< of the way to the next
    std::vector<double> latency_ns;
    std::vector<std::uint32_t> first_link;  ///< entries + 1, into way_links
    std::vector<std::uint32_t> way_links;
    bool is_even = false;   ///< all ways alike
    std::uint32_t set = 0;  ///< number of this set of links; equal sets have equal numbers
    std::uint32_t barrier_plan = 0xffffffff;
    double barrier_ns = 0;
    std::vector<FluidRun> fluids;  ///< RoundOrder::fluid, and empty where it is played by rank all the same
  };
  Predictor() = default;
  Result<void> plan_task(std::uint32_t task);
  void add_nodes();
  void add_footprints();
  Footprint footprint_of(std::uint32_t task, std::uint32_t group) const;
  void note_rings(Footprint& footprint, const RoundPlan& plan, std::span<const std::uint32_t> nodes) const;

  void reset();
  /// The last checkpoint in which no changed task had begun is the state again, later ones are forgotten; false: there is none.
  bool go_back();
  void keep_checkpoint();
  PlayState take_spare();
  void begin_tasks();
  Result<double> play(Reconfiguration* changing);
  Result<void> change(double now, Reconfiguration& changing);
  void ready(double now, std::uint32_t task, std::uint32_t slot);
  void finish_part(double now, std::uint32_t part);
  void pass_on(double now, std::uint32_t part);
  void start_worker(double now, std::uint32_t worker);
  void offer(double now, std::uint32_t part);
  void start_communication(double now, std::uint32_t part);
  void account(double now, std::uint32_t node);

  std::uint32_t task_of_run(std::uint32_t run) const { return task_of_run_[run]; }
  std::span<const std::uint32_t> nodes_of_run(std::uint32_t run) const;
  const RoundPlan& plan_of_run(std::uint32_t run) const { return plans_[plan_of_task_[task_of_run(run)]]; }
  Footprint& footprint(std::uint32_t run) { return footprints_[footprint_of_run_[run]]; }
  Result<void> decide(double now, std::uint32_t run);
  bool compute_run(double now, std::uint32_t run);
  Result<void> gather(double now, std::uint32_t run, std::span<const std::uint32_t> fresh);
  void compute_rings(std::uint32_t run);
  double barrier_ns(std::uint32_t run);
  bool is_free(const Footprint& of) const;
  void claim(std::uint32_t run);
  bool claim_rank(std::uint32_t run, std::uint32_t rank);
  void release_rank(std::uint32_t run, std::uint32_t rank);
  void release(std::uint32_t run);
  Result<void> begin_played(double now, std::uint32_t run);
  Result<void> replay(double now, std::uint32_t run);
  Result<void> start_ranks(double now, std::uint32_t run, std::span<const std::uint32_t> fresh);
  Result<void> deliver(double now);
  void finish_ranks(double now, std::uint32_t run);
  void end_run(double now, std::uint32_t run, std::uint32_t stamp);
  void end_rank(double now, std::uint32_t part, std::uint32_t stamp);
  void end_at(std::uint32_t run, std::span<const double> finishes);
  void end_together(std::uint32_t run, double finish);

  // Collectives in step (predictor_lockstep.cpp):
  bool may_step(std::uint32_t run);
  bool join_in_step(double now, std::uint32_t run);
  std::uint32_t bundle_of(double now, std::uint32_t run);
  void own_links(std::uint32_t run, std::uint32_t owner);
  void add_in_step(Bundle& bundle, double now, std::uint32_t run);
  void drained(std::uint32_t bundle, const Lockstep::Drained& member);
  double step_bundles(double until);
  Result<void> dissolve(double now, std::uint32_t bundle);
  Result<void> play_from(double now, std::uint32_t run, const StepPosition& position);
  std::uint32_t part_of(std::uint32_t run, std::uint32_t rank) const;
  std::unexpected<Error> not_connected(std::uint32_t run, std::pair<std::uint32_t, std::uint32_t> ends) const;
  std::unexpected<Error> stuck(double now) const;

  const TaskGraph* graph_ = nullptr;
  const Network* network_ = nullptr;
  PlayOptions options_;
  std::unique_ptr<GraphIndex> index_;
  std::vector<std::uint32_t> node_of_part_;
  std::vector<Duration> durations_;
  std::vector<Bytes> bytes_;
  std::deque<RoundPlan> plans_;  ///< stays where it is: checkpoints point at it
  using PlanKey = std::tuple<CollectiveKind, std::uint32_t, std::uint32_t, std::int64_t, std::uint32_t>;
  std::map<PlanKey, std::uint32_t> plan_keys_;  ///< kind, choice, size, bytes, splits
  std::vector<std::uint32_t> plan_of_task_;
  std::vector<Footprint> footprints_;
  std::vector<FluidWay> ways_;  ///< RoundOrder::fluid
  std::vector<std::uint32_t> footprint_of_run_;
  std::vector<std::uint32_t> task_of_run_;

  Medium aside_;
  std::deque<PlayState> checkpoints_;  ///< of the last run, ascending
  std::vector<PlayState> spare_;       ///< for their buffers
  double resumed_at_ = 0;
  std::vector<std::uint32_t> changed_;  ///< tasks of another size than in the last run
  bool is_fixed_ = true;                ///< the network does not change in this run
};

}  // namespace loom
