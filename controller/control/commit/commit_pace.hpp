// SPDX-License-Identifier: Apache-2.0
// CommitPace: how far ahead of now a commit sets its instants, and how soon it repeats what must be received before them, by
// what this commit and those before it measured (docs/adr/0079-t-is-measured.md). It sends nothing.
#pragma once

#include <cstddef>
#include <optional>

#include "controller/control/commit/answer_times.hpp"
#include "core/timings.hpp"

namespace loom {

/// What a commit is told of the time that its messages take.
struct CommitPaceOptions {
  AnswerTimes& answers;      ///< asked, and told what this commit measures; outlives it
  std::int64_t growth = 1;   ///< how many times the lead that is measured: it was too little before
  Duration fire_lateness{};  ///< of agents, as measured
};

class CommitPace {
 public:
  CommitPace(const CommitPaceOptions& options, const ControllerTimings& timings) : options_(options), timings_(timings) {}

  /// A stage that asks everybody begins.
  void begin_stage() { slowest_ = {}; }
  /// An answer to a request that was not repeated.
  void keep(Duration taken) { slowest_ = taken > slowest_ ? taken : slowest_; }
  /// Everybody has prepared, `spent` after the first request. Prepare moves nothing, so its answers take messages and hosts, of
  /// some agents devices too: other commits' arming bounds this one, and this commit's larger messages do.
  void end_prepare(std::size_t asked, std::size_t repeated, Duration spent);
  void end_arming(std::size_t asked, std::size_t repeated);

  /// Of one of this commit's agents: from the first on this commit's own is what its later instants leave room for.
  void keep_lateness(Duration lateness);

  /// From now until everybody of so many has a message and its sender knows.
  Duration everybody_receives(std::size_t asked) const;
  /// From now until everybody who was armed has heard one more word, by what arming took. As often as `heard_tries` it is said
  /// until then: nobody says that he has heard it.
  Duration everybody_hears(std::size_t asked) const;
  Duration hearing() const { return heard_ * options_.growth; }
  std::uint32_t hear_tries(std::size_t asked) const;
  /// Until what is unanswered is repeated, ahead of an instant: as long as answers take.
  Duration patience() const;
  /// From one repeat to the next: where most do not answer, messages wait for each other, and more of them only longer, so
  /// twice as long each time (RFC 6298 section 5.5); else the same.
  static Duration next_patience(Duration patience, std::size_t asked, std::size_t unanswered) {
    return 2 * unanswered > asked ? 2 * patience : patience;
  }

 private:
  CommitPaceOptions options_;
  ControllerTimings timings_;
  std::optional<Duration> lateness_{};
  Duration answer_ = kAnswerFloor;  ///< within which everybody answers what needs no device, likely
  Duration heard_ = kAnswerFloor;   ///< within which everybody armed hears a word, likely
  bool loses_ = false;              ///< arming did
  Duration slowest_{};              ///< of the present stage
};

}  // namespace loom
