// SPDX-License-Identifier: Apache-2.0
// A change is tried, adopted as intent, durable, answered, planned: in that order.
#include "controller/control/requests/operator_changes.hpp"

#include <algorithm>
#include <utility>

#include "controller/control/requests/change_report.hpp"
#include "controller/control/timers.hpp"
#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kAttempts = 4;  ///< of one request while others change what it is planned on

/// One principal's questions must not keep the planner from everybody's orders.
std::optional<Error> refusal_to_try(const OperatorChange& change, const TentativePlans& tentative) {
  const auto busy = [](std::size_t count, const std::string& what, const std::string& limit) {
    return Error{
        ErrorCode::busy,
        format_text("{} {} are being planned already (limit {}); wait for their answers and ask again", count, what, limit),
        "loom status"};
  };
  const std::string& principal = change.requester.principal;
  const std::size_t own = tentative.requested_by(principal, change.only_asks);
  if (change.only_asks && own >= limits::kDryRunsPerPrincipal) {
    return busy(own, "dry runs and diffs of " + principal, "kDryRunsPerPrincipal");
  }
  if (!change.only_asks && own >= limits::kOrdersPerPrincipal) {
    return busy(own, "orders of " + principal, "kOrdersPerPrincipal");
  }
  if (tentative.requested() >= limits::kTentativePlans) {
    return busy(tentative.requested(), "requests", "kTentativePlans");
  }
  return std::nullopt;
}

ChangeReport change_by(const TentativeOutcome& outcome, const ConfirmedPlans& confirmed, const Fabric& fabric) {
  const PlanResult& tried = **outcome.result;
  const std::vector<Circuit> none;
  ChangeReport report = change_between(confirmed.exists() ? confirmed.plan().circuits : none, tried.plan.circuits);
  report.base = tried.plan.base;
  report.agents = static_cast<std::uint32_t>(tried.plan.changed.size());
  report.switches_moved = switches_moved_by(tried.plan);
  report.plan = outcome.elapsed;
  report.moves = moves_between(outcome.plan.before, tried.intent);
  report.certificate = named(tried.plan.certificate, fabric);
  return report;
}

}  // namespace

OperatorChanges::OperatorChanges(const OperatorChangeParts& parts)
    : facts_(parts.facts),
      desired_(parts.desired),
      confirmed_(parts.confirmed),
      journal_(parts.journal),
      alarms_(parts.alarms),
      jobs_(parts.jobs),
      numbers_(parts.numbers),
      dark_forecast_(parts.dark_forecast),
      commits_(parts.commits),
      tentative_(parts.tentative),
      answers_(parts.answers),
      audit_(parts.audit),
      refusals_(parts.refusals) {}

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

void OperatorChanges::begin(TentativePlan plan, EffectSink& sink) {
  const OperatorChange& change = std::get<OperatorChange>(plan.purpose);
  if (auto refusal = refusal_to_try(change, tentative_)) {
    refusals_.count(RefusalKind::over_quota);
    return answers_.refuse(change.requester, *std::move(refusal), sink);
  }
  if (change.only_asks && tentative_.has_question()) {
    return tentative_.wait(std::move(plan));
  }
  try_now(std::move(plan), sink);
}

void OperatorChanges::try_waiting(EffectSink& sink) {
  while (auto question = tentative_.take_waiting()) {
    try_now(*std::move(question), sink);
  }
}

void OperatorChanges::try_now(TentativePlan plan, EffectSink& sink) {
  if (auto refused = tentative_.begin(std::move(plan), numbers_.next_circuit(), sink)) {
    on_tried(*std::move(refused), sink);
  }
}

void OperatorChanges::on_tried(TentativeOutcome outcome, EffectSink& sink) {
  TentativePlan& plan = outcome.plan;
  const OperatorChange& change = std::get<OperatorChange>(plan.purpose);
  if (!outcome.result) {
    return answers_.refuse(change.requester, outcome.result.error(), sink);
  }
  ChangeReport report = change_by(outcome, confirmed_, *facts_.fabric);
  const auto disturbed = std::find_if(report.changes.begin(), report.changes.end(),
                                      [](const CircuitChange& each) { return each.kind != CircuitChangeKind::added; });
  if (change.safe && disturbed != report.changes.end()) {
    return answers_.refuse(change.requester,
                           {ErrorCode::refused,
                            format_text("mode safe: circuit {} of job {} would be disturbed ({} circuits change in all)",
                                        disturbed->circuit.id.value, disturbed->circuit.job.value, report.touched),
                            "loom schedule apply FILE --mode update --dry-run"},
                           sink);
  }
  if (change.only_asks) {
    CommitForecast forecast = dark_forecast_.of(*facts_.fabric, confirmed_, (*outcome.result)->plan);
    report.slowest = std::move(forecast.slowest);
    report.slowest_time = forecast.slowest_time;
    report.dark_predicted = forecast.dark;
    OperatorReply answered;
    answered.rows = std::move(report);
    return answers_.answer(change.requester, std::move(answered), sink);
  }
  if (auto refusal = journal_.refusal_of(IntentRecord{(*outcome.result)->intent, 0, {}, {}, {}})) {
    return answers_.refuse(change.requester, *std::move(refusal), sink);
  }
  if (plan.before == desired_.intent()) {
    return adopt(plan, **outcome.result, sink);
  }
  if (++plan.attempts < kAttempts) {
    plan.candidate = 0;
    plan.first_refusal.reset();
    return begin(std::move(plan), sink);
  }
  answers_.refuse(change.requester, {ErrorCode::busy, "other orders keep changing what this one is about", "loom status"},
                  sink);
}

/// The change becomes intent: durable first, then answered, then planned and committed like every change.
void OperatorChanges::adopt(const TentativePlan& plan, const PlanResult& tried, EffectSink& sink) {
  const OperatorChange& change = std::get<OperatorChange>(plan.purpose);
  // A job that was changed, be it by going back, gets a revision even where no light differs: its routes may.
  const bool is_job_changed = change.job != JobId{} || tried.intent.jobs != plan.before.jobs;
  const bool needs_revision = !confirmed_.exists() || !tried.plan.changed.empty() || is_job_changed;
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

void OperatorChanges::answer_when_durable(ReplyAct answer, EffectSink& sink) {
  const OperatorReply& reply = answer.reply;
  audit_.record(answer.to, reply, sink);
  IntentRecord record = desired_.record(IntentCause{answer.to.principal, answer.to.request, reply.job, reply.revision});
  journal_.append(std::move(record), std::move(answer), sink);
}

void OperatorChanges::on_not_recorded(const ReplyAct& act, EffectSink& sink) {
  Error why = *journal_.failure();
  if (act.submits) {
    jobs_.refuse(act.reply.job, why.message);
    desired_.remove_job(act.reply.job);
  }
  why.message = act.already_done + why.message;
  answers_.refuse(act.to, std::move(why), sink);
}

void OperatorChanges::withdraw(const std::string& principal, EffectSink& sink) {
  for (const Requester& requester : tentative_.withdraw(principal)) {
    answers_.refuse(
        requester,
        {ErrorCode::refused,
         format_text("a key of {} was revoked while this was being planned; nothing has changed", principal), "loom keys list"},
        sink);
  }
}

}  // namespace loom
