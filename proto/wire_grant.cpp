// SPDX-License-Identifier: Apache-2.0
// Words of the fast plane on the wire. Whether a word is true, current or allowed is for the machines to judge.
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "proto/convert.hpp"

namespace loom::wire {
static_assert(static_cast<int>(RefusalReason_MAX) == static_cast<int>(loom::RefusalReason::unknown) + 1);

namespace {

void to_wire(const loom::GrantKey& in, GrantKey& out) {
  out.set_epoch_number(in.epoch);
  out.set_sequence_number(in.sequence);
}

/// One overload a word.
struct WordWriter {
  GrantPlaneMessage& out;

  void operator()(const loom::StreamRequest& in) const {
    StreamRequest& body = *out.mutable_request();
    body.set_request_number(in.number);
    body.set_remaining_bytes(in.remaining.count);
    body.set_since_ns(ns_of(in.since));
    body.set_is_tuned(in.is_tuned);
    body.set_free_at_ns(ns_of(in.free_at));
    body.set_is_update(in.is_update);
  }
  void operator()(const loom::StreamAccept& in) const {
    StreamAccept& body = *out.mutable_accept();
    to_wire(in.key, *body.mutable_key());
    body.set_until_ns(ns_of(in.until));
  }
  void operator()(const loom::StreamRefusal& in) const {
    StreamRefusal& body = *out.mutable_refusal();
    to_wire(in.key, *body.mutable_key());
    body.set_reason(enum_to_wire<RefusalReason>(in.reason));
    body.set_dark_at_ns(ns_of(in.dark_at));
    body.set_free_at_ns(ns_of(in.free_at));
  }
  void operator()(const loom::StreamRelease& in) const {
    StreamRelease& body = *out.mutable_release();
    to_wire(in.key, *body.mutable_key());
    body.set_dark_at_ns(ns_of(in.dark_at));
    body.set_remaining_bytes(in.remaining.count);
  }
  void operator()(const loom::StreamQueued& in) const {
    StreamQueued& body = *out.mutable_queued();
    body.set_request_number(in.number);
    body.set_arbiter_epoch_number(in.arbiter_epoch);
    body.set_is_next(in.is_next);
  }
  void operator()(const loom::StreamGrant& in) const {
    StreamGrant& body = *out.mutable_grant();
    body.set_request_number(in.number);
    to_wire(in.key, *body.mutable_key());
    body.set_start_ns(ns_of(in.start));
    body.set_end_ns(ns_of(in.end));
    body.set_granted_bytes(in.bytes.count);
  }
};

loom::GrantKey key_from_wire(Check& check, bool is_present, const GrantKey& in) {
  check.present("key", is_present);
  const auto scope = check.in("key");
  loom::GrantKey key;
  key.epoch = at_least(check, "epoch_number", in.epoch_number(), 1);
  key.sequence = at_least(check, "sequence_number", in.sequence_number(), 1);
  return key;
}

StreamId stream_from_wire(Check& check, const GrantStream& in) {
  const auto scope = check.in("stream");
  StreamId stream{{in.job_id()},
                  in.collective_number(),
                  check.node("source_id", in.source_id()),
                  check.node("destination_id", in.destination_id())};
  if (stream.source == stream.destination) {
    check.refuse("destination_id", std::to_string(in.destination_id()), "must not be the source");
  }
  return stream;
}

loom::StreamGrant grant_from_wire(Check& check, const StreamGrant& in) {
  loom::StreamGrant grant;
  grant.number = at_least(check, "request_number", in.request_number(), 1);
  grant.key = key_from_wire(check, in.has_key(), in.key());
  grant.start = instant_from_ns(check.between("start_ns", in.start_ns(), 0, limits::kInstantNs - 1));  // its end is later
  grant.end = check.instant("end_ns", in.end_ns());
  check.between("end_ns", in.end_ns(), ns_of(grant.start) + 1, ns_of(grant.start) + limits::kGrantWindowNs);
  grant.bytes = {check.between("granted_bytes", in.granted_bytes(), 1, limits::kStreamBytes)};
  return grant;
}

loom::StreamRefusal refusal_from_wire(Check& check, const StreamRefusal& in) {
  loom::StreamRefusal refusal;
  refusal.key = key_from_wire(check, in.has_key(), in.key());
  refusal.reason = check.enumeration("reason", in.reason(), loom::RefusalReason::unknown);
  refusal.dark_at = check.instant("dark_at_ns", in.dark_at_ns());
  refusal.free_at = check.instant("free_at_ns", in.free_at_ns());
  return refusal;
}

loom::GrantMessage body_from_wire(Check& check, const GrantPlaneMessage& in) {
  switch (in.body_case()) {
    case GrantPlaneMessage::kRequest: {
      loom::StreamRequest request;
      request.number = at_least(check, "request_number", in.request().request_number(), 1);
      request.remaining = {check.between("remaining_bytes", in.request().remaining_bytes(), 1, limits::kStreamBytes)};
      request.since = check.instant("since_ns", in.request().since_ns());
      request.is_tuned = in.request().is_tuned();
      request.free_at = check.instant("free_at_ns", in.request().free_at_ns());
      request.is_update = in.request().is_update();
      return request;
    }
    case GrantPlaneMessage::kAccept: {
      loom::StreamAccept accept;
      accept.key = key_from_wire(check, in.accept().has_key(), in.accept().key());
      accept.until = check.instant("until_ns", in.accept().until_ns());
      return accept;
    }
    case GrantPlaneMessage::kRefusal:
      return refusal_from_wire(check, in.refusal());
    case GrantPlaneMessage::kRelease: {
      loom::StreamRelease release;
      release.key = key_from_wire(check, in.release().has_key(), in.release().key());
      release.dark_at = check.instant("dark_at_ns", in.release().dark_at_ns());
      release.remaining = {check.between("remaining_bytes", in.release().remaining_bytes(), 0, limits::kStreamBytes)};
      return release;
    }
    case GrantPlaneMessage::kQueued: {
      loom::StreamQueued queued;
      queued.number = at_least(check, "request_number", in.queued().request_number(), 1);
      queued.arbiter_epoch = at_least(check, "arbiter_epoch_number", in.queued().arbiter_epoch_number(), 1);
      queued.is_next = in.queued().is_next();
      return queued;
    }
    case GrantPlaneMessage::kGrant:
      return grant_from_wire(check, in.grant());
    case GrantPlaneMessage::BODY_NOT_SET:
      break;
  }
  check.refuse("body", "", "is missing");
  return loom::StreamRequest{};
}

}  // namespace

void to_wire(const loom::GrantPlaneMessage& in, GrantPlaneMessage& out) {
  std::visit(
      [&](const auto& body) {
        GrantStream& stream = *out.mutable_stream();
        stream.set_job_id(body.stream.job.value);
        stream.set_collective_number(body.stream.collective);
        stream.set_source_id(body.stream.source.value);
        stream.set_destination_id(body.stream.destination.value);
        out.set_sender_epoch_number(body.sender_epoch);
      },
      in.message);
  std::visit(WordWriter{out}, in.message);
}

loom::GrantPlaneMessage from_wire(Check& check, const GrantPlaneMessage& in) {
  loom::GrantPlaneMessage out{body_from_wire(check, in)};
  check.present("stream", in.has_stream());
  const StreamId stream = stream_from_wire(check, in.stream());
  const std::uint64_t epoch = at_least(check, "sender_epoch_number", in.sender_epoch_number(), 1);
  std::visit(
      [&](auto& body) {
        body.stream = stream;
        body.sender_epoch = epoch;
      },
      out.message);
  return out;
}

NodeId speaker_of(const loom::GrantMessage& message) {
  const bool is_of_arbiter =
      std::holds_alternative<loom::StreamQueued>(message) || std::holds_alternative<loom::StreamGrant>(message);
  return std::visit([&](const auto& body) { return is_of_arbiter ? body.stream.destination : body.stream.source; }, message);
}

}  // namespace loom::wire
