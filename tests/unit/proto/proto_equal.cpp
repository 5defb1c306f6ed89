// SPDX-License-Identifier: Apache-2.0
// Equality of journal records: plans are compared by value, not by where they lie.
#include "tests/unit/proto/proto_random.hpp"

namespace loom::test {
namespace {

bool equal(const Plan& a, const Plan& b) {
  return a.revision == b.revision && a.base == b.base && a.nodes == b.nodes && a.circuits == b.circuits &&
         a.changed == b.changed && a.moved_steering == b.moved_steering && a.touched == b.touched &&
         a.certificate == b.certificate;
}

/// Where they lie does not matter.
bool equal(const std::shared_ptr<const Plan>& a, const std::shared_ptr<const Plan>& b) {
  return a && b ? equal(*a, *b) : !a && !b;
}

bool equal(const std::shared_ptr<const Intent>& a, const std::shared_ptr<const Intent>& b) {
  return a && b ? *a == *b : !a && !b;
}

/// Whoever appends a change has the plan beside it, which is not written.
bool equal(const CommitRecord& a, const CommitRecord& b) {
  const bool is_change = a.change && b.change;
  return a.decision == b.decision && a.revision == b.revision && a.next_circuit == b.next_circuit && !a.change == !b.change &&
         (is_change ? *a.change == *b.change : equal(a.plan, b.plan)) && equal(a.intent, b.intent);
}

bool equal(const KeptRevision& a, const KeptRevision& b) {
  return a.revision == b.revision && equal(a.intent, b.intent) && a.circuits == b.circuits;
}

bool equal(const SnapshotRecord& a, const SnapshotRecord& b) {
  const bool same_orders = a.intent == b.intent && a.laser_request == b.laser_request &&
                           a.laser_request_to_all == b.laser_request_to_all && a.next_job == b.next_job &&
                           a.probation == b.probation && a.answered == b.answered;
  const bool same_light = equal(a.confirmed, b.confirmed) && a.confirmed_next_circuit == b.confirmed_next_circuit &&
                          equal(a.going, b.going) && equal(a.going_intent, b.going_intent) && equal(a.planned, b.planned) &&
                          equal(a.planned_intent, b.planned_intent) && a.lit == b.lit &&
                          std::equal(a.uncertain.begin(), a.uncertain.end(), b.uncertain.begin(), b.uncertain.end(),
                                     [](const auto& x, const auto& y) { return equal(x, y); });
  return a.term == b.term && a.next_revision == b.next_revision && a.next_circuit == b.next_circuit && same_orders &&
         same_light && a.latch == b.latch && a.audit == b.audit &&
         std::equal(a.kept.begin(), a.kept.end(), b.kept.begin(), b.kept.end(),
                    [](const KeptRevision& x, const KeptRevision& y) { return equal(x, y); });
}

}  // namespace

bool equal(const Record& a, const Record& b) {
  if (a.index() != b.index()) {
    return false;
  }
  if (const auto* term = std::get_if<TermRecord>(&a)) {
    return *term == std::get<TermRecord>(b);
  }
  if (const auto* record = std::get_if<IntentRecord>(&a)) {
    return *record == std::get<IntentRecord>(b);
  }
  if (const auto* latch = std::get_if<LatchRecord>(&a)) {
    return *latch == std::get<LatchRecord>(b);
  }
  if (const auto* snapshot = std::get_if<SnapshotRecord>(&a)) {
    return equal(*snapshot, std::get<SnapshotRecord>(b));
  }
  if (const auto* audit = std::get_if<AuditRecord>(&a)) {
    return *audit == std::get<AuditRecord>(b);
  }
  return equal(std::get<CommitRecord>(a), std::get<CommitRecord>(b));
}

}  // namespace loom::test
