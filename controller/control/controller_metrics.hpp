// What the controller counts and measures, as metrics (docs/metrics.md). The numbers are those of its status: copied from the
// same report that `loom status` prints, so the two never disagree.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "core/messages/metric.hpp"
#include "core/messages/report.hpp"

namespace loom {

void add_metrics(MetricList& list, const StatusReport& status);

/// Where a commit's durations go; each may be empty.
struct CommitObservers {
  std::function<void(std::string_view stage, Duration)> stage;  ///< prepare, arm, wait, darken, move, relight, total
  std::function<void(Duration)> plan;                           ///< worker time of a plan that became a commit
  std::function<void(Duration)> fire_skew;                      ///< latest agent's lateness less the earliest's
  std::function<void(Duration)> dark;                           ///< longest time without light of a device that went dark
};

/// Counts commits as they end, from the controller's history, which forgets the oldest.
class CommitMeter {
 public:
  explicit CommitMeter(CommitObservers observers) : observers_(std::move(observers)) {}
  /// After a step. Sees each report once, if no more than the history keeps were added since the last call.
  void follow(const std::deque<CommitReport>& history);
  void add_metrics(MetricList& list) const;

 private:
  struct Seen {
    Revision revision;
    Instant started;
    CommitOutcome outcome;
    bool operator==(const Seen&) const = default;
  };
  void observe(const CommitReport& report) const;

  CommitObservers observers_;
  std::optional<Seen> last_;
  std::map<CommitOutcome, std::uint64_t> ended_;
  std::uint64_t resent_ = 0;
};

}  // namespace loom
