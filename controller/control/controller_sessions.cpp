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
    if (commit_waits_) {
      try_begin(now, sink);
    }
  } else if (const auto* report = std::get_if<ObservationReport>(&envelope.body)) {
    keep_observations(node, *report, now, sink);
  } else if (const auto* done = std::get_if<CycleDone>(&envelope.body)) {
    on_cycle_done(node, envelope.revision, *done, now, sink);
  } else if (const auto* alarm = std::get_if<AlarmReport>(&envelope.body)) {
    const bool was_ordered = alarm->alarm.code == AlarmCode::lasers_off && (intent_.lasers_off || in_maintenance(node));
    if (!was_ordered) {
      raise(alarm->alarm, sink);
    }
  } else if (const auto* traffic = std::get_if<TrafficReport>(&envelope.body)) {
    on_traffic(node, *traffic, now);
  } else if (const auto* reset = std::get_if<DeviceReset>(&envelope.body)) {
    on_device_reset(node, *reset, sink);
  } else if (commit_ != nullptr && !commit_waits_ && envelope.revision == commit_->revision()) {
    commit_->on_answer(node, envelope.body, now, letterhead(), sink);
    after_commit_moved(now, sink);
  }
}

void Controller::on_hello(NodeId node, const Hello& hello, Instant now, EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  const bool is_new_life = session.boot_id != hello.boot_id;
  session.on(AgentSessionTrigger::hello, now);
  alarms_.clear(AlarmCode::agent_dead, node);
  session.boot_id = hello.boot_id;
  session.applied = hello.applied;
  session.lasers_latched_off = hello.lasers_latched_off;
  if (is_new_life) {
    begin_life(node, now);
  }
  if (hello.term_seen > term_) {
    // Somebody commanded this agent under a higher term: take one above it, durably, before speaking to it.
    term_ = Term{hello.term_seen.value + 1};
    append(TermRecord{term_}, WelcomeAct{node}, sink);
  } else {
    say(node, Welcome{options_.timings.beat_interval, confirmed()}, sink);
  }
  const bool lost_its_plan = hello.applied.value == 0 && confirmed_ != nullptr && is_new_life;
  session.lacks_plan = lost_its_plan || (session.lacks_plan && !is_new_life);
  if (lost_its_plan && commit_ != nullptr && commit_->takes_part(node) && !commit_waits_) {
    commit_->interrupt(node);
    after_commit_moved(now, sink);
  }
  if (commit_waits_) {
    try_begin(now, sink);
  }
}

/// What an earlier life of the agent reported says nothing of this one: read first.
void Controller::begin_life(NodeId node, Instant now) {
  AgentSession& session = sessions_[node.value];
  session.greeted_at = now;
  traffic_.erase(node);
  session.restores = 0;
  session.restore_after = now;
  for (const DeviceId device : options_.fabric->devices_of_agent[node.value]) {
    observations_[device.value].reset();
    light_since_[device.value] = Instant::min();
    drift_.judge(device, Drift::none, now);
  }
}

void Controller::on_heartbeat(NodeId node, const Heartbeat& heartbeat, EffectSink& sink) {
  AgentSession& session = sessions_[node.value];
  session.applied = heartbeat.applied;
  if (heartbeat.lasers_latched_off != session.lasers_latched_off) {
    session.lasers_latched_off = heartbeat.lasers_latched_off;
    if (!heartbeat.lasers_latched_off) {
      alarms_.clear(AlarmCode::lasers_off, node);
    } else if (!intent_.lasers_off && !in_maintenance(node)) {
      Alarm alarm;
      alarm.code = AlarmCode::lasers_off;
      alarm.node = node;
      alarm.evidence = "node " + std::to_string(node.value) + " has latched its lasers off by itself (interlock)";
      alarm.next_command = "loom lasers rearm";
      raise(std::move(alarm), sink);
    }
  }
  // Orders about lasers are repeated until the agent says that it has followed; an order that it knows is ignored there.
  if (leads_latch(node, heartbeat.lasers_latched_off)) {
    say(node, SetLasers{!wants_dark(node), laser_order_}, sink);
  }
  if (heartbeat.confirmed != confirmed() && heartbeat.applied == confirmed()) {
    say(node, Confirm{}, sink);
  }
}

void Controller::on_cycle_done(NodeId node, Revision revision, const CycleDone& done, Instant now, EffectSink& sink) {
  for (auto& [id, entry] : jobs_) {
    const bool plays = entry.state == "lit" || entry.state == "committing" || entry.was_lit;
    if (!plays || revision < entry.revision || std::find(entry.nodes.begin(), entry.nodes.end(), node) == entry.nodes.end()) {
      continue;
    }
    const auto place = std::lower_bound(entry.cycles_done.begin(), entry.cycles_done.end(), node);
    if (place != entry.cycles_done.end() && *place == node) {
      return;
    }
    entry.cycles_done.insert(place, node);
    entry.underflows += done.underflows;
    entry.stage_underflows += done.underflows;
    if (entry.state == "lit") {
      advance_stage(entry, now, sink);
    }
    return;
  }
}

/// The newest of each device; one that a network overtook is dropped. Nobody speaks for another agent's devices.
void Controller::keep_observations(NodeId node, const ObservationReport& report, Instant now, EffectSink& sink) {
  for (const Observation& observation : report.observations) {
    const std::size_t index = observation.device.value;
    if (index >= observations_.size() || options_.fabric->device(observation.device).agent != node) {
      ++malformed_;
      continue;
    }
    if (observations_[index].has_value() && observation.read_at < observations_[index]->read_at) {
      continue;
    }
    observations_[index] = observation;
    if (observation.health == DeviceHealth::ready) {
      alarms_.clear(AlarmCode::device_failed, {}, observation.device);
    }
    judge(observation.device, now, sink);
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
  adapt_now(now, sink);
}

void Controller::beat(Instant, EffectSink& sink) {
  for (const Node& node : options_.fabric->nodes) {
    if (sessions_[node.id.value].is_present()) {
      say(node.id, Beat{confirmed()}, sink);
    }
  }
}

}  // namespace loom
