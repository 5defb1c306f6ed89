// SPDX-License-Identifier: Apache-2.0
// A FabricCommit alone: the test answers for the agents and says what time it is.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "controller/control/commit/commit.hpp"

namespace loom::commit_stages {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline const EnvelopeHeader kHeader{Term{4}, ClockId{9}};
inline constexpr Instant kStart{seconds{100}};

inline ControllerTimings timings() {
  ControllerTimings timings;
  timings.retry_interval = milliseconds{50};
  timings.stage_deadline = seconds{5};
  timings.lead_margin = milliseconds{20};
  timings.clock_error = milliseconds{1};
  timings.arm_repeats = 3;
  return timings;
}
/// Four tries of the arming of the least that anybody waits, since nothing is known of losses yet; the margin, and both clocks.
inline constexpr Duration kEverybodyReceives = kAnswerFloor * 4 + milliseconds{20} + 2 * milliseconds{1};

/// A commit of revision 7 whose participants are `nodes` of ten.
struct CommitBench {
  /// `guards`: of the first timeslots of as many lasers.
  explicit CommitBench(std::vector<std::uint32_t> nodes, Duration cycle = {}, MoveTimes move_times = {},
                       const std::vector<Duration>& guards = {})
      : commit(result_of(nodes, cycle, guards), timings(), {answers}, {"why", {}, {}, milliseconds{3}, {}}, kStart,
               move_times) {
    for (const std::uint32_t node : nodes) {
      participants.push_back(NodeId{node});
    }
    begin();
  }
  static std::shared_ptr<const PlanResult> result_of(const std::vector<std::uint32_t>& nodes, Duration cycle,
                                                     const std::vector<Duration>& guards = {}) {
    auto result = std::make_shared<PlanResult>();
    result->plan.revision = Revision{7};
    result->plan.base = Revision{6};
    for (std::uint32_t i = 0; i < 10; ++i) {
      NodePlan slice;
      slice.revision = Revision{7};
      slice.node = NodeId{i};
      slice.cycle = i == nodes.front() ? cycle : Duration{};
      result->plan.nodes.push_back(slice);
    }
    for (const std::uint32_t node : nodes) {
      result->plan.changed.push_back(NodeId{node});
    }
    result->plan.circuits.resize(3);
    result->plan.touched = {CircuitId{1}, CircuitId{2}};
    DevicePlan moved;  // a switch; another one stays
    moved.device = DeviceId{5};
    moved.touched = true;
    moved.timeline = {{Duration{}, Duration{}, kForever, WavelengthSwitchSetpoint{}}};
    DevicePlan stays = moved;
    stays.device = DeviceId{6};
    stays.touched = false;
    result->plan.nodes.edit(nodes.front()).devices = {moved, stays};
    for (const Duration guard : guards) {
      DevicePlan laser;
      laser.device = DeviceId{static_cast<std::uint32_t>(7 + result->plan.nodes[nodes.front()].devices.size())};
      laser.timeline = {{Duration{}, guard, milliseconds{1}, TransmitterSetpoint{}}};
      result->plan.nodes.edit(nodes.front()).devices.push_back(laser);
    }
    result->plan.moved_steering = {DeviceId{5}};
    return result;
  }

  template <class Action>
  void step(Action action) {
    EffectSink sink;
    action(sink);
    sent.clear();
    for (const Effect& effect : sink.effects()) {
      sent.push_back(std::get<Send>(effect));
    }
  }
  void begin() {
    step([&](EffectSink& sink) { commit.begin(now, kHeader, sink); });
  }
  void answer(std::uint32_t node, const Body& body) {
    step([&](EffectSink& sink) { commit.on_answer(NodeId{node}, body, now, kHeader, sink); });
  }
  void all(const Body& body) {
    for (const NodeId node : participants) {
      answer(node.value, body);
    }
  }
  void tick(Instant at) {
    now = at;
    step([&](EffectSink& sink) { commit.on_tick(now, kHeader, sink); });
  }
  void go() {
    step([&](EffectSink& sink) { commit.go(now, kHeader, sink); });
  }
  /// To the beginning of a stage, by everybody's lawful answers.
  void advance_to(CommitState stage) {
    if (commit.stage() < stage && commit.stage() == CommitState::preparing) {
      all(Prepared{{}, milliseconds{10}});
    }
    if (commit.stage() < stage && commit.stage() == CommitState::arming) {
      all(Armed{{}, milliseconds{100}});
      go();
    }
    if (commit.stage() < stage && commit.stage() == CommitState::darkening) {
      all(Darkened{{}, milliseconds{1}});
    }
    if (commit.stage() < stage && commit.stage() == CommitState::moving) {
      all(Settled{{}, milliseconds{2}});
    }
    if (commit.stage() < stage && commit.stage() == CommitState::relighting) {
      all(Applied{{}, {}});
    }
    REQUIRE(commit.stage() == stage);
  }
  /// Whom the last step asked, and that all of it was of one kind.
  template <class B>
  std::vector<std::uint32_t> asked() const {
    std::vector<std::uint32_t> nodes;
    for (const Send& send : sent) {
      REQUIRE(std::holds_alternative<B>(send.envelope.body));
      nodes.push_back(send.envelope.node.value);
    }
    return nodes;
  }
  template <class B>
  const B& first() const {
    REQUIRE_FALSE(sent.empty());
    return std::get<B>(sent.front().envelope.body);
  }

  AnswerTimes answers;
  FabricCommit commit;
  Instant now = kStart;
  std::vector<NodeId> participants;
  std::vector<Send> sent;
};

using Nodes = std::vector<std::uint32_t>;

}  // namespace loom::commit_stages
