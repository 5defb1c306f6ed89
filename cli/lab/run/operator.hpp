// SPDX-License-Identifier: Apache-2.0
// LabOperator: a scenario's operator in real time: the same OperatorScript as in the simulation, whose requests go to the
// running controller as those of `loom` do, beside whatever the scenario does to the lab's processes. It follows the jobs until
// the run is over, and keeps what their account needs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cli/lab/run/faults.hpp"
#include "cli/lab/run/history.hpp"
#include "cli/lab/session.hpp"
#include "cli/render/term.hpp"

namespace loom::cli {

class LabOperator {
 public:
  LabOperator(LabRecord& lab, std::vector<ScriptedJob> jobs, Instant zero);

  /// Until the scenario's duration is over, or every job has been carried through; then until nothing is under way any more.
  /// Errors: of the connection, of processes that do not start again, of logs.
  Result<void> run();

  const OperatorScript& script() const { return script_; }
  LabHistory& history() { return history_; }
  /// The last row of a job while it was placed, rank -> node; null: it never was.
  const JobReport* row_of(JobId job) const;
  /// The controller's last word.
  JobStatement word_of(JobId job) const;
  Instant end() const { return end_; }

 private:
  Instant now() const;
  Result<void> step(const Event& event);
  Result<void> carry_out(const Send& send);
  Result<void> poll();
  Result<void> note_schedules();
  Result<void> look_at_iterations();
  Result<bool> look_at(std::size_t entry);
  bool is_carried_through(const OperatorScript::Entry& entry, std::size_t number) const;
  bool is_settled() const;
  bool is_waiting_in_vain(Instant at) const;
  void show_progress();
  std::string unsettled() const;

  LabRecord& lab_;
  Instant zero_{};
  OperatorScript script_;
  LabHistory history_;
  LabFaults faults_;
  std::map<JobId, JobReport> placed_;
  std::map<JobId, JobReport> rows_;
  StatusReport status_;
  struct Watch {
    std::uint32_t looks = 0;
    std::uint64_t carried = 0;  ///< iterations, at most so far
    Instant again{};
    bool is_over = false;  ///< carried, or nothing more is to be expected
  };
  std::vector<Watch> watches_;  ///< by entry
  Instant last_action_{};
  std::map<JobId, std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>>> met_;  ///< state, stage, cycles
  Instant changed_at_{};      ///< of what the controller says of its jobs
  Instant told_of_ = kNever;  ///< of that change: that nothing came after it
  Instant end_{};
  Progress progress_;
};

}  // namespace loom::cli
