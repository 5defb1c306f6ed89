// SPDX-License-Identifier: Apache-2.0
// One collective of one group while it runs: who has started, sent and received what, rank by rank, round by round. Sends on
// the medium that it is given and is told what left and arrived; keeps no time of its own.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "controller/predict/collectives/fluid_way.hpp"
#include "controller/predict/collectives/round_plan.hpp"
#include "controller/predict/engine/medium.hpp"

namespace loom {

/// A rank's transfers of a round leave when everything that it received in the round before has arrived and its own of the
/// round before have left. barrier: when every transfer of the round before has arrived everywhere. fluid: once every rank is
/// there, rounds of one pattern flow as one (fluid_way.hpp); an approximation.
enum class RoundOrder : std::uint8_t { by_rank, barrier, fluid };

class CollectiveRun {
 public:
  /// `plan`, `nodes` (of the ranks) and `fluids` must live as long. `index` is written into every Flight. `fluids`: of the
  /// plan's runs, for RoundOrder::fluid.
  void begin(const RoundPlan& plan, std::span<const std::uint32_t> nodes, std::uint32_t index, RoundOrder order,
             std::span<const FluidRun> fluids = {});

  /// Each returns false when a pair that must talk is not connected; unconnected() then names it.
  bool start(double now, std::uint32_t rank, Medium& medium);
  bool left(double now, const Flight& flight, Medium& medium);
  bool arrived(double now, const Flight& flight, Medium& medium);

  /// In place of start(): by rank, every rank has begun round `round`; it is sending it, or has and waits for what it receives.
  /// What is on its way the owner puts on the medium: each_in_round().
  void go_on_from(std::uint32_t round, bool is_sending);
  /// Calls `each(flight, bytes)` for all transfers of the round that every rank is in.
  template <class Each>
  void each_in_round(const Each& each) const {
    for (std::uint32_t lane = 0; lane < plan_->lanes.size(); ++lane) {
      for (std::uint32_t rank = 0; rank < plan_->size; ++rank) {
        const std::uint32_t round = states_[lane * plan_->size + rank].launched - 1;
        for_each_sent(*plan_, run_at(lane, round), rank, [&](std::uint32_t destination, double bytes) {
          each(Flight{index_, lane, rank, destination, round}, bytes);
        });
      }
    }
  }

  /// Ranks that have sent and received everything since this was last asked.
  std::vector<std::uint32_t> take_finished();
  bool has_finished() const { return !finished_.empty(); }
  std::uint32_t unfinished() const { return unfinished_; }
  std::pair<std::uint32_t, std::uint32_t> unconnected() const { return unconnected_; }
  const RoundPlan& plan() const { return *plan_; }
  std::span<const std::uint32_t> nodes() const { return nodes_; }

 private:
  struct RankState {
    std::uint32_t launched = 0;  ///< rounds
    std::uint32_t run = 0;       ///< of the next round
    std::uint32_t run_left = 0;  ///< its rounds not yet launched
    std::uint32_t sending = 0;   ///< transfers not yet left
    std::uint32_t received = 0;  ///< ring: rounds received
    std::uint32_t awaited = 0;   ///< transfers to receive in the round launched last
  };

  RankState& state(std::uint32_t lane, std::uint32_t rank) { return states_[lane * plan_->size + rank]; }
  std::uint16_t& count(std::uint32_t lane, std::uint32_t rank, std::uint32_t round) {
    return counts_[first_count_[lane] + std::size_t{rank} * plan_->lanes[lane].rounds + round];
  }
  const RoundPlan::Run& run_at(std::uint32_t lane, std::uint32_t round) const;
  bool is_round_over(std::uint32_t lane, std::uint32_t rank);
  bool go_on(double now, std::uint32_t lane, std::uint32_t rank, Medium& medium);
  bool launch(double now, std::uint32_t lane, std::uint32_t rank, Medium& medium);
  bool next_together(double now, Medium& medium);
  void next_fluid(double now, std::uint32_t lane, Medium& medium);
  void finish_all();

  const RoundPlan* plan_ = nullptr;
  std::span<const std::uint32_t> nodes_;
  std::uint32_t index_ = 0;
  RoundOrder order_ = RoundOrder::by_rank;
  std::span<const FluidRun> fluids_;
  std::vector<RankState> states_;
  std::vector<std::uint16_t> counts_;     ///< arrivals by lane, rank and round; rings need none
  std::vector<std::size_t> first_count_;  ///< by lane, in counts_; fluid: in fluids_
  std::vector<bool> is_started_;
  std::vector<std::uint32_t> lanes_left_;  ///< a rank
  std::vector<std::uint32_t> finished_;
  std::uint32_t unfinished_ = 0;
  std::uint32_t started_ = 0;
  std::uint64_t outstanding_ = 0;  ///< barrier: transfers of this round not yet arrived
  std::pair<std::uint32_t, std::uint32_t> unconnected_;
};

}  // namespace loom
