// What an operator asks and what is answered, on the wire.
#include "proto/convert.hpp"

namespace loom::wire {

static_assert(static_cast<int>(Noun_MAX) == static_cast<int>(loom::Noun::alarms) + 1);

static void set_ask(const loom::Query& in, OperatorRequest& out) {
  Query& query = *out.mutable_query();
  query.set_noun(enum_to_wire<Noun>(in.noun));
  if (in.id) {
    query.set_row_id(*in.id);
  }
}
static void set_ask(const loom::SubmitJob& in, OperatorRequest& out) {
  to_wire(in.spec, *out.mutable_submit_job()->mutable_spec());
  out.mutable_submit_job()->set_dry_run(in.dry_run);
}
static void set_ask(const loom::CancelJob& in, OperatorRequest& out) {
  out.mutable_cancel_job()->set_job_id(in.job.value);
  out.mutable_cancel_job()->set_dry_run(in.dry_run);
}
static void set_ask(const loom::OrderLasers& in, OperatorRequest& out) { out.mutable_order_lasers()->set_on(in.on); }

static loom::Query from_wire(Check& check, const Query& in) {
  loom::Query out{check.enumeration("noun", in.noun(), loom::Noun::alarms), std::nullopt};
  if (in.has_row_id()) {
    out.id = in.row_id();
  }
  return out;
}

static loom::SubmitJob from_wire(Check& check, const SubmitJob& in) {
  check.present("spec", in.has_spec());
  const auto scope = check.in("spec");
  return {from_wire(check, in.spec()), in.dry_run()};
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
    case OperatorRequest::kOrderLasers:
      out.ask = loom::OrderLasers{in.order_lasers().on()};
      break;
    case OperatorRequest::ASK_NOT_SET:
      check.refuse("oneof", "", "is missing");
      break;
  }
  return out;
}

static void set_rows(const std::monostate&, OperatorReply&) {}
static void set_rows(const loom::StatusReport& in, OperatorReply& out) { to_wire(in, *out.mutable_status()); }
static void set_rows(const std::vector<loom::NodeReport>& in, OperatorReply& out) {
  rows_to_wire(in, *out.mutable_nodes()->mutable_rows());
}
static void set_rows(const std::vector<loom::DeviceReport>& in, OperatorReply& out) {
  rows_to_wire(in, *out.mutable_devices()->mutable_rows());
}
static void set_rows(const std::vector<loom::CircuitReport>& in, OperatorReply& out) {
  rows_to_wire(in, *out.mutable_circuits()->mutable_rows());
}
static void set_rows(const std::vector<loom::JobReport>& in, OperatorReply& out) {
  rows_to_wire(in, *out.mutable_jobs()->mutable_rows());
}
static void set_rows(const std::vector<loom::CommitReport>& in, OperatorReply& out) {
  rows_to_wire(in, *out.mutable_commits()->mutable_rows());
}
static void set_rows(const std::vector<loom::Alarm>& in, OperatorReply& out) {
  rows_to_wire(in, *out.mutable_alarms()->mutable_rows());
}

static decltype(loom::OperatorReply::rows) reply_rows(Check& check, const OperatorReply& in) {
  constexpr std::size_t kMost = limits::kRowsPerReply;
  switch (in.rows_case()) {
    case OperatorReply::kStatus:
      return from_wire(check, in.status());
    case OperatorReply::kNodes:
      return rows_from_wire<loom::NodeReport>(check, "nodes", in.nodes().rows(), kMost);
    case OperatorReply::kDevices:
      return rows_from_wire<loom::DeviceReport>(check, "devices", in.devices().rows(), kMost);
    case OperatorReply::kCircuits:
      return rows_from_wire<loom::CircuitReport>(check, "circuits", in.circuits().rows(), kMost);
    case OperatorReply::kJobs:
      return rows_from_wire<loom::JobReport>(check, "jobs", in.jobs().rows(), kMost);
    case OperatorReply::kCommits:
      return rows_from_wire<loom::CommitReport>(check, "commits", in.commits().rows(), kMost);
    case OperatorReply::kAlarms:
      return rows_from_wire<loom::Alarm>(check, "alarms", in.alarms().rows(), kMost);
    case OperatorReply::ROWS_NOT_SET:
      break;
  }
  return std::monostate{};
}

void to_wire(const loom::OperatorReply& in, OperatorReply& out) {
  out.set_request_id(in.request.value);
  to_wire(in.outcome, *out.mutable_outcome());
  out.set_job_id(in.job.value);
  std::visit([&](const auto& rows) { set_rows(rows, out); }, in.rows);
}

loom::OperatorReply from_wire(Check& check, const OperatorReply& in) {
  loom::OperatorReply out;
  out.request = {in.request_id()};
  if (check.present("outcome", in.has_outcome())) {
    out.outcome = from_wire(check, in.outcome());
  }
  out.job = {in.job_id()};
  out.rows = reply_rows(check, in);
  return out;
}

}  // namespace loom::wire
