// SPDX-License-Identifier: Apache-2.0
// LabHistory: the RunHistory of a lab, kept while it runs: what its controller decided (journal) and when (history of commits),
// what its devices' light did, and what the lab did to its processes. Its instants count from the start of the run.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "cli/lab/run/light.hpp"
#include "cli/lab/session.hpp"
#include "sim_backend/judge/light_checker.hpp"
#include "sim_backend/judge/run_account.hpp"
#include "sim_backend/snapshot_news.hpp"

namespace loom::cli {

struct SafetyVerdict {
  std::vector<Violation> violations;
  std::vector<ExcusedViolation> excused;
  std::uint64_t excused_count = 0;
};

class LabHistory {
 public:
  LabHistory(const LabRecord& lab, Instant zero) : lab_(lab), zero_(zero), light_(lab), run_(lab.scenario.fabric) {}

  Instant in_run(Instant of_host) const { return of_host - zero_.time_since_epoch(); }
  Instant of_host(Instant in_run) const { return in_run + zero_.time_since_epoch(); }

  /// Asks for the commits that are not known yet; to be called whenever a revision was confirmed or given up.
  Result<void> note_commits(Connection& connection);
  /// An operator's own order about lasers, as it is given.
  void note_lasers(bool on, Instant at) { laser_requests_seen_.push_back({at, on}); }
  void note_fault(FaultNote fault) { run_.note_fault(std::move(fault)); }
  void note_death(std::uint32_t process, Instant of_host) { light_.note_death(process, of_host); }
  void note_schedule(Instant at, const JobSchedule& schedule) { run_.note_schedule(at, schedule); }

  /// Brings plans and light up to now. Errors: of journal and light logs.
  Result<void> read();
  const RunHistory& run() const { return run_; }
  /// As of the last read(): windows, and the changes that they come from (of this host's clock).
  const LightTimeline& light() const { return windows_; }
  const std::vector<OpticalChange>& changes() const { return changes_; }
  /// Light against the rules of safety, as the simulation judges it: what was read by now. Where the time of a decision is not
  /// known (of a controller that was killed) the judge is lenient: a plan holds early and an old one ends late.
  SafetyVerdict judge() const;
  /// By revision, those that were abandoned before anything moved too.
  const std::map<Revision, CommitReport>& commits() const { return commits_; }

 private:
  struct LaserCommand {
    Instant at{};
    bool on = false;
  };
  Instant last() const { return decisions_.empty() ? Instant{} : decisions_.back().first; }
  Result<void> learn_rows();
  void learn(const Record& record);
  Instant time_of(const Record& record);
  Instant time_of(const CommitRecord& record);
  Instant time_of(const IntentRecord& record);

  const LabRecord& lab_;
  Instant zero_{};
  LabLight light_;
  RunHistory run_;
  std::map<Revision, CommitReport> commits_;
  std::vector<LaserCommand> laser_requests_seen_;
  RevisionsRead read_;
  std::uint64_t learned_ = 0;   ///< number of the last row of the journal that was learned
  std::size_t learned_at_ = 0;  ///< as many commits were known then
  /// What the rows say, each no earlier than the one before it.
  std::vector<std::pair<Instant, Record>> decisions_;
  bool lasers_off_ = false;
  LightTimeline windows_;
  std::vector<OpticalChange> changes_;
};

}  // namespace loom::cli
