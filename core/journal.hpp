// Journal records: what a step machine must find again after a crash. Terms, intents and commit decisions are durable
// before anything acts on them; reports and heartbeats are soft state and never come here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/demand.hpp"
#include "core/ids.hpp"
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
  std::uint64_t laser_order = 0;
  JobId next_job;
  std::optional<Probation> probation{};
  std::optional<IntentCause> cause{};
  bool operator==(const IntentRecord&) const = default;
};

enum class CommitDecision : std::uint8_t { going, confirmed, returned };

/// `going` carries the plan; the later decisions about the same revision do not repeat it.
struct CommitRecord {
  CommitDecision decision = CommitDecision::going;
  Revision revision;
  CircuitId next_circuit;
  std::shared_ptr<const Plan> plan;
};

/// An agent's latch: safety overrides fail-static, and survives a restart.
struct LatchRecord {
  bool lasers_off = false;
  std::uint64_t order = 0;
  bool operator==(const LatchRecord&) const = default;
};

using Record = std::variant<TermRecord, IntentRecord, CommitRecord, LatchRecord>;

}  // namespace loom
