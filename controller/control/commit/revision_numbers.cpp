// SPDX-License-Identifier: Apache-2.0
// What agents have seen and the journal has not moves the numbers on.
#include "controller/control/commit/revision_numbers.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
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

void RevisionNumbers::others_commanded() {
  known_by_ = std::max(known_by_, facts_.now + facts_.timings.stage_deadline + facts_.timings.dead_after);
}

bool RevisionNumbers::go_beyond(NodeId node, Revision gone, EffectSink& sink) {
  if (gone <= gone_ || gone < first_above_unknown_) {  // its row is older than any word about it
    return gone >= first_unknown_ && gone < first_above_unknown_;
  }
  Alarm alarm;
  alarm.code = AlarmCode::journal_damaged;
  alarm.evidence =
      format_text("node {} has applied revision {}, of which this journal knows nothing: ", node.value, gone.value);
  alarm.next_command = "loom device list";
  if (gone > next_ && gone.value - next_.value > limits::kRevisionJump) {
    alarm.node = node;
    alarm.evidence += format_text("that is more than {} above its own, and not believed", limits::kRevisionJump);
    alarms_.raise(std::move(alarm), facts_.now, sink);
    return true;
  }
  others_commanded();
  first_unknown_ = first_above_unknown_ == Revision{} ? Revision{gone_.value + 1} : first_unknown_;
  next_ = std::max(next_, Revision{gone.value + 1 + limits::kRevisionsBehindApplied});
  first_above_unknown_ = next_;
  alarm.evidence += format_text(
      "it is an older copy or another controller's; numbers go on at {}, and light that revision {} does not have is reported "
      "as foreign",
      next_.value, confirmed_.revision().value);
  alarms_.raise(std::move(alarm), facts_.now, sink);
  return true;
}

}  // namespace loom
