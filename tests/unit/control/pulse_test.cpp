// SPDX-License-Identifier: Apache-2.0
// One sign of life for all agents of a process: whom it keeps present, what it has sent again, and whose is not believed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/timings.hpp"
#include "tests/unit/control/controller_bench.hpp"

namespace loom::testing {
namespace {

std::vector<NodeId> nodes_up_to(std::uint32_t end) {
  std::vector<NodeId> nodes;
  for (std::uint32_t node = 0; node < end; ++node) {
    nodes.push_back(NodeId{node});
  }
  return nodes;
}

/// Nobody says anything but pulses.
class PulsedBench : public ControllerBench {
 public:
  void pulse(std::vector<NodeId> nodes, const std::string& principal = "agent", NodeId speaker = {}) {
    feed(MessageArrived{agent_peer(speaker),
                        {kWireVersion, principal, Role::agent, Term{1}, speaker, kVirtualClock, {}, Pulse{std::move(nodes)}}});
  }
  void beats(int count, const std::vector<NodeId>& nodes, const std::string& principal = "agent") {
    for (int i = 0; i < count; ++i) {
      now += milliseconds{50};
      pulse(nodes, principal);
      for (const TimerId timer : {timers::kSweep, timers::kBeat}) {
        feed(TimerFired{timer});
      }
    }
  }
  /// Somebody was told that a pulse was refused.
  bool is_aloud() const {
    return std::any_of(alarms.begin(), alarms.end(),
                       [](const Alarm& alarm) { return alarm.evidence.find(" pulses for node") != std::string::npos; });
  }
};

TEST_CASE("pulses of one agent keep all that they name present, and nobody else") {
  PulsedBench bench;
  bench.beats(40, nodes_up_to(6));
  CHECK(bench.controller->present_agents() == 6);
  bench.beats(10, {});
  CHECK(bench.controller->present_agents() == 1);  // who speaks lives
}

TEST_CASE("what is owed to an agent is sent again with each pulse until its heartbeat has it") {
  PulsedBench bench;
  bench.beats(1, nodes_up_to(8));
  bench.ask(LasersRequest{false});
  bench.sent.clear();
  bench.beats(3, nodes_up_to(8));
  CHECK(bench.count_sent<SetLasers>() == 3 * 8);
  for (const NodeId node : nodes_up_to(8)) {
    bench.receive(node, Heartbeat{{}, {}, true});
  }
  bench.sent.clear();
  bench.beats(3, nodes_up_to(8));
  CHECK(bench.count_sent<SetLasers>() == 0);
}

TEST_CASE("pulses that come faster than beats have nothing sent again") {
  PulsedBench bench;
  bench.beats(1, nodes_up_to(8));
  bench.ask(LasersRequest{false});
  bench.beats(1, nodes_up_to(8));
  bench.sent.clear();
  for (int i = 0; i < 100; ++i) {
    bench.pulse(nodes_up_to(8));
  }
  CHECK(bench.count_sent<SetLasers>() == 0);
}

TEST_CASE("everybody hears one beat in twenty, pulsed for or not") {
  PulsedBench bench;
  bench.beats(1, nodes_up_to(8));
  bench.sent.clear();
  bench.beats(static_cast<int>(kBeatsAtRest), nodes_up_to(8));
  CHECK(bench.count_sent<Beat>() == 8);
  bench.sent.clear();
  for (std::int64_t i = 0; i < kBeatsAtRest; ++i) {
    bench.now += milliseconds{50};
    for (const NodeId node : nodes_up_to(8)) {
      bench.receive(node, Heartbeat{});
    }
    bench.feed(TimerFired{timers::kBeat});
  }
  CHECK(bench.count_sent<Beat>() == 8);
}

TEST_CASE("nobody lives by a pulse under another key than the one that greeted for him") {
  PulsedBench bench;
  bench.beats(20, nodes_up_to(8), "agents-of-another-host");
  CHECK(bench.controller->present_agents() == 1);
  CHECK(bench.is_aloud());
}

TEST_CASE("a controller that has started again asks everybody whom a pulse names for a hello") {
  PulsedBench bench;
  bench.controller = std::make_unique<Controller>(ControllerOptions{bench.fabric, "oddl", {}, {}, {}});
  bench.feed(Started{9, kVirtualClock, bench.records});
  bench.receive(NodeId{0}, Hello{"test", 100, {}, {}, false, {}});
  bench.sent.clear();
  bench.beats(1, nodes_up_to(8));
  CHECK(bench.count_sent<Unwelcome>() == 7);
  CHECK(bench.controller->present_agents() == 1);
}

TEST_CASE("a pulse for nodes that do not exist, or that are named twice, is refused whole") {
  const std::vector<NodeId> nodes =
      GENERATE(std::vector<NodeId>{NodeId{1}, NodeId{8}}, std::vector<NodeId>{NodeId{1}, NodeId{1}},
               std::vector<NodeId>{NodeId{2}, NodeId{1}});
  PulsedBench bench;
  bench.beats(20, nodes);
  CHECK(bench.controller->present_agents() == 0);
  CHECK(bench.is_aloud());
}

}  // namespace
}  // namespace loom::testing
