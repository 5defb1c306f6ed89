// SPDX-License-Identifier: Apache-2.0
// CommitMeasures: how long the stages of a commit took, and what its agents said of theirs, for the report. It measures and
// decides nothing.
#pragma once

#include <vector>

#include "core/message.hpp"
#include "core/messages/report.hpp"

namespace loom {

class CommitMeasures {
 public:
  /// `begun`: what is known of the commit before its first stage.
  explicit CommitMeasures(CommitReport begun) : report_(std::move(begun)) {}

  /// A good answer, `taken` after the stage's first request. Each answer once.
  void keep(const Body& answer, Duration taken);
  void end_stage(CommitState stage, Instant began, Instant now, Instant fire_at);
  void count_resent() { ++report_.resent; }
  /// The measured stages so far.
  CommitReport report(Instant now) const;

 private:
  CommitReport report_;
  std::vector<Duration> prepare_acks_;
  std::vector<Duration> arm_acks_;
  std::vector<Duration> slacks_;
  std::vector<Duration> latenesses_;
  Instant armed_at_{};
  std::vector<Duration> dark_;  ///< of agents that went dark
};

}  // namespace loom
