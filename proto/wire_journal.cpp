// SPDX-License-Identifier: Apache-2.0
// Records of the journal on the wire. What a sequence of them says is core/journal_state's affair, not this file's.
#include <memory>
#include <utility>

#include "core/text/format_text.hpp"
#include "core/text/version.hpp"
#include "proto/convert.hpp"

namespace loom::wire {

static_assert(static_cast<int>(CommitDecision_MAX) == static_cast<int>(loom::CommitDecision::planned) + 1);

// --- to the wire ---------------------------------------------------------------------------------------------------------

static void to_wire(const loom::Probation& in, Probation& out) {
  out.set_revision_number(in.revision.value);
  out.set_clock_id(in.clock.value);
  out.set_deadline_ns(ns_of(in.deadline));
  rows_to_wire(in.pinned_before, *out.mutable_pinned_before());
}

static void to_wire(const loom::IntentCause& in, IntentCause& out) {
  out.set_principal(sendable(in.principal));
  out.set_request_id(in.request.value);
  out.set_job_id(in.job.value);
  out.set_revision_number(in.revision.value);
}

static void to_wire(const loom::KeptRevision& in, KeptRevision& out) {
  out.set_revision_number(in.revision.value);
  to_wire(*in.intent, *out.mutable_intent());
  rows_to_wire(in.circuits, *out.mutable_circuits());
}

static void to_wire(const loom::LitStage& in, LitStage& out) {
  out.set_job_id(in.job.value);
  out.set_stage_number(in.stage);
  out.set_revision_number(in.revision.value);
}

namespace {

void write(const loom::TermRecord& in, Record& out) { out.mutable_term()->set_term_number(in.term.value); }

void write(const loom::IntentRecord& in, Record& out) {
  IntentRecord& record = *out.mutable_intent();
  to_wire(in.intent, *record.mutable_intent());
  record.set_laser_request_number(in.laser_request);
  record.set_laser_request_to_all_number(in.laser_request_to_all);
  record.set_next_job_id(in.next_job.value);
  if (in.probation) {
    to_wire(*in.probation, *record.mutable_probation());
  }
  if (in.cause) {
    to_wire(*in.cause, *record.mutable_cause());
  }
}

void write(const loom::CommitRecord& in, Record& out) {
  CommitRecord& record = *out.mutable_commit();
  record.set_decision(enum_to_wire<CommitDecision>(in.decision));
  record.set_revision_number(in.revision.value);
  record.set_next_circuit_id(in.next_circuit.value);
  if (in.change) {
    to_wire(*in.change, *record.mutable_change());
  } else if (in.plan) {
    to_wire(*in.plan, *record.mutable_plan());
  }
  if (in.intent) {
    to_wire(*in.intent, *record.mutable_intent());
  }
}

void write(const loom::LatchRecord& in, LatchRecord& out) {
  out.set_lasers_off(in.lasers_off);
  out.set_request_number(in.order);
  out.set_own_latch_count(in.own_count);
  out.set_is_own(in.is_own);
  out.set_cause(sendable(in.cause));
  out.set_node_off(in.node_off);
  out.set_node_request_number(in.node_order);
}

void write(const loom::LatchRecord& in, Record& out) { write(in, *out.mutable_latch()); }

void write(const loom::AuditRecord& in, Record& out) { to_wire(in, *out.mutable_audit()); }

void write(const loom::SnapshotRecord& in, Record& out) {
  SnapshotRecord& record = *out.mutable_snapshot();
  record.set_term_number(in.term.value);
  record.set_next_revision_number(in.next_revision.value);
  record.set_next_circuit_id(in.next_circuit.value);
  IntentRecord& intent = *record.mutable_intent();
  to_wire(in.intent, *intent.mutable_intent());
  intent.set_laser_request_number(in.laser_request);
  intent.set_laser_request_to_all_number(in.laser_request_to_all);
  intent.set_next_job_id(in.next_job.value);
  if (in.probation) {
    to_wire(*in.probation, *intent.mutable_probation());
  }
  rows_to_wire(in.answered, *record.mutable_answered());
  rows_to_wire(in.kept, *record.mutable_kept());
  if (in.confirmed) {
    to_wire(*in.confirmed, *record.mutable_confirmed());
  }
  record.set_confirmed_next_circuit_id(in.confirmed_next_circuit.value);
  if (in.going) {
    to_wire(*in.going, *record.mutable_going());
    to_wire(*in.going_intent, *record.mutable_going_intent());
  }
  if (in.planned) {
    to_wire(*in.planned, *record.mutable_planned());
    to_wire(*in.planned_intent, *record.mutable_planned_intent());
  }
  for (const auto& plan : in.uncertain) {
    to_wire(*plan, *record.add_uncertain());
  }
  rows_to_wire(in.lit, *record.mutable_lit());
  write(in.latch, *record.mutable_latch());
  rows_to_wire(in.audit, *record.mutable_audit());
}

}  // namespace

void to_wire(const loom::Record& in, Record& out) {
  out.set_wire_version_number(kWireVersion);
  std::visit([&](const auto& record) { write(record, out); }, in);
}

// --- from the wire -------------------------------------------------------------------------------------------------------

static loom::Probation from_wire(Check& check, const Probation& in, const std::vector<loom::Job>& jobs) {
  return {{in.revision_number()},
          {in.clock_id()},
          check.instant("deadline_ns", in.deadline_ns()),
          pins_from_wire(check, "pinned_before", in.pinned_before(), jobs)};
}

static loom::IntentCause from_wire(Check& check, const IntentCause& in) {
  return {check.text("principal", in.principal()), {in.request_id()}, {in.job_id()}, {in.revision_number()}};
}

static loom::KeptRevision from_wire(Check& check, const KeptRevision& in) {
  loom::KeptRevision out;
  out.revision = {in.revision_number()};
  check.present("intent", in.has_intent());
  const auto scope = check.in("intent");
  out.intent = std::make_shared<const loom::Intent>(from_wire(check, in.intent()));
  out.circuits = rows_from_wire<loom::Circuit>(check, "circuits", in.circuits(), limits::kCircuits);
  return out;
}

static loom::LitStage from_wire(Check& check, const LitStage& in) {
  const std::int64_t last_stage = limits::kStagesPerJob - 1;
  return {{in.job_id()},
          static_cast<std::uint32_t>(check.between("stage_number", in.stage_number(), 0, last_stage)),
          {in.revision_number()}};
}

namespace {

std::shared_ptr<const loom::Intent> read_intent(Check& check, const char* field, const Intent& in) {
  const auto scope = check.in(field);
  return std::make_shared<const loom::Intent>(from_wire(check, in));
}

std::shared_ptr<const loom::Plan> read_plan(Check& check, const char* field, const Plan& in) {
  const auto scope = check.in(field);
  return std::make_shared<const loom::Plan>(from_wire(check, in));
}

void must_equal(Check& check, Revision is, Revision must_be, const char* whose) {
  if (is != must_be) {
    check.refuse("revision_number", std::to_string(is.value), format_text("must be {} {}", whose, must_be.value));
  }
}

loom::CommitRecord read(Check& check, const CommitRecord& in) {
  loom::CommitRecord out;
  out.decision = check.enumeration("decision", in.decision(), loom::CommitDecision::planned);
  out.revision = {in.revision_number()};
  out.next_circuit = {in.next_circuit_id()};
  check.present("plan", in.has_plan() || in.has_change() || out.decision != loom::CommitDecision::planned);
  if (in.has_change()) {
    const auto scope = check.in("change");
    auto change = std::make_shared<loom::PlanChange>(from_wire(check, in.change()));
    change->revision = out.revision;
    out.change = std::move(change);
  }
  if (in.has_plan()) {
    out.plan = read_plan(check, "plan", in.plan());
    const auto scope = check.in("plan");
    must_equal(check, out.plan->revision, out.revision, "the record's revision");
  }
  if (in.has_intent()) {
    out.intent = read_intent(check, "intent", in.intent());
  }
  return out;
}

loom::IntentRecord read(Check& check, const IntentRecord& in) {
  loom::IntentRecord out;
  check.present("intent", in.has_intent());
  const auto scope = check.in("intent");
  out.intent = from_wire(check, in.intent());
  out.laser_request = in.laser_request_number();
  out.laser_request_to_all = in.laser_request_to_all_number();
  out.next_job = {in.next_job_id()};
  if (in.has_probation()) {
    const auto inner = check.in("probation");
    out.probation = from_wire(check, in.probation(), out.intent.jobs);
  }
  if (in.has_cause()) {
    const auto inner = check.in("cause");
    out.cause = from_wire(check, in.cause());
  }
  return out;
}

loom::LatchRecord read(Check& check, const LatchRecord& in) {
  return {in.lasers_off(), in.request_number(),     in.own_latch_count(), in.is_own(), check.text("cause", in.cause()),
          in.node_off(),   in.node_request_number()};
}

loom::SnapshotRecord read(Check& check, const SnapshotRecord& in) {
  loom::SnapshotRecord out;
  out.term = {in.term_number()};
  out.next_revision = {in.next_revision_number()};
  out.next_circuit = {in.next_circuit_id()};
  check.present("intent", in.has_intent());
  loom::IntentRecord intent = read(check, in.intent());
  out.intent = std::move(intent.intent);
  out.laser_request = intent.laser_request;
  out.laser_request_to_all = intent.laser_request_to_all;
  out.next_job = intent.next_job;
  out.probation = std::move(intent.probation);
  out.answered = rows_from_wire<loom::IntentCause>(check, "answered", in.answered(), limits::kRequestsRemembered);
  out.kept = rows_from_wire<loom::KeptRevision>(check, "kept", in.kept(), limits::kRevisionsKept);
  if (in.has_confirmed()) {
    out.confirmed = read_plan(check, "confirmed", in.confirmed());
    const auto scope = check.in("confirmed");
    must_equal(check, out.confirmed->revision, out.kept.empty() ? Revision{} : out.kept.back().revision,
               "the revision that was kept last,");
  }
  check.present("confirmed", in.has_confirmed() == !out.kept.empty());
  out.confirmed_next_circuit = {in.confirmed_next_circuit_id()};
  check.present("going", in.has_going() || !in.has_going_intent());
  if (in.has_going()) {
    check.present("going_intent", in.has_going_intent());
    out.going = read_plan(check, "going", in.going());
    out.going_intent = read_intent(check, "going_intent", in.going_intent());
  }
  check.present("planned", in.has_planned() || !in.has_planned_intent());
  if (in.has_planned()) {
    check.present("planned_intent", in.has_planned_intent());
    out.planned = read_plan(check, "planned", in.planned());
    out.planned_intent = read_intent(check, "planned_intent", in.planned_intent());
  }
  if (check.count("uncertain", in.uncertain_size(), limits::kUncertainPlans)) {
    for (int i = 0; i < in.uncertain_size() && check.ok(); ++i) {
      out.uncertain.push_back(read_plan(check, "uncertain", in.uncertain(i)));
    }
  }
  out.lit = rows_from_wire<loom::LitStage>(check, "lit", in.lit(), limits::kJobs * (limits::kRevisionsKept + 1));
  check.ascending("lit.job_id", out.lit, [](const loom::LitStage& lit) { return lit.job; });
  check.present("latch", in.has_latch());
  out.latch = read(check, in.latch());
  out.audit = rows_from_wire<loom::AuditRecord>(check, "audit", in.audit(), limits::kAuditKept);
  check.ascending("audit.record_number", out.audit, [](const loom::AuditRecord& audit) { return audit.number; });
  return out;
}

}  // namespace

loom::Record from_wire(Check& check, const Record& in) {
  switch (in.record_case()) {
    case Record::kTerm:
      return loom::TermRecord{{in.term().term_number()}};
    case Record::kIntent:
      return read(check, in.intent());
    case Record::kCommit: {
      const auto scope = check.in("commit");
      return read(check, in.commit());
    }
    case Record::kLatch:
      return read(check, in.latch());
    case Record::kAudit: {
      const auto scope = check.in("audit");
      return from_wire(check, in.audit());
    }
    case Record::kSnapshot: {
      const auto scope = check.in("snapshot");
      return read(check, in.snapshot());
    }
    case Record::RECORD_NOT_SET:
      break;
  }
  // What it has instead is of a field that this build's schema does not know.
  const bool is_of_other_kind = in.GetReflection()->GetUnknownFields(in).field_count() > 0;
  check.refuse("record", "",
               is_of_other_kind
                   ? format_text("is of a kind that this version ({}) does not know: a newer version wrote it, start that one",
                                 build_version())
                   : "is missing");
  return loom::TermRecord{};
}

}  // namespace loom::wire
