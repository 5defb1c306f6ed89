// What agents have seen and the journal has not moves the numbers on.
#include "controller/control/commit/revision_numbers.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/messages/intake_limits.hpp"

namespace loom {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

Revision RevisionNumbers::take() {
  const Revision taken = next_;
  next_.value += 1;
  return taken;
}

void RevisionNumbers::take_circuits(CircuitId next) { next_circuit_ = std::max(next_circuit_, next); }

void RevisionNumbers::went(Revision revision) { gone_ = std::max(gone_, revision); }

void RevisionNumbers::restore(const SnapshotRecord& state) {
  next_ = state.next_revision;
  next_circuit_ = state.next_circuit;
  known_by_ = next_.value > 1 ? facts_.now + facts_.timings.stage_deadline + facts_.timings.dead_after : Instant{};
  gone_ = confirmed_.revision();
  for (const auto& plan : state.uncertain) {
    went(plan->revision);
  }
  if (state.going != nullptr) {
    went(state.going->revision);
  }
}

bool RevisionNumbers::go_beyond(NodeId node, Revision gone, EffectSink& sink) {
  if (gone <= gone_ || gone < first_above_unknown_) {  // its row is older than any word about it
    return gone >= first_unknown_ && gone < first_above_unknown_;
  }
  Alarm alarm;
  alarm.code = AlarmCode::journal_damaged;
  alarm.evidence =
      "node " + number(node.value) + " has applied revision " + number(gone.value) + ", of which this journal knows nothing: ";
  alarm.next_command = "loom device list";
  if (gone > next_ && gone.value - next_.value > limits::kRevisionJump) {
    alarm.node = node;
    alarm.evidence += "that is more than " + number(limits::kRevisionJump) + " above its own, and not believed";
    alarms_.raise(std::move(alarm), facts_.now, sink);
    return true;
  }
  first_unknown_ = first_above_unknown_ == Revision{} ? Revision{gone_.value + 1} : first_unknown_;
  next_ = std::max(next_, Revision{gone.value + 1 + limits::kRevisionsBehindApplied});
  first_above_unknown_ = next_;
  alarm.evidence += "it is an older copy or another controller's; numbers go on at " + number(next_.value) +
                    ", and light that revision " + number(confirmed_.revision().value) +
                    " does not have is reported as foreign";
  alarms_.raise(std::move(alarm), facts_.now, sink);
  return true;
}

}  // namespace loom
