// Journal records: what a step machine must find again after a crash. Terms, intents and commit decisions are durable
// before anything acts on them; reports and heartbeats are soft state and never come here.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "core/demand.hpp"
#include "core/ids.hpp"
#include "core/plan.hpp"

namespace loom {

struct TermRecord {
  Term term;
  bool operator==(const TermRecord&) const = default;
};

struct IntentRecord {
  Intent intent;
  std::uint64_t laser_order = 0;
  JobId next_job;
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
