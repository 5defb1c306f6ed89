// Orders about the schedule as a whole: an operator's own one, on trial or for good, back to an earlier one, and differences.
#include <algorithm>
#include <map>

#include "controller/control/controller.hpp"
#include "controller/control/desk.hpp"
#include "controller/control/timers.hpp"
#include "core/journal_state.hpp"

namespace loom {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string ends_of(const ScheduledCircuit& circuit) {
  return "job " + number(circuit.job.value) + ", node " + number(circuit.source.value) + " -> node " +
         number(circuit.destination.value) + ", timeslot " + number(circuit.timeslot);
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
                  ends_of(wanted) + ": element " + number(named->value) + " is no " + kind + " of " + node.name,
                  "loom schedule show --json");
    }
    return *named;
  }
  const auto idle = std::find_if(own.begin(), own.end(), [&](ElementId element) { return !is_used(timeslot, element); });
  if (idle == own.end()) {
    return fail(ErrorCode::conflict, ends_of(wanted) + ": " + node.name + " has no free " + kind, "loom schedule show");
  }
  return *idle;
}

Result<Circuit> circuit_of(const Fabric& fabric, const ScheduledCircuit& wanted, const Timeslot& timeslot) {
  const std::size_t nodes = fabric.nodes.size();
  if (wanted.source.value >= nodes || wanted.destination.value >= nodes) {
    return fail(ErrorCode::invalid_argument, ends_of(wanted) + ": nodes are 0.." + number(nodes - 1), "loom node list");
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

}  // namespace

/// The schedules of the jobs that the circuits are about, with those circuits in the jobs' present stages. `overwrite`: of
/// every job, and only the named circuits.
Result<std::vector<JobSchedule>> Controller::pins_of(const std::vector<ScheduledCircuit>& circuits, ApplyMode mode) const {
  const Fabric& fabric = *options_.fabric;
  if (confirmed_ == nullptr || confirmed_->schedule.jobs.size() < confirmed_->intent.jobs.size()) {
    return fail(ErrorCode::busy, "no schedule has been confirmed since the controller started", "loom schedule history");
  }
  std::map<JobId, JobSchedule> pins;
  std::map<JobId, Stage*> stages;
  for (const JobSchedule& schedule : confirmed_->schedule.jobs) {
    const auto job = std::find_if(intent_.jobs.begin(), intent_.jobs.end(), [&](const Job& j) { return j.id == schedule.job; });
    const bool is_named = mode == ApplyMode::overwrite ||
                          std::any_of(circuits.begin(), circuits.end(),
                                      [&](const ScheduledCircuit& circuit) { return circuit.job == schedule.job; });
    if (job != intent_.jobs.end() && is_named && job->stage < schedule.stages.size()) {
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
                  ends_of(wanted) + ": " +
                      (stage == stages.end() ? "there is no such job in light"
                                             : "its stage has the timeslots 0.." + number(stage->second->timeslots.size() - 1)),
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

void Controller::obey(const Asker& asker, const ApplySchedule& order, Instant, EffectSink& sink) {
  Trial trial{asker,
              {[this, circuits = order.circuits, mode = order.mode](const Intent& intent) -> Result<Intent> {
                auto pins = pins_of(circuits, mode);
                if (!pins) {
                  return std::unexpected(std::move(pins).error());
                }
                Intent pinned = intent;
                pin(pinned, std::move(*pins), mode == ApplyMode::overwrite);
                return pinned;
              }},
              "an operator's schedule (" + std::string(to_string(order.mode)) + ")",
              order.dry_run};
  trial.safe = order.mode == ApplyMode::safe;
  trial.confirm_within = order.confirm_within;
  try_out(std::move(trial), sink);
}

void Controller::obey(const Asker& asker, const ConfirmSchedule&, Instant, EffectSink& sink) {
  if (!probation_) {
    return refuse(asker,
                  {ErrorCode::conflict, "no schedule waits to be confirmed (it may have been taken back already)",
                   "loom schedule history"},
                  sink);
  }
  OperatorReply answered;
  answered.revision = probation_->revision;
  probation_.reset();
  answer_when_durable(asker, std::move(answered), sink);
}

/// The time of a schedule on trial is over: what was pinned before is pinned again.
void Controller::watch_probation(Instant now, EffectSink& sink) {
  if (!probation_ || now < probation_->deadline) {
    return;
  }
  const Probation over = *std::exchange(probation_, std::nullopt);
  intent_.pinned = over.pinned_before;
  std::erase_if(intent_.pinned, [&](const JobSchedule& schedule) {
    return std::none_of(intent_.jobs.begin(), intent_.jobs.end(), [&](const Job& job) { return job.id == schedule.job; });
  });
  raise({AlarmCode::confirm_overdue,
         {},
         {},
         "the schedule of revision " + number(over.revision.value) + " was not confirmed in time and is taken back",
         "loom schedule history"},
        sink);
  append(intent_record(), IntentAct{}, sink);
  want_plan("revision " + number(over.revision.value) + " was not confirmed in time", now, sink);
}

/// Null: there is none.
const KeptRevision* Controller::revision_before_confirmed() const {
  const KeptRevision* now = kept_revision(journal_, confirmed());
  return now == nullptr || now == journal_.kept.data() ? nullptr : now - 1;
}

void Controller::obey(const Asker& asker, const RollBackSchedule& order, Instant, EffectSink& sink) {
  const KeptRevision* kept = order.to.value == 0 ? revision_before_confirmed() : kept_revision(journal_, order.to);
  if (kept == nullptr) {
    std::string known;
    for (const KeptRevision& each : journal_.kept) {
      known += (known.empty() ? "" : ", ") + number(each.revision.value);
    }
    return refuse(asker,
                  {ErrorCode::not_found,
                   (order.to.value == 0 ? std::string("there is no earlier revision")
                                        : "revision " + number(order.to.value) + " was not confirmed or is no longer kept") +
                       (known.empty() ? "" : "; kept are " + known),
                   "loom schedule history"},
                  sink);
  }
  Trial trial{asker,
              {[then = kept->intent](const Intent& intent) -> Result<Intent> {
                Intent back = *then;
                back.lasers_off = intent.lasers_off;
                back.drained = intent.drained;
                back.maintenance = intent.maintenance;
                for (const Job& job : back.jobs) {
                  for (const NodeId node : job.nodes) {
                    const bool was = std::any_of(intent.jobs.begin(), intent.jobs.end(), [&](const Job& now_placed) {
                      return now_placed.id == job.id && now_placed.nodes == job.nodes;
                    });
                    if (!was && std::binary_search(back.drained.begin(), back.drained.end(), node)) {
                      return fail(
                          ErrorCode::conflict,
                          "job " + number(job.id.value) + " ran on node " + number(node.value) + ", which is drained now",
                          "loom node undrain " + number(node.value));
                    }
                  }
                }
                return back;
              }},
              "back to revision " + number(kept->revision.value),
              order.dry_run};
  try_out(std::move(trial), sink);
}

void Controller::obey(const Asker& asker, const DiffSchedule& order, Instant, EffectSink& sink) {
  if (order.revision) {
    const KeptRevision* kept = kept_revision(journal_, *order.revision);
    if (kept == nullptr || confirmed_ == nullptr) {
      return refuse(
          asker,
          {ErrorCode::not_found, "revision " + number(order.revision->value) + " was not confirmed or is no longer kept",
           "loom schedule history"},
          sink);
    }
    OperatorReply answered;
    ChangeReport report = change_between(kept->circuits, confirmed_->plan.circuits, SameLight::by_ends);
    report.base = *order.revision;
    report.certificate = named(confirmed_->plan.certificate, *options_.fabric);
    answered.rows = std::move(report);
    return settle(asker, std::move(answered), sink);
  }
  Trial trial{asker, {}, "a comparison", true};
  if (order.circuits) {
    trial.ways.push_back([this, circuits = *order.circuits](const Intent& intent) -> Result<Intent> {
      auto pins = pins_of(circuits, ApplyMode::overwrite);
      if (!pins) {
        return std::unexpected(std::move(pins).error());
      }
      Intent pinned = intent;
      pin(pinned, std::move(*pins), true);
      return pinned;
    });
  } else {
    trial.ways.push_back([](const Intent& intent) -> Result<Intent> { return intent; });
  }
  try_out(std::move(trial), sink);
}

}  // namespace loom
