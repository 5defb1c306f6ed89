// Putting the world together, and what the judge overhears.
#include "sim_backend/world.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "controller/plan/pipeline.hpp"
#include "proto/codec.hpp"

namespace loom {
namespace {

constexpr std::size_t kAlarmsKept = 1'000;
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

NetworkOptions faultless(NetworkOptions options) {
  options.loss_per_million = 0;
  options.duplication_per_million = 0;
  options.reorder_per_million = 0;
  return options;
}

std::string principal_of(NodeId node) { return "agent-" + std::to_string(node.value); }

DeviceFault model_fault(const ScenarioFault& scenario_fault) {
  static constexpr std::array<DeviceFaultKind, 8> kKinds{
      DeviceFaultKind::detune,  DeviceFaultKind::dim,  DeviceFaultKind::fail, DeviceFaultKind::stick,
      DeviceFaultKind::silence, DeviceFaultKind::nack, DeviceFaultKind::late, DeviceFaultKind::reboot};
  DeviceFault fault;
  fault.kind = kKinds[static_cast<std::size_t>(scenario_fault.kind)];
  fault.until = scenario_fault.lasts == kForever ? kNever : Instant{scenario_fault.at + scenario_fault.lasts};
  fault.offset = scenario_fault.offset;
  fault.loss = scenario_fault.loss;
  fault.delay = scenario_fault.delay;
  fault.hidden = scenario_fault.kind == ScenarioFaultKind::detune;  // "beside what the registers say"
  return fault;
}

}  // namespace

World::World(const Scenario& scenario, std::vector<ScriptedJob> jobs, const WorldOptions& options)
    : fabric_(scenario.fabric),
      algorithm_(scenario.algorithm),
      timings_(scenario.controller),
      drift_policy_(scenario.drift),
      adapt_policy_(scenario.adapt),
      options_(options),
      plan_random_(Random::of_part(options.seed, 0x706c616e)),
      boot_random_(Random::of_part(options.seed, 0x626f6f74)) {
  faulty_.resize(fabric_->elements.size());
  network_ = std::make_unique<SimNetwork>(loop_, network_of(scenario.network), options.seed);
  light_ = std::make_unique<LightModel>(fabric_);
  checker_ = std::make_unique<LightChecker>(*light_, options.checker);
  SimBusOptions bus;
  bus.devices = options.devices;
  bus.devices.seed = options.seed;
  bus_ = std::make_unique<SimBus>(loop_, fabric_, std::span<const NodeId>{}, bus);
  bus_->on_light([this](const OpticalChange& change) {
    const auto changed = light_->apply(change);
    checker_->judge(loop_.now(), changed);
  });
  make_places();
  make_controller();
  for (const Node& node : fabric_->nodes) {
    make_agent(node.id);
  }
  make_operator(std::move(jobs));
  schedule_faults(scenario);
}

World::~World() = default;

void World::make_places() {
  controller_place_.disk = std::make_unique<SimDisk>(loop_, options_.disk, options_.seed);
  controller_place_.messages = &network_->attach(controller_peer(), "controller", Role::controller);
  agents_.resize(fabric_->nodes.size());
  for (const Node& node : fabric_->nodes) {
    Place& place = agents_[node.id.value].place;
    place.disk = std::make_unique<SimDisk>(loop_, options_.disk, options_.seed + 1 + node.id.value);
    place.messages = &network_->attach(agent_peer(node.id), principal_of(node.id), Role::agent);
  }
}

HostSeams World::seams_of(Place& place) {
  HostSeams seams;
  seams.time = &loop_;
  seams.messages = place.messages;
  seams.storage = place.disk.get();
  seams.alarm = [this](const Alarm& alarm) { keep_alarm(alarm); };
  seams.digest = &digest_;
  return seams;
}

void World::make_controller() {
  controller_ = std::make_unique<Controller>(
      ControllerOptions{fabric_, algorithm_, timings_, drift_policy_, adapt_policy_, encoded_bytes});
  HostSeams seams = seams_of(controller_place_);
  seams.plan = [this](std::shared_ptr<const PlanRequest> request, std::function<void(PlanOutcome)> done) {
    plan(std::move(request), std::move(done));
  };
  controller_place_.host =
      std::make_unique<Host>(HostOptions{controller_peer(), Role::controller, "controller", options_.journal_tail},
                             std::move(seams), [this](Instant now, const Event& event, EffectSink& sink) {
                               if (controller_place_.dying) {
                                 return;
                               }
                               controller_->step(now, event, sink);
                               if (options_.controller_saboteur) {
                                 options_.controller_saboteur(now, sink);
                               }
                               pass_kill_points(controller_peer(), sink);
                               relearn(event);
                               watch_controller(now, sink);
                             });
}

void World::make_agent(NodeId node) {
  AgentPlace& agent = agents_[node.value];
  AgentOptions options;
  options.node = node;
  options.fabric = fabric_;
  options.software = "sim";
  options.heartbeat_interval = timings_.beat_interval;
  options.report_interval = timings_.report_interval;
  options.audit_interval = audit_interval(timings_, fabric_->devices_of_agent[node.value].size());
  std::vector<std::unique_ptr<Driver>> drivers;
  for (const DeviceId device : fabric_->devices_of_agent[node.value]) {
    drivers.push_back(make_driver(*fabric_, device));
  }
  agent.machine = std::make_unique<Agent>(options, std::move(drivers));
  HostSeams seams = seams_of(agent.place);
  seams.registers = bus_.get();
  agent.place.host =
      std::make_unique<Host>(HostOptions{agent_peer(node), Role::agent, principal_of(node), options_.journal_tail},
                             std::move(seams), [this, node](Instant now, const Event& event, EffectSink& sink) {
                               AgentPlace& self = agents_[node.value];
                               if (self.place.dying) {
                                 return;
                               }
                               self.machine->step(now, event, sink);
                               if (options_.agent_saboteur) {
                                 options_.agent_saboteur(node, sink);
                               }
                               pass_kill_points(agent_peer(node), sink);
                               watch_agent(now, node, sink);
                             });
}

/// One iteration of a job that runs, told to its nodes' agents; then the next one. A launcher knows which rank is where.
void World::tell_traffic(const std::string& job) {
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
      TrafficSource::Iteration iteration = traffic_.play(job, entry->submitted_at, loop_.now());
      next = iteration.next;
      for (std::size_t rank = 0; rank < iteration.by_rank.size(); ++rank) {
        if (AgentPlace& agent = agents_[placed->nodes[rank].value]; agent.place.host) {
          agent.place.host->deliver(TrafficHeard{std::move(iteration.by_rank[rank])});
        }
      }
    }
  }
  loop_.call_at(loop_.now() + next, Precision::ordinary, [this, job] { tell_traffic(job); });
}

void World::make_operator(std::vector<ScriptedJob> jobs) {
  std::map<std::string, std::vector<PlayedTraffic>> traffic;
  for (const ScriptedJob& job : jobs) {
    if (!job.traffic.empty()) {
      traffic.emplace(job.submission.name, job.traffic);
      loop_.call_at(Instant{job.submission.at}, Precision::ordinary,
                    [this, name = job.submission.name] { tell_traffic(name); });
    }
  }
  traffic_ = TrafficSource(std::move(traffic));
  script_ = std::make_unique<OperatorScript>(std::move(jobs), options_.operator_patience);
  HostSeams seams;
  seams.time = &loop_;
  laser_desk_ = &network_->attach(kLaserOperator, "laser-operator", Role::operator_, SimNetwork::Faults::spared);
  seams.messages = &network_->attach(kOperator, "operator", Role::operator_, SimNetwork::Faults::spared);
  seams.digest = &digest_;
  operator_host_ =
      std::make_unique<Host>(HostOptions{kOperator, Role::operator_, "operator"}, std::move(seams),
                             [this](Instant now, const Event& event, EffectSink& sink) { script_->step(now, event, sink); });
}

void World::order_lasers(bool on) {
  HostSeams seams;
  seams.time = &loop_;
  seams.messages = laser_desk_;
  seams.digest = &digest_;
  // A person with a terminal: one order, and nobody stays for the answer.
  Host terminal(HostOptions{kLaserOperator, Role::operator_, "laser-operator"}, std::move(seams),
                [this, on](Instant, const Event&, EffectSink& sink) {
                  Envelope envelope;
                  envelope.role = Role::operator_;
                  envelope.clock = kVirtualClock;
                  envelope.body = OperatorRequest{RequestId{++laser_requests_}, OrderLasers{on}};
                  sink.emit(Send{controller_peer(), std::move(envelope)});
                });
  terminal.deliver(TimerFired{});
}

void World::schedule_faults(const Scenario& scenario) {
  for (const ScenarioFault& scenario_fault : scenario.device_faults) {
    loop_.call_at(Instant{scenario_fault.at}, Precision::ordinary, [this, scenario_fault] {
      excuse(fabric_->device(scenario_fault.device));
      if (bus_->has_model(scenario_fault.device)) {
        bus_->inject(scenario_fault.device, model_fault(scenario_fault));
      }
    });
  }
  for (const MachineFault& fault : scenario.machine_faults) {
    loop_.call_at(Instant{fault.at}, Precision::ordinary, [this, fault] { befall(fault); });
  }
  if (scenario.network.until != kForever) {
    loop_.call_at(Instant{scenario.network.until}, Precision::ordinary,
                  [this] { network_->set_options(faultless(network_->options())); });
  }
}

void World::excuse(const Device& device) {
  for (const ElementId element : device.elements) {
    faulty_[element.value] = true;
    checker_->excuse(element);
  }
  // What cannot be lit while it lasts: a laser's own light, what a heater drops, and everybody's light through a switch.
  const bool is_switch = device.kind == DeviceKind::wss || device.kind == DeviceKind::ocs;
  for (const Node& node : fabric_->nodes) {
    const bool behind_switch = is_switch && node.group == fabric_->nodes[device.agent.value].group;
    const bool behind_heater = device.kind == DeviceKind::heater_bank && node.id == device.agent;
    for (const ElementId receiver : node.receivers) {
      faulty_[receiver.value] = faulty_[receiver.value] || behind_switch || behind_heater;
    }
    for (const ElementId transmitter : node.transmitters) {
      faulty_[transmitter.value] = faulty_[transmitter.value] || behind_switch;
    }
  }
}

Result<void> World::start() {
  const std::uint64_t controller_boot = boot_random_.next();
  LOOM_TRY(controller_place_.host->start(controller_boot));
  for (const AgentPlace& agent : agents_) {
    const std::uint64_t boot = boot_random_.next();
    LOOM_TRY(agent.place.host->start(boot));
  }
  return operator_host_->start(1);
}

void World::run_until(Instant end) { loop_.run_until(end); }

void World::plan(std::shared_ptr<const PlanRequest> request, std::function<void(PlanOutcome)> done) {
  auto outcome = std::make_shared<PlanOutcome>();
  outcome->revision = request->revision;
  outcome->result = make_plan(*request);
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
  for (const Effect& effect : sink.effects()) {
    if (const auto* append = std::get_if<Append>(&effect)) {
      checker_->learn(now, append->record);
      if (const auto* commit = std::get_if<CommitRecord>(&append->record)) {
        confirmed_ += commit->decision == CommitDecision::confirmed ? 1 : 0;
        returned_ += commit->decision == CommitDecision::returned ? 1 : 0;
      } else {
        watch_bounds();
      }
    }
  }
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

/// What the judge overheard of an earlier life counts only as far as it was durable.
void World::relearn(const Event& event) {
  const auto* started = std::get_if<Started>(&event);
  if (started == nullptr) {
    return;
  }
  IntentRecord last;
  for (const Record& record : started->records) {
    if (const auto* intent = std::get_if<IntentRecord>(&record)) {
      last = *intent;
    }
  }
  checker_->learn(loop_.now(), last);
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
  network_->set_options(faultless(network_->options()));
  for (const Node& node : fabric_->nodes) {
    network_->set_joined(agent_peer(node.id), true);
  }
  script_->stop();
}

std::vector<std::string> World::unlit_jobs() const {
  std::vector<std::string> found;
  for (const auto& [id, entry] : controller_->jobs().records()) {
    const bool at_rest = entry.state == JobState::lit || entry.state == JobState::played || entry.state == JobState::ended ||
                         (entry.state == JobState::refused && !entry.reason.empty());
    if (!at_rest) {
      found.push_back("job " + std::to_string(id.value) + " (" + controller_->jobs().facts_of(id).name + ") is still " +
                      std::string(to_string(entry.state)));
    }
  }
  return found;
}

std::vector<std::string> World::refused_jobs() const {
  std::vector<std::string> found;
  if (is_up(controller_peer())) {
    for (const auto& [id, entry] : controller_->jobs().records()) {
      if (entry.state == JobState::refused) {
        found.push_back(controller_->jobs().facts_of(id).name + ": " + entry.reason);
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
    found.push_back(std::to_string(controller_->present_agents()) + " of " + std::to_string(fabric_->nodes.size()) +
                    " agents are live");
  }
  for (std::string& difference : differences(*light_, checker_->confirmed(), faulty_)) {
    found.push_back(std::move(difference));
  }
  return found;
}

HostCounters World::counters() const {
  HostCounters sum = buried_;
  add_counters(sum, operator_host_->counters());
  if (controller_place_.host) {
    add_counters(sum, controller_place_.host->counters());
  }
  for (const AgentPlace& agent : agents_) {
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
