// SPDX-License-Identifier: Apache-2.0
// What the controller counts and measures, as metrics (docs/metrics.md). The numbers are those of its status: copied from the
// same report that `loom status` prints, so the two never disagree.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "controller/control/jobs/jobs.hpp"
#include "core/messages/metric.hpp"
#include "core/messages/report.hpp"
#include "core/planning.hpp"
#include "core/step.hpp"

namespace loom {

void add_metrics(MetricList& list, const StatusReport& status);
/// A series a wanted job, which ends with the job: how long it was dark (JobRecord::dark).
void add_metrics(MetricList& list, const Jobs& jobs, const Intent& wanted, Instant now);
/// How far the confirmed schedule is from its bound. Nothing where no plan is confirmed, or its scheduler knows no bound.
void add_schedule_gap(MetricList& list, const PlanResult* confirmed);

/// Counts and times plans and commits as they end; commits from the controller's history, which forgets the oldest.
class CommitMeter {
 public:
  /// `algorithm`: what the daemon plans with.
  explicit CommitMeter(std::string algorithm) : algorithm_(std::move(algorithm)) {}
  /// After the step that `event` was given to. Sees each report once, if no more than the history keeps were added since the
  /// last call.
  void follow(const Event& event, const std::deque<CommitReport>& history);
  void add_metrics(MetricList& list) const;

 private:
  struct Seen {
    Revision revision;
    Instant started;
    CommitOutcome outcome;
    bool operator==(const Seen&) const = default;
  };
  /// Of committed revisions.
  struct Stages {
    DurationHistogram prepare;
    DurationHistogram arm;
    DurationHistogram wait;
    DurationHistogram darken;
    DurationHistogram move;
    DurationHistogram relight;
    DurationHistogram total;
  };
  void observe(const CommitReport& report);

  std::string algorithm_;
  std::optional<Seen> last_;
  std::map<CommitOutcome, std::uint64_t> ended_;
  std::uint64_t resent_ = 0;
  Stages stages_;
  DurationHistogram plans_;
  DurationHistogram fire_skew_;  ///< a commit's latest agent's lateness less its earliest's
  DurationHistogram dark_;       ///< a commit's longest time without light of a device that went dark
};

}  // namespace loom
