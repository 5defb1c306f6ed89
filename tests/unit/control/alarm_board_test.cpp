// SPDX-License-Identifier: Apache-2.0
// The alarm board at its borders: what is one cause, whose text is shown, what has to make room, and when an alarm goes.
#include "controller/control/watch/alarm_board.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <random>

namespace loom::testing {
namespace {

using std::chrono::seconds;

constexpr std::size_t kKept = 1'024;

Alarm alarm_of(AlarmCode code, std::optional<std::uint32_t> node, std::optional<std::uint32_t> device, std::string evidence) {
  Alarm alarm{code, {}, {}, std::move(evidence), "loom status"};
  alarm.node = node ? std::optional(NodeId{*node}) : std::nullopt;
  alarm.device = device ? std::optional(DeviceId{*device}) : std::nullopt;
  return alarm;
}

struct BoardBench {
  AlarmBoard board;
  EffectSink sink;
  Instant now{seconds{1}};

  void raise(Alarm alarm, AlarmSource source = AlarmSource::controller) {
    now += seconds{1};
    board.raise(std::move(alarm), now, sink, source);
  }
  void raise(AlarmCode code, std::uint32_t node, std::string evidence, AlarmSource source = AlarmSource::controller) {
    raise(alarm_of(code, node, {}, std::move(evidence)), source);
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const StandingAlarm& row : board.rows()) {
      texts.push_back(row.alarm.evidence);
    }
    return texts;
  }
};

using Texts = std::vector<std::string>;

// --- one cause ----------------------------------------------------------------------------------------------------------

TEST_CASE("alarms: one cause is one code of one node and one device, or one code of one commit") {
  const Alarm known = alarm_of(AlarmCode::drift, 1, 2, "known");
  const auto rows_after = [&](const Alarm& first, const Alarm& second) {
    BoardBench bench;
    bench.raise(first);
    bench.raise(second);
    CHECK(bench.board.rows().back().count == (bench.board.rows().size() == 1 ? 2U : 1U));
    return bench.board.rows().size();
  };
  CHECK(rows_after(known, known) == 1);
  CHECK(rows_after(known, alarm_of(AlarmCode::agent_dead, 1, 2, "code")) == 2);
  CHECK(rows_after(known, alarm_of(AlarmCode::drift, 3, 2, "node")) == 2);
  CHECK(rows_after(known, alarm_of(AlarmCode::drift, 1, 3, "device")) == 2);
  CHECK(rows_after(known, alarm_of(AlarmCode::drift, 1, {}, "no device")) == 2);
  const auto of_commit = [](Alarm alarm, std::uint64_t revision) {
    alarm.revision = Revision{revision};
    return alarm;
  };
  CHECK(rows_after(of_commit(known, 4), of_commit(alarm_of(AlarmCode::drift, 3, 5, "elsewhere"), 4)) == 1);
  CHECK(rows_after(of_commit(known, 4), of_commit(known, 5)) == 2);
  CHECK(rows_after(of_commit(known, 4), of_commit(alarm_of(AlarmCode::agent_dead, 1, 2, "code"), 4)) == 2);
  CHECK(rows_after(of_commit(known, 4), known) == 2);
  CHECK(rows_after(known, of_commit(known, 4)) == 2);
}

TEST_CASE("alarms: a cause counts, knows its first and its last time, and its nodes once each in ascending order") {
  BoardBench bench;
  for (const std::uint32_t node : {5U, 2U, 9U, 2U, 5U, 9U, 1U}) {
    Alarm alarm = alarm_of(AlarmCode::drift, node, {}, "late");
    alarm.revision = Revision{3};
    bench.raise(alarm);
  }
  Alarm nobody = alarm_of(AlarmCode::drift, {}, {}, "late");
  nobody.revision = Revision{3};
  bench.raise(nobody);
  REQUIRE(bench.board.rows().size() == 1);
  const StandingAlarm& row = bench.board.rows()[0];
  CHECK(row.count == 8);
  CHECK(row.nodes == std::vector{NodeId{1}, NodeId{2}, NodeId{5}, NodeId{9}});
  CHECK(row.node_count == 4);
  CHECK(row.first_seen == Instant{seconds{2}});
  CHECK(row.last_seen == Instant{seconds{9}});
  BoardBench without;
  without.raise(alarm_of(AlarmCode::journal_damaged, {}, {}, "row 7"));
  CHECK(without.board.rows()[0].nodes.empty());
  CHECK(without.board.rows()[0].node_count == 0);
  without.raise(alarm_of(AlarmCode::drift, 3, {}, "differs"));
  CHECK(without.board.rows()[1].nodes == std::vector{NodeId{3}});
  CHECK(without.board.rows()[1].node_count == 1);
  CHECK(without.board.rows()[0].id < without.board.rows()[1].id);
}

TEST_CASE("alarms: every alarm is told to the host, with its code's command if it names none") {
  BoardBench bench;
  bench.raise(AlarmCode::drift, 1, "named");
  Alarm unnamed = alarm_of(AlarmCode::drift, 2, {}, "unnamed");
  unnamed.next_command.clear();
  bench.raise(unnamed);
  const auto reported = [&](std::size_t i) { return std::get<RaiseAlarm>(bench.sink.effects()[i]).alarm.next_command; };
  REQUIRE(bench.sink.effects().size() == 2);
  CHECK(reported(0) == "loom status");
  CHECK(reported(1) == next_command_for(unnamed));
  CHECK(bench.board.rows()[1].alarm.next_command == next_command_for(unnamed));
}

// --- whose text ---------------------------------------------------------------------------------------------------------

/// What is shown once `second` was said of the same cause as `first`.
std::string shown(AlarmCode code, AlarmSource first, AlarmSource second) {
  BoardBench bench;
  bench.raise(code, 1, "first", first);
  bench.raise(code, 1, "second", second);
  REQUIRE(bench.board.rows().size() == 1);
  CHECK(bench.board.rows()[0].from_agent ==
        ((bench.board.rows()[0].alarm.evidence == "first" ? first : second) == AlarmSource::agent));
  return bench.board.rows()[0].alarm.evidence;
}

TEST_CASE(
    "alarms: the text of a damage stays, of anything else the last is shown, and the controller's goes before an agent's") {
  using enum AlarmSource;
  for (const AlarmCode damage : {AlarmCode::journal_damaged, AlarmCode::device_failed, AlarmCode::fire_underflow}) {
    CHECK(shown(damage, controller, controller) == "first");
    CHECK(shown(damage, controller, agent) == "first");
    CHECK(shown(damage, agent, controller) == "second");
    CHECK(shown(damage, agent, agent) == "first");
  }
  for (const AlarmCode other : {AlarmCode::drift, AlarmCode::agent_dead, AlarmCode::malformed_message}) {
    CHECK(shown(other, controller, controller) == "second");
    CHECK(shown(other, controller, agent) == "first");
    CHECK(shown(other, agent, controller) == "second");
    CHECK(shown(other, agent, agent) == "second");
  }
}

TEST_CASE("alarms: what came back is told anew and has to be acknowledged anew") {
  BoardBench bench;
  bench.raise(AlarmCode::device_failed, 1, "errno 13");
  CHECK(bench.board.open_count() == 1);
  bench.board.clear(AlarmCode::device_failed);
  CHECK(bench.board.rows()[0].cleared);
  CHECK(bench.board.open_count() == 0);
  bench.raise(AlarmCode::device_failed, 1, "silent", AlarmSource::agent);
  REQUIRE(bench.board.rows().size() == 1);
  CHECK(bench.texts() == Texts{"silent"});
  CHECK(bench.board.rows()[0].from_agent);
  CHECK_FALSE(bench.board.rows()[0].cleared);
  CHECK(bench.board.open_count() == 1);
  CHECK(bench.board.acknowledge(bench.board.rows()[0].id, "ada"));
  bench.raise(AlarmCode::device_failed, 1, "silent still", AlarmSource::agent);  // it never went: ada knows
  CHECK(bench.board.rows()[0].acknowledged_by == "ada");
  CHECK(bench.board.open_count() == 0);
}

// --- when it goes -------------------------------------------------------------------------------------------------------

TEST_CASE("alarms: an alarm goes once its cause is gone and somebody has acknowledged it, in either order") {
  BoardBench bench;
  bench.raise(AlarmCode::drift, 1, "one");
  bench.raise(AlarmCode::drift, 2, "two");
  const AlarmId one = bench.board.rows()[0].id;
  const AlarmId two = bench.board.rows()[1].id;
  CHECK_FALSE(bench.board.acknowledge(AlarmId{two.value + 1}, "ada"));
  CHECK(bench.board.acknowledge(one, ""));
  CHECK(bench.board.rows()[0].acknowledged_by == "somebody");
  CHECK(bench.board.rows()[1].acknowledged_by.empty());
  CHECK(bench.board.open_count() == 1);
  bench.board.clear(AlarmCode::drift);
  CHECK(bench.texts() == Texts{"two"});
  CHECK(bench.board.open_count() == 0);
  CHECK(bench.board.acknowledge(two, "ada"));
  CHECK(bench.board.rows().empty());
}

TEST_CASE("alarms: what is cleared is of that code and, where they are named, of that node and that device") {
  const auto cleared = [](AlarmCode code, std::optional<NodeId> node, std::optional<DeviceId> device) {
    BoardBench bench;
    bench.raise(alarm_of(AlarmCode::drift, 1, 10, "a"));
    bench.raise(alarm_of(AlarmCode::drift, 1, 11, "b"));
    bench.raise(alarm_of(AlarmCode::drift, 2, 12, "c"));
    bench.raise(alarm_of(AlarmCode::agent_dead, 1, {}, "d"));
    bench.board.clear(code, node, device);
    Texts texts;
    for (const StandingAlarm& row : bench.board.rows()) {
      if (row.cleared) {
        texts.push_back(row.alarm.evidence);
      }
    }
    CHECK(bench.board.open_count() == 4 - texts.size());
    return texts;
  };
  CHECK(cleared(AlarmCode::drift, {}, {}) == Texts{"a", "b", "c"});
  CHECK(cleared(AlarmCode::drift, NodeId{1}, {}) == Texts{"a", "b"});
  CHECK(cleared(AlarmCode::drift, NodeId{1}, DeviceId{11}) == Texts{"b"});
  CHECK(cleared(AlarmCode::drift, NodeId{2}, DeviceId{11}) == Texts{});
  CHECK(cleared(AlarmCode::drift, {}, DeviceId{12}) == Texts{"c"});
  CHECK(cleared(AlarmCode::agent_dead, {}, {}) == Texts{"d"});
  CHECK(cleared(AlarmCode::agent_dead, NodeId{2}, {}) == Texts{});
  CHECK(cleared(AlarmCode::journal_damaged, {}, {}) == Texts{});
}

// --- room ---------------------------------------------------------------------------------------------------------------

TEST_CASE(
    "alarms: whatever was raised, displaced, renewed and acknowledged before, what is meant is cleared and nothing else") {
  constexpr AlarmCode kCodes[] = {AlarmCode::drift, AlarmCode::device_failed, AlarmCode::commit_returned};
  std::mt19937 random(11);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  const auto any = [&](std::uint32_t end) { return below(3) == 0 ? std::nullopt : std::optional(below(end)); };
  BoardBench bench;
  for (int i = 0; i < 20'000; ++i) {
    const AlarmCode code = kCodes[below(3)];
    const auto node = any(40);
    const auto device = any(60);
    switch (below(6)) {
      case 0:
      case 1: {
        Alarm alarm = alarm_of(code, node, device, "raised");
        alarm.revision = below(4) == 0 ? std::optional(Revision{below(3)}) : std::nullopt;
        bench.raise(std::move(alarm), below(2) == 0 ? AlarmSource::agent : AlarmSource::controller);
        break;
      }
      case 2:
        bench.board.raise_apart(below(2) == 0 ? std::optional(AlarmId{below(400)}) : std::nullopt,
                                alarm_of(code, node, device, "apart"), bench.now, bench.sink);
        break;
      case 3:
        bench.board.acknowledge(AlarmId{below(400)}, "ada");
        break;
      case 4:
        bench.board.clear(AlarmId{below(400)});
        break;
      default: {
        std::deque<StandingAlarm> expected = bench.board.rows();
        for (StandingAlarm& row : expected) {
          row.cleared = row.cleared || (row.alarm.code == code && (!node || row.alarm.node == NodeId{*node}) &&
                                        (!device || row.alarm.device == DeviceId{*device}));
        }
        std::erase_if(expected, [](const StandingAlarm& row) { return row.cleared && !row.acknowledged_by.empty(); });
        bench.board.clear(code, node ? std::optional(NodeId{*node}) : std::nullopt,
                          device ? std::optional(DeviceId{*device}) : std::nullopt);
        REQUIRE(bench.board.rows() == expected);
      }
    }
    bench.sink.clear();
  }
}

TEST_CASE("alarms: a full board loses the oldest whose cause is gone, else the oldest, of the one who speaks") {
  for (const AlarmSource speaker : {AlarmSource::controller, AlarmSource::agent}) {
    const AlarmSource other = speaker == AlarmSource::agent ? AlarmSource::controller : AlarmSource::agent;
    BoardBench bench;
    bench.raise(AlarmCode::journal_damaged, 0, "other's", other);
    bench.raise(AlarmCode::journal_damaged, 1, "other's, gone", other);
    for (std::uint32_t i = 0; i < kKept; ++i) {
      bench.raise(AlarmCode::drift, i, std::to_string(i), speaker);
    }
    bench.board.clear(AlarmCode::journal_damaged, NodeId{1});
    CHECK(bench.board.rows().size() == kKept + 2);  // as many as there is room for
    bench.board.clear(AlarmCode::drift, NodeId{5});
    bench.board.clear(AlarmCode::drift, NodeId{7});
    const auto has = [&](const std::string& text) {
      const Texts texts = bench.texts();
      return std::find(texts.begin(), texts.end(), text) != texts.end();
    };
    bench.raise(AlarmCode::drift, 5'000, "x", speaker);
    CHECK_FALSE(has("5"));
    CHECK(has("7"));
    bench.raise(AlarmCode::drift, 5'001, "y", speaker);
    CHECK_FALSE(has("7"));
    CHECK(has("0"));
    bench.raise(AlarmCode::drift, 5'002, "z", speaker);
    CHECK_FALSE(has("0"));
    CHECK(has("1"));
    CHECK(has("other's"));
    CHECK(has("other's, gone"));
    CHECK(bench.board.rows().size() == kKept + 2);
    bench.raise(AlarmCode::drift, 5'002, "z again", speaker);  // a known one needs no room
    CHECK(has("1"));
  }
}

}  // namespace
}  // namespace loom::testing
