// SPDX-License-Identifier: Apache-2.0
// What an operator asks and what is answered, on the wire.
#include "proto/row_codec.hpp"

namespace loom::wire {

// Every noun has its rows; the two kinds of answer besides are one without rows and a change, which answers an order.
static_assert(static_cast<std::size_t>(Noun_MAX) == std::variant_size_v<loom::ReplyRows> - 2);
static_assert(static_cast<int>(NodeAction_MAX) == static_cast<int>(loom::NodeAction::release) + 1);
static_assert(static_cast<int>(ApplyMode_MAX) == static_cast<int>(loom::ApplyMode::overwrite) + 1);

/// The field of `message` with this name.
static const FieldDescriptor& named_field(const Message& message, const char* name) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  LOOM_ASSERT(field != nullptr);
  return *field;
}

/// The field of the oneof `name` that is set; null: none.
static const FieldDescriptor* field_of(const Message& message, const char* name) {
  const google::protobuf::OneofDescriptor* fields = message.GetDescriptor()->FindOneofByName(name);
  LOOM_ASSERT(fields != nullptr);
  return message.GetReflection()->GetOneofFieldDescriptor(message, fields);
}

void to_wire(const loom::DiffSchedule& in, DiffSchedule& out) {
  if (in.revision) {
    out.set_revision_number(in.revision->value);
  }
  if (in.circuits) {
    out.mutable_circuits();
    for (const loom::ScheduledCircuit& circuit : *in.circuits) {
      row_to_wire(circuit, *out.mutable_circuits()->add_rows());
    }
  }
}

loom::DiffSchedule from_wire(Check& check, const DiffSchedule& in) {
  loom::DiffSchedule out;
  if (in.has_revision_number()) {
    out.revision = Revision{in.revision_number()};
  }
  if (in.has_circuits() && check.count("circuits", in.circuits().rows_size(), limits::kCircuits)) {
    out.circuits.emplace();
    for (int i = 0; i < in.circuits().rows_size() && check.ok(); ++i) {
      const auto scope = check.in("circuits", i);
      out.circuits->push_back(row_from_wire<loom::ScheduledCircuit>(check, in.circuits().rows(i)));
    }
  }
  return out;
}

void to_wire(const loom::OperatorRequest& in, OperatorRequest& out) {
  out.set_request_id(in.request.value);
  std::visit(
      [&]<class Ask>(const Ask& ask) {
        part_to_wire(ask, *out.GetReflection()->MutableMessage(&out, &named_field(out, RowFields<Ask>::kAsk)));
      },
      in.ask);
}

/// Takes over what `set` carries if it is such a request.
template <class Ask>
static bool take_ask(Check& check, const OperatorRequest& in, const FieldDescriptor& set, loom::OperatorAsk& out) {
  if (set.name() != RowFields<Ask>::kAsk) {
    return false;
  }
  out = part_from_wire<Ask>(check, in.GetReflection()->GetMessage(in, &set));
  return true;
}
template <class... Asks>
static bool take_one(Check& check, const OperatorRequest& in, const FieldDescriptor& set, loom::OperatorAsk& out,
                     std::type_identity<loom::OneOf<Asks...>>) {
  return (take_ask<Asks>(check, in, set, out) || ...);
}

loom::OperatorRequest from_wire(Check& check, const OperatorRequest& in) {
  loom::OperatorRequest out;
  out.request = {in.request_id()};
  const auto scope = check.in("ask");
  const FieldDescriptor* set = field_of(in, "ask");
  if (set == nullptr) {
    check.refuse("oneof", "", "is missing");
    return out;
  }
  const bool is_taken = take_one(check, in, *set, out.ask, std::type_identity<loom::OperatorAsk>{});
  LOOM_ASSERT(is_taken);
  return out;
}

static void set_rows(const std::monostate&, OperatorReply&) {}
template <class Row>
static void set_rows(const Row& in, OperatorReply& out) {
  row_to_wire(in, *out.GetReflection()->MutableMessage(&out, &named_field(out, RowFields<Row>::kReply)));
}
template <class Row>
static void set_rows(const std::vector<Row>& in, OperatorReply& out) {
  Message& list = *out.GetReflection()->MutableMessage(&out, &named_field(out, RowFields<Row>::kList.wire));
  const FieldDescriptor& rows = named_field(list, "rows");
  for (const Row& row : in) {
    row_to_wire(row, *list.GetReflection()->AddMessage(&list, &rows));
  }
}

/// Takes over what `set` carries if such rows are in it.
template <class Row>
static bool take_rows(Check& check, const OperatorReply& in, const FieldDescriptor& set, std::type_identity<Row>,
                      loom::ReplyRows& out) {
  if (set.name() != RowFields<Row>::kReply) {
    return false;
  }
  out = row_from_wire<Row>(check, in.GetReflection()->GetMessage(in, &set));
  return true;
}
template <class Row>
static bool take_rows(Check& check, const OperatorReply& in, const FieldDescriptor& set, std::type_identity<std::vector<Row>>,
                      loom::ReplyRows& out) {
  if (set.name() != RowFields<Row>::kList.wire) {
    return false;
  }
  const Message& list = in.GetReflection()->GetMessage(in, &set);
  const FieldDescriptor& rows = named_field(list, "rows");
  const int size = list.GetReflection()->FieldSize(list, &rows);
  std::vector<Row> taken;
  if (check.count(RowFields<Row>::kList.wire, size, limits::kRowsPerReply)) {
    taken.reserve(static_cast<std::size_t>(size));
    for (int i = 0; i < size && check.ok(); ++i) {
      const auto scope = check.in(RowFields<Row>::kList.wire, i);
      taken.push_back(row_from_wire<Row>(check, list.GetReflection()->GetRepeatedMessage(list, &rows, i)));
    }
  }
  out = std::move(taken);
  return true;
}

/// Every alternative of the variant but the first, which is an answer without rows, is asked whether the rows are its own.
template <class... Rows>
static loom::ReplyRows reply_rows(Check& check, const OperatorReply& in,
                                  std::type_identity<loom::OneOf<std::monostate, Rows...>>) {
  loom::ReplyRows out;
  if (const FieldDescriptor* set = field_of(in, "rows")) {
    const bool is_taken = (take_rows(check, in, *set, std::type_identity<Rows>{}, out) || ...);
    LOOM_ASSERT(is_taken);
  }
  return out;
}

void to_wire(const loom::OperatorReply& in, OperatorReply& out) {
  out.set_request_id(in.request.value);
  to_wire(in.outcome, *out.mutable_outcome());
  out.set_job_id(in.job.value);
  out.set_revision_number(in.revision.value);
  out.set_total_row_count(in.total_rows);
  out.set_write_count(in.writes);
  std::visit([&](const auto& rows) { set_rows(rows, out); }, in.rows);
}

loom::OperatorReply from_wire(Check& check, const OperatorReply& in) {
  loom::OperatorReply out;
  out.request = {in.request_id()};
  if (check.present("outcome", in.has_outcome())) {
    out.outcome = from_wire(check, in.outcome());
  }
  out.job = {in.job_id()};
  out.revision = {in.revision_number()};
  out.total_rows = in.total_row_count();
  out.writes = in.write_count();
  out.rows = reply_rows(check, in, std::type_identity<loom::ReplyRows>{});
  return out;
}

}  // namespace loom::wire
