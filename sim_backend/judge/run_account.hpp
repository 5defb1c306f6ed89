// SPDX-License-Identifier: Apache-2.0
// RunHistory: what is kept of a run while it lasts, so that its jobs can be accounted for: the controller's plans (from its
// journal), the jobs' schedules, and what was done to devices and machines. Filled by the simulated world and by labs alike.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "sim_backend/judge/job_account.hpp"
#include "sim_backend/world/operator_script.hpp"

namespace loom {

class RunHistory {
 public:
  explicit RunHistory(std::shared_ptr<const Fabric> fabric) : plans_(std::move(fabric)) {}

  void learn(Instant now, const Record& record) { plans_.learn(now, record); }
  void note_fault(FaultNote fault) { faults_.push_back(std::move(fault)); }
  /// Of a confirmed revision.
  void note_schedule(Instant now, const JobSchedule& schedule);

  const PlanHistory& plans() const { return plans_; }
  std::span<const FaultNote> faults() const { return faults_; }
  /// The last one by `at`, or the first one after it. Null: it never had one.
  const JobSchedule* schedule(JobId job, Instant at) const;

 private:
  PlanHistory plans_;
  std::vector<FaultNote> faults_;
  std::map<JobId, std::vector<std::pair<Instant, JobSchedule>>> schedules_;
};

/// The life of an entry's job by now; nothing: it was never acknowledged.
std::optional<JobHistory> history_of(const OperatorScript& script, std::size_t entry, Instant now);

/// What the light of an entry's job has carried so far.
CarriedIterations carried_so_far(const RunHistory& history, const LightTimeline& light, const OperatorScript& script,
                                 std::size_t entry, Instant now);

/// What a launcher makes of it.
struct IterationVerdict {
  bool is_done = false;      ///< all that were wanted are carried
  bool is_hopeless = false;  ///< nothing more is to be expected of its light, as things are
  Instant again{};           ///< when to look again
};
/// `looks`: how often somebody has looked since the job runs; ever more seldom while nothing comes of it, and exactly when the
/// light that is there will have carried everything.
IterationVerdict judge_iterations(const CarriedIterations& carried, std::uint32_t wanted, const JobStatement& word, Instant now,
                                  std::uint32_t looks);

/// What a run leaves behind.
struct RunEnd {
  const Scenario& scenario;
  const OperatorScript& script;
  const LightTimeline& light;  ///< of the whole fabric, ground truth
  Instant end{};
  /// The controller's word about a job.
  std::function<JobStatement(JobId)> word_of;
};
RunAccount run_account(const RunHistory& history, const RunEnd& run);

}  // namespace loom
