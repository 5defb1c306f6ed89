// SPDX-License-Identifier: Apache-2.0
// One node's grant plane and software executor over a fake laser, with a virtual bus: node 0 of four, whose laser leads to node
// 1 on wavelength 0 and to node 2 on wavelength 1, and whose receiver nodes 1 and 2 may ask for. Everything else is a stranger.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <vector>

#include "agents/grant/plane.hpp"
#include "controller/architectures/oddl/fabric.hpp"
#include "tests/unit/agents/agent_fakes.hpp"

namespace loom::testing {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr NodeId kSelf{0};
inline constexpr NodeId kNear{1};
inline constexpr NodeId kFar{2};
inline constexpr NodeId kStranger{3};
inline constexpr ClockId kPlaneClock{77};
inline constexpr Revision kRoutedBy{5};
inline constexpr JobId kPlaneJob{7};

/// Times of a laser behind a bus, as a plan would lay them.
inline GrantTimings plane_timings() {
  GrantTimings timings;
  timings.rate = gigabits(100);
  timings.tune = milliseconds{10};
  timings.lock = std::chrono::microseconds{1};
  timings.control = milliseconds{1};
  timings.flight = Duration{250};
  timings.flight_error = Duration{2};
  timings.clock_error = std::chrono::microseconds{10};
  timings.blank = std::chrono::microseconds{100};
  timings.trigger_late = milliseconds{2};
  return timings;
}

inline std::shared_ptr<const Fabric> plane_fabric(std::uint32_t planes = 1) {
  OddlParameters parameters;
  parameters.nodes = 4;
  parameters.group_size = 4;
  parameters.planes = planes;
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

inline TransmitterSetpoint plane_light(std::int32_t wavelength) { return {{-272 + 16 * wavelength, 8}, Dbm{0}, true}; }

/// A device of each kind behind a bus that answers after the device's own delay, and one instant that only the test moves.
class PlaneBench {
 public:
  explicit PlaneBench(std::uint32_t planes = 1)
      : fabric(plane_fabric(planes)), lanes(fabric, kSelf, make_drivers()), executor(lanes) {
    envelopes.node = kSelf;
    envelopes.clock = kPlaneClock;
    envelopes.term = Term{3};
    for (const DeviceId id : fabric->devices_of_agent[kSelf.value]) {
      if (fabric->device(id).role == DeviceRole::transmitter) {
        lasers.push_back(id);
      }
    }
  }

  NodePlan plan() const {
    NodePlan plan;
    plan.revision = kRoutedBy;
    plan.node = kSelf;
    DevicePlan laser{lasers[0], true, {}};
    laser.timeline.push_back({Duration{}, milliseconds{30}, milliseconds{1}, plane_light(0)});
    laser.timeline.push_back({milliseconds{31}, milliseconds{30}, milliseconds{1}, plane_light(1)});
    plan.devices = {laser};
    GrantMap map;
    map.job = kPlaneJob;
    map.routed_by = kRoutedBy;
    map.timings = plane_timings();
    map.quantum = milliseconds{100};
    map.wavelengths = {{kNear, lasers[0], plane_light(0).slot}, {kFar, lasers[0], plane_light(1).slot}};
    map.sources = {kNear, kFar};
    map.sends = {{1, kSelf, kNear, Bytes{12'500'000}}};  // a millisecond of light
    plan.grants = map;
    return plan;
  }

  /// Everything that a step of the agent may do, with what it asks for carried out.
  template <class Action>
  void step(Action action) {
    EffectSink sink;
    action(StepContext{now, &sink});
    interpret(sink);
  }

  std::size_t lane() const { return *lanes.index_of(lasers[0]); }
  test::FakeDevice& laser() { return *devices.at(lasers[0]); }
  bool is_lit() { return laser().emitting; }

  /// Lets time pass: bus replies, drivers' wakes and whatever `each` does in every step.
  template <class Each>
  void run_until(Instant until, Each each) {
    for (;;) {
      Instant next = until;
      for (const auto& [timer, at] : timers) {
        next = std::min(next, at);
      }
      if (!replies.empty()) {
        next = std::min(next, replies.begin()->first);
      }
      now = std::max(now, next);
      std::erase_if(timers, [&](const auto& timer) { return timer.second <= now; });
      std::vector<Pending> due;
      while (!replies.empty() && replies.begin()->first <= now) {
        due.push_back(replies.begin()->second);
        replies.erase(replies.begin());
      }
      for (const Pending& pending : due) {
        const auto& order = std::get<Registers>(pending.order.order.order);
        const BusReply answer = devices.at(pending.order.order.device)->execute(order, pending.ordered, now);
        step(
            [&](StepContext context) { (void)lanes.replied(context, {pending.order.bus, pending.order.transaction, answer}); });
      }
      step([&](StepContext context) { lanes.advance(context); });
      step(each);
      if (now >= until && (replies.empty() || replies.begin()->first > now)) {
        return;
      }
    }
  }

  template <class Body>
  std::vector<Body> sent_of() const {
    std::vector<Body> bodies;
    for (const Send& send : sent) {
      const auto* word = std::get_if<GrantPlaneMessage>(&send.envelope.body);
      const auto* body = word == nullptr ? nullptr : std::get_if<Body>(&word->message);
      if (body != nullptr) {
        bodies.push_back(*body);
      }
    }
    return bodies;
  }

  std::shared_ptr<const Fabric> fabric;
  std::map<DeviceId, std::shared_ptr<test::FakeDevice>> devices;
  std::vector<DeviceId> lasers;
  std::vector<test::Actuation> log;
  DeviceUnits lanes;
  SoftwareExecutor executor;
  EnvelopeSender envelopes;
  Instant now{seconds{10}};
  std::vector<Send> sent;
  std::vector<Alarm> alarms;

 private:
  struct Pending {
    Transact order;
    Instant ordered{};
  };

  std::vector<std::unique_ptr<Driver>> make_drivers() {
    std::vector<std::unique_ptr<Driver>> drivers;
    for (const DeviceId id : fabric->devices_of_agent[kSelf.value]) {
      auto device = std::make_shared<test::FakeDevice>();
      device->id = id;
      device->role = fabric->device(id).role;
      device->log = &log;
      device->setpoint = device->role == DeviceRole::transmitter ? Setpoint{darkened(Setpoint{plane_light(5)})} : Setpoint{};
      devices[id] = device;
      drivers.push_back(std::make_unique<test::FakeDriver>(device));
    }
    return drivers;
  }

  void interpret(EffectSink& sink) {
    for (Effect& effect : sink.effects()) {
      if (auto* send = std::get_if<Send>(&effect)) {
        sent.push_back(std::move(*send));
      } else if (const auto* timer = std::get_if<SetTimer>(&effect)) {
        timers[timer->timer] = timer->at;
      } else if (auto* alarm = std::get_if<RaiseAlarm>(&effect)) {
        alarms.push_back(std::move(alarm->alarm));
      } else if (auto* order = std::get_if<Transact>(&effect)) {
        const Duration takes = devices.at(order->order.device)->reply_delay;
        replies.emplace(now + takes, Pending{std::move(*order), now});
      }
    }
  }

  std::map<TimerId, Instant> timers;
  std::multimap<Instant, Pending> replies;
};

}  // namespace loom::testing
