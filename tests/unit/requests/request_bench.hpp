// SPDX-License-Identifier: Apache-2.0
// A controller with the real planner, agents that obey, a journal that is durable at once, and an operator at its desk.
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/control/controller.hpp"
#include "controller/plan/pipeline.hpp"
#include "core/journal/journal_state.hpp"
#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom::test {

class RequestBench {
 public:
  explicit RequestBench(std::uint32_t nodes = 8) {
    OddlParameters parameters;
    parameters.nodes = nodes;
    parameters.group_size = nodes / 2;
    parameters.channels = static_cast<std::int32_t>(nodes);
    fabric = std::make_shared<const Fabric>(make_oddl(parameters));
    start(kVirtualClock);
  }

  /// A new incarnation of the controller over the same journal; agents keep theirs.
  void start(ClockId clock) {
    start_unsettled(clock);
    settle();
  }
  /// The same, without waiting until it is at rest, and without the hello of some.
  void start_unsettled(ClockId clock, const std::set<NodeId>& absent = {}) {
    timers_.clear();
    events_.clear();
    appended_ = 0;
    controller = std::make_unique<Controller>(ControllerOptions{fabric, "oddl", {}, drift, {}, record_bytes});
    clock_ = clock;  // of this kernel: agents started anew with it
    feed(Started{++boots_, clock, records, wall_offset});
    for (const Node& node : fabric->nodes) {
      if (!absent.contains(node.id)) {
        greet(node.id);
      }
    }
  }

  /// Every agent reads all that it was ever given, and finds it as it was given last.
  void read_as_planned() {
    for (const auto& [node, plan] : given_) {
      ObservationReport report;
      for (const DevicePlan& share : plan.devices) {
        report.observations.push_back({share.device,
                                       DeviceHealth::ready,
                                       now,
                                       reading_of(*fabric, fabric->device(share.device), share.timeline.front().setpoint),
                                       {}});
      }
      receive(node, std::move(report));
    }
    pump();
  }

  void greet(NodeId node) {
    Hello hello{"test", node.value + 1ULL, {}, applied_[node], latched.contains(node), {}, own_latch(node)};
    hello.node_latched_off = node_latched.contains(node);
    receive(node, std::move(hello));
  }
  /// An agent latches by itself: `number` counts the openings of its contact.
  void open_contact(NodeId node, std::uint64_t number) {
    latched.insert(node);
    own_latches[node] = {number, "interlock contact door is open since noon"};
    receive(node, Heartbeat{applied_[node], applied_[node], true, own_latch(node)});
    pump();
  }
  OwnLatch own_latch(NodeId node) const {
    const auto latch = own_latches.find(node);
    return latch == own_latches.end() ? OwnLatch{} : latch->second;
  }

  OperatorReply ask(OperatorAsk what, Role role = Role::operator_) {
    return ask_as(RequestId{++last_request}, std::move(what), role);
  }

  OperatorReply ask_as(RequestId request, OperatorAsk what, Role role = Role::operator_) {
    replies.clear();
    Envelope envelope;
    envelope.principal = "ada";
    envelope.role = role;
    envelope.body = OperatorRequest{request, std::move(what)};
    feed(MessageArrived{Peer{Peer::Kind::operator_, 7}, std::move(envelope)});
    pump();
    REQUIRE(replies.size() == 1);
    return replies.front();
  }

  /// Submits a ring and brings it into light.
  JobId light(std::uint32_t nodes) {
    JobSpec spec;
    spec.name = "ring";
    spec.workload = "test";
    spec.node_count = nodes;
    spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000'000}}};
    const OperatorReply reply = ask(SubmitJob{spec, false});
    REQUIRE(reply.outcome.ok());
    settle();
    INFO(controller->jobs().at(reply.job).reason);
    REQUIRE(controller->jobs().at(reply.job).state == JobState::lit);
    return reply.job;
  }

  /// Until nothing is under way.
  void settle() {
    pump();
    for (int i = 0; i < 1000 && !controller->is_idle(); ++i) {
      run_for(std::chrono::milliseconds{10});
    }
    REQUIRE(controller->is_idle());
  }

  void run_for(Duration duration) {
    constexpr Duration kHeartbeat = std::chrono::milliseconds{200};
    for (; duration > kHeartbeat; duration -= kHeartbeat) {
      run_to(now + kHeartbeat);
    }
    run_to(now + duration);
  }

  void run_to(Instant until) {
    while (true) {
      pump();
      auto next = timers_.end();
      for (auto it = timers_.begin(); it != timers_.end(); ++it) {
        next = next == timers_.end() || it->second < next->second ? it : next;
      }
      if (next == timers_.end() || next->second > until) {
        break;
      }
      now = std::max(now, next->second);
      const TimerId timer = next->first;
      timers_.erase(next);
      feed(TimerFired{timer});
    }
    now = until;
    for (const Node& node : fabric->nodes) {
      if (!silent.contains(node.id)) {
        receive(node.id, Heartbeat{applied_[node.id], applied_[node.id], latched.contains(node.id), own_latch(node.id), 0,
                                   node_latched.contains(node.id)});
      }
    }
    pump();
  }

  template <class Row>
  std::vector<Row> rows(Noun noun, std::optional<std::uint64_t> id = {}) {
    return std::get<std::vector<Row>>(ask(Query{noun, id}).rows);
  }
  std::vector<ScheduledCircuit> shown() {
    std::vector<ScheduledCircuit> list;
    for (const CircuitReport& row : rows<CircuitReport>(Noun::circuits)) {
      list.push_back({row.circuit.job, row.circuit.source, row.circuit.destination, row.circuit.slot, row.timeslot,
                      row.circuit.transmitter, row.circuit.receiver});
    }
    return list;
  }
  DeviceId laser_of(NodeId node) const { return fabric->devices_of_agent[node.value].front(); }
  NodeId free_node() {
    for (const NodeReport& row : rows<NodeReport>(Noun::nodes)) {
      if (row.jobs.empty() && !row.drained) {
        return row.node;
      }
    }
    FAIL("every node is taken");
    return {};
  }
  template <class B>
  std::size_t delivered() const {
    std::size_t count = 0;
    for (const Envelope& envelope : sent) {
      count += std::holds_alternative<B>(envelope.body) ? 1U : 0U;
    }
    return count;
  }

  void receive(NodeId node, Body body, Revision revision = {}) {
    Envelope envelope;
    envelope.term = Term{1};
    envelope.node = node;
    envelope.clock = clock_;
    envelope.revision = revision;
    envelope.body = std::move(body);
    events_.push_back(MessageArrived{agent_peer(node), std::move(envelope)});
  }

  void pump() {
    while (!events_.empty()) {
      const Event event = std::move(events_.front());
      events_.pop_front();
      feed(event);
    }
  }

  void feed(const Event& event) {
    EffectSink sink;
    controller->step(now, event, sink);
    for (Effect& effect : sink.effects()) {
      std::visit([this](auto& each) { take(each); }, effect);
    }
  }

  std::shared_ptr<const Fabric> fabric;
  std::unique_ptr<Controller> controller;
  Instant now{std::chrono::seconds{1}};
  std::vector<Record> records;
  Duration wall_offset = std::chrono::hours{1'000};
  std::vector<OperatorReply> replies;
  std::vector<Envelope> sent;
  std::vector<Alarm> alarms;
  std::set<NodeId> latched;                                                ///< by an order to all, or by themselves
  std::set<NodeId> node_latched;                                           ///< by an order about them alone
  std::map<NodeId, OwnLatch> own_latches;                                  ///< of those, what they closed by themselves
  std::set<NodeId> silent;                                                 ///< agents that say nothing any more
  bool resets_answered = true;                                             ///< agents answer ResetDevice
  std::function<std::optional<Error>(NodeId, const NodePlan&)> objection;  ///< what an agent has against a Prepare
  std::function<std::optional<Body>(const Envelope&)> misbehave{};         ///< what an agent answers instead of obeying
  std::uint64_t last_request = 0;
  std::shared_ptr<const PlanRequest> planned_for;  ///< the last plan
  std::optional<Error> journal_refuses;            ///< every row from now on
  bool snapshot_due = false;                       ///< says the journal until there is one
  RecordBytes record_bytes;                        ///< of the next incarnation
  DriftPolicy drift;                               ///< likewise

 private:
  void take(Send& send) {
    if (send.to.kind == Peer::Kind::operator_) {
      replies.push_back(std::get<OperatorReply>(send.envelope.body));
      return;
    }
    const Envelope& word = send.envelope;
    sent.push_back(word);
    if (silent.contains(word.node)) {
      return;
    }
    if (auto answer = misbehave ? misbehave(word) : std::nullopt) {
      return receive(word.node, *std::move(answer), word.revision);
    }
    if (const auto* prepare = std::get_if<Prepare>(&word.body)) {
      Outcome outcome;
      for (const DevicePlan& device : prepare->plan.devices) {
        if ((latched.contains(word.node) || node_latched.contains(word.node)) && emits(device.timeline.front().setpoint)) {
          outcome.error = Error{ErrorCode::refused, "lasers are latched off"};
        }
      }
      if (objection) {
        outcome.error = objection(word.node, prepare->plan);
      }
      given_[word.node] = prepare->plan;
      receive(word.node, Prepared{outcome, std::chrono::milliseconds{1}}, word.revision);
    } else if (std::holds_alternative<Arm>(word.body)) {
      receive(word.node, Armed{{}, std::chrono::milliseconds{50}}, word.revision);
    } else if (std::holds_alternative<Go>(word.body)) {
      receive(word.node, Darkened{{}, {}}, word.revision);
    } else if (const auto* proceed = std::get_if<Proceed>(&word.body)) {
      if (proceed->phase == CommitPhase::move) {
        receive(word.node, Settled{{}, {}}, word.revision);
      } else {
        receive(word.node, Applied{{}, {}}, word.revision);
      }
    } else if (std::holds_alternative<Confirm>(word.body)) {
      applied_[word.node] = word.revision;
    } else if (const auto* lasers = std::get_if<SetLasers>(&word.body)) {
      if (lasers->of_node) {
        lasers->on ? void(node_latched.erase(word.node)) : void(node_latched.insert(word.node));
      } else if (lasers->on && lasers->own_latch == own_latch(word.node).number) {
        latched.erase(word.node);
        own_latches.erase(word.node);
      } else if (!lasers->on) {
        latched.insert(word.node);
      }
    } else if (const auto* reset = std::get_if<ResetDevice>(&word.body); reset != nullptr && resets_answered) {
      Observation seen;
      seen.device = reset->device;
      seen.health = DeviceHealth::ready;
      receive(word.node, DeviceReset{reset->device, reset->order, {}, 3, seen});
    }
  }
  void take(SetTimer& timer) { timers_[timer.timer] = timer.at; }
  void take(CancelTimer& timer) { timers_.erase(timer.timer); }
  void take(Append& append) {
    if (journal_refuses) {
      events_.push_back(AppendFailed{*journal_refuses});
      return;
    }
    if (std::holds_alternative<SnapshotRecord>(append.record)) {
      records.clear();  // as storage does
      snapshot_due = false;
    }
    records.push_back(std::move(append.record));
    events_.push_back(Appended{++appended_, snapshot_due});
  }
  void take(MakePlan& order) {
    planned_for = order.request;
    PlanOutcome made{order.request->revision, make_plan(all_architectures(), *order.request), std::chrono::milliseconds{2}};
    made.row_bytes = record_bytes && made.result ? record_bytes(planned_row(*made.result, {})) : 0;
    events_.push_back(Planned{std::move(made)});
  }
  void take(RaiseAlarm& alarm) { alarms.push_back(std::move(alarm.alarm)); }
  void take(TellTraining&) {}
  void take(LearnPeers&) {}
  void take(Transact&) { FAIL("a controller has no bus"); }

  std::deque<Event> events_;
  std::map<TimerId, Instant> timers_;
  std::map<NodeId, Revision> applied_;
  std::map<NodeId, NodePlan> given_;  ///< the last one
  std::uint64_t appended_ = 0;
  ClockId clock_ = kVirtualClock;  ///< that the controller and every agent read
  std::uint64_t boots_ = 0;
};

/// The refusal's error; it says what to type next.
inline Error refusal_of(const OperatorReply& reply) {
  REQUIRE_FALSE(reply.outcome.ok());
  CHECK(reply.outcome.error->next_command.starts_with("loom "));
  CHECK_FALSE(reply.outcome.error->message.empty());
  return *reply.outcome.error;
}

inline bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace loom::test
