// SPDX-License-Identifier: Apache-2.0
// Entries of a tape to bytes and back.
#include "proto/tape.hpp"

#include <utility>

#include "core/text/format_text.hpp"
#include "proto/convert.hpp"
#include "proto/tape.pb.h"

namespace loom {
namespace {

static_assert(static_cast<int>(wire::TapedPeerKind_MAX) == static_cast<int>(Peer::Kind::operator_) + 1);

void to_wire(const Peer& in, wire::TapedPeer& out) {
  out.set_kind(wire::enum_to_wire<wire::TapedPeerKind>(in.kind));
  out.set_peer_id(in.id);
}

Peer from_wire(wire::Check& check, const wire::TapedPeer& in) {
  return {check.enumeration("kind", in.kind(), Peer::Kind::operator_), in.peer_id()};
}

/// One overload a kind of event; those that no controller hears have none on the wire.
struct EventWriter {
  wire::TapedEvent& out;
  const std::vector<std::string>& bytes;

  void operator()(const Started& in) const {
    wire::TapedStart& start = *out.mutable_started();
    start.set_boot_id(in.boot_id);
    start.set_clock_id(in.clock.value);
    start.set_wall_offset_ns(in.wall_offset.count());
    for (const std::string& row : bytes) {
      start.add_journal_rows(row);
    }
  }
  void operator()(const MessageArrived& in) const {
    LOOM_ASSERT(bytes.size() == 1);
    wire::TapedMessage& message = *out.mutable_message();
    to_wire(in.from, *message.mutable_from());
    message.set_principal(in.envelope.principal);
    message.set_role(wire::enum_to_wire<wire::Role>(in.envelope.role));
    message.set_envelope(bytes.front());
  }
  void operator()(const MessageRefused& in) const {
    to_wire(in.from, *out.mutable_refusal()->mutable_from());
    wire::to_wire(in.error, *out.mutable_refusal()->mutable_error());
    out.mutable_refusal()->set_kind(wire::enum_to_wire<wire::TapedRefusalKind>(in.kind));
    out.mutable_refusal()->set_refused_count(in.count);
    out.mutable_refusal()->set_principal(wire::sendable(in.principal));
  }
  void operator()(const TimerFired& in) const { out.set_timer_id(in.timer.value); }
  void operator()(const Appended& in) const {
    out.set_appended_count(in.count);
    out.set_snapshot_due(in.snapshot_due);
  }
  void operator()(const AppendFailed& in) const { wire::to_wire(in.error, *out.mutable_append_failed()); }
  void operator()(const Planned& in) const {
    out.mutable_planned()->set_revision_number(in.outcome.revision.value);
    out.mutable_planned()->set_elapsed_ns(in.outcome.elapsed.count());
    out.mutable_planned()->set_row_byte_count(in.outcome.row_bytes);
    out.mutable_planned()->set_is_stopped(in.outcome.is_stopped);
  }
  void operator()(const BusReplied&) const { LOOM_ASSERT(false && "a controller has no bus"); }
  void operator()(const InterlockChanged&) const { LOOM_ASSERT(false && "a controller has no interlock"); }
  void operator()(const KeysChanged& in) const {
    wire::TapedKeys& keys = *out.mutable_keys();
    keys.set_keyring_digest(in.digest);
    for (const KeysChanged::Change& change : in.changes) {
      wire::TapedKeyChange& row = *keys.add_changes();
      row.set_principal(wire::sendable(change.principal));
      row.set_role(wire::enum_to_wire<wire::Role>(change.role));
      row.set_fingerprint(wire::sendable(change.fingerprint));
      row.set_kind(wire::enum_to_wire<wire::TapedKeyChangeKind>(change.kind));
    }
    if (in.problem) {
      wire::to_wire(*in.problem, *keys.mutable_problem());
    }
  }
  void operator()(const ClockJudged& in) const {
    wire::TapedClock& clock = *out.mutable_clock();
    if (in.problem) {
      wire::to_wire(*in.problem, *clock.mutable_problem());
    }
  }
  void operator()(const PeersListen&) const { LOOM_ASSERT(false && "a controller has no peers"); }
  void operator()(const PulseDue&) const { LOOM_ASSERT(false && "a controller pulses for nobody"); }
  void operator()(const TrafficReceived&) const { LOOM_ASSERT(false && "a controller has no training processes"); }
  void operator()(const TrainingReady&) const { LOOM_ASSERT(false && "a controller has no training processes"); }
};

void read_start(wire::Check& check, const wire::TapedStart& in, TapedEvent& out) {
  const Duration wall_offset{check.between("wall_offset_ns", in.wall_offset_ns(), -limits::kInstantNs, limits::kInstantNs)};
  out.event = Started{in.boot_id(), {in.clock_id()}, {}, wall_offset};
  out.bytes.assign(in.journal_rows().begin(), in.journal_rows().end());
}

void read_message(wire::Check& check, const wire::TapedMessage& in, TapedEvent& out) {
  check.present("from", in.has_from());
  MessageArrived arrived;
  arrived.from = from_wire(check, in.from());
  arrived.envelope.principal = check.text("principal", in.principal());
  arrived.envelope.role = check.enumeration("role", in.role(), Role::controller);
  out.bytes.push_back(in.envelope());
  out.event = std::move(arrived);
}

MessageRefused read_refusal(wire::Check& check, const wire::TapedRefusal& in) {
  check.present("error", in.has_error());
  MessageRefused out{from_wire(check, in.from()), wire::from_wire(check, in.error())};
  out.kind = check.enumeration("kind", in.kind(), RefusalKind::role);
  out.count = in.refused_count();
  out.principal = check.text("principal", in.principal());
  return out;
}

KeysChanged read_keys(wire::Check& check, const wire::TapedKeys& in) {
  using Kind = KeysChanged::Change::Kind;
  KeysChanged out;
  out.digest = in.keyring_digest();
  for (const wire::TapedKeyChange& row : in.changes()) {
    out.changes.push_back({check.text("principal", row.principal()), check.enumeration("role", row.role(), Role::controller),
                           check.text("fingerprint", row.fingerprint()), check.enumeration("kind", row.kind(), Kind::altered)});
  }
  if (in.has_problem()) {
    out.problem = wire::from_wire(check, in.problem());
  }
  return out;
}

TapedEvent from_wire(wire::Check& check, const wire::TapedEvent& in) {
  TapedEvent out;
  out.at = check.instant("at_ns", in.at_ns());
  out.digest = in.digest_number();
  switch (in.event_case()) {
    case wire::TapedEvent::kStarted:
      read_start(check, in.started(), out);
      break;
    case wire::TapedEvent::kMessage:
      read_message(check, in.message(), out);
      break;
    case wire::TapedEvent::kRefusal:
      out.event = read_refusal(check, in.refusal());
      break;
    case wire::TapedEvent::kTimerId:
      out.event = TimerFired{{in.timer_id()}};
      break;
    case wire::TapedEvent::kAppendedCount:
      out.event = Appended{in.appended_count(), in.snapshot_due()};
      break;
    case wire::TapedEvent::kAppendFailed:
      out.event = AppendFailed{wire::from_wire(check, in.append_failed())};
      break;
    case wire::TapedEvent::kPlanned: {
      Planned planned;
      planned.outcome.revision = {in.planned().revision_number()};
      planned.outcome.elapsed = check.duration("elapsed_ns", in.planned().elapsed_ns());
      planned.outcome.row_bytes = in.planned().row_byte_count();
      planned.outcome.is_stopped = in.planned().is_stopped();
      out.event = std::move(planned);
      break;
    }
    case wire::TapedEvent::kKeys:
      out.event = read_keys(check, in.keys());
      break;
    case wire::TapedEvent::kClock:
      out.event =
          ClockJudged{in.clock().has_problem() ? std::optional(wire::from_wire(check, in.clock().problem())) : std::nullopt};
      break;
    case wire::TapedEvent::EVENT_NOT_SET:
      check.refuse("event", "", "is missing");
      break;
  }
  return out;
}

Result<TapeEntry> read_head(const wire::TapeHead& in) {
  if (in.wire_version_number() != kWireVersion) {
    return fail(ErrorCode::wrong_version, format_text("the tape has wire version {}, this build speaks version {}",
                                                      in.wire_version_number(), kWireVersion));
  }
  return TapeEntry{
      TapeHead{in.software(), in.scenario_path(), in.setup_digest_number(), in.part_number(), in.events_before_count()}};
}

}  // namespace

std::string encode(const TapeHead& head) {
  wire::TapeEntry entry;
  entry.mutable_head()->set_wire_version_number(kWireVersion);
  entry.mutable_head()->set_software(wire::sendable(head.software));
  entry.mutable_head()->set_scenario_path(wire::sendable(head.scenario));
  entry.mutable_head()->set_setup_digest_number(head.setup_digest);
  entry.mutable_head()->set_part_number(head.part);
  entry.mutable_head()->set_events_before_count(head.events_before);
  return entry.SerializeAsString();
}

std::string encode_taped(Instant at, const Event& event, const std::vector<std::string>& bytes, std::uint64_t digest) {
  wire::TapeEntry entry;
  wire::TapedEvent& out = *entry.mutable_event();
  out.set_at_ns(ns_of(at));
  out.set_digest_number(digest);
  std::visit(EventWriter{out, bytes}, event);
  return entry.SerializeAsString();
}

Result<TapeEntry> decode_tape_entry(std::string_view bytes) {
  wire::TapeEntry entry;
  if (!entry.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::malformed, "no protobuf message");
  }
  if (entry.has_head()) {
    return read_head(entry.head());
  }
  wire::Check check;
  check.present("event", entry.has_event());
  TapedEvent event = from_wire(check, entry.event());
  if (!check.ok()) {
    return std::unexpected(check.error());
  }
  return TapeEntry{std::move(event)};
}

}  // namespace loom
