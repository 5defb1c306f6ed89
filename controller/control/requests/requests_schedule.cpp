// SPDX-License-Identifier: Apache-2.0
// Requests about the schedule as a whole: an operator's own one, on trial or for good, back to an earlier one, and differences.
#include <algorithm>
#include <map>

#include "controller/control/requests/change_report.hpp"
#include "controller/control/requests/operator_requests.hpp"
#include "controller/control/timers.hpp"
#include "core/journal/journal_state.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string ends_of(const ScheduledCircuit& circuit) {
  return format_text("job {}, node {} -> node {}, timeslot {}", circuit.job.value, circuit.source.value,
                     circuit.destination.value, circuit.timeslot);
}

bool is_used(const Timeslot& timeslot, ElementId element) {
  return std::any_of(timeslot.circuits.begin(), timeslot.circuits.end(),
                     [&](const Circuit& circuit) { return circuit.transmitter == element || circuit.receiver == element; });
}

/// The element that the file names, or the node's first one that this timeslot does not use yet.
Result<ElementId> end_of(const ScheduledCircuit& wanted, const Node& node, bool transmits, const Timeslot& timeslot) {
  const auto& own = transmits ? node.transmitters : node.receivers;
  const auto& named = transmits ? wanted.transmitter : wanted.receiver;
  const char* kind = transmits ? "transmitter" : "receiver";
  if (named) {
    if (std::find(own.begin(), own.end(), *named) == own.end()) {
      return fail(ErrorCode::invalid_argument,
                  format_text("{}: element {} is no {} of {}", ends_of(wanted), named->value, kind, node.name),
                  "loom schedule show --json");
    }
    return *named;
  }
  const auto idle = std::find_if(own.begin(), own.end(), [&](ElementId element) { return !is_used(timeslot, element); });
  if (idle == own.end()) {
    return fail(ErrorCode::conflict, format_text("{}: {} has no free {}", ends_of(wanted), node.name, kind),
                "loom schedule show");
  }
  return *idle;
}

Result<Circuit> circuit_of(const Fabric& fabric, const ScheduledCircuit& wanted, const Timeslot& timeslot) {
  const std::size_t nodes = fabric.nodes.size();
  if (wanted.source.value >= nodes || wanted.destination.value >= nodes) {
    return fail(ErrorCode::invalid_argument, format_text("{}: nodes are 0..{}", ends_of(wanted), nodes - 1), "loom node list");
  }
  const auto transmitter = end_of(wanted, fabric.nodes[wanted.source.value], true, timeslot);
  if (!transmitter) {
    return std::unexpected(transmitter.error());
  }
  const auto receiver = end_of(wanted, fabric.nodes[wanted.destination.value], false, timeslot);
  if (!receiver) {
    return std::unexpected(receiver.error());
  }
  Circuit circuit;
  circuit.job = wanted.job;
  circuit.source = wanted.source;
  circuit.destination = wanted.destination;
  circuit.transmitter = *transmitter;
  circuit.receiver = *receiver;
  circuit.slot = wanted.slot;
  circuit.rate = std::get<Transmitter>(fabric.element(*transmitter).kind).rate;
  return circuit;
}

/// What is in the way of a circuit in its timeslot: the light of its transmitter or into its receiver.
void make_way(Timeslot& timeslot, const ScheduledCircuit& wanted, const Fabric& fabric) {
  const auto owns = [&](NodeId node, bool transmits, ElementId element) {
    const auto& own = transmits ? fabric.nodes[node.value].transmitters : fabric.nodes[node.value].receivers;
    return own.size() == 1 && own[0] == element;
  };
  std::erase_if(timeslot.circuits, [&](const Circuit& circuit) {
    const bool takes_transmitter =
        wanted.transmitter ? *wanted.transmitter == circuit.transmitter : owns(wanted.source, true, circuit.transmitter);
    const bool takes_receiver =
        wanted.receiver ? *wanted.receiver == circuit.receiver : owns(wanted.destination, false, circuit.receiver);
    return takes_transmitter || takes_receiver;
  });
}

void pin(Intent& intent, std::vector<JobSchedule> pins, bool replace_all) {
  std::map<JobId, JobSchedule> merged;
  for (JobSchedule& schedule : intent.pinned) {
    if (!replace_all) {
      merged[schedule.job] = std::move(schedule);
    }
  }
  for (JobSchedule& schedule : pins) {
    merged[schedule.job] = std::move(schedule);
  }
  intent.pinned.clear();
  for (auto& [job, schedule] : merged) {
    intent.pinned.push_back(std::move(schedule));
  }
}

/// Restored from a journal, which keeps plans and no schedules.
bool has_unknown_schedule(const PlanResult& plan) {
  const auto& schedules = plan.schedule.jobs;
  return std::any_of(plan.intent.jobs.begin(), plan.intent.jobs.end(), [&](const Job& job) {
    return !plan.is_without(job.id) &&
           std::none_of(schedules.begin(), schedules.end(), [&](const JobSchedule& each) { return each.job == job.id; });
  });
}

/// Circuits of the job that nothing lights now and that are neither named nor replaced.
std::size_t missing_of(const LeftOut& left, const std::vector<ScheduledCircuit>& circuits) {
  const auto is_missing = [&](const LeftCircuit& dark) {
    const Circuit& circuit = dark.circuit;
    return std::ranges::none_of(circuits, [&](const ScheduledCircuit& named) {
      const bool same_ends = named.source == circuit.source && named.destination == circuit.destination;
      const bool is_it = same_ends && named.transmitter.value_or(circuit.transmitter) == circuit.transmitter;
      const bool replaces = named.transmitter == circuit.transmitter || named.receiver == circuit.receiver;
      return named.job == circuit.job && named.timeslot == dark.timeslot && (is_it || replaces);
    });
  };
  return static_cast<std::size_t>(std::ranges::count_if(left.circuits, is_missing));
}

/// Errors: busy; it would be lost for good.
Result<void> check_complete(const PlanResult& present, JobId job, const std::vector<ScheduledCircuit>& circuits) {
  const auto left =
      std::ranges::find_if(present.left_out, [&](const LeftOut& each) { return each.job == job && each.in_part; });
  const std::size_t missing = left == present.left_out.end() ? 0 : missing_of(*left, circuits);
  return missing == 0 ? Result<void>{}
                      : fail(ErrorCode::busy,
                             format_text("{} circuits of job {} have no light now ({}), and are missing from what is to be "
                                         "applied",
                                         missing, job.value, left->why.message),
                             "loom schedule apply FILE --mode overwrite  (without them)");
}

/// Light of the nodes that a job is about to leave is no schedule for those that it goes to.
Result<void> check_place(const PlanResult& present, const Job& job) {
  const auto lit = std::ranges::find(present.intent.jobs, job.id, &Job::id);
  return lit == present.intent.jobs.end() || lit->nodes == job.nodes
             ? Result<void>{}
             : fail(ErrorCode::busy,
                    format_text("job {} goes to other nodes with a revision that is not confirmed yet", job.id.value),
                    "loom schedule history");
}

/// The schedules of the jobs that the circuits are about, with those circuits in the jobs' present stages. `overwrite`: of
/// every job, and only the named circuits.
Result<std::vector<JobSchedule>> pins_of(const std::vector<ScheduledCircuit>& circuits, ApplyMode mode, const Fabric& fabric,
                                         const DesiredIntent& desired, const ConfirmedPlans& confirmed) {
  if (!confirmed.exists() || has_unknown_schedule(*confirmed.present())) {
    return fail(ErrorCode::busy, "no schedule has been confirmed since the controller started", "loom schedule history");
  }
  std::map<JobId, JobSchedule> pins;
  std::map<JobId, Stage*> stages;
  for (const JobSchedule& schedule : confirmed.present()->schedule.jobs) {
    const Job* job = desired.job(schedule.job);
    const bool is_named = mode == ApplyMode::overwrite ||
                          std::any_of(circuits.begin(), circuits.end(),
                                      [&](const ScheduledCircuit& circuit) { return circuit.job == schedule.job; });
    if (job != nullptr && is_named && job->stage < schedule.stages.size()) {
      LOOM_TRY(check_place(*confirmed.present(), *job));
      if (schedule.waiting > 0 && mode != ApplyMode::overwrite) {
        return fail(ErrorCode::busy,
                    format_text("{} circuits of job {} come or go with the revision that follows {}", schedule.waiting,
                                schedule.job.value, confirmed.revision().value),
                    "loom schedule history");
      }
      if (mode != ApplyMode::overwrite) {
        LOOM_TRY(check_complete(*confirmed.present(), schedule.job, circuits));
      }
      pins[schedule.job] = schedule;
      stages[schedule.job] = &pins[schedule.job].stages[job->stage];
    }
  }
  for (auto& [id, stage] : stages) {
    for (Timeslot& timeslot : stage->timeslots) {
      if (mode == ApplyMode::overwrite) {
        timeslot.circuits.clear();
      }
    }
  }
  const auto timeslot_of = [&](const ScheduledCircuit& wanted) -> Timeslot* {
    const auto stage = stages.find(wanted.job);
    return stage == stages.end() || wanted.timeslot >= stage->second->timeslots.size()
               ? nullptr
               : &stage->second->timeslots[wanted.timeslot];
  };
  for (const ScheduledCircuit& wanted : circuits) {
    Timeslot* timeslot = timeslot_of(wanted);
    if (timeslot == nullptr) {
      const auto stage = stages.find(wanted.job);
      return fail(ErrorCode::not_found,
                  format_text("{}: {}", ends_of(wanted),
                              stage == stages.end()
                                  ? "there is no such job in light"
                                  : format_text("its stage has the timeslots 0..{}", stage->second->timeslots.size() - 1)),
                  "loom schedule show");
    }
    if (wanted.source.value < fabric.nodes.size() && wanted.destination.value < fabric.nodes.size()) {
      make_way(*timeslot, wanted, fabric);
    }
  }
  for (const ScheduledCircuit& wanted : circuits) {
    Timeslot* timeslot = timeslot_of(wanted);
    auto circuit = circuit_of(fabric, wanted, *timeslot);
    if (!circuit) {
      return std::unexpected(std::move(circuit).error());
    }
    timeslot->circuits.push_back(*circuit);
  }
  std::vector<JobSchedule> result;
  for (auto& [id, schedule] : pins) {
    result.push_back(std::move(schedule));
  }
  return result;
}

/// What is left as it is when somebody goes back, and which stage a job has come to, are no reason to.
bool carry_out_the_same(const Intent& a, const Intent& b) {
  const auto is_same_job = [](Job one, const Job& other) {
    one.stage = other.stage;
    return one == other;
  };
  return std::ranges::equal(a.jobs, b.jobs, is_same_job) && a.pinned == b.pinned && a.overrides == b.overrides;
}

/// The last one that carried out something else: one order may take several revisions. Null: there is none.
const KeptRevision* revision_before(Revision confirmed, const SnapshotRecord& state) {
  const KeptRevision* present = kept_revision(state, confirmed);
  if (present == nullptr) {
    return nullptr;
  }
  for (const KeptRevision* each = present; each != state.kept.data();) {
    if (!carry_out_the_same(*(--each)->intent, *present->intent)) {
      return each;
    }
  }
  return nullptr;
}

}  // namespace

Candidate OperatorRequests::pinning(std::vector<ScheduledCircuit> circuits, ApplyMode mode) const {
  return [this, circuits = std::move(circuits), mode](const Intent& intent) -> Result<Intent> {
    auto pins = pins_of(circuits, mode, *facts_.fabric, desired_, confirmed_);
    if (!pins) {
      return std::unexpected(std::move(pins).error());
    }
    Intent pinned = intent;
    pin(pinned, std::move(*pins), mode == ApplyMode::overwrite);
    return pinned;
  };
}

void OperatorRequests::handle(const Requester& requester, const ApplySchedule& request, EffectSink& sink) {
  TentativePlan plan = change_for(requester, {pinning(request.circuits, request.mode)},
                                  format_text("an operator's schedule ({})", to_string(request.mode)), request.dry_run);
  std::get<OperatorChange>(plan.purpose).safe = request.mode == ApplyMode::safe;
  std::get<OperatorChange>(plan.purpose).confirm_within = request.confirm_within;
  changes_.begin(std::move(plan), sink);
}

void OperatorRequests::handle(const Requester& requester, const ConfirmSchedule&, EffectSink& sink) {
  if (!desired_.probation()) {
    return refuse(requester,
                  {ErrorCode::conflict, "no schedule waits to be confirmed (it may have been taken back already)",
                   "loom schedule history"},
                  sink);
  }
  OperatorReply answered;
  answered.revision = desired_.probation()->revision;
  desired_.end_probation();
  changes_.answer_when_durable({requester, std::move(answered)}, sink);
}

void OperatorRequests::watch_probation(EffectSink& sink) {
  if (!desired_.probation() || facts_.now < desired_.probation()->deadline) {
    return;
  }
  const Probation over = desired_.take_back_probation();
  alarms_.raise({AlarmCode::confirm_overdue,
                 {},
                 {},
                 format_text("the schedule of revision {} was not confirmed in time and is taken back", over.revision.value),
                 "loom schedule history"},
                facts_.now, sink);
  audit_.note_own(format_text("schedule of revision {} taken back: it was not confirmed in time", over.revision.value), sink);
  journal_.append(desired_.record(), PlanAct{}, sink);
  commits_.want_plan(format_text("revision {} was not confirmed in time", over.revision.value), sink);
}

void OperatorRequests::handle(const Requester& requester, const RollBackSchedule& request, EffectSink& sink) {
  const KeptRevision* kept = request.to.value == 0 ? revision_before(confirmed_.revision(), journal_.state())
                                                   : kept_revision(journal_.state(), request.to);
  if (kept == nullptr) {
    std::string known;
    for (const KeptRevision& each : journal_.state().kept) {
      known += (known.empty() ? "" : ", ") + number(each.revision.value);
    }
    return refuse(
        requester,
        {ErrorCode::not_found,
         (request.to.value == 0 ? std::string("no earlier revision carried out anything else")
                                : format_text("revision {} was not confirmed or is no longer kept", request.to.value)) +
             (known.empty() ? "" : "; kept are " + known),
         "loom schedule history"},
        sink);
  }
  TentativePlan plan =
      change_for(requester, {[then = kept->intent](const Intent& intent) -> Result<Intent> {
                   Intent back = *then;
                   back.lasers_off = intent.lasers_off;
                   back.drained = intent.drained;
                   back.maintenance = intent.maintenance;
                   // What was measured is no order, and who measures now goes on.
                   back.calibrations = intent.calibrations;
                   back.probes = intent.probes;
                   back.drives = intent.drives;
                   for (const Job& job : back.jobs) {
                     for (const NodeId node : job.nodes) {
                       const bool was = std::any_of(intent.jobs.begin(), intent.jobs.end(), [&](const Job& now_placed) {
                         return now_placed.id == job.id && now_placed.nodes == job.nodes;
                       });
                       if (!was && std::binary_search(back.drained.begin(), back.drained.end(), node)) {
                         return fail(ErrorCode::conflict,
                                     format_text("job {} ran on node {}, which is drained now", job.id.value, node.value),
                                     format_text("loom node undrain {}", node.value));
                       }
                     }
                   }
                   return back;
                 }},
                 format_text("back to revision {}", kept->revision.value), request.dry_run);
  changes_.begin(std::move(plan), sink);
}

void OperatorRequests::handle(const Requester& requester, const DiffSchedule& request, EffectSink& sink) {
  if (request.revision) {
    const KeptRevision* kept = kept_revision(journal_.state(), *request.revision);
    if (kept == nullptr || !confirmed_.exists()) {
      return refuse(
          requester,
          {ErrorCode::not_found, format_text("revision {} was not confirmed or is no longer kept", request.revision->value),
           "loom schedule history"},
          sink);
    }
    OperatorReply answered;
    ChangeReport report = change_between(kept->circuits, confirmed_.plan().circuits, SameLight::by_ends);
    report.base = *request.revision;
    report.certificate = named(confirmed_.plan().certificate, *facts_.fabric);
    answered.rows = std::move(report);
    return answers_.answer(requester, std::move(answered), sink);
  }
  const Candidate present = [](const Intent& intent) -> Result<Intent> { return intent; };
  const Candidate asked = request.circuits ? pinning(*request.circuits, ApplyMode::overwrite) : present;
  changes_.begin(change_for(requester, {asked}, "a comparison", true), sink);
}

}  // namespace loom
