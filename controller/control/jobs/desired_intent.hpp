// SPDX-License-Identifier: Apache-2.0
// DesiredIntent: the owner of the Intent and of what is journalled beside it. Everybody reads it; it changes by the operations
// below and by nothing else. It neither journals nor plans: whoever changes it does both.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/demand.hpp"
#include "core/journal/journal.hpp"

namespace loom {

/// Of the orders about lasers that are given in this term.
constexpr std::uint64_t first_laser_request(Term term) { return term.value << 20U; }

class DesiredIntent {
 public:
  const Intent& intent() const { return intent_; }
  /// Null: it is not wanted (any more).
  const Job* job(JobId id) const;
  bool in_maintenance(NodeId node) const;
  /// Null: the device is the plan's alone.
  const DeviceOverride* override_of(DeviceId device) const;
  bool is_pinned(JobId job) const;

  /// A tentative plan's, or this one with something else in it.
  void replace(Intent intent) { intent_ = std::move(intent); }
  /// The next job's number is above it.
  void add_job(Job job);
  void remove_job(JobId id);
  /// Its schedule is the scheduler's again.
  void unpin(JobId id);
  /// Where the job was placed, unless it has a place already: one that has been moved since stays where it was moved to.
  void place(const Job& placed);
  /// It is to be placed anew, unless it named its nodes itself: it never had light where it was.
  void unplace(JobId id);
  void go_to_stage(JobId id, std::uint32_t stage);
  /// The job is where its confirmed light is.
  void keep_stage(const Job& lit);
  void set_lasers(bool on) { intent_.lasers_off = !on; }
  void end_maintenance(NodeId node, bool stays_drained = true);
  /// What an operator ordered in a revision that failed is as in `good`, unless it was ordered anew since.
  void take_back(const Intent& failed, const Intent& good);

  /// The next order about lasers has a number above what an earlier incarnation ordered and did not make durable.
  /// `is_to_all`: it is about the lasers of all nodes.
  std::uint64_t take_laser_request(Term term, bool is_to_all = false);
  std::uint64_t laser_request_to_all() const { return laser_request_to_all_; }
  JobId next_job() const { return next_job_; }

  const std::optional<Probation>& probation() const { return probation_; }
  void begin_probation(Revision revision, ClockId clock, Instant deadline);
  void end_probation() { probation_.reset(); }
  /// What was pinned before it is pinned again, for jobs that are still wanted. Precondition: there is one.
  Probation take_back_probation();

  IntentRecord record(std::optional<IntentCause> cause = {}) const;
  /// A probation on another clock than `clock` is as if it were over: nobody can say how much of its time has passed.
  void restore(const IntentRecord& record, ClockId clock, Instant now);

 private:
  Intent intent_;
  std::uint64_t laser_request_ = 0;
  std::uint64_t laser_request_to_all_ = 0;
  JobId next_job_{1};
  std::optional<Probation> probation_;
};

/// The one override of a device; overrides stay in ascending order.
void set_override(Intent& intent, const DeviceOverride& wanted);
void clear_override(Intent& intent, DeviceId device);
/// Of one of an intent's ascending lists of nodes.
void set_member(std::vector<NodeId>& sorted, NodeId node, bool is_member);

}  // namespace loom
