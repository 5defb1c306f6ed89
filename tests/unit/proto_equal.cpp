// Equality of journal records: plans are compared by value, not by where they lie.
#include "proto_random.hpp"

namespace loom::test {
namespace {

bool equal(const Plan& a, const Plan& b) {
  return a.revision == b.revision && a.base == b.base && a.nodes == b.nodes && a.circuits == b.circuits &&
         a.changed == b.changed && a.moved_steering == b.moved_steering && a.touched == b.touched &&
         a.certificate == b.certificate;
}

bool equal(const CommitRecord& a, const CommitRecord& b) {
  const bool is_plan_equal = a.plan && b.plan ? equal(*a.plan, *b.plan) : !a.plan && !b.plan;
  return a.decision == b.decision && a.revision == b.revision && a.next_circuit == b.next_circuit && is_plan_equal;
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
  return equal(std::get<CommitRecord>(a), std::get<CommitRecord>(b));
}

}  // namespace loom::test
