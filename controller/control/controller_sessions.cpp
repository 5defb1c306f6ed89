// The controller's side of every agent: hello, heartbeat, silence, answers, observations.
#include <algorithm>

#include "controller/control/controller.hpp"

namespace loom {

std::uint32_t Controller::present_agents() const {
  return static_cast<std::uint32_t>(
      std::count_if(sessions_.begin(), sessions_.end(), [](const AgentSession& session) { return session.is_present(); }));
}

void Controller::on_agent(NodeId node, const Envelope& envelope, Instant now, EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  if (const auto* hello = std::get_if<Hello>(&envelope.body)) {
    on_hello(node, *hello, now, sink);
    return;
  }
  if (session.on(AgentSessionTrigger::word, now) == AgentSessionAction::demand_hello) {
    say(node, Unwelcome{Error{ErrorCode::busy, "this controller does not know you yet: say hello"}}, sink);
    return;
  }
  if (const auto* heartbeat = std::get_if<Heartbeat>(&envelope.body)) {
    on_heartbeat(node, *heartbeat, sink);
  } else if (const auto* report = std::get_if<ObservationReport>(&envelope.body)) {
    keep_observations(*report);
  } else if (const auto* done = std::get_if<CycleDone>(&envelope.body)) {
    on_cycle_done(node, envelope.revision, *done, now, sink);
  } else if (const auto* alarm = std::get_if<AlarmReport>(&envelope.body)) {
    const bool was_ordered = alarm->alarm.code == AlarmCode::lasers_off && intent_.lasers_off;
    if (!was_ordered) {
      raise(alarm->alarm, sink);
    }
  } else if (commit_ != nullptr && !commit_waits_ && envelope.revision == commit_->revision()) {
    commit_->on_answer(node, envelope.body, now, letterhead(), sink);
    after_commit_moved(now, sink);
  }
}

void Controller::on_hello(NodeId node, const Hello& hello, Instant now, EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  const bool is_new_life = session.boot_id != hello.boot_id;
  session.on(AgentSessionTrigger::hello, now);
  session.boot_id = hello.boot_id;
  session.applied = hello.applied;
  session.lasers_latched_off = hello.lasers_latched_off;
  if (hello.term_seen > term_) {
    // Somebody commanded this agent under a higher term: take one above it, durably, before speaking to it.
    term_ = Term{hello.term_seen.value + 1};
    append(TermRecord{term_}, WelcomeAct{node}, sink);
  } else {
    say(node, Welcome{options_.timings.beat_interval, confirmed()}, sink);
  }
  const bool lost_its_plan = hello.applied.value == 0 && confirmed_ != nullptr && is_new_life;
  if (lost_its_plan && commit_ != nullptr && commit_->takes_part(node) && !commit_waits_) {
    commit_->interrupt(node);
    after_commit_moved(now, sink);
  }
  if (lost_its_plan && !confirmed_->plan.nodes[node.value].ends.empty()) {
    doubt_node(node);
    want_plan("node " + std::to_string(node.value) + " came back without its plan", now, sink);
  }
  if (commit_waits_) {
    try_begin(now, sink);
  }
}

/// The node's own devices are in doubt; if it owns a switch, so is every circuit, since any may pass there.
void Controller::doubt_node(NodeId node) {
  const Plan& plan = confirmed_->plan;
  const Fabric& fabric = *options_.fabric;
  const auto& own = fabric.devices_of_agent[node.value];
  const bool owns_switch = std::any_of(own.begin(), own.end(), [&](DeviceId id) {
    return fabric.device(id).kind == DeviceKind::wss || fabric.device(id).kind == DeviceKind::ocs;
  });
  Plan doubtful;
  for (const NodePlan& slice : plan.nodes) {
    if (slice.node != node && (!owns_switch || slice.ends.empty())) {
      continue;
    }
    doubtful.changed.push_back(slice.node);
    doubtful.nodes.push_back(slice);
    for (DevicePlan& device : doubtful.nodes.back().devices) {
      device.touched = fabric.device(device.device).kind == DeviceKind::itla_laser;
      if (slice.node == node && owns_switch && !device.touched &&
          fabric.device(device.device).kind != DeviceKind::heater_bank) {
        doubtful.moved_switches.push_back(device.device);
      }
    }
  }
  add_doubt(doubtful);
}

void Controller::on_heartbeat(NodeId node, const Heartbeat& heartbeat, EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  session.applied = heartbeat.applied;
  if (heartbeat.lasers_latched_off != session.lasers_latched_off) {
    session.lasers_latched_off = heartbeat.lasers_latched_off;
    if (heartbeat.lasers_latched_off && !intent_.lasers_off) {
      Alarm alarm;
      alarm.code = AlarmCode::lasers_off;
      alarm.node = node;
      alarm.evidence = "node " + std::to_string(node.value) + " has latched its lasers off by itself (interlock)";
      alarm.next_command = "loom lasers rearm";
      raise(std::move(alarm), sink);
    }
  }
  // Orders about lasers are repeated until the agent says that it has followed; an order that it knows is ignored there.
  if (laser_order_ > 0 && heartbeat.lasers_latched_off != intent_.lasers_off) {
    say(node, SetLasers{!intent_.lasers_off, laser_order_}, sink);
  }
  if (heartbeat.confirmed != confirmed() && heartbeat.applied == confirmed()) {
    say(node, Confirm{}, sink);
  }
}

void Controller::on_cycle_done(NodeId node, Revision revision, const CycleDone& done, Instant now, EffectSink& sink) {
  for (auto& [id, entry] : jobs_) {
    const bool plays = entry.state == "lit" || entry.state == "committing";
    if (!plays || revision < entry.revision || std::find(entry.nodes.begin(), entry.nodes.end(), node) == entry.nodes.end()) {
      continue;
    }
    const auto place = std::lower_bound(entry.cycles_done.begin(), entry.cycles_done.end(), node);
    if (place != entry.cycles_done.end() && *place == node) {
      return;
    }
    entry.cycles_done.insert(place, node);
    entry.underflows += done.underflows;
    if (entry.state == "lit") {
      advance_stage(entry, now, sink);
    }
    return;
  }
}

void Controller::keep_observations(const ObservationReport& report) {
  for (const Observation& observation : report.observations) {
    if (observation.device.value < observations_.size()) {
      observations_[observation.device.value] = observation;
    }
  }
}

void Controller::sweep(Instant now, EffectSink& sink) {
  const ControllerTimings& timings = options_.timings;
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (sessions_[i].judge_silence(now, timings.suspect_after, timings.dead_after) != AgentSessionAction::report_dead) {
      continue;
    }
    Alarm alarm;
    alarm.code = AlarmCode::agent_dead;
    alarm.node = NodeId{static_cast<std::uint32_t>(i)};
    alarm.evidence = "node " + std::to_string(i) + " has said nothing for " +
                     std::to_string((now - sessions_[i].last_heard()) / std::chrono::milliseconds{1}) + " ms (limit " +
                     std::to_string(timings.dead_after / std::chrono::milliseconds{1}) + " ms); its light is kept";
    alarm.next_command = "loom node show " + std::to_string(i);
    raise(std::move(alarm), sink);
  }
  if (commit_waits_) {
    try_begin(now, sink);
  }
}

void Controller::beat(Instant, EffectSink& sink) {
  for (const Node& node : options_.fabric->nodes) {
    if (sessions_[node.id.value].is_present()) {
      say(node.id, Beat{confirmed()}, sink);
    }
  }
}

}  // namespace loom
