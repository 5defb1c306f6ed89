// SPDX-License-Identifier: Apache-2.0
// Jobs: what the controller knows of each job beside what is wanted of it, and in which state it is. Its name, nodes and stage
// stand in the Intent while it is wanted; a copy is kept when it goes. It never plans, sends or changes the Intent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/control/facts.hpp"
#include "controller/control/jobs/desired_intent.hpp"
#include "controller/control/jobs/job_state.hpp"
#include "core/messages/report.hpp"
#include "core/planning.hpp"

namespace loom {

/// What the Intent says of a job.
struct JobFacts {
  std::string name;
  std::string workload;
  std::vector<NodeId> nodes;  ///< rank -> node, once placed; of a job that has gone, ascending
  std::uint32_t stage = 0;
};

/// How long a job was wanted in this incarnation of the controller without the light of its stage, as far as anybody here
/// knows: until a first commit confirms that light, while plans go on without the job, while some of its light is read dark,
/// until the light of another stage is confirmed. What a job loses in the moments of a commit is in CommitReport::dark.
struct LightlessTime {
  std::optional<Instant> since{};  ///< it is dark now
  Duration before{};

  void follow(bool is_dark, Instant now);
  Duration until(Instant now) const { return before + (since ? now - *since : Duration{}); }
};

/// How often a job was played, as far as its nodes told this incarnation of the controller.
struct PlayedIterations {
  Revision laid_by;            ///< the light that `last` is about
  IterationReport last;        ///< what its leader said of it
  std::uint64_t before = 0;    ///< iterations in light that was laid before, or by stages
  std::uint64_t replayed = 0;  ///< passes in light that was laid before, that were an iteration once more
  std::uint64_t missed = 0;    ///< timeslots in light that was laid before, that stayed dark
  std::uint64_t iterations() const { return before + last.iterations; }
};

/// What the Intent does not say of a job.
struct JobRecord {
  JobState state = JobState::pending;
  std::string reason{};  ///< why it waits, is dark or degraded, was refused, or has nothing more to come
  std::uint32_t stages = 0;
  Revision revision;                  ///< that lights its present stage
  std::vector<NodeId> cycles_done{};  ///< nodes that have played all cycles of the present stage, ascending
  std::uint32_t underflows = 0;
  std::uint32_t stage_underflows = 0;        ///< of the present stage's last playing
  std::uint32_t stage_repeats = 0;           ///< playings of the present stage after its first
  bool is_stage_played = false;              ///< all cycles of the stage in light are over
  std::string note{};                        ///< of its schedule
  bool was_lit = false;                      ///< before this incarnation of the controller, in its present stage, by `revision`
  std::optional<std::uint32_t> lit_stage{};  ///< the last stage whose light was confirmed, in any incarnation
  Instant attended_until{};                  ///< by a launcher, unless it says so again
  std::string attended_by{};                 ///< its principal
  Revision quiet_for;                        ///< what that launcher has let its job be dark for
  std::optional<JobFacts> last{};            ///< of a job that has gone
  LightlessTime dark{};
  PlayedIterations played{};
  Duration iteration_predicted{};  ///< of the light that was laid last; 0: none

  /// Its light was confirmed once, be it in an earlier stage or incarnation.
  bool had_light() const { return lit_stage.has_value(); }
};

class Jobs {
 public:
  Jobs(const ControllerFacts& facts, const DesiredIntent& desired) : facts_(facts), desired_(desired) {}

  const std::map<JobId, JobRecord>& records() const { return records_; }
  /// Null: no such job was ever submitted.
  const JobRecord* find(JobId id) const;
  /// Precondition: it was submitted.
  const JobRecord& at(JobId id) const;
  /// Of the Intent while it is wanted, else as it was when it went.
  JobFacts facts_of(JobId id) const;
  std::uint32_t stage_of(JobId id) const;

  /// `lit_since`: the revision that had lit its present stage before this incarnation; none: it is new, or none had.
  void add(JobId id, std::optional<Revision> lit_since = {});
  /// Brings the records up to an intent that was changed: the jobs that changed are lit by `revision`.
  void follow(const Intent& before, Revision revision);
  /// A commit with these jobs begins.
  void planned(const PlanResult& plan);
  /// A plan was made that has nothing of it.
  void leave_out(JobId id, std::string why);
  /// The light of the plan's jobs is confirmed.
  void confirmed(const PlanResult& plan);
  /// What the worst of its circuits read last, and why that is not lit. Of a job that is not in light it changes nothing.
  void measured(JobId id, LightState light, const std::string& why);
  /// A commit with it failed, and its light is what it was.
  void keep_light(JobId id);
  /// The Intent has it back in its earlier stage.
  void keep_stage(const Job& lit);
  /// What an interrupted commit was to bring it is still to come.
  void want_again(JobId id);
  /// Before the Intent loses it.
  void refuse(JobId id, std::string reason);
  /// `job` as the Intent had it last.
  void end(const Job& job);

  /// A node has played all cycles of the stage that it has from `revision`. The job, if it is in light and its stage may be
  /// over.
  std::optional<JobId> keep_cycle(NodeId node, Revision revision, std::uint32_t underflows);
  /// Have all its nodes played its stage? Then how many timeslots of this playing stayed dark. Once: what was counted is
  /// forgotten.
  std::optional<std::uint32_t> take_played_stage(JobId id);
  /// The present stage once more, by `revision`.
  void repeat_stage(JobId id, Revision revision);
  /// After the last one the first: an iteration is done.
  void next_stage(JobId id, std::uint32_t stage, Revision revision);
  /// What the leader of a job whose nodes repeat it says of the light that `laid_by` laid.
  void keep_iterations(NodeId node, const IterationReport& report, Revision laid_by);

  /// A launcher stands by it, and has let it be dark for a revision.
  void attend(JobId id, Instant until, Revision quiet_for, const std::string& by = {});
  /// Launchers of this principal stand by nothing any more.
  void end_attendance(const std::string& by);

 private:
  void apply(JobId id, JobRecord& record, JobTrigger trigger);

  const ControllerFacts& facts_;
  const DesiredIntent& desired_;
  std::map<JobId, JobRecord> records_;
};

/// Ascending.
std::vector<JobId> jobs_in_light(const Jobs& jobs);
/// Jobs of the intent without light of the stage that they are to have, ascending.
std::vector<JobId> unlit_jobs(const Intent& intent, const Jobs& jobs);

}  // namespace loom
