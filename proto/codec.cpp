// Bytes to values and back: the arena, the limits on whole messages, the version, and the journal's records.
#include "proto/codec.hpp"

#include <google/protobuf/arena.h>

#include <array>
#include <memory>
#include <utility>

#include "proto/convert.hpp"

namespace loom {
namespace {

static_assert(static_cast<int>(wire::CommitDecision_MAX) == static_cast<int>(CommitDecision::returned) + 1);

/// One thread's memory for wire types: small messages never leave the first block.
class Scratch {
 public:
  template <class Message>
  Message& fresh() {
    arena_.Reset();
    return *google::protobuf::Arena::CreateMessage<Message>(&arena_);
  }

 private:
  static google::protobuf::ArenaOptions options_of(std::array<char, 65'536>& block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block.data();
    options.initial_block_size = block.size();
    options.max_block_size = 1u << 20;  // plans
    return options;
  }

  alignas(16) std::array<char, 65'536> block_;
  google::protobuf::Arena arena_{options_of(block_)};
};

Scratch& scratch() {
  static thread_local Scratch one;
  return one;
}

std::unexpected<Error> wrong_version(const char* what, std::uint32_t version) {
  return fail(ErrorCode::wrong_version, std::string{what} + " has wire version " + std::to_string(version) +
                                            ", this build speaks version " + std::to_string(kWireVersion));
}

std::unexpected<Error> malformed(const char* what, std::size_t size, const std::string& why) {
  return fail(ErrorCode::malformed, std::string{what} + " of " + std::to_string(size) + " bytes: " + why);
}

template <class Message>
void serialize(const Message& message, std::string& out) {
  const std::size_t size = message.ByteSizeLong();
  out.resize(size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out.data()));
}

void to_wire(const Probation& in, wire::Probation& out) {
  out.set_revision_number(in.revision.value);
  out.set_clock_id(in.clock.value);
  out.set_deadline_ns(ns_of(in.deadline));
  wire::rows_to_wire(in.pinned_before, *out.mutable_pinned_before());
}

void to_wire(const IntentCause& in, wire::IntentCause& out) {
  out.set_principal(wire::sendable(in.principal));
  out.set_request_id(in.request.value);
  out.set_job_id(in.job.value);
  out.set_revision_number(in.revision.value);
}

void to_wire(const Record& in, wire::Record& out) {
  out.set_wire_version_number(kWireVersion);
  if (const auto* term = std::get_if<TermRecord>(&in)) {
    out.mutable_term()->set_term_number(term->term.value);
  } else if (const auto* intent = std::get_if<IntentRecord>(&in)) {
    wire::to_wire(intent->intent, *out.mutable_intent()->mutable_intent());
    out.mutable_intent()->set_laser_order_number(intent->laser_order);
    out.mutable_intent()->set_next_job_id(intent->next_job.value);
    if (intent->probation) {
      to_wire(*intent->probation, *out.mutable_intent()->mutable_probation());
    }
    if (intent->cause) {
      to_wire(*intent->cause, *out.mutable_intent()->mutable_cause());
    }
  } else if (const auto* commit = std::get_if<CommitRecord>(&in)) {
    wire::CommitRecord& record = *out.mutable_commit();
    record.set_decision(wire::enum_to_wire<wire::CommitDecision>(commit->decision));
    record.set_revision_number(commit->revision.value);
    record.set_next_circuit_id(commit->next_circuit.value);
    if (commit->plan) {
      wire::to_wire(*commit->plan, *record.mutable_plan());
    }
  } else {
    const auto& latch = std::get<LatchRecord>(in);
    out.mutable_latch()->set_lasers_off(latch.lasers_off);
    out.mutable_latch()->set_order_number(latch.order);
  }
}

CommitRecord commit_from_wire(wire::Check& check, const wire::CommitRecord& in) {
  CommitRecord out;
  out.decision = check.enumeration("decision", in.decision(), CommitDecision::returned);
  out.revision = {in.revision_number()};
  out.next_circuit = {in.next_circuit_id()};
  if (out.decision == CommitDecision::going) {
    check.present("plan", in.has_plan());
  }
  if (in.has_plan()) {
    const auto scope = check.in("plan");
    Plan plan = wire::from_wire(check, in.plan());
    if (plan.revision != out.revision) {
      check.refuse("revision_number", std::to_string(plan.revision.value),
                   "must be the record's revision " + std::to_string(out.revision.value));
    }
    out.plan = std::make_shared<const Plan>(std::move(plan));
  }
  return out;
}

IntentRecord intent_from_wire(wire::Check& check, const wire::IntentRecord& in) {
  IntentRecord out;
  check.present("intent", in.has_intent());
  const auto scope = check.in("intent");
  out.intent = wire::from_wire(check, in.intent());
  out.laser_order = in.laser_order_number();
  out.next_job = {in.next_job_id()};
  if (in.has_probation()) {
    const wire::Probation& trial = in.probation();
    const auto inner = check.in("probation");
    out.probation = {{trial.revision_number()},
                     {trial.clock_id()},
                     check.instant("deadline_ns", trial.deadline_ns()),
                     wire::rows_from_wire<JobSchedule>(check, "pinned_before", trial.pinned_before(), limits::kJobs)};
  }
  if (in.has_cause()) {
    const wire::IntentCause& cause = in.cause();
    out.cause = {
        check.text("cause.principal", cause.principal()), {cause.request_id()}, {cause.job_id()}, {cause.revision_number()}};
  }
  return out;
}

Record from_wire(wire::Check& check, const wire::Record& in) {
  switch (in.record_case()) {
    case wire::Record::kTerm:
      return TermRecord{{in.term().term_number()}};
    case wire::Record::kIntent:
      return intent_from_wire(check, in.intent());
    case wire::Record::kCommit: {
      const auto scope = check.in("commit");
      return commit_from_wire(check, in.commit());
    }
    case wire::Record::kLatch:
      return LatchRecord{in.latch().lasers_off(), in.latch().order_number()};
    case wire::Record::RECORD_NOT_SET:
      break;
  }
  check.refuse("record", "", "is missing");
  return TermRecord{};
}

}  // namespace

void encode_to(const Envelope& envelope, std::string& out) {
  auto& message = scratch().fresh<wire::Envelope>();
  wire::to_wire(envelope, message);
  serialize(message, out);
}

std::string encode(const Envelope& envelope) {
  std::string out;
  encode_to(envelope, out);
  return out;
}

Result<Envelope> decode_envelope(std::string_view bytes) {
  if (bytes.size() > limits::kMessageBytes) {
    return malformed("an envelope", bytes.size(), "the limit is " + std::to_string(limits::kMessageBytes) + " bytes");
  }
  // The transport has routed by this head, so what it refuses must not decode.
  const auto head = peek_head(bytes);
  if (!head) {
    return std::unexpected(head.error());
  }
  if (head->wire_version != kWireVersion) {
    return wrong_version("an envelope", head->wire_version);
  }
  auto& message = scratch().fresh<wire::Envelope>();
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return malformed("an envelope", bytes.size(), "no protobuf message");
  }
  if (message.has_grant_word() && bytes.size() > limits::kGrantMessageBytes) {
    return malformed("a grant word", bytes.size(), "the limit is " + std::to_string(limits::kGrantMessageBytes) + " bytes");
  }
  wire::Check check;
  Envelope envelope = wire::from_wire(check, message);
  if (!check.ok()) {
    return std::unexpected(check.error());
  }
  return envelope;
}

std::string encode(const Record& record) {
  auto& message = scratch().fresh<wire::Record>();
  to_wire(record, message);
  std::string out;
  serialize(message, out);
  return out;
}

Result<Record> decode_record(std::string_view bytes) {
  if (bytes.size() > limits::kRecordBytes) {
    return malformed("a record", bytes.size(), "the limit is " + std::to_string(limits::kRecordBytes) + " bytes");
  }
  auto& message = scratch().fresh<wire::Record>();
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return malformed("a record", bytes.size(), "no protobuf message");
  }
  if (message.wire_version_number() != kWireVersion) {
    return wrong_version("a record", message.wire_version_number());
  }
  wire::Check check;
  Record record = from_wire(check, message);
  if (!check.ok()) {
    return std::unexpected(check.error());
  }
  return record;
}

}  // namespace loom
