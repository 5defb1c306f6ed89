// SPDX-License-Identifier: Apache-2.0
// After a failure: who is suspected of what, and when the next attempt is due.
#include "controller/control/commit/commit_returns.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// A thousand times the lead is 20 s by default; more would be hours, and soon no number at all.
constexpr std::uint32_t kLeadGrowths = 5;

/// Nobody gets past a node that takes part and is away, but for its operator: a node in maintenance is not waited for.
std::string next_after(const FabricCommit& failed, const AgentSessions& sessions, const std::string& otherwise) {
  const auto& nodes = failed.plan().plan.changed;
  const auto away = std::find_if(nodes.begin(), nodes.end(), [&](NodeId node) { return !sessions.is_present(node); });
  return away == nodes.end() ? otherwise : format_text("loom node maintenance {} on --force", away->value);
}

Alarm alarm_of(const FabricCommit& failed, const AgentSessions& sessions, const std::string& next_command) {
  Alarm alarm;
  alarm.code = AlarmCode::commit_returned;
  if (failed.failure().node.value < sessions.size()) {
    alarm.node = failed.failure().node;
  }
  alarm.next_command = next_after(failed, sessions, next_command);
  return alarm;
}

}  // namespace

CommitReturns::CommitReturns(const CommitReturnParts& parts)
    : facts_(parts.facts),
      desired_(parts.desired),
      confirmed_(parts.confirmed),
      alarms_(parts.alarms),
      sessions_(parts.sessions),
      jobs_(parts.jobs) {}

void CommitReturns::restore(const SnapshotRecord& state) {
  for (const DeviceId id : confirmed_.left_alone()) {  // it may have shone, or stood, as an earlier plan had it: read first
    uncertain_.distrust(id, facts_.now);
  }
  for (const auto& plan : state.uncertain) {
    uncertain_.add(plan);
  }
  if (state.going != nullptr) {
    uncertain_.add(state.going);
  }
}

bool CommitReturns::misses_something() const {
  const bool is_as_ordered = confirmed_.exists() && confirmed_.intent().lasers_off == desired_.intent().lasers_off;
  const bool any_waits = std::any_of(jobs_.records().begin(), jobs_.records().end(),
                                     [](const auto& row) { return row.second.state == JobState::waiting; });
  if (any_waits || !uncertain_.empty() || !is_as_ordered || confirmed_.is_followed()) {
    return true;
  }
  const auto& circuits = confirmed_.plan().circuits;
  return !confirmed_.present()->left_out.empty() ||
         std::any_of(circuits.begin(), circuits.end(),
                     [this](const Circuit& circuit) { return desired_.job(circuit.job) == nullptr; });
}

bool CommitReturns::is_returning(NodeId node) const {
  return attempts_ <= facts_.timings.return_attempts && uncertain_.has_node(node);
}

/// Not longer than one poll: a device that cannot be read will tell so by itself.
bool CommitReturns::awaits_reading() const {
  const Instant since = uncertain_.unread_since();
  const auto is_unread = [&](DeviceId id) {
    const Observation* seen = sessions_.observed(id);
    return seen == nullptr || seen->read_at < since;
  };
  return facts_.now < since + poll_bound(facts_.timings) &&
         std::any_of(uncertain_.unread().begin(), uncertain_.unread().end(), is_unread);
}

/// Who was too late gets four times as long.
std::int64_t CommitReturns::lead_growth() const {
  return 1LL << 2 * std::min({attempts_, facts_.timings.late_attempts, kLeadGrowths});
}

void CommitReturns::end() {
  const std::vector<DeviceId> suspects = uncertain_.scope().devices;
  uncertain_.clear();
  for (const DeviceId id : confirmed_.left_alone()) {  // lasers are set by the next plan, whatever is read of them
    const Device& device = facts_.fabric->device(id);
    if (device.role != DeviceRole::transmitter && sessions_.is_present(device.agent) &&
        std::ranges::binary_search(suspects, id)) {
      uncertain_.distrust(id, facts_.now);
    }
  }
  attempts_ = 0;
  not_before_ = {};
}

void CommitReturns::add(const FabricCommit& failed, EffectSink& sink) {
  Alarm alarm = alarm_of(failed, sessions_, "loom schedule history");
  alarm.evidence = format_text("revision {} did not reach light: {}", failed.revision().value, failed.failure().why);
  alarms_.raise(std::move(alarm), facts_.now, sink);
  if (!failed.may_have_moved()) {
    return;
  }
  const auto plan = failed.shared_plan();
  uncertain_.add({plan, &plan->plan});
  const NodeId node = failed.failure().node;
  const CommitFailureKind kind = failed.failure().kind;
  const bool says_a_device_failed =
      kind != CommitFailureKind::interrupted && kind != CommitFailureKind::surprised;  // a surprise was just read
  if (node.value < sessions_.size() && says_a_device_failed && sessions_.is_present(node)) {
    uncertain_.distrust_steering(*facts_.fabric, node, facts_.now);
  }
  if (const auto device = failed.failure().device; device && sessions_.is_present(node)) {
    uncertain_.distrust(*device, facts_.now);
  }
}

bool CommitReturns::may_try_again(const FabricCommit& failed, bool is_contained) const {
  const ControllerTimings& timings = facts_.timings;
  const CommitFailureKind kind = failed.failure().kind;
  const bool is_late = kind == CommitFailureKind::late || kind == CommitFailureKind::surprised;
  return ((kind == CommitFailureKind::interrupted || is_contained) && attempts_ < timings.return_attempts) ||
         (is_late && attempts_ < timings.late_attempts);
}

/// The last good intent is committed again under a new revision; not at once after a return that failed, and not for ever.
std::optional<std::string> CommitReturns::begin_attempt(const FabricCommit& failed, bool is_wanted_again, EffectSink& sink) {
  if (++attempts_ > facts_.timings.return_attempts) {
    Alarm given_up = alarm_of(failed, sessions_, "loom device list");
    given_up.evidence = format_text(
        "gave up returning to revision {} after {} attempts; {} nodes stay dark where they changed: {}",
        confirmed_.revision().value, facts_.timings.return_attempts, uncertain_.scope().nodes.size(), failed.failure().why);
    alarms_.raise(std::move(given_up), facts_.now, sink);
    return std::nullopt;
  }
  not_before_ = attempts_ == 1 ? facts_.now : facts_.now + facts_.timings.return_backoff;
  if (!is_wanted_again) {
    return format_text("return to revision {}", confirmed_.revision().value);
  }
  const bool is_without = failed.failure().kind == CommitFailureKind::fault;  // who waits for it is told
  return (is_without ? "again, without what failed: " : "again: ") + failed.failure().why;
}

}  // namespace loom
