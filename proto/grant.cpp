// Words of the grant plane to bytes and back.
#include "proto/grant.hpp"

#include <limits>
#include <utility>

#include "core/message.hpp"
#include "proto/check.hpp"
#include "proto/grant.pb.h"

namespace loom {
namespace {

static_assert(static_cast<int>(wire::RefusalReason_MAX) == static_cast<int>(RefusalReason::unknown) + 1);

void to_wire(const GrantKey& in, wire::GrantKey& out) {
  out.set_epoch_number(in.epoch);
  out.set_sequence_number(in.sequence);
}

/// One overload a word.
struct WordWriter {
  wire::GrantEnvelope& out;

  void operator()(const StreamRequest& in) const {
    wire::StreamRequest& body = *out.mutable_request();
    body.set_request_number(in.number);
    body.set_remaining_bytes(in.remaining.count);
    body.set_since_ns(ns_of(in.since));
  }
  void operator()(const StreamAccept& in) const {
    wire::StreamAccept& body = *out.mutable_accept();
    to_wire(in.key, *body.mutable_key());
    body.set_until_ns(ns_of(in.until));
  }
  void operator()(const StreamRefusal& in) const {
    wire::StreamRefusal& body = *out.mutable_refusal();
    to_wire(in.key, *body.mutable_key());
    body.set_reason(static_cast<wire::RefusalReason>(static_cast<int>(in.reason) + 1));
    body.set_dark_at_ns(ns_of(in.dark_at));
    body.set_free_at_ns(ns_of(in.free_at));
  }
  void operator()(const StreamRelease& in) const {
    wire::StreamRelease& body = *out.mutable_release();
    to_wire(in.key, *body.mutable_key());
    body.set_dark_at_ns(ns_of(in.dark_at));
    body.set_remaining_bytes(in.remaining.count);
  }
  void operator()(const StreamQueued& in) const {
    wire::StreamQueued& body = *out.mutable_queued();
    body.set_request_number(in.number);
    body.set_arbiter_epoch_number(in.arbiter_epoch);
  }
  void operator()(const StreamGrant& in) const {
    wire::StreamGrant& body = *out.mutable_grant();
    body.set_request_number(in.number);
    to_wire(in.key, *body.mutable_key());
    body.set_start_ns(ns_of(in.start));
    body.set_end_ns(ns_of(in.end));
    body.set_granted_bytes(in.bytes.count);
  }
};

/// An epoch, a sequence or a number of a request.
std::uint64_t counting(wire::Check& check, const char* field, std::uint64_t value) {
  if (value == 0) {
    check.refuse(field, "0", "must be at least 1");
  }
  return value;
}

GrantKey key_from_wire(wire::Check& check, bool is_present, const wire::GrantKey& in) {
  check.present("key", is_present);
  const auto scope = check.in("key");
  GrantKey key;
  key.epoch = counting(check, "epoch_number", in.epoch_number());
  key.sequence = counting(check, "sequence_number", in.sequence_number());
  return key;
}

StreamId stream_from_wire(wire::Check& check, const wire::GrantStream& in) {
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

StreamGrant grant_from_wire(wire::Check& check, const wire::StreamGrant& in) {
  StreamGrant grant;
  grant.number = counting(check, "request_number", in.request_number());
  grant.key = key_from_wire(check, in.has_key(), in.key());
  grant.start = check.instant("start_ns", in.start_ns());
  grant.end = check.instant("end_ns", in.end_ns());
  check.between("end_ns", in.end_ns(), ns_of(grant.start) + 1, ns_of(grant.start) + limits::kGrantWindowNs);
  grant.bytes = {check.between("granted_bytes", in.granted_bytes(), 1, limits::kStreamBytes)};
  return grant;
}

StreamRefusal refusal_from_wire(wire::Check& check, const wire::StreamRefusal& in) {
  StreamRefusal refusal;
  refusal.key = key_from_wire(check, in.has_key(), in.key());
  refusal.reason = check.enumeration("reason", in.reason(), RefusalReason::unknown);
  refusal.dark_at = check.instant("dark_at_ns", in.dark_at_ns());
  refusal.free_at = check.instant("free_at_ns", in.free_at_ns());
  return refusal;
}

GrantMessage body_from_wire(wire::Check& check, const wire::GrantEnvelope& in) {
  switch (in.body_case()) {
    case wire::GrantEnvelope::kRequest: {
      StreamRequest request;
      request.number = counting(check, "request_number", in.request().request_number());
      request.remaining = {check.between("remaining_bytes", in.request().remaining_bytes(), 1, limits::kStreamBytes)};
      request.since = check.instant("since_ns", in.request().since_ns());
      return request;
    }
    case wire::GrantEnvelope::kAccept: {
      StreamAccept accept;
      accept.key = key_from_wire(check, in.accept().has_key(), in.accept().key());
      accept.until = check.instant("until_ns", in.accept().until_ns());
      return accept;
    }
    case wire::GrantEnvelope::kRefusal:
      return refusal_from_wire(check, in.refusal());
    case wire::GrantEnvelope::kRelease: {
      StreamRelease release;
      release.key = key_from_wire(check, in.release().has_key(), in.release().key());
      release.dark_at = check.instant("dark_at_ns", in.release().dark_at_ns());
      release.remaining = {check.between("remaining_bytes", in.release().remaining_bytes(), 0, limits::kStreamBytes)};
      return release;
    }
    case wire::GrantEnvelope::kQueued: {
      StreamQueued queued;
      queued.number = counting(check, "request_number", in.queued().request_number());
      queued.arbiter_epoch = counting(check, "arbiter_epoch_number", in.queued().arbiter_epoch_number());
      return queued;
    }
    case wire::GrantEnvelope::kGrant:
      return grant_from_wire(check, in.grant());
    case wire::GrantEnvelope::BODY_NOT_SET:
      break;
  }
  check.refuse("body", "", "is missing");
  return StreamRequest{};
}

GrantEnvelope from_wire(wire::Check& check, const wire::GrantEnvelope& in) {
  GrantEnvelope out;
  out.from = check.node("from_id", in.from_id());
  out.clock = {in.clock_id()};
  out.revision = {in.revision_number()};
  out.message = body_from_wire(check, in);
  check.present("stream", in.has_stream());
  const StreamId stream = stream_from_wire(check, in.stream());
  const std::uint64_t epoch = counting(check, "sender_epoch_number", in.sender_epoch_number());
  std::visit(
      [&](auto& body) {
        body.stream = stream;
        body.sender_epoch = epoch;
      },
      out.message);
  const bool is_of_arbiter =
      std::holds_alternative<StreamQueued>(out.message) || std::holds_alternative<StreamGrant>(out.message);
  if (out.from != (is_of_arbiter ? stream.destination : stream.source)) {
    check.refuse("from_id", std::to_string(in.from_id()), "must be the stream's end that says such words");
  }
  return out;
}

}  // namespace

std::string encode(const GrantEnvelope& envelope) {
  wire::GrantEnvelope out;
  out.set_wire_version_number(kWireVersion);
  out.set_from_id(envelope.from.value);
  out.set_clock_id(envelope.clock.value);
  out.set_revision_number(envelope.revision.value);
  std::visit(
      [&](const auto& body) {
        wire::GrantStream& stream = *out.mutable_stream();
        stream.set_job_id(body.stream.job.value);
        stream.set_collective_number(body.stream.collective);
        stream.set_source_id(body.stream.source.value);
        stream.set_destination_id(body.stream.destination.value);
        out.set_sender_epoch_number(body.sender_epoch);
      },
      envelope.message);
  std::visit(WordWriter{out}, envelope.message);
  return out.SerializeAsString();
}

Result<GrantEnvelope> decode_grant(std::string_view bytes) {
  if (bytes.size() > limits::kGrantMessageBytes) {
    return fail(ErrorCode::malformed, "a grant word of " + std::to_string(bytes.size()) + " bytes: the limit is " +
                                          std::to_string(limits::kGrantMessageBytes) + " bytes");
  }
  wire::GrantEnvelope message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return fail(ErrorCode::malformed, "a grant word: no protobuf message");
  }
  if (message.wire_version_number() != kWireVersion) {
    return fail(ErrorCode::wrong_version, "a grant word has wire version " + std::to_string(message.wire_version_number()) +
                                              ", this build speaks version " + std::to_string(kWireVersion));
  }
  wire::Check check;
  GrantEnvelope envelope = from_wire(check, message);
  if (!check.ok()) {
    return std::unexpected(check.error());
  }
  return envelope;
}

}  // namespace loom
