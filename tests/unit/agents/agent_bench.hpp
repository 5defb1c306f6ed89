// SPDX-License-Identifier: Apache-2.0
// A bench for one agent: plays the Host over a virtual clock, one serial lane a bus, and the controller's side by hand.
// Agent 0 drives two lasers on one bus, two heaters and two WSS; light of a third laser, which agent 1 drives, passes them.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/agent.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "tests/unit/agents/agent_fakes.hpp"

namespace loom::test {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr ClockId kBenchClock{77};
inline constexpr NodeId kBenchNode{0};

inline Instant at_ms(std::int64_t ms) { return Instant{milliseconds{ms}}; }

enum class OtherLight : std::uint8_t { none, passes };

/// `none`: two nodes, and agent 0 drives everything.
inline std::shared_ptr<const Fabric> bench_fabric(OtherLight other, bool photodiodes) {
  OddlParameters parameters;
  parameters.photodiodes = photodiodes;
  parameters.nodes = parameters.group_size = other == OtherLight::none ? 2 : 3;
  Fabric fabric = make_oddl(parameters);
  std::optional<BusId> laser_bus;
  for (Device& device : fabric.devices) {
    const bool is_other = device.agent == NodeId{2};
    device.agent = is_other ? NodeId{1} : kBenchNode;
    fabric.buses[device.bus.value].agent = device.agent;
    if (device.role == DeviceRole::transmitter && !is_other) {
      laser_bus = laser_bus ? laser_bus : device.bus;
      device.bus = *laser_bus;
      fabric.buses[device.bus.value].agent = kBenchNode;
    }
  }
  build_index(fabric);
  return std::make_shared<const Fabric>(std::move(fabric));
}

inline Setpoint laser_at(std::int32_t n, bool emit = true) { return TransmitterSetpoint{{n, 8}, Dbm{0}, emit}; }
inline Setpoint heater_at(std::int64_t mhz) { return FilterSetpoint{{{0, Frequency{mhz}}}}; }
inline Setpoint wss_at(std::int32_t n, std::uint16_t output) { return WavelengthSwitchSetpoint{{{{n, 8}, 0, output, Db{0}}}}; }

class AgentBench {
 public:
  explicit AgentBench(OtherLight other = OtherLight::passes, bool photodiodes = false)
      : fabric(bench_fabric(other, photodiodes)) {
    for (const DeviceId id : fabric->devices_of_agent[kBenchNode.value]) {
      auto device = std::make_shared<FakeDevice>();
      device->id = id;
      device->role = fabric->device(id).role;
      device->log = &log;
      switch (device->role) {
        case DeviceRole::transmitter:
          device->setpoint = laser_at(0, false);
          lasers.push_back(id);
          break;
        case DeviceRole::filter:
          device->setpoint = FilterSetpoint{};
          for (const ElementId ring : fabric->device(id).elements) {
            device->rings.push_back(std::get<RingFilter>(fabric->element(ring).kind));
          }
          heaters.push_back(id);
          break;
        case DeviceRole::monitor:
          device->setpoint = MonitorSetpoint{};
          monitors.push_back(id);
          break;
        default:
          device->setpoint = WavelengthSwitchSetpoint{};
          switches.push_back(id);
          break;
      }
      devices[id] = device;
    }
  }

  FakeDevice& device(DeviceId id) { return *devices.at(id); }

  /// A new incarnation of the agent; the devices stay as they are.
  void start(std::uint64_t boot_id = 1) {
    timers.clear();
    replies.clear();
    free_at.clear();
    std::vector<std::unique_ptr<Driver>> drivers;
    for (const DeviceId id : fabric->devices_of_agent[kBenchNode.value]) {
      drivers.push_back(std::make_unique<FakeDriver>(devices.at(id)));
    }
    AgentOptions options;
    options.node = kBenchNode;
    options.fabric = fabric;
    options.software = "test";
    options.edges = edges;
    options.audit_interval = audit_interval;
    options.is_pulsed = is_pulsed;
    agent = std::make_unique<Agent>(options, std::move(drivers));
    deliver(Started{boot_id, kBenchClock, journal});
  }

  void deliver(const Event& event) {
    EffectSink sink;
    agent->step(now, event, sink);
    for (Effect& effect : sink.effects()) {
      std::visit([this](auto& each) { interpret(each); }, effect);
    }
  }

  void receive(Revision revision, Body body) {
    Envelope envelope;
    envelope.role = Role::controller;
    envelope.term = term;
    envelope.node = kBenchNode;
    envelope.clock = kBenchClock;
    envelope.revision = revision;
    const bool is_prepare = std::holds_alternative<Prepare>(body);
    const std::size_t answers = count<Prepared>();
    envelope.body = std::move(body);
    deliver(MessageArrived{controller_peer(), std::move(envelope)});
    for (int i = 0; is_prepare && is_read_at_once && i < 10 && count<Prepared>() == answers; ++i) {
      run_for(milliseconds{1});  // no controller goes on before what is to move has been read
    }
  }

  /// Everything that happens up to and including `until`.
  void run_until(Instant until) {
    for (;;) {
      const auto timer =
          std::min_element(timers.begin(), timers.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      const auto reply = replies.begin();
      const Instant next_timer = timer == timers.end() ? kNever : timer->second;
      const Instant next_reply = reply == replies.end() ? kNever : reply->first;
      const Instant next_edge = edge_at.value_or(kNever);
      if (std::min({next_timer, next_reply, next_edge}) > until) {
        break;
      }
      if (next_edge <= std::min(next_timer, next_reply)) {
        now = std::max(now, next_edge);
        give_edge();
        continue;
      }
      now = std::max(now, std::min(next_timer, next_reply));
      if (next_reply <= next_timer) {
        const Pending pending = reply->second;
        replies.erase(reply);
        if (pending.order.bus.value >= fabric->buses.size()) {
          deliver(BusReplied{pending.order.bus, pending.order.transaction, edge_answer});
          continue;
        }
        const auto& order = std::get<Registers>(pending.order.order.order);
        const BusReply answer = device(pending.order.order.device).execute(order, pending.ordered, now);
        deliver(BusReplied{pending.order.bus, pending.order.transaction, answer});
      } else {
        const TimerId id = timer->first;
        timers.erase(timer);
        deliver(TimerFired{id});
      }
    }
    now = std::max(now, until);
  }
  void run_for(Duration duration) { run_until(now + duration); }

  template <class T>
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::count_if(sent.begin(), sent.end(), [](const Envelope& each) { return std::holds_alternative<T>(each.body); }));
  }
  template <class T>
  const T* last() const {
    for (auto each = sent.rbegin(); each != sent.rend(); ++each) {
      if (const T* body = std::get_if<T>(&each->body)) {
        return body;
      }
    }
    return nullptr;
  }
  /// Writes to a device; all of them if `op` is read.
  std::size_t actuations(DeviceId id, Op op = Op::read) const {
    return static_cast<std::size_t>(std::count_if(
        log.begin(), log.end(), [&](const Actuation& each) { return each.device == id && (op == Op::read || each.op == op); }));
  }

  /// Every device with one static setpoint; lasers at n, touched. What steers is touched where it has to move, from where it
  /// is.
  NodePlan static_plan(std::uint64_t revision, std::int32_t n, bool touched = true) const {
    NodePlan plan;
    plan.revision = Revision{revision};
    plan.node = kBenchNode;
    for (const DeviceId id : fabric->devices_of_agent[kBenchNode.value]) {
      if (fabric->device(id).role == DeviceRole::monitor) {
        continue;
      }
      const bool laser = fabric->device(id).role == DeviceRole::transmitter;
      Setpoint setpoint = laser ? laser_at(n) : wss_at(n, 1);
      if (fabric->device(id).role == DeviceRole::filter) {
        setpoint = heater_at(193'000'000 + n * 4'000);
      }
      const Setpoint& stands = devices.at(id)->setpoint;
      const bool moves = !laser && stands != setpoint;
      plan.devices.push_back({id, laser ? touched : moves, {{Duration{}, Duration{}, kForever, setpoint}}});
      if (moves) {
        plan.devices.back().may_hold = {stands};
      }
    }
    return plan;
  }
  static DevicePlan& part(NodePlan& plan, DeviceId id) {
    return *std::find_if(plan.devices.begin(), plan.devices.end(), [&](const DevicePlan& each) { return each.device == id; });
  }

  static Setpoint setpoint(NodePlan plan, DeviceId id) { return part(plan, id).timeline.front().setpoint; }

  /// The whole road, answered as a controller would. Returns when Applied or an error came, or after a second.
  void commit(const NodePlan& plan) {
    const Revision revision = plan.revision;
    receive(revision, Prepare{plan});
    receive(revision, Arm{now + milliseconds{5}});
    receive(revision, Go{});
    step_until<Darkened>();
    receive(revision, Proceed{CommitPhase::move, {}});
    step_until<Settled>();
    receive(revision, Proceed{CommitPhase::relight, now + milliseconds{2}});
    step_until<Applied>();
    receive(revision, Confirm{});
  }
  template <class T>
  void step_until() {
    const std::size_t before = count<T>();
    for (int i = 0; i < 1000 && count<T>() == before; ++i) {
      run_for(milliseconds{1});
    }
  }

  bool is_read_at_once = true;  ///< a Prepare is followed by the time that readings take
  std::shared_ptr<const Fabric> fabric;
  std::map<DeviceId, std::shared_ptr<FakeDevice>> devices;
  std::vector<DeviceId> lasers;
  std::vector<DeviceId> heaters;
  std::vector<DeviceId> switches;
  std::vector<DeviceId> monitors;
  std::vector<Actuation> log;
  std::vector<Envelope> sent;
  std::vector<Record> journal;
  std::vector<Alarm> alarms;
  std::vector<TrainingWord> told;
  std::vector<std::vector<PeerAddress>> peers;  ///< each time that it learned some
  std::unique_ptr<Agent> agent;
  Instant now = at_ms(1000);
  Term term{5};

  struct Pending {
    Transact order;
    Instant ordered{};
  };
  /// An order to a device at the instant in which the agent gave it.
  struct Ordered {
    DeviceId device;
    Op op = Op::read;
    Instant at{};
    Setpoint setpoint;
  };
  std::vector<Ordered> ordered;
  std::map<TimerId, Instant> timers;
  std::multimap<Instant, Pending> replies;
  std::map<BusId, Instant> free_at;

  Duration audit_interval = seconds{1};  ///< of the agent that is started next
  std::vector<EdgeLine> edges;           ///< likewise
  bool is_pulsed = false;                ///< likewise
  BusReply edge_answer{};                ///< to every order for an edge
  bool edges_come = true;                ///< what was taken is given
  std::vector<Instant> edge_orders;      ///< Instant{}: taken back
  std::optional<Instant> edge_at{};      ///< of the one line that there is

 private:
  void give_edge() {
    edge_at.reset();
    for (const DeviceId id : edges_come ? edges.front().devices : std::vector<DeviceId>{}) {
      if (FakeDevice& taker = device(id); taker.held) {
        taker.setpoint = darkened(*taker.held);
        taker.emitting = emits(*taker.held);
        taker.held.reset();
      }
    }
  }
  void interpret(Send& send) { sent.push_back(std::move(send.envelope)); }
  void interpret(SetTimer& timer) { timers[timer.timer] = timer.at; }
  void interpret(CancelTimer& timer) { timers.erase(timer.timer); }
  void interpret(Transact& order) {
    if (order.bus.value >= fabric->buses.size()) {
      const Instant at = edge_instant(order.order).value();
      edge_orders.push_back(at);
      edge_at = at == Instant{} || edge_answer.status != BusStatus::ok ? std::nullopt : std::optional(at);
      replies.emplace(now + microseconds{20}, Pending{std::move(order), now});
      return;
    }
    const FakeDevice& target = device(order.order.device);
    const auto& registers = std::get<Registers>(order.order.order);
    if (registers.count == 0) {
      ordered.push_back({target.id, static_cast<Op>(registers.address), now, target.orders.at(registers.values.at(0))});
    }
    const Duration takes = target.silent ? order.order.deadline : target.reply_delay;
    Instant& free = free_at[order.bus];
    free = std::max(free, now) + takes;
    replies.emplace(free, Pending{std::move(order), now});
  }
  void interpret(Append& append) { journal.push_back(std::move(append.record)); }
  void interpret(LearnPeers& learned) { peers.push_back(learned.peers); }
  void interpret(TellTraining& told_now) { told.push_back(told_now.word); }
  void interpret(RaiseAlarm& alarm) { alarms.push_back(std::move(alarm.alarm)); }
  void interpret(MakePlan&) { FAIL("an agent never plans"); }
};

}  // namespace loom::test
