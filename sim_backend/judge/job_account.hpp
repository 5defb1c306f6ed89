// SPDX-License-Identifier: Apache-2.0
// JobAccount: what became of one job of a scenario: submitted, lit, dark, how many iterations its light carried and how many
// bytes; and whether that is what the scenario's author expected. One account for the simulation and for labs; all instants
// count from the start of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/predict/predict.hpp"
#include "core/config/scenario/scenario.hpp"
#include "core/demand.hpp"
#include "sim_backend/judge/job_light.hpp"

namespace loom {

/// How long iterations took, from the beginning of their compute until their last byte was there.
class IterationTimes {
 public:
  /// `dark`: what each would have saved if its pairs were always lit.
  void add(std::uint64_t iterations, Duration length, Duration dark);
  /// `part`: 0.5 for the median. Zero without iterations.
  Duration percentile(double part) const;
  Duration dark_per_iteration() const { return count_ == 0 ? Duration{} : dark_ / static_cast<std::int64_t>(count_); }

 private:
  std::vector<std::pair<Duration, std::uint64_t>> lengths_;  ///< in order of time, equal neighbours together
  std::uint64_t count_ = 0;
  Duration dark_{};
};

/// What a job's light carried.
struct CarriedIterations {
  std::uint64_t count = 0;
  IterationTimes times;
  std::optional<Duration> predicted{};  ///< one iteration, from the job's last schedule; nothing: not asked for, or it has none
  Bytes bytes{};                        ///< of the iterations that were carried whole
  std::string why;                      ///< it was no more; empty: nothing more is to be said
  Instant hoped_until{};                ///< more light may come until then: of its passes, or once its model has computed
  Instant due = kNever;                 ///< when the light that is there has carried all that are wanted; kNever: it does not
};

struct CarriedQuestion {
  const JobSpec& spec;          ///< as submitted
  const JobSchedule* schedule;  ///< the job's last one; null: it never had one
  std::uint32_t wanted = 0;     ///< iterations; 0: as many as there are
  ScheduleTimings timings{};
  bool wants_prediction = false;
};

/// Iterations are replayed over the light of the job's life, one after the other; over standing light one of them is replayed
/// and the time divided. `light`: of the whole fabric.
CarriedIterations carried_by(const PlanHistory& history, const LightTimeline& light, const JobLight& account,
                             const JobHistory& job_history, const CarriedQuestion& question);

/// A job's state in the controller's own words, and its reason. Opaque but for the questions below.
struct JobStatement {
  std::string state;
  std::string why;
};
bool is_refused(const JobStatement& word);
/// It is gone: ended, or refused.
bool is_over(const JobStatement& word);
/// It has a confirmed plan, and the controller says how much of its light is there: lit, degraded or dark.
bool is_in_light(const JobStatement& word);
/// It waits for nothing: it has its light, has had it, was ended, or was refused with a reason.
bool is_at_rest(const JobStatement& word);

struct JobAccount {
  std::string name;
  JobStatement word;                   ///< at the end
  std::optional<Instant> submitted{};  ///< acknowledged; none: it never was
  Instant ended{};                     ///< of the job, or of the run
  bool was_changed = false;            ///< its account ended because a later submission changed its traffic
  JobLight light;
  CarriedIterations carried;
  std::uint32_t iterations_wanted = 0;  ///< 0: the scenario does not say
  bool was_cut = false;                 ///< the scenario ended it by the clock or by an order, however far it was
  std::vector<std::string> failures;    ///< what nobody expected, one sentence each
};

/// What is wrong with it, one sentence each, in view of what its scenario expects. `submission`: of this job; without an
/// expectation of its own the scenario's holds.
std::vector<std::string> failures_of(const JobAccount& account, const JobSubmission& submission, const Scenario& scenario);

/// Of what an operator did beside submitting jobs.
struct ActionAccount {
  std::string text;  ///< `drain node 17`
  Instant at{};      ///< ordered
  std::optional<Instant> answered{};
  std::string refusal;  ///< empty: it was accepted
  std::string failure;  ///< empty: as expected
};

struct RunAccount {
  Instant end{};
  std::vector<JobAccount> jobs;  ///< as submitted
  std::vector<ActionAccount> actions;
  bool is_as_expected() const;
};

/// A line a job, and a line for each time that it was dark; then the actions. Of many jobs only those that are worth a look.
std::string text_of(const RunAccount& account);
/// JSON objects: `name`, `state`, `why`, `lit_ms`, `dark_ms`, `iterations`, `bytes` and more.
std::string json_of(const JobAccount& account);
std::string json_of(const ActionAccount& account);

}  // namespace loom
