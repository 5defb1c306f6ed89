// SPDX-License-Identifier: Apache-2.0
// A controller between a journal that keeps its rows, a planner that makes real plans when the test says so, and agents that
// obey: eight nodes of ODDL in two groups. Only the events and effects of its step are used.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/registry.hpp"
#include "controller/control/controller.hpp"
#include "controller/control/timers.hpp"
#include "controller/plan/pipeline.hpp"

namespace loom::testing {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline std::shared_ptr<const Fabric> bench_fabric() {
  OddlParameters parameters;
  parameters.nodes = 8;
  parameters.group_size = 4;
  parameters.channels = 6;
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

class ControllerBench {
 public:
  ControllerBench() : fabric(bench_fabric()) { start(); }

  /// An incarnation of the controller, from what the journal holds. Agents greet it; who applied what is theirs to say.
  void start(Revision applied = {}) {
    ++boots_;
    orders.clear();
    inbox_.clear();
    controller = std::make_unique<Controller>(ControllerOptions{fabric, "oddl", {}, {}, {}});
    feed(Started{boots_, kVirtualClock, records});
    for (const Node& node : fabric->nodes) {
      receive(node.id, Hello{"test", 100 + node.id.value, {}, applied, false, {}});
    }
  }

  void feed(const Event& event) {
    EffectSink sink;
    controller->step(now, event, sink);
    std::uint64_t appends = 0;
    for (Effect& effect : sink.effects()) {
      if (auto* send = std::get_if<Send>(&effect)) {
        sent.push_back(*send);
        inbox_.push_back(std::move(*send));
      } else if (auto* append = std::get_if<Append>(&effect)) {
        records.push_back(std::move(append->record));
        ++appends;
      } else if (auto* make = std::get_if<MakePlan>(&effect)) {
        orders.push_back(make->request);
      } else if (auto* alarm = std::get_if<RaiseAlarm>(&effect)) {
        alarms.push_back(std::move(alarm->alarm));
      }
    }
    appended_ += appends;
    if (appends > 0) {
      feed(Appended{appended_});
    }
  }

  void receive(NodeId node, Body body, Revision revision = {}) {
    feed(MessageArrived{agent_peer(node),
                        {kWireVersion, "agent", Role::agent, Term{boots_}, node, kVirtualClock, revision, std::move(body)}});
  }
  void ask(OperatorAsk what) {
    feed(MessageArrived{
        {Peer::Kind::operator_, 7},
        {kWireVersion, "ada", Role::admin, {}, {}, {}, {}, OperatorRequest{RequestId{++requests_}, std::move(what)}}});
  }
  void submit(std::uint32_t nodes) {
    JobSpec spec;
    spec.name = "ring";
    spec.node_count = nodes;
    spec.collectives = {{CollectiveKind::all_reduce, {}, Bytes{1'000}, 1}};
    ask(SubmitJob{spec, false});
  }

  /// Lets time pass: heartbeats, timers, and obedient agents. Plans are made only if `plans`.
  void pass(Duration time, bool plans = true) {
    for (const Instant end = now + time; now < end; now += milliseconds{50}) {
      for (const Node& node : fabric->nodes) {
        receive(node.id, Heartbeat{controller->confirmed(), controller->confirmed(), false});
      }
      for (const TimerId timer : {timers::kSweep, timers::kTick, timers::kPlan, timers::kReconcile}) {
        feed(TimerFired{timer});
      }
      while (!inbox_.empty() || (plans && !orders.empty())) {
        if (plans && !orders.empty()) {
          make_next_plan();
        } else {
          const Send send = inbox_.front();
          inbox_.pop_front();
          answer(send);
        }
      }
    }
  }
  void make_next_plan() {
    const auto order = orders.front();
    orders.pop_front();
    feed(Planned{{order->revision, make_plan(all_architectures(), *order), milliseconds{1}}});
  }

  /// What agents were asked to prepare since the last clear of `sent`.
  std::vector<NodePlan> prepared() const {
    std::vector<NodePlan> plans;
    for (const Send& send : sent) {
      if (const auto* prepare = std::get_if<Prepare>(&send.envelope.body)) {
        plans.push_back(prepare->plan);
      }
    }
    return plans;
  }
  template <class Body>
  std::size_t count_sent() const {
    return static_cast<std::size_t>(std::count_if(
        sent.begin(), sent.end(), [](const Send& send) { return std::holds_alternative<Body>(send.envelope.body); }));
  }

  std::shared_ptr<const Fabric> fabric;
  std::unique_ptr<Controller> controller;
  Instant now{seconds{1}};
  std::vector<Send> sent;
  std::vector<Record> records;  ///< the journal
  std::vector<Alarm> alarms;
  std::deque<std::shared_ptr<const PlanRequest>> orders;
  std::set<NodeId> mute;  ///< agents that answer no request
  /// Answers to requests of these kinds are kept back: 0 Prepare, 1 Arm, 2 Go, 3 Proceed.
  std::optional<std::size_t> stops_at;

 private:
  void answer(const Send& send) {
    const Envelope& asked = send.envelope;
    if (send.to.kind != Peer::Kind::agent || mute.contains(asked.node)) {
      return;
    }
    const auto reply = [&](std::size_t stage, Body body) {
      if (!stops_at || stage < *stops_at) {
        receive(asked.node, std::move(body), asked.revision);
      }
    };
    if (std::holds_alternative<Prepare>(asked.body)) {
      reply(0, Prepared{{}, milliseconds{1}});
    } else if (std::holds_alternative<Arm>(asked.body)) {
      reply(1, Armed{{}, milliseconds{100}});
    } else if (std::holds_alternative<Go>(asked.body)) {
      reply(2, Darkened{{}, {}});
    } else if (const auto* proceed = std::get_if<Proceed>(&asked.body)) {
      reply(3, proceed->phase == CommitPhase::move ? Body(Settled{{}, {}}) : Body(Applied{{}, {}}));
    }
  }

  std::deque<Send> inbox_;
  std::uint64_t boots_ = 0;
  std::uint64_t appended_ = 0;
  std::uint64_t requests_ = 0;
};

}  // namespace loom::testing
