// SPDX-License-Identifier: Apache-2.0
// Putting the world together, and what the judge overhears.
#include "sim_backend/world/world.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/plan/verify/verify_journal.hpp"
#include "core/journal/journal_state.hpp"
#include "core/text/format_text.hpp"
#include "drivers/registry.hpp"

namespace loom {
namespace {

constexpr std::size_t kAlarmsKept = 1'000;
constexpr Duration kFirstPause = std::chrono::milliseconds{20};  ///< until a job that counts iterations runs
constexpr std::uint64_t kTrainingPart = 0x7472'0000'0000ULL;     ///< of the seed; by node
constexpr Peer kOperator{Peer::Kind::operator_, 1};
constexpr Peer kLaserOperator{Peer::Kind::operator_, 2};

std::uint32_t per_million(double probability) { return static_cast<std::uint32_t>(probability * 1e6 + 0.5); }

NetworkOptions network_of(const NetworkFaults& faults) {
  NetworkOptions options;
  options.delay_min = faults.delay_min;
  options.delay_max = faults.delay_max;
  options.loss_per_million = per_million(faults.loss);
  options.duplication_per_million = per_million(faults.duplicate);
  options.reorder_per_million = per_million(faults.reorder);
  options.reorder_delay = faults.delay_max;
  return options;
}

/// Revisions that a journal knows to have gone, ascending.
std::vector<Revision> gone_revisions(const std::vector<Record>& records) {
  std::vector<Revision> gone;
  for (const Record& record : records) {
    if (const auto* commit = std::get_if<CommitRecord>(&record); commit && commit->decision == CommitDecision::going) {
      gone.push_back(commit->revision);
    } else if (const auto* snapshot = std::get_if<SnapshotRecord>(&record)) {
      for (const auto& plan : snapshot->uncertain) {
        gone.push_back(plan->revision);
      }
      if (snapshot->going != nullptr) {
        gone.push_back(snapshot->going->revision);
      }
    }
  }
  std::ranges::sort(gone);
  return gone;
}

/// An operator ordered lasers off, was told that agents keep them so although it could not be recorded, and has not rearmed
/// since: whoever waits for one of those agents waits for him. `rearmed_at`: when a rearm was last recorded.
bool is_dark_unrecorded(const OperatorScript& script, Instant rearmed_at) {
  const OperatorScript::Action* last = nullptr;
  for (const OperatorScript::Action& action : script.actions()) {
    const bool counts = action.what.kind == ActionKind::lasers && action.answered_at &&
                        (!action.what.lasers_on || action.refusal.empty());  // a rearm that was refused is none
    last = counts && (last == nullptr || action.answered_at >= last->answered_at) ? &action : last;
  }
  return last != nullptr && !last->what.lasers_on && rearmed_at < last->answered_at &&
         last->refusal.contains("agents keep them so");
}

/// A row that was lost with an agent's process latches nobody.
LatchRecord kept_latch(const Started& started) {
  const auto* kept = started.records.empty() ? nullptr : std::get_if<SnapshotRecord>(&started.records.front());
  return kept == nullptr ? LatchRecord{} : kept->latch;
}

bool is_latched_by_order(const Interlock& interlock) {
  return interlock.record().lasers_off && interlock.own_latch().number == 0;
}

std::string principal_of(NodeId node) { return format_text("agent-{}", node.value); }

}  // namespace

World::World(const Scenario& scenario, std::vector<ScriptedJob> jobs, const WorldOptions& options)
    : fabric_(scenario.fabric),
      identity_(identity_of(*scenario.fabric)),
      algorithm_(scenario.algorithm),
      timings_(scenario.controller),
      drift_policy_(scenario.drift),
      adapt_policy_(scenario.adapt),
      habits_(scenario.training),
      options_(options),
      loop_(is_on_several_hosts(scenario) ? kTaiClock : kVirtualClock),
      plan_random_(Random::of_part(options.seed, 0x706c616e)),
      boot_random_(Random::of_part(options.seed, 0x626f6f74)),
      history_(fabric_),
      notices_(*fabric_) {
  network_ = std::make_unique<SimNetwork>(loop_, network_of(scenario.network), options.seed);
  light_ = std::make_unique<LightModel>(fabric_);
  CheckerOptions judged_by = options.checker;
  judged_by.is_out_of_reach = [this](ElementId transmitter) {
    const NodeId node = fabric_->device(*fabric_->device_of_element[transmitter.value]).agent;
    const auto is_on = [&](const auto& trouble) {
      return loop_.now() < (trouble.to == kNever ? kNever : trouble.to + mend_bound(timings_));
    };
    return !is_up(agent_peer(node)) || !network_->is_joined(agent_peer(node)) ||
           std::ranges::any_of(machine_troubles_,
                               [&](const auto& each) { return (!each.node || each.node == node) && is_on(each); }) ||
           std::ranges::any_of(troubles_, [&](const auto& each) {
             return is_on(each) && std::ranges::find(each.elements, transmitter) != each.elements.end();
           });
  };
  checker_ = std::make_unique<LightChecker>(*light_, std::move(judged_by));
  SimBusOptions bus;
  bus.devices = options.devices;
  bus.devices.rings = scenario.rings;
  bus.devices.seed = options.seed;
  bus_ = std::make_unique<SimBus>(loop_, fabric_, std::span<const NodeId>{}, bus);
  bus_->on_light([this](const OpticalChange& change) {
    note_change(change.device);
    const auto changed = light_->apply(change);
    checker_->judge(loop_.now(), changed);
  });
  triggers_ = std::make_unique<SimTriggers>(loop_, *bus_, *fabric_, scenario.triggers, options.seed);
  trigger_lines_ = scenario.triggers;
  bus_->look_through([this](PortRef input) { return arriving_at(*light_, input); });
  make_places();
  make_troubled_hosts(scenario);
  make_controller();
  for (const Node& node : fabric_->nodes) {
    make_agent(node.id);
  }
  make_operator(std::move(jobs), scenario.actions);
  schedule_faults(scenario);
}

World::~World() = default;

void World::make_places() {
  controller_machine_.disk = std::make_unique<SimDisk>(loop_, options_.disk, options_.seed);
  controller_machine_.messages = &network_->attach(controller_peer(), "controller", Role::controller);
  agents_.resize(fabric_->nodes.size());
  for (const Node& node : fabric_->nodes) {
    Place& place = agents_[node.id.value].place;
    place.disk = std::make_unique<SimDisk>(loop_, options_.disk, options_.seed + 1 + node.id.value);
    place.messages = &network_->attach(agent_peer(node.id), principal_of(node.id), Role::agent);
  }
}

HostSeams World::seams_of(Place& place) {
  HostSeams seams;
  seams.time = place.trouble ? &place.trouble->time() : &loop_;
  seams.messages = place.trouble ? &place.trouble->over(*place.messages) : place.messages;
  seams.storage = place.disk.get();
  seams.alarm = [this](const Alarm& alarm) { keep_alarm(alarm); };
  seams.digest = &digest_;
  return seams;
}

void World::make_controller() {
  controller_ =
      std::make_unique<Controller>(ControllerOptions{fabric_, algorithm_, timings_, drift_policy_, adapt_policy_, row_bytes});
  HostSeams seams = seams_of(controller_machine_);
  seams.plan = [this](std::shared_ptr<const PlanRequest> request, std::function<void(PlanOutcome)> done) {
    plan(std::move(request), std::move(done));
  };
  controller_machine_.host = std::make_unique<Host>(
      HostOptions{controller_peer(), Role::controller, "controller", options_.journal_tail}, std::move(seams),
      [this, machine = controller_.get()](Instant now, const Event& event, EffectSink& sink) {
        step_controller(*machine, now, event, sink);
      });
}

void World::step_controller(Controller& machine, Instant now, const Event& event, EffectSink& sink) {
  if (const auto* started = std::get_if<Started>(&event)) {  // lightloomd starts only where this holds
    LOOM_ASSERT(verify_journal(*fabric_, state_of(started->records)).has_value());
  }
  note_rearm(event);
  if (&machine == first_controller_.get()) {
    machine.step(now, event, sink);
    return watch_first_controller(sink);
  }
  if (controller_machine_.dying) {
    return;
  }
  machine.step(now, event, sink);
  if (options_.controller_saboteur) {
    options_.controller_saboteur(now, sink);
  }
  pass_kill_points(controller_peer(), sink);
  relearn(event);
  watch_controller(now, sink);
}

void World::make_agent(NodeId node) {
  AgentMachine& agent = agents_[node.value];
  AgentOptions options;
  options.node = node;
  options.fabric = fabric_;
  options.software = "sim";
  options.identity = identity_;
  options.edges = edge_lines_of(*fabric_, trigger_lines_, node);
  options.heartbeat_interval = timings_.beat_interval;
  options.is_pulsed = options_.pulses;
  options.report_interval = timings_.report_interval;
  options.audit_interval = audit_interval(timings_, fabric_->devices_of_agent[node.value].size());
  std::vector<std::unique_ptr<Driver>> drivers;
  for (const DeviceId device : fabric_->devices_of_agent[node.value]) {
    drivers.push_back(make_driver(*fabric_, device));
  }
  agent.machine = std::make_unique<Agent>(options, std::move(drivers));
  HostSeams seams = seams_of(agent.place);
  seams.registers = agent.place.trouble ? &agent.place.trouble->over(*triggers_) : triggers_.get();
  if (!agent.training) {
    agent.training = std::make_unique<TrainingProcess>(
        loop_, habits_, Random::of_part(options_.seed, kTrainingPart + node.value), [this, node](TrainingReady ready) {
          if (const auto& host = agents_[node.value].place.host) {
            host->deliver(ready);
          }
        });
  }
  seams.training = [process = agent.training.get()](const TrainingWord& word) { process->hear(word); };
  agent.place.host =
      std::make_unique<Host>(HostOptions{agent_peer(node), Role::agent, principal_of(node), options_.journal_tail},
                             std::move(seams), [this, node](Instant now, const Event& event, EffectSink& sink) {
                               AgentMachine& self = agents_[node.value];
                               if (self.place.dying) {
                                 return;
                               }
                               self.machine->step(now, event, sink);
                               if (options_.agent_saboteur) {
                                 options_.agent_saboteur(node, sink);
                               }
                               pass_kill_points(agent_peer(node), sink);
                               if (const auto* started = std::get_if<Started>(&event)) {
                                 checker_->learn_latch(now, node, kept_latch(*started));
                               }
                               watch_agent(now, node, sink);
                             });
}

/// One iteration of a job that runs, told to its nodes' agents; then the next one. A launcher knows which rank is where.
void World::report_traffic(const std::string& job) {
  constexpr Duration kLook = std::chrono::milliseconds{100};
  const auto& entries = script_->entries();
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const OperatorScript::Entry& each) {
    return each.scripted.submission.name == job && each.state == OperatorScript::State::running;
  });
  Duration next = kLook;
  if (entry != entries.end() && is_up(controller_peer())) {
    const auto& jobs = controller_->intent().jobs;
    const auto placed = std::find_if(jobs.begin(), jobs.end(), [&](const Job& each) { return each.id == entry->job; });
    if (placed != jobs.end() && !placed->nodes.empty()) {
      TrafficSource::Iteration iteration = traffic_.play(job, *entry->submitted_at, loop_.now());
      next = iteration.next;
      for (std::size_t rank = 0; rank < iteration.by_rank.size(); ++rank) {
        if (AgentMachine& agent = agents_[placed->nodes[rank].value]; agent.place.host) {
          agent.place.host->deliver(TrafficReceived{std::move(iteration.by_rank[rank])});
        }
      }
    }
  }
  loop_.call_at(loop_.now() + next, Precision::ordinary, [this, job] { report_traffic(job); });
}

void World::make_operator(std::vector<ScriptedJob> jobs, const std::vector<ScenarioAction>& actions) {
  std::map<std::string, std::vector<PlayedTraffic>> traffic;
  for (const ScriptedJob& job : jobs) {
    if (!job.traffic.empty()) {
      traffic.emplace(job.submission.name, job.traffic);
      loop_.call_at(Instant{job.submission.at}, Precision::ordinary,
                    [this, name = job.submission.name] { report_traffic(name); });
    }
  }
  traffic_ = TrafficSource(std::move(traffic));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].submission.iterations > 0) {
      loop_.call_at(Instant{jobs[i].submission.at}, Precision::ordinary, [this, i] { watch_iterations(i, 0); });
    }
  }
  script_ = std::make_unique<OperatorScript>(std::move(jobs), options_.operator_patience, actions);
  HostSeams seams;
  seams.time = &loop_;
  laser_requester_ = &network_->attach(kLaserOperator, "laser-operator", Role::operator_, SimNetwork::Faults::spared);
  seams.messages = &network_->attach(kOperator, "operator", Role::operator_, SimNetwork::Faults::spared);
  seams.digest = &digest_;
  operator_host_ =
      std::make_unique<Host>(HostOptions{kOperator, Role::operator_, "operator"}, std::move(seams),
                             [this](Instant now, const Event& event, EffectSink& sink) { script_->step(now, event, sink); });
}

void World::lasers_request(bool on) {
  HostSeams seams;
  seams.time = &loop_;
  seams.messages = laser_requester_;
  seams.digest = &digest_;
  // A person with a terminal: one order, and nobody stays for the answer.
  Host terminal(HostOptions{kLaserOperator, Role::operator_, "laser-operator"}, std::move(seams),
                [this, on](Instant, const Event&, EffectSink& sink) {
                  Envelope envelope;
                  envelope.role = Role::operator_;
                  envelope.clock = kVirtualClock;
                  envelope.body = OperatorRequest{RequestId{++laser_requests_}, LasersRequest{on}};
                  sink.emit(Send{controller_peer(), std::move(envelope)});
                });
  terminal.deliver(TimerFired{});
}

Result<void> World::start() {
  const std::uint64_t controller_boot = boot_random_.next();
  LOOM_TRY(controller_machine_.host->start(controller_boot));
  for (const AgentMachine& agent : agents_) {
    const std::uint64_t boot = boot_random_.next();
    LOOM_TRY(agent.place.host->start(boot));
  }
  for (const Node& node : fabric_->nodes) {
    read_contacts(node.id);
  }
  if (options_.pulses) {
    // As a process does for those of its agents that have joined; nobody shares one here.
    pulse_ = [this] {
      for (const Node& node : fabric_->nodes) {
        const AgentMachine& agent = agents_[node.id.value];
        if (is_up(agent_peer(node.id)) && agent.machine->session().state() == SessionState::joined) {
          agent.place.host->deliver(PulseDue{{node.id}});
        }
      }
      loop_.call_at(loop_.now() + timings_.beat_interval, Precision::ordinary, pulse_);
    };
    pulse_();
  }
  return operator_host_->start(1);
}

void World::run_until(Instant end) { loop_.run_until(end); }

void World::plan(std::shared_ptr<const PlanRequest> request, std::function<void(PlanOutcome)> done) {
  auto outcome = std::make_shared<PlanOutcome>();
  outcome->revision = request->revision;
  outcome->result = make_plan(all_architectures(), *request, plan_memory_);
  if (options_.plan_saboteur && outcome->result) {
    auto spoilt = std::make_shared<PlanResult>(**outcome->result);
    options_.plan_saboteur(spoilt->plan);
    outcome->result = std::shared_ptr<const PlanResult>(std::move(spoilt));
  }
  outcome->elapsed = plan_random_.between(options_.plan_min, options_.plan_max);
  loop_.call_at(loop_.now() + outcome->elapsed, Precision::ordinary,
                [outcome, done = std::move(done)] { done(std::move(*outcome)); });
}

void World::watch_controller(Instant now, EffectSink& sink) {
  note_schedules(now);
  notices_.look(now, controller_->jobs());
  for (const Effect& effect : sink.effects()) {
    if (const auto* alarm = std::get_if<RaiseAlarm>(&effect)) {
      notices_.receive(now, alarm->alarm);
    }
    if (const auto* append = std::get_if<Append>(&effect)) {
      rows_.note(append->record);
      const auto* intent = std::get_if<IntentRecord>(&append->record);
      if (intent != nullptr && !intent->intent.lasers_off && intent->laser_request_to_all > last_rearm_) {
        last_rearm_ = intent->laser_request_to_all;
        rearmed_at_ = now;
      }
      checker_->learn(now, append->record);
      history_.learn(now, append->record);
      if (const auto* commit = std::get_if<CommitRecord>(&append->record)) {
        confirmed_ += commit->decision == CommitDecision::confirmed ? 1 : 0;
        returned_ += commit->decision == CommitDecision::returned ? 1 : 0;
      } else {
        watch_bounds();
      }
    }
  }
}

/// What was confirmed since the last look.
void World::note_schedules(Instant now) {
  if (controller_->confirmed() == scheduled_ || controller_->confirmed_plan() == nullptr) {
    return;
  }
  scheduled_ = controller_->confirmed();
  for (const JobSchedule& schedule : controller_->confirmed_plan()->schedule.jobs) {
    history_.note_schedule(now, schedule);
  }
}

void World::watch_iterations(std::size_t entry, std::uint32_t looks) {
  const OperatorScript::Entry& watched = script_->entries()[entry];
  using State = OperatorScript::State;
  if (watched.state == State::ended || watched.state == State::refused) {
    return;
  }
  Instant next = loop_.now() + kFirstPause;
  if (watched.state == State::running) {
    const Instant now = loop_.now();
    const CarriedIterations carried = carried_so_far(history_, light_->timeline(), *script_, entry, now);
    const std::uint32_t wanted = watched.scripted.submission.iterations;
    const IterationVerdict look = judge_iterations(carried, wanted, word_of(watched.job), now, looks++);
    if (look.is_done) {
      script_->end_job(entry, now);
      operator_host_->deliver(TimerFired{});
      return;
    }
    if (look.is_hopeless) {
      script_->await_no_end(entry);
    }
    next = look.again;
  }
  loop_.call_at(next, Precision::ordinary, [this, entry, looks] { watch_iterations(entry, looks); });
}

void World::watch_agent(Instant now, NodeId node, EffectSink& sink) {
  for (const Effect& effect : sink.effects()) {
    const auto* append = std::get_if<Append>(&effect);
    if (append == nullptr) {
      continue;
    }
    if (const auto* latch = std::get_if<LatchRecord>(&append->record)) {
      checker_->learn_latch(now, node, *latch);
      watch_bounds();
    }
  }
}

/// What the judge overheard of an earlier incarnation counts only as far as it was durable.
void World::relearn(const Event& event) {
  const auto* started = std::get_if<Started>(&event);
  if (started == nullptr) {
    return;
  }
  if (first_controller_) {
    checker_->admit_all_but(gone_revisions(started->records));
  }
  const Record kept = started->records.empty() ? Record{IntentRecord{}} : started->records.front();  // the host's snapshot
  checker_->learn(loop_.now(), kept);
  history_.learn(loop_.now(), kept);
  watch_bounds();
}

/// A bound that passes without any change of light must still be judged.
void World::watch_bounds() {
  const Instant next = checker_->next_bound(loop_.now());
  if (next != kNever) {
    loop_.call_at(next, Precision::ordinary, [this] {
      checker_->judge_all(loop_.now());
      watch_bounds();
    });
  }
}

void World::keep_alarm(const Alarm& alarm) {
  late_firings_ += alarm.code == AlarmCode::fire_underflow ? 1 : 0;
  if (alarms_.size() < kAlarmsKept) {
    alarms_.push_back(alarm);
  }
}

void World::calm() {
  still_network();
  for (const Node& node : fabric_->nodes) {
    network_->set_joined(agent_peer(node.id), true);
  }
  script_->stop();
}

JobStatement World::word_of(JobId job) const {
  if (!is_up(controller_peer())) {
    return {};
  }
  const JobRecord* record = controller_->jobs().find(job);
  return record == nullptr ? JobStatement{} : JobStatement{std::string(to_string(record->state)), record->reason};
}

/// By an operator's order about all lasers, or by a fault on the way of its light that lasts.
bool World::is_held_dark(JobId job) const {
  if (controller_->intent().lasers_off) {
    return true;
  }
  const std::shared_ptr<const Plan> plan = checker_->confirmed_plan();
  return plan != nullptr && std::ranges::any_of(plan->circuits, [&](const Circuit& circuit) {
           return circuit.job == job && is_excused(circuit.transmitter, circuit.receiver);
         });
}

std::vector<std::string> World::unlit_jobs() const {
  // It waits for something that is broken for good, and names it.
  const auto waits_for_ever = [this](const JobStatement& word) {
    return word.state == "waiting" && std::ranges::any_of(troubles_, [&](const DeviceTrouble& trouble) {
             const auto device = fabric_->device_of_element[trouble.elements.front().value];
             return trouble.to == kNever && device && word.why.contains(fabric_->device(*device).name + " (device");
           });
  };
  // Of nodes that are latched so in truth; a job without a place names one.
  const auto waits_for_a_rearm = [this, is_off = is_dark_unrecorded(*script_, rearmed_at_)](JobId id,
                                                                                            const JobStatement& word) {
    const auto is_dark = [this](NodeId node) {
      return is_up(agent_peer(node)) && is_latched_by_order(agent(node).interlock());
    };
    const auto& jobs = controller_->intent().jobs;
    const auto job = std::ranges::find(jobs, id, &Job::id);
    const bool is_named = word.why.contains("are latched off there (loom lasers rearm)") &&
                          std::ranges::any_of(fabric_->nodes, is_dark, &Node::id);
    return is_off && (is_named || (job != jobs.end() && std::ranges::any_of(job->nodes, is_dark)));
  };
  std::vector<std::string> found;
  for (const auto& [id, record] : controller_->jobs().records()) {
    const JobStatement word = word_of(id);
    if (!is_at_rest(word) && !waits_for_ever(word) && !waits_for_a_rearm(id, word) &&
        !(is_in_light(word) && is_held_dark(id))) {
      found.push_back(format_text("job {} ({}) is still {}", id.value, controller_->jobs().facts_of(id).name, word.state));
    }
  }
  return found;
}

std::vector<std::string> World::refused_jobs() const {
  std::vector<std::string> found;
  if (is_up(controller_peer())) {
    for (const auto& [id, record] : controller_->jobs().records()) {
      if (const JobStatement word = word_of(id); is_refused(word)) {
        found.push_back(format_text("{}: {}", controller_->jobs().facts_of(id).name, word.why));
      }
    }
  }
  return found;
}

std::vector<std::string> World::unsettled() const {
  if (!is_up(controller_peer())) {
    return {"the controller is down"};
  }
  std::vector<std::string> found = unlit_jobs();
  if (!controller_->is_idle()) {
    found.push_back("the controller is not idle");
  }
  if (controller_->present_agents() != fabric_->nodes.size()) {
    found.push_back(format_text("{} of {} agents are live", controller_->present_agents(), fabric_->nodes.size()));
  }
  for (const Node& node : fabric_->nodes) {
    if (!is_up(agent_peer(node.id))) {
      continue;
    }
    const LatchRecord& latch = agent(node.id).interlock().record();
    if (controller_->intent().lasers_off && !latch.lasers_off) {
      found.push_back(format_text("lasers are ordered off, and node {} is not latched", node.id.value));
    }
    const Plan* confirmed = checker_->confirmed();
    const bool has_light = confirmed != nullptr && !confirmed->nodes[node.id.value].ends.empty();
    const bool is_maintained = std::ranges::count(controller_->intent().maintenance, node.id) > 0;
    if (is_maintained && !has_light && !latch.node_off) {
      found.push_back(format_text("node {} is in maintenance, and is not latched for it", node.id.value));
    }
  }
  const bool is_off = is_dark_unrecorded(*script_, rearmed_at_);
  for (std::string& difference : differences(*light_, checker_->confirmed(), [&](ElementId transmitter, ElementId receiver) {
         const NodeId node = fabric_->device(*fabric_->device_of_element[transmitter.value]).agent;
         const bool is_kept_dark = is_off && is_up(agent_peer(node)) && is_latched_by_order(agent(node).interlock()) &&
                                   !light_->graph().emission(transmitter).emitting;
         return is_kept_dark || is_excused(transmitter, receiver);
       })) {
    found.push_back(std::move(difference));
  }
  return found;
}

HostCounters World::counters() const {
  HostCounters sum = buried_;
  add_counters(sum, operator_host_->counters());
  if (controller_machine_.host) {
    add_counters(sum, controller_machine_.host->counters());
  }
  for (const AgentMachine& agent : agents_) {
    if (agent.place.host) {
      add_counters(sum, agent.place.host->counters());
    }
  }
  return sum;
}

std::uint64_t World::events() const { return counters().events; }

std::uint64_t World::underflows() const {
  std::uint64_t sum = late_firings_;
  if (!is_up(controller_peer())) {
    return sum;
  }
  for (const auto& [id, entry] : controller_->jobs().records()) {
    sum += entry.underflows;
  }
  return sum;
}

}  // namespace loom
