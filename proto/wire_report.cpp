// SPDX-License-Identifier: Apache-2.0
// Errors, outcomes and what else stands in rows on the wire; rows themselves go by their table (proto/row_codec.hpp).
#include "proto/row_codec.hpp"

namespace loom::wire {

static_assert(static_cast<int>(ErrorCode_MAX) == static_cast<int>(loom::ErrorCode::internal) + 1);
static_assert(static_cast<int>(AlarmCode_MAX) == static_cast<int>(loom::AlarmCode::receiver_withheld) + 1);
static_assert(static_cast<int>(CommitOutcome_MAX) == static_cast<int>(loom::CommitOutcome::refused) + 1);
static_assert(static_cast<int>(CommitState_MAX) == static_cast<int>(loom::CommitState::confirmed) + 1);
static_assert(static_cast<int>(DeviceRole_MAX) == static_cast<int>(loom::DeviceRole::gain_stage) + 1);
static_assert(static_cast<int>(LightState_MAX) == static_cast<int>(loom::LightState::dark) + 1);
static_assert(static_cast<int>(CircuitChangeKind_MAX) == static_cast<int>(loom::CircuitChangeKind::moved) + 1);
static_assert(static_cast<int>(Drift_MAX) == static_cast<int>(loom::Drift::stale) + 1);

void to_wire(const loom::Error& in, Error& out) {
  out.set_code(enum_to_wire<ErrorCode>(in.code));
  out.set_message(sendable(in.message));
  out.set_next_command(sendable(in.next_command));
  if (in.device) {
    out.set_device_id(in.device->value);
  }
}

loom::Error from_wire(Check& check, const Error& in) {
  loom::Error out{check.enumeration("code", in.code(), loom::ErrorCode::internal), check.text("message", in.message()),
                  check.text("next_command", in.next_command())};
  if (in.has_device_id()) {
    out.device = check.device("device_id", in.device_id());
  }
  return out;
}

void to_wire(const loom::Outcome& in, Outcome& out) {
  if (in.error) {
    to_wire(*in.error, *out.mutable_error());
  }
}

loom::Outcome from_wire(Check& check, const Outcome& in) {
  if (!in.has_error()) {
    return {};
  }
  const auto scope = check.in("error");
  return {from_wire(check, in.error())};
}

void to_wire(const loom::Alarm& in, Alarm& out) { row_to_wire(in, out); }
loom::Alarm from_wire(Check& check, const Alarm& in) { return row_from_wire<loom::Alarm>(check, in); }

void to_wire(const loom::FireReport& in, FireReport& out) {
  out.set_slack_ns(in.slack.count());
  out.set_lateness_ns(in.lateness.count());
  out.set_settle_ns(in.settle.count());
  out.set_dark_ns(in.dark.count());
  out.set_write_count(in.writes);
}

loom::FireReport from_wire(Check& check, const FireReport& in) {
  return {check.difference("slack_ns", in.slack_ns()), check.difference("lateness_ns", in.lateness_ns()),
          check.duration("settle_ns", in.settle_ns()), check.duration("dark_ns", in.dark_ns()), in.write_count()};
}

void to_wire(const loom::AuditRecord& in, AuditRecord& out) { row_to_wire(in, out); }
loom::AuditRecord from_wire(Check& check, const AuditRecord& in) { return row_from_wire<loom::AuditRecord>(check, in); }

void to_wire(const loom::RefusalCounts& in, RefusalCounts& out) {
  static_assert(loom::kRefusalKinds == 7);
  out.set_malformed_count(in[0]);
  out.set_unauthorised_count(in[1]);
  out.set_conflict_count(in[2]);
  out.set_foreign_count(in[3]);
  out.set_implausible_count(in[4]);
  out.set_over_quota_count(in[5]);
  out.set_role_count(in[6]);
}

loom::RefusalCounts from_wire(Check&, const RefusalCounts& in) {
  return {in.malformed_count(),   in.unauthorised_count(), in.conflict_count(), in.foreign_count(),
          in.implausible_count(), in.over_quota_count(),   in.role_count()};
}

}  // namespace loom::wire
