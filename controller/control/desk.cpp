// The operators' desk: who may ask, requests that come twice, orders on trial, and how an order becomes intent (durable before
// it is answered). docs/life_of_a_command.md is its story.
#include <algorithm>
#include <tuple>
#include <type_traits>

#include "controller/control/controller.hpp"
#include "controller/control/desk.hpp"
#include "controller/control/timers.hpp"
#include "core/limits.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kTrialAttempts = 4;  ///< of one order while other orders change what it is tried on

auto key_of(const Circuit& circuit) {
  return std::tuple{circuit.job, circuit.source, circuit.destination, circuit.transmitter, circuit.receiver, circuit.slot};
}

/// Equal ids are untouched light; a circuit that ends and begins again is one that moves.
std::vector<CircuitChange> changes_between(std::vector<Circuit> before, std::vector<Circuit> after) {
  const auto by_key = [](const Circuit& a, const Circuit& b) {
    return std::pair{key_of(a), a.id} < std::pair{key_of(b), b.id};
  };
  std::sort(before.begin(), before.end(), by_key);
  std::sort(after.begin(), after.end(), by_key);
  std::vector<CircuitChange> changes;
  auto a = before.begin();
  auto b = after.begin();
  while (a != before.end() || b != after.end()) {
    if (b == after.end() || (a != before.end() && key_of(*a) < key_of(*b))) {
      changes.push_back({CircuitChangeKind::removed, *a++});
    } else if (a == before.end() || key_of(*b) < key_of(*a)) {
      changes.push_back({CircuitChangeKind::added, *b++});
    } else {
      if (a->id != b->id) {
        changes.push_back({CircuitChangeKind::moved, *b});
      }
      ++a;
      ++b;
    }
  }
  return changes;
}

/// A trial's number is nobody's business: "plan of revision 18446744073709551609 is refused".
Error without_number(const PlanOutcome& outcome) {
  Error error = outcome.result.error();
  const std::string number = " of revision " + std::to_string(outcome.revision.value);
  if (const auto at = error.message.find(number); at != std::string::npos) {
    error.message.erase(at, number.size());
  }
  return error;
}

std::vector<JobMove> moves_between(const Intent& before, const Intent& after) {
  std::vector<JobMove> moves;
  for (const Job& job : after.jobs) {
    const auto was = std::find_if(before.jobs.begin(), before.jobs.end(), [&](const Job& each) { return each.id == job.id; });
    for (std::size_t rank = 0; was != before.jobs.end() && rank < std::min(was->nodes.size(), job.nodes.size()); ++rank) {
      if (was->nodes[rank] != job.nodes[rank]) {
        moves.push_back({job.id, was->nodes[rank], job.nodes[rank]});
      }
    }
  }
  return moves;
}

}  // namespace

ChangeReport change_between(const std::vector<Circuit>& before, const std::vector<Circuit>& after, SameLight same) {
  ChangeReport report;
  report.changes = changes_between(before, after);
  if (same == SameLight::by_ends) {
    std::erase_if(report.changes, [](const CircuitChange& change) { return change.kind == CircuitChangeKind::moved; });
  }
  report.circuits = static_cast<std::uint32_t>(after.size());
  report.touched = static_cast<std::uint32_t>(report.changes.size());
  if (report.changes.size() > limits::kChangesPerReport) {
    report.changes.resize(limits::kChangesPerReport);
  }
  return report;
}

void Controller::reply(Peer to, OperatorReply reply, EffectSink& sink) {
  if (reply.outcome.error && reply.outcome.error->next_command.empty()) {
    reply.outcome.error->next_command = next_command_for(reply.outcome.error->code);
  }
  sink.emit(
      Send{to, Envelope{kWireVersion, "controller", Role::controller, term_, NodeId{}, clock_, confirmed(), std::move(reply)}});
}

/// Answers an order and remembers the answer for whoever repeats the request.
void Controller::settle(const Asker& asker, OperatorReply answered, EffectSink& sink) {
  answered.request = asker.request;
  Peer to = asker.peer;
  for (Answered& known : answered_) {
    if (known.principal == asker.principal && known.request == asker.request && !known.reply) {
      known.reply = answered;
      to = known.peer;  // it may have come back over another connection
    }
  }
  reply(to, std::move(answered), sink);
}

void Controller::refuse(const Asker& asker, Error error, EffectSink& sink) {
  OperatorReply refused;
  refused.outcome.error = std::move(error);
  settle(asker, std::move(refused), sink);
}

/// True: this principal's request has been heard before. It is answered again, or will be.
bool Controller::answer_again(const Asker& asker, EffectSink& sink) {
  const auto known = std::find_if(answered_.begin(), answered_.end(), [&](const Answered& each) {
    return each.principal == asker.principal && each.request == asker.request;
  });
  if (known != answered_.end()) {
    known->peer = asker.peer;
    if (known->reply) {
      reply(asker.peer, *known->reply, sink);
    }
    return true;
  }
  answered_.push_back({asker.principal, asker.request, asker.peer, std::nullopt});
  if (answered_.size() > limits::kAnswersKept) {
    answered_.pop_front();
  }
  return false;
}

void Controller::on_operator(Peer from, const Envelope& envelope, const OperatorRequest& request, Instant now,
                             EffectSink& sink) {
  const Asker asker{from, envelope.principal, request.request};
  if (const auto* query = std::get_if<Query>(&request.ask)) {
    OperatorReply answered = answer(*query, now);
    answered.request = request.request;
    return reply(from, std::move(answered), sink);
  }
  const bool only_reads = std::holds_alternative<DiffSchedule>(request.ask);
  if (!only_reads && envelope.role != Role::operator_ && envelope.role != Role::admin) {
    OperatorReply refused;
    refused.request = request.request;
    refused.outcome.error =
        Error{ErrorCode::refused,
              "your key is a " + std::string(to_string(envelope.role)) + "'s; this needs an operator's or an admin's",
              "loom --state FOLDER ... (of an operator's key)"};
    return reply(from, std::move(refused), sink);
  }
  if (answer_again(asker, sink)) {
    return;
  }
  std::visit(
      [&]<class Order>(const Order& order) {
        if constexpr (!std::is_same_v<Order, Query>) {
          obey(asker, order, now, sink);
        }
      },
      request.ask);
}

/// The present intent and its answer: said once the intent is durable, and again to whoever repeats the request.
void Controller::answer_when_durable(const Asker& asker, OperatorReply answered, EffectSink& sink) {
  IntentRecord record = intent_record(IntentCause{asker.principal, asker.request, answered.job, answered.revision});
  append(std::move(record), ReplyAct{asker, std::move(answered)}, sink);
}

IntentRecord Controller::intent_record(std::optional<IntentCause> cause) const {
  return {intent_, laser_order_, next_job_, probation_, std::move(cause)};
}

// --- trials --------------------------------------------------------------------------------------------------------------

/// Plans the order's present way on what is confirmed. Trials are numbered from above, so that no revision is spent on them.
void Controller::try_out(Trial trial, EffectSink& sink) {
  Result<Intent> asked = fail(ErrorCode::internal, "an order without a way");
  while (trial.way < trial.ways.size() && !(asked = trial.ways[trial.way](intent_))) {
    trial.first_refusal = trial.first_refusal ? trial.first_refusal : std::optional(asked.error());
    ++trial.way;
  }
  if (!asked) {
    return refuse_trial(trial, trial.first_refusal.value_or(asked.error()), sink);
  }
  trial.before = intent_;
  trial.number = Revision{~0ULL - ++trials_made_};
  auto order = std::make_shared<PlanRequest>();
  order->fabric = options_.fabric;
  order->base = confirmed_ == nullptr ? nullptr : std::shared_ptr<const Plan>(confirmed_, &confirmed_->plan);
  order->intent = *std::move(asked);
  order->revision = trial.number;
  order->next_circuit = next_circuit_;
  order->algorithm = options_.algorithm;
  order->reason = "trial of: " + trial.reason;
  if (const JobSchedule* present = trial.adapts ? schedule_of(*trial.adapts) : nullptr) {
    order->weigh = Weighing{*trial.adapts, *present, dark_time()};
  }
  trials_.push_back(std::move(trial));
  sink.emit(MakePlan{std::move(order)});
}

void Controller::finish_trial(const PlanOutcome& outcome, Instant now, EffectSink& sink) {
  const auto it =
      std::find_if(trials_.begin(), trials_.end(), [&](const Trial& each) { return each.number == outcome.revision; });
  if (it == trials_.end()) {
    return;
  }
  Trial trial = std::move(*it);
  trials_.erase(it);
  if (!outcome.result) {
    trial.first_refusal = trial.first_refusal ? trial.first_refusal : std::optional(without_number(outcome));
    ++trial.way;
    return try_out(std::move(trial), sink);
  }
  const PlanResult& tried = **outcome.result;
  if (trial.adopts) {
    return adopt_found(trial, tried, now, sink);
  }
  if (trial.adapts) {
    return follow_demand(trial, tried, now, sink);
  }
  const std::vector<Circuit> none;
  ChangeReport report = change_between(confirmed_ == nullptr ? none : confirmed_->plan.circuits, tried.plan.circuits);
  report.base = tried.plan.base;
  report.agents = static_cast<std::uint32_t>(tried.plan.changed.size());
  report.switches_moved = static_cast<std::uint32_t>(tried.plan.moved_switches.size());
  report.plan = outcome.elapsed;
  report.moves = moves_between(trial.before, tried.intent);
  report.certificate = named(tried.plan.certificate, *options_.fabric);
  const auto disturbed = std::find_if(report.changes.begin(), report.changes.end(),
                                      [](const CircuitChange& change) { return change.kind != CircuitChangeKind::added; });
  if (trial.safe && disturbed != report.changes.end()) {
    return refuse(trial.asker,
                  {ErrorCode::refused,
                   "mode safe: circuit " + std::to_string(disturbed->circuit.id.value) + " of job " +
                       std::to_string(disturbed->circuit.job.value) + " would be disturbed (" + std::to_string(report.touched) +
                       " circuits change in all)",
                   "loom schedule apply FILE --mode update --dry-run"},
                  sink);
  }
  if (trial.only_asks) {
    OperatorReply answered;
    answered.rows = std::move(report);
    return settle(trial.asker, std::move(answered), sink);
  }
  if (trial.before == intent_) {
    return adopt(trial, tried, now, sink);
  }
  if (++trial.attempts < kTrialAttempts) {
    trial.way = 0;
    trial.first_refusal.reset();
    return try_out(std::move(trial), sink);
  }
  refuse_trial(trial, {ErrorCode::busy, "other orders keep changing what this one is about", "loom status"}, sink);
}

/// The order becomes intent: durable first, then answered, then planned and committed like every change.
void Controller::adopt(const Trial& trial, const PlanResult& tried, Instant now, EffectSink& sink) {
  // A job that was changed gets a revision even where no light differs: its routes may.
  const bool needs_revision = confirmed_ == nullptr || !tried.plan.changed.empty() || trial.job != JobId{};
  if (trial.confirm_within > Duration{}) {
    probation_ =
        Probation{next_revision_, clock_, now + trial.confirm_within, probation_ ? probation_->pinned_before : intent_.pinned};
    sink.emit(SetTimer{timers::kProbation, probation_->deadline});
  }
  intent_ = tried.intent;
  for (const DeviceOverride& was : trial.before.overrides) {
    if (was.is_adopted() && override_of(was.device) == nullptr) {
      alarms_.clear(AlarmCode::drift, {}, was.device);
    }
  }
  follow_jobs(trial.before);
  OperatorReply answered;
  answered.job = trial.job;
  answered.revision = needs_revision ? next_revision_ : Revision{};
  IntentCause cause{trial.asker.principal, trial.asker.request, trial.job, answered.revision};
  append(intent_record(std::move(cause)), ReplyAct{trial.asker, std::move(answered)}, sink);
  if (needs_revision) {
    want_plan(trial.reason, now, sink);
  }
}

/// Brings the jobs' entries up to an intent that an operator changed.
void Controller::follow_jobs(const Intent& before) {
  for (const Job& job : before.jobs) {
    const bool stays = std::any_of(intent_.jobs.begin(), intent_.jobs.end(), [&](const Job& j) { return j.id == job.id; });
    if (!stays) {
      jobs_[job.id].state = "ended";
    }
  }
  for (const Job& job : intent_.jobs) {
    const auto was = std::find_if(before.jobs.begin(), before.jobs.end(), [&](const Job& each) { return each.id == job.id; });
    if (was != before.jobs.end() && *was == job) {
      continue;
    }
    JobEntry& entry = jobs_[job.id];
    entry.job = job.id;
    entry.name = job.spec.name;
    entry.workload = job.spec.workload;
    entry.nodes = job.nodes;
    std::sort(entry.nodes.begin(), entry.nodes.end());
    entry.stage = job.stage;
    entry.state = "committing";
    entry.reason.clear();
    entry.revision = next_revision_;
    entry.cycles_done.clear();
  }
}

// --- what a failed revision takes back -----------------------------------------------------------------------------------

/// What an operator ordered in a revision that failed is as it was in the confirmed one, unless it was ordered anew since.
void Controller::take_back_orders(const Intent& failed) {
  const Intent dark;
  const Intent& good = confirmed_ == nullptr ? dark : confirmed_->intent;
  const auto job_of = [](const Intent& intent, JobId id) {
    const auto it = std::find_if(intent.jobs.begin(), intent.jobs.end(), [&](const Job& job) { return job.id == id; });
    return it == intent.jobs.end() ? nullptr : &*it;
  };
  if (intent_.overrides == failed.overrides) {
    intent_.overrides = good.overrides;
  }
  if (intent_.pinned == failed.pinned && intent_.pinned != good.pinned) {
    intent_.pinned = good.pinned;
    probation_.reset();
  }
  for (Job& job : intent_.jobs) {
    const Job* tried = job_of(failed, job.id);
    const Job* lit = job_of(good, job.id);
    if (tried != nullptr && lit != nullptr && tried->spec == job.spec && lit->spec != job.spec) {
      job.spec = lit->spec;
    }
    if (tried != nullptr && lit != nullptr && tried->measured == job.measured) {
      job.measured = lit->measured;
    }
    if (tried != nullptr && lit != nullptr && tried->nodes == job.nodes && lit->stage == job.stage && lit->nodes != job.nodes) {
      job.nodes = lit->nodes;
      job.spec.node_count = lit->spec.node_count;
      JobEntry& entry = jobs_[job.id];
      entry.nodes = lit->nodes;
      std::sort(entry.nodes.begin(), entry.nodes.end());
    }
  }
  std::erase_if(intent_.pinned, [&](const JobSchedule& schedule) { return job_of(intent_, schedule.job) == nullptr; });
}

}  // namespace loom
