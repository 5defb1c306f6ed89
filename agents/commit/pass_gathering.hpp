// SPDX-License-Identifier: Apache-2.0
// PassGathering: what a job's leader knows of its members. Who has played the present pass, who is ready for the next one, and
// where the time of the last iterations went. It says nothing to anybody: see PassBarrier.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/messages/iteration.hpp"
#include "core/time.hpp"

namespace loom {

class PassGathering {
 public:
  /// Nothing is known of `members` (ascending), which play their first pass.
  void begin(const std::vector<NodeId>& members);
  /// What a member says about the pass after the present one; false: nothing new. Precondition: `from` is a member.
  bool hear(Instant now, NodeId from, const PassReady& word);
  /// All have played the present pass to its end, and could play again.
  bool is_over() const { return over_ == members_.size(); }
  bool is_ready() const { return ready_ == members_.size(); }
  /// Timeslots of the present pass that stayed dark, as far as was heard.
  std::uint64_t missed() const { return missed_; }

  /// The next pass follows, its light at `light`: the present one again, or the next one of the iteration, or the first one of
  /// the iteration of this number.
  enum class Next : std::uint8_t { again, of_iteration, of_next_iteration };
  void go_on(Instant now, Instant light, Next next, std::uint64_t iteration);
  /// Fills in all but job, iterations and replayed.
  void describe(Instant now, IterationReport& report) const;

 private:
  struct Member {
    bool is_over = false;
    bool is_ready = false;
    PassReady word;
  };
  struct Played {
    IterationLedger ledger;
    SlowIteration slow;
  };
  void close_pass(Instant now, Instant light, Next next);
  SlowIteration slowness(Instant now) const;
  std::optional<AwaitedNode> awaited(Instant now) const;

  std::vector<NodeId> members_;
  std::vector<Member> heard_;  ///< by member, about the pass after the present one
  std::size_t over_ = 0;
  std::size_t ready_ = 0;
  std::size_t last_ready_ = 0;  ///< member
  std::uint64_t missed_ = 0;
  std::uint64_t missed_of_all_ = 0;
  Instant light_ = kNever;    ///< of the present pass; never: it came with the commit, whose instant is not known here
  Instant over_at_{};         ///< when the present pass was over at the last of those that were heard
  Instant quiet_since_{};     ///< the first word about the end of the present pass
  IterationLedger ledger_;    ///< of the present iteration, without what is to come
  bool is_whole_ = false;     ///< the ledger: the iteration's first light is known
  SlowIteration dark_;        ///< of the present iteration: its last pass that was dark
  std::vector<Played> kept_;  ///< the last ones, a ring of limits::kIterationsKept
  std::uint64_t iteration_ = 1;
};

}  // namespace loom
