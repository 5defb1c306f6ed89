// SPDX-License-Identifier: Apache-2.0
// Journal records: what a step machine must find again after a crash. Terms, intents and commit decisions are durable
// before anything acts on them; reports and heartbeats are soft state and never come here. A snapshot says in one record what
// all records before it said (core/journal/journal_state.hpp is how), so that those may be dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/audit.hpp"
#include "core/demand.hpp"
#include "core/ids.hpp"
#include "core/journal/plan_change.hpp"
#include "core/messages/one_of.hpp"
#include "core/plan.hpp"

namespace loom {

struct TermRecord {
  Term term;
  bool operator==(const TermRecord&) const = default;
};

/// A schedule that was applied on trial: unless it is confirmed before `deadline`, what was pinned before is pinned again.
/// After a restart on another clock the deadline cannot be judged, and it returns at once.
struct Probation {
  Revision revision;  ///< that carries it out
  ClockId clock;
  Instant deadline{};
  std::vector<JobSchedule> pinned_before;
  bool operator==(const Probation&) const = default;
};

/// Whose request made an intent, and what was answered, so that a repeated request is answered again and not obeyed twice.
struct IntentCause {
  std::string principal;
  RequestId request;
  JobId job;
  Revision revision;
  bool operator==(const IntentCause&) const = default;
};

struct IntentRecord {
  Intent intent;
  std::uint64_t laser_request = 0;
  JobId next_job;
  std::optional<Probation> probation{};
  std::optional<IntentCause> cause{};
  std::uint64_t laser_request_to_all = 0;  ///< the newest that was about the lasers of all nodes; 0: none was
  bool operator==(const IntentRecord&) const = default;
};

/// `planned`: agents prepare for it, and nothing has moved.
enum class CommitDecision : std::uint8_t { going, confirmed, returned, planned };

/// `planned` carries the plan, which is long, while nobody waits for its row; `going`, for which every agent waits, then need
/// not, nor do the later decisions about the same revision.
struct CommitRecord {
  CommitDecision decision = CommitDecision::going;
  Revision revision;
  CircuitId next_circuit;
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const Intent> intent{};  ///< that the plan carries out; null: the newest IntentRecord's
  /// The same plan as a change of the one that is confirmed: where there is one, the row has it instead of the plan.
  std::shared_ptr<const PlanChange> change{};
};

/// An agent's latch: safety overrides fail-static, and survives a restart.
struct LatchRecord {
  bool lasers_off = false;
  std::uint64_t order = 0;       ///< of the controller's orders about all lasers, the newest that was followed
  std::uint64_t own_count = 0;   ///< how often the agent has latched by itself: a contact, or an order given at its process
  bool is_own = false;           ///< the latch that stands is one of those: only a rearm that names own_count lifts it
  std::string cause{};           ///< of its own latch, for people: what, and since when
  bool node_off = false;         ///< another latch, of orders about this node alone
  std::uint64_t node_order = 0;  ///< of those orders, the newest that was followed
  bool latched() const { return lasers_off || node_off; }
  bool operator==(const LatchRecord&) const = default;
};

/// A confirmed revision that an operator may go back to.
struct KeptRevision {
  Revision revision;
  std::shared_ptr<const Intent> intent;  ///< that it carried out; never null
  std::vector<Circuit> circuits;         ///< of its plan
};

/// A stage of a job that was confirmed in light, and since when: agents report on it under that revision or a later one.
struct LitStage {
  JobId job;
  std::uint32_t stage = 0;
  Revision revision;
  bool operator==(const LitStage&) const = default;
};

/// Everything that the records before it say. Also what a controller that stands by loads first.
struct SnapshotRecord {
  Term term;
  Revision next_revision{1};
  CircuitId next_circuit{1};
  Intent intent;
  std::uint64_t laser_request = 0;
  std::uint64_t laser_request_to_all = 0;
  JobId next_job{1};
  std::optional<Probation> probation{};
  std::vector<IntentCause> answered;      ///< oldest first, at most limits::kRequestsRemembered
  std::vector<KeptRevision> kept;         ///< oldest first, at most limits::kRevisionsKept; the last one is what is confirmed
  std::shared_ptr<const Plan> confirmed;  ///< null: nothing yet
  CircuitId confirmed_next_circuit;       ///< as of its confirmation
  std::shared_ptr<const Plan> planned;    ///< null: none, or it went or was given up since
  std::shared_ptr<const Intent> planned_intent;  ///< that it carries out
  std::shared_ptr<const Plan> going;             ///< null: none, or it was confirmed or returned since
  std::shared_ptr<const Intent> going_intent;    ///< that it carries out
  /// Went and were neither confirmed nor followed by one that was, oldest first: devices may be where any of them wants them.
  std::vector<std::shared_ptr<const Plan>> uncertain;
  std::vector<LitStage> lit;       ///< ascending job; of jobs that `intent` or a kept revision has
  LatchRecord latch;               ///< an agent's
  std::vector<AuditRecord> audit;  ///< the newest, oldest of them first, at most limits::kAuditKept
};

using Record = OneOf<TermRecord, IntentRecord, CommitRecord, LatchRecord, SnapshotRecord, AuditRecord>;

}  // namespace loom
