// A request is authorised, known again if it is repeated, handled by its kind, and answered once what it changed is durable.
#include "controller/control/requests/operator_requests.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "controller/control/requests/audit_text.hpp"
#include "controller/control/requests/change_report.hpp"
#include "controller/control/timers.hpp"
#include "core/messages/intake_limits.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kAttempts = 4;  ///< of one request while others change what it is planned on

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
      tentative_(parts.tentative),
      reconciler_(parts.reconciler),
      answers_(parts.answers),
      resets_(parts.resets),
      audit_(parts.audit),
      reports_(parts.reports),
      unusable_(parts.unusable),
      refusals_(parts.refusals) {}

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
    refused.outcome.error =
        Error{ErrorCode::refused,
              "your key is a " + std::string(to_string(envelope.role)) + "'s; this needs an operator's or an admin's",
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
          handle(requester, asked, sink);
        }
      },
      request.ask);
}

void OperatorRequests::open_audit(const Requester& requester, const Envelope& envelope, const OperatorAsk& ask) {
  const auto* attend = std::get_if<AttendJob>(&ask);
  const JobRecord* job = attend == nullptr ? nullptr : jobs_.find(attend->job);
  const bool goes_on = job != nullptr && facts_.now < job->attended_until && job->attended_by == requester.principal;
  if (goes_on || std::holds_alternative<DiffSchedule>(ask)) {
    audit_.count_question(envelope.principal, envelope.role);
  } else {
    audit_.begin(requester, envelope.role, ask);
  }
}

void OperatorRequests::on_key_lost(const std::string& principal, EffectSink& sink) {
  for (const Requester& requester : tentative_.withdraw(principal)) {
    refuse(requester,
           {ErrorCode::refused, "a key of " + principal + " was revoked while this was being planned; nothing has changed",
            "loom keys list"},
           sink);
  }
  jobs_.end_attendance(principal);
  commits_.begin_if_ready(sink);
}

/// The present intent and its answer: in the audit first, so that no intent is durable without it; sent once the intent is
/// durable, and again to whoever repeats the request.
void OperatorRequests::answer_when_durable(ReplyAct answer, EffectSink& sink) {
  const OperatorReply& reply = answer.reply;
  audit_.record(answer.to, reply, sink);
  IntentRecord record = desired_.record(IntentCause{answer.to.principal, answer.to.request, reply.job, reply.revision});
  journal_.append(std::move(record), std::move(answer), sink);
}

void OperatorRequests::on_not_recorded(const ReplyAct& act, EffectSink& sink) {
  Error why = *journal_.failure();
  if (act.submits) {
    jobs_.refuse(act.reply.job, why.message);
    desired_.remove_job(act.reply.job);
  }
  why.message = act.already_done + why.message;
  refuse(act.to, std::move(why), sink);
}

// --- tentative plans -----------------------------------------------------------------------------------------------------

TentativePlan change_for(const Requester& requester, std::vector<Candidate> candidates, std::string reason, bool only_asks) {
  OperatorChange purpose;
  purpose.requester = requester;
  purpose.only_asks = only_asks;
  TentativePlan plan;
  plan.purpose = std::move(purpose);
  plan.candidates = std::move(candidates);
  plan.reason = std::move(reason);
  return plan;
}

/// One principal's questions must not keep the planner from everybody's orders.
std::optional<Error> OperatorRequests::refusal_to_try(const OperatorChange& change) const {
  const auto busy = [](std::size_t count, const std::string& what, const std::string& limit) {
    return Error{ErrorCode::busy,
                 std::to_string(count) + " " + what + " are being planned already (limit " + limit +
                     "); wait for their answers and ask again",
                 "loom status"};
  };
  const std::string& principal = change.requester.principal;
  const std::size_t own = tentative_.requested_by(principal, change.only_asks);
  if (change.only_asks && own >= limits::kDryRunsPerPrincipal) {
    return busy(own, "dry runs and diffs of " + principal, "kDryRunsPerPrincipal");
  }
  if (!change.only_asks && own >= limits::kOrdersPerPrincipal) {
    return busy(own, "orders of " + principal, "kOrdersPerPrincipal");
  }
  if (tentative_.requested() >= limits::kTentativePlans) {
    return busy(tentative_.requested(), "requests", "kPlansOnTrial");
  }
  return std::nullopt;
}

void OperatorRequests::begin(TentativePlan plan, EffectSink& sink) {
  const OperatorChange& change = std::get<OperatorChange>(plan.purpose);
  if (auto refusal = refusal_to_try(change)) {
    refusals_.count(RefusalKind::over_quota);
    return refuse(change.requester, *std::move(refusal), sink);
  }
  if (change.only_asks && tentative_.has_question()) {
    return tentative_.wait(std::move(plan));
  }
  try_now(std::move(plan), sink);
}

void OperatorRequests::try_waiting(EffectSink& sink) {
  while (auto question = tentative_.take_waiting()) {
    try_now(*std::move(question), sink);
  }
}

void OperatorRequests::try_now(TentativePlan plan, EffectSink& sink) {
  if (auto refused = tentative_.begin(std::move(plan), numbers_.next_circuit(), sink)) {
    on_tried(*std::move(refused), sink);
  }
}

ChangeReport OperatorRequests::change_by(const TentativeOutcome& outcome) const {
  const PlanResult& tried = **outcome.result;
  const std::vector<Circuit> none;
  ChangeReport report = change_between(confirmed_.exists() ? confirmed_.plan().circuits : none, tried.plan.circuits);
  report.base = tried.plan.base;
  report.agents = static_cast<std::uint32_t>(tried.plan.changed.size());
  report.switches_moved = switches_moved_by(tried.plan);
  report.plan = outcome.elapsed;
  report.moves = moves_between(outcome.plan.before, tried.intent);
  report.certificate = named(tried.plan.certificate, *facts_.fabric);
  return report;
}

void OperatorRequests::on_tried(TentativeOutcome outcome, EffectSink& sink) {
  TentativePlan& plan = outcome.plan;
  const OperatorChange& change = std::get<OperatorChange>(plan.purpose);
  if (!outcome.result) {
    return refuse(change.requester, outcome.result.error(), sink);
  }
  ChangeReport report = change_by(outcome);
  const auto disturbed = std::find_if(report.changes.begin(), report.changes.end(),
                                      [](const CircuitChange& each) { return each.kind != CircuitChangeKind::added; });
  if (change.safe && disturbed != report.changes.end()) {
    return refuse(change.requester,
                  {ErrorCode::refused,
                   "mode safe: circuit " + std::to_string(disturbed->circuit.id.value) + " of job " +
                       std::to_string(disturbed->circuit.job.value) + " would be disturbed (" + std::to_string(report.touched) +
                       " circuits change in all)",
                   "loom schedule apply FILE --mode update --dry-run"},
                  sink);
  }
  if (change.only_asks) {
    OperatorReply answered;
    answered.rows = std::move(report);
    return answers_.answer(change.requester, std::move(answered), sink);
  }
  if (auto refusal = journal_.refusal_of(IntentRecord{(*outcome.result)->intent, 0, {}, {}, {}})) {
    return refuse(change.requester, *std::move(refusal), sink);
  }
  if (plan.before == intent()) {
    return adopt(plan, **outcome.result, sink);
  }
  if (++plan.attempts < kAttempts) {
    plan.candidate = 0;
    plan.first_refusal.reset();
    return begin(std::move(plan), sink);
  }
  refuse(change.requester, {ErrorCode::busy, "other orders keep changing what this one is about", "loom status"}, sink);
}

/// The change becomes intent: durable first, then answered, then planned and committed like every change.
void OperatorRequests::adopt(const TentativePlan& plan, const PlanResult& tried, EffectSink& sink) {
  const OperatorChange& change = std::get<OperatorChange>(plan.purpose);
  // A job that was changed gets a revision even where no light differs: its routes may.
  const bool needs_revision = !confirmed_.exists() || !tried.plan.changed.empty() || change.job != JobId{};
  if (change.confirm_within > Duration{}) {
    desired_.begin_probation(numbers_.next(), facts_.header.clock, facts_.now + change.confirm_within);
    sink.emit(SetTimer{timers::kProbation, desired_.probation()->deadline});
  }
  desired_.replace(tried.intent);
  for (const DeviceOverride& was : plan.before.overrides) {
    if (was.is_adopted() && desired_.override_of(was.device) == nullptr) {
      alarms_.clear(AlarmCode::drift, {}, was.device);
    }
  }
  jobs_.follow(plan.before, numbers_.next());
  OperatorReply answered;
  answered.job = change.job;
  answered.revision = needs_revision ? numbers_.next() : Revision{};
  answer_when_durable({change.requester, std::move(answered)}, sink);
  if (needs_revision) {
    commits_.want_plan(plan.reason, sink, change.requester.principal);
  }
}

}  // namespace loom
