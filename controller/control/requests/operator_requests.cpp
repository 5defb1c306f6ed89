// SPDX-License-Identifier: Apache-2.0
// A request is authorised, known again if it is repeated, handled by its kind, and answered once what it changed is durable.
#include "controller/control/requests/operator_requests.hpp"

#include <type_traits>
#include <utility>

#include "controller/control/requests/audit_text.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Must something be durable before this request is answered? Darkness waits for no disk.
template <class Request>
bool needs_row(const Request& request) {
  if constexpr (std::is_same_v<Request, LasersRequest>) {
    return request.on;
  } else if constexpr (requires { request.dry_run; }) {
    return !request.dry_run;
  } else {
    return std::is_same_v<Request, ConfirmSchedule>;
  }
}

}  // namespace

OperatorRequests::OperatorRequests(const OperatorRequestParts& parts)
    : facts_(parts.facts),
      desired_(parts.desired),
      confirmed_(parts.confirmed),
      journal_(parts.journal),
      alarms_(parts.alarms),
      sessions_(parts.sessions),
      jobs_(parts.jobs),
      numbers_(parts.numbers),
      commits_(parts.commits),
      reconciler_(parts.reconciler),
      answers_(parts.answers),
      resets_(parts.resets),
      calibrations_(parts.calibrations),
      audit_(parts.audit),
      reports_(parts.reports),
      unusable_(parts.unusable),
      refusals_(parts.refusals),
      changes_(parts.changes) {}

void OperatorRequests::on_request(Peer from, const Envelope& envelope, const OperatorRequest& request, EffectSink& sink) {
  const Requester requester{from, envelope.principal, request.request};
  if (const auto* query = std::get_if<Query>(&request.ask)) {
    audit_.count_question(envelope.principal, envelope.role);
    return answers_.answer_once(requester, reports_.answer(*query), sink);
  }
  const bool only_reads = std::holds_alternative<DiffSchedule>(request.ask);
  if (!only_reads && envelope.role != Role::operator_ && envelope.role != Role::admin) {
    refusals_.count(RefusalKind::role);
    OperatorReply refused;
    refused.outcome.error = Error{
        ErrorCode::refused, format_text("your key is a {}'s; this needs an operator's or an admin's", to_string(envelope.role)),
        "loom --state FOLDER ... (of an operator's key)"};
    audit_.begin(requester, envelope.role, request.ask);
    audit_.end(requester, refused, sink);
    return answers_.answer_once(requester, std::move(refused), sink);
  }
  const RequestAnswers::Arrival arrival = answers_.arrive(requester, sink);
  if (arrival == RequestAnswers::Arrival::refused) {
    const Error busy{ErrorCode::busy, "as many requests as are remembered came before it"};
    audit_.note(envelope.principal, envelope.role, sentence_of(request.ask), Outcome{busy}, sink);
  }
  if (arrival != RequestAnswers::Arrival::first) {
    return;
  }
  open_audit(requester, envelope, request.ask);
  std::visit(
      [&]<class Request>(const Request& asked) {
        if constexpr (!std::is_same_v<Request, Query>) {
          if (journal_.failure() && needs_row(asked)) {
            return refuse(requester, *journal_.failure(), sink);
          }
          if constexpr (std::is_same_v<Request, ProbeLight>) {
            calibrations_.begin(requester, asked, sink);
          } else if constexpr (std::is_same_v<Request, Calibrate>) {
            const auto carries = [this](const Device& bank) { return circuits_using(bank, confirmed_, *facts_.fabric); };
            calibrations_.begin(requester, asked, carries, sink);
          } else {
            handle(requester, asked, sink);
          }
        }
      },
      request.ask);
}

void OperatorRequests::open_audit(const Requester& requester, const Envelope& envelope, const OperatorAsk& ask) {
  const auto* attend = std::get_if<AttendJob>(&ask);
  const JobRecord* job = attend == nullptr ? nullptr : jobs_.find(attend->job);
  const bool goes_on = job != nullptr && facts_.now < job->attended_until && job->attended_by == requester.principal;
  const bool looks_on = std::holds_alternative<ProbeLight>(ask) && calibrations_.measures(requester);
  if (goes_on || looks_on || std::holds_alternative<DiffSchedule>(ask)) {
    audit_.count_question(envelope.principal, envelope.role);
  } else {
    audit_.begin(requester, envelope.role, ask);
  }
}

void OperatorRequests::on_key_lost(const std::string& principal, EffectSink& sink) {
  changes_.withdraw(principal, sink);
  jobs_.end_attendance(principal);
  commits_.begin_if_ready(sink);
}

}  // namespace loom
