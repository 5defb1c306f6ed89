// What an operator asks and what is answered, on the wire.
#include "proto/row_codec.hpp"

namespace loom::wire {

static_assert(static_cast<int>(Noun_MAX) == static_cast<int>(loom::Noun::audit) + 1);
static_assert(static_cast<int>(NodeOrder_MAX) == static_cast<int>(loom::NodeOrder::release) + 1);
static_assert(static_cast<int>(ApplyMode_MAX) == static_cast<int>(loom::ApplyMode::overwrite) + 1);

static void set_ask(const loom::Query& in, OperatorRequest& out) {
  Query& query = *out.mutable_query();
  query.set_noun(enum_to_wire<Noun>(in.noun));
  if (in.id) {
    query.set_row_id(*in.id);
  }
  query.set_offset_count(in.offset);
  query.set_limit_count(in.limit);
}
static void set_ask(const loom::SubmitJob& in, OperatorRequest& out) {
  to_wire(in.spec, *out.mutable_submit_job()->mutable_spec());
  out.mutable_submit_job()->set_dry_run(in.dry_run);
}
static void set_ask(const loom::CancelJob& in, OperatorRequest& out) {
  out.mutable_cancel_job()->set_job_id(in.job.value);
  out.mutable_cancel_job()->set_dry_run(in.dry_run);
}
static void set_ask(const loom::ChangeJob& in, OperatorRequest& out) {
  out.mutable_change_job()->set_job_id(in.job.value);
  to_wire(in.spec, *out.mutable_change_job()->mutable_spec());
  out.mutable_change_job()->set_dry_run(in.dry_run);
}
static void set_ask(const loom::ResizeJob& in, OperatorRequest& out) {
  out.mutable_resize_job()->set_job_id(in.job.value);
  out.mutable_resize_job()->set_node_count(in.nodes);
  out.mutable_resize_job()->set_dry_run(in.dry_run);
}
static void set_ask(const loom::OrderLasers& in, OperatorRequest& out) { out.mutable_order_lasers()->set_on(in.on); }

static void set_ask(const loom::OrderNode& in, OperatorRequest& out) {
  OrderNode& order = *out.mutable_order_node();
  order.set_node_id(in.node.value);
  order.set_order(enum_to_wire<NodeOrder>(in.order));
  order.set_force(in.force);
  order.set_dry_run(in.dry_run);
}
static void set_ask(const loom::OrderDevice& in, OperatorRequest& out) {
  OrderDevice& order = *out.mutable_order_device();
  order.set_device_id(in.device.value);
  if (in.setpoint) {
    to_wire(*in.setpoint, *order.mutable_setpoint());
  }
  order.set_dry_run(in.dry_run);
}
static void set_ask(const loom::OrderReset& in, OperatorRequest& out) {
  out.mutable_order_reset()->set_device_id(in.device.value);
}
static void set_ask(const loom::AttendJob& in, OperatorRequest& out) {
  out.mutable_attend_job()->set_job_id(in.job.value);
  out.mutable_attend_job()->set_quiet_for_revision_number(in.quiet_for.value);
}
static void set_ask(const loom::AcknowledgeAlarm& in, OperatorRequest& out) {
  out.mutable_acknowledge_alarm()->set_alarm_id(in.alarm.value);
}

static void to_wire(const loom::ScheduledCircuit& in, ScheduledCircuit& out) {
  out.set_job_id(in.job.value);
  out.set_source_node_id(in.source.value);
  out.set_destination_node_id(in.destination.value);
  to_wire(in.slot, *out.mutable_slot());
  out.set_timeslot_number(in.timeslot);
  if (in.transmitter) {
    out.set_transmitter_element_id(in.transmitter->value);
  }
  if (in.receiver) {
    out.set_receiver_element_id(in.receiver->value);
  }
}
static loom::ScheduledCircuit from_wire(Check& check, const ScheduledCircuit& in) {
  loom::ScheduledCircuit out;
  out.job = {in.job_id()};
  out.source = check.node("source_node_id", in.source_node_id());
  out.destination = check.node("destination_node_id", in.destination_node_id());
  check.present("slot", in.has_slot());
  out.slot = from_wire(check, in.slot());
  out.timeslot = check.timeslot("timeslot_number", in.timeslot_number());
  if (in.has_transmitter_element_id()) {
    out.transmitter = check.element("transmitter_element_id", in.transmitter_element_id());
  }
  if (in.has_receiver_element_id()) {
    out.receiver = check.element("receiver_element_id", in.receiver_element_id());
  }
  return out;
}

static void set_ask(const loom::ApplySchedule& in, OperatorRequest& out) {
  ApplySchedule& order = *out.mutable_apply_schedule();
  order.set_mode(enum_to_wire<ApplyMode>(in.mode));
  rows_to_wire(in.circuits, *order.mutable_circuits());
  order.set_confirm_within_ns(in.confirm_within.count());
  order.set_dry_run(in.dry_run);
}
static void set_ask(const loom::ConfirmSchedule&, OperatorRequest& out) { out.mutable_confirm_schedule(); }
static void set_ask(const loom::RollBackSchedule& in, OperatorRequest& out) {
  out.mutable_roll_back_schedule()->set_to_revision_number(in.to.value);
  out.mutable_roll_back_schedule()->set_dry_run(in.dry_run);
}
static void set_ask(const loom::DiffSchedule& in, OperatorRequest& out) {
  DiffSchedule& order = *out.mutable_diff_schedule();
  if (in.revision) {
    order.set_revision_number(in.revision->value);
  }
  if (in.circuits) {
    rows_to_wire(*in.circuits, *order.mutable_circuits()->mutable_rows());
  }
}

static loom::OrderNode from_wire(Check& check, const OrderNode& in) {
  return {check.node("node_id", in.node_id()), check.enumeration("order", in.order(), loom::NodeOrder::release), in.force(),
          in.dry_run()};
}
static loom::OrderDevice from_wire(Check& check, const OrderDevice& in) {
  loom::OrderDevice out{check.device("device_id", in.device_id()), {}, in.dry_run()};
  if (in.has_setpoint()) {
    const auto scope = check.in("setpoint");
    out.setpoint = from_wire(check, in.setpoint());
  }
  return out;
}
static loom::ApplySchedule from_wire(Check& check, const ApplySchedule& in) {
  loom::ApplySchedule out;
  out.mode = check.enumeration("mode", in.mode(), loom::ApplyMode::overwrite);
  out.circuits = rows_from_wire<loom::ScheduledCircuit>(check, "circuits", in.circuits(), limits::kCircuits);
  out.confirm_within = check.duration("confirm_within_ns", in.confirm_within_ns());
  out.dry_run = in.dry_run();
  return out;
}
static loom::DiffSchedule from_wire(Check& check, const DiffSchedule& in) {
  loom::DiffSchedule out;
  if (in.has_revision_number()) {
    out.revision = Revision{in.revision_number()};
  }
  if (in.has_circuits()) {
    out.circuits = rows_from_wire<loom::ScheduledCircuit>(check, "circuits", in.circuits().rows(), limits::kCircuits);
  }
  return out;
}

static loom::Query from_wire(Check& check, const Query& in) {
  loom::Query out;
  out.noun = check.enumeration("noun", in.noun(), loom::Noun::audit);
  out.offset = in.offset_count();
  out.limit = in.limit_count();
  if (in.has_row_id()) {
    out.id = in.row_id();
  }
  return out;
}

static loom::ResizeJob from_wire(Check& check, const ResizeJob& in) {
  const auto nodes = check.between("node_count", in.node_count(), 0, limits::kNodes);
  return {{in.job_id()}, static_cast<std::uint32_t>(nodes), in.dry_run()};
}

static loom::SubmitJob from_wire(Check& check, const SubmitJob& in) {
  check.present("spec", in.has_spec());
  const auto scope = check.in("spec");
  return {from_wire(check, in.spec()), in.dry_run()};
}

static loom::ChangeJob from_wire(Check& check, const ChangeJob& in) {
  check.present("spec", in.has_spec());
  const auto scope = check.in("spec");
  return {{in.job_id()}, from_wire(check, in.spec()), in.dry_run()};
}

void to_wire(const loom::OperatorRequest& in, OperatorRequest& out) {
  out.set_request_id(in.request.value);
  std::visit([&](const auto& ask) { set_ask(ask, out); }, in.ask);
}

loom::OperatorRequest from_wire(Check& check, const OperatorRequest& in) {
  loom::OperatorRequest out;
  out.request = {in.request_id()};
  const auto scope = check.in("ask");
  switch (in.ask_case()) {
    case OperatorRequest::kQuery:
      out.ask = from_wire(check, in.query());
      break;
    case OperatorRequest::kSubmitJob:
      out.ask = from_wire(check, in.submit_job());
      break;
    case OperatorRequest::kCancelJob:
      out.ask = loom::CancelJob{{in.cancel_job().job_id()}, in.cancel_job().dry_run()};
      break;
    case OperatorRequest::kChangeJob:
      out.ask = from_wire(check, in.change_job());
      break;
    case OperatorRequest::kResizeJob:
      out.ask = from_wire(check, in.resize_job());
      break;
    case OperatorRequest::kOrderLasers:
      out.ask = loom::OrderLasers{in.order_lasers().on()};
      break;
    case OperatorRequest::kOrderNode:
      out.ask = from_wire(check, in.order_node());
      break;
    case OperatorRequest::kOrderDevice:
      out.ask = from_wire(check, in.order_device());
      break;
    case OperatorRequest::kOrderReset:
      out.ask = loom::OrderReset{check.device("device_id", in.order_reset().device_id())};
      break;
    case OperatorRequest::kAttendJob:
      out.ask = loom::AttendJob{{in.attend_job().job_id()}, {in.attend_job().quiet_for_revision_number()}};
      break;
    case OperatorRequest::kAcknowledgeAlarm:
      out.ask = loom::AcknowledgeAlarm{{in.acknowledge_alarm().alarm_id()}};
      break;
    case OperatorRequest::kApplySchedule:
      out.ask = from_wire(check, in.apply_schedule());
      break;
    case OperatorRequest::kConfirmSchedule:
      out.ask = loom::ConfirmSchedule{};
      break;
    case OperatorRequest::kRollBackSchedule:
      out.ask = loom::RollBackSchedule{{in.roll_back_schedule().to_revision_number()}, in.roll_back_schedule().dry_run()};
      break;
    case OperatorRequest::kDiffSchedule:
      out.ask = from_wire(check, in.diff_schedule());
      break;
    case OperatorRequest::ASK_NOT_SET:
      check.refuse("oneof", "", "is missing");
      break;
  }
  return out;
}

/// The field of `message` with this name.
static const FieldDescriptor& named_field(const Message& message, const char* name) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  LOOM_ASSERT(field != nullptr);
  return *field;
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
                                  std::type_identity<std::variant<std::monostate, Rows...>>) {
  loom::ReplyRows out;
  const google::protobuf::OneofDescriptor* rows = in.GetDescriptor()->FindOneofByName("rows");
  LOOM_ASSERT(rows != nullptr);
  if (const FieldDescriptor* set = in.GetReflection()->GetOneofFieldDescriptor(in, rows)) {
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
