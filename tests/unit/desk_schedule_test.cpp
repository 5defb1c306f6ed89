// An operator's own schedule: applied, on trial, confirmed, rolled back, compared, explained.
#include "desk_bench.hpp"

namespace loom::test {

using std::chrono::seconds;

namespace {

/// The shown schedule with the first circuit on a slot that no circuit uses.
std::vector<ScheduledCircuit> retuned(DeskBench& desk) {
  auto circuits = desk.shown();
  REQUIRE_FALSE(circuits.empty());
  const auto is_used = [&](FrequencySlot slot) {
    return std::any_of(circuits.begin(), circuits.end(), [&](const ScheduledCircuit& circuit) { return circuit.slot == slot; });
  };
  const auto& channels = std::get<Transmitter>(desk.fabric->element(*circuits.front().transmitter).kind).channels;
  // The grating decides which receiver a channel reaches: stay a whole free spectral range of it away.
  for (std::int32_t channel = 0; channel < channels.count; ++channel) {
    ScheduledCircuit moved = circuits.front();
    moved.slot = channels.slot(channel);
    if (is_used(moved.slot)) {
      continue;
    }
    auto attempt = circuits;
    attempt.front() = moved;
    if (desk.ask(ApplySchedule{ApplyMode::update, attempt, {}, true}).outcome.ok()) {
      return attempt;
    }
  }
  return {};
}

}  // namespace

TEST_CASE("what is shown can be applied, and changes nothing") {
  DeskBench desk;
  desk.light(4);
  const auto before = desk.controller->confirmed();
  const OperatorReply reply = desk.ask(ApplySchedule{ApplyMode::safe, desk.shown()});
  INFO((reply.outcome.error ? reply.outcome.error->message : ""));
  REQUIRE(reply.outcome.ok());
  CHECK(reply.revision == Revision{0});
  desk.settle();
  CHECK(desk.controller->confirmed() == before);
  CHECK(desk.rows<JobReport>(Noun::jobs).front().pinned);
}

TEST_CASE("mode safe refuses to disturb light, mode update changes what differs and keeps the rest") {
  DeskBench desk;
  desk.light(4);
  const auto wanted = retuned(desk);
  REQUIRE_FALSE(wanted.empty());
  const std::size_t count = desk.shown().size();
  CHECK(refusal_of(desk.ask(ApplySchedule{ApplyMode::safe, wanted})).code == ErrorCode::refused);
  const auto change = std::get<ChangeReport>(desk.ask(ApplySchedule{ApplyMode::update, {wanted.front()}, {}, true}).rows);
  CHECK(change.touched == 2);
  const OperatorReply reply = desk.ask(ApplySchedule{ApplyMode::update, {wanted.front()}});
  REQUIRE(reply.outcome.ok());
  desk.settle();
  CHECK(desk.controller->confirmed() == reply.revision);
  const auto now = desk.shown();
  CHECK(now.size() == count);
  CHECK(std::any_of(now.begin(), now.end(),
                    [&](const ScheduledCircuit& circuit) { return circuit.slot == wanted.front().slot; }));
}

TEST_CASE("mode overwrite makes dark what the file does not name") {
  DeskBench desk;
  desk.light(4);
  const auto all = desk.shown();
  REQUIRE(desk.ask(ApplySchedule{ApplyMode::overwrite, {all.front()}}).outcome.ok());
  desk.settle();
  REQUIRE(desk.shown().size() == 1);
  CHECK(desk.shown().front() == all.front());
}

TEST_CASE("a schedule on trial returns by itself unless it is confirmed in time") {
  DeskBench desk;
  desk.light(4);
  const auto before = desk.shown();
  const bool confirms = GENERATE(false, true);
  REQUIRE(desk.ask(ApplySchedule{ApplyMode::overwrite, {before.front()}, seconds{30}}).outcome.ok());
  desk.settle();
  CHECK(std::get<StatusReport>(desk.ask(Query{Noun::status}).rows).awaiting_confirm.value > 0);
  if (confirms) {
    REQUIRE(desk.ask(ConfirmSchedule{}).outcome.ok());
  }
  desk.run_for(seconds{31});
  desk.settle();
  CHECK(desk.shown().size() == (confirms ? 1 : before.size()));
  const bool is_overdue = std::any_of(desk.alarms.begin(), desk.alarms.end(),
                                      [](const Alarm& alarm) { return alarm.code == AlarmCode::confirm_overdue; });
  CHECK(is_overdue != confirms);
  CHECK(refusal_of(desk.ask(ConfirmSchedule{})).code == ErrorCode::conflict);
}

TEST_CASE("a trial survives a restart on the same clock and ends at once on another") {
  DeskBench desk;
  desk.light(4);
  const auto before = desk.shown();
  const bool same_clock = GENERATE(false, true);
  REQUIRE(desk.ask(ApplySchedule{ApplyMode::overwrite, {before.front()}, seconds{600}}).outcome.ok());
  desk.settle();
  desk.start(same_clock ? kVirtualClock : ClockId{99});
  desk.run_for(seconds{5});
  desk.settle();
  CHECK(desk.shown().size() == (same_clock ? 1 : before.size()));
}

TEST_CASE("a rollback brings back the jobs of an earlier revision, also after a restart") {
  DeskBench desk;
  const JobId job = desk.light(4);
  const Revision good = desk.controller->confirmed();
  const auto before = desk.shown();
  REQUIRE(desk.ask(CancelJob{job, false}).outcome.ok());
  desk.settle();
  REQUIRE(desk.shown().empty());
  if (GENERATE(false, true)) {
    desk.start(kVirtualClock);
  }
  const OperatorReply reply = desk.ask(RollBackSchedule{good});
  REQUIRE(reply.outcome.ok());
  desk.settle();
  CHECK(desk.controller->confirmed() >= reply.revision);
  CHECK(desk.shown().size() == before.size());
  CHECK(desk.controller->jobs().at(job).state == JobState::lit);
}

TEST_CASE("a diff names what was removed and added") {
  DeskBench desk;
  const JobId job = desk.light(4);
  const Revision lit = desk.controller->confirmed();
  CHECK(std::get<ChangeReport>(desk.ask(DiffSchedule{}).rows).touched == 0);
  CHECK(std::get<ChangeReport>(desk.ask(DiffSchedule{{}, desk.shown()}).rows).touched == 0);
  CHECK(std::get<ChangeReport>(desk.ask(DiffSchedule{{}, std::vector{desk.shown().front()}}).rows).touched > 0);
  const std::size_t count = desk.shown().size();
  REQUIRE(desk.ask(CancelJob{job, false}).outcome.ok());
  desk.settle();
  const auto change = std::get<ChangeReport>(desk.ask(DiffSchedule{lit, {}}).rows);
  CHECK(change.touched == count);
  CHECK(change.changes.front().kind == CircuitChangeKind::removed);
}

TEST_CASE("an explanation follows the light with falling and rising power to a receiver that hears it") {
  DeskBench desk;
  desk.light(4);
  const Circuit circuit = desk.rows<CircuitReport>(Noun::circuits).front().circuit;
  const auto it = std::get<CircuitExplanation>(desk.ask(Query{Noun::explanation, circuit.id.value}).rows);
  REQUIRE(it.hops.size() > 2);
  CHECK(it.hops.front().element == circuit.transmitter);
  CHECK(it.hops.back().element == circuit.receiver);
  CHECK(it.hops.front().device == desk.laser_of(circuit.source));
  CHECK(it.hops.back().power_out > it.sensitivity);
  CHECK(it.next_command.starts_with("loom "));
}

TEST_CASE("an explanation of a dark circuit names the first thing that is wrong on its way") {
  DeskBench desk;
  desk.light(4);
  const Circuit circuit = desk.rows<CircuitReport>(Noun::circuits).front().circuit;
  desk.silent.insert(circuit.source);
  desk.run_for(seconds{60});
  const auto it = std::get<CircuitExplanation>(desk.ask(Query{Noun::explanation, circuit.id.value}).rows);
  CHECK(mentions(it.verdict, "node " + std::to_string(circuit.source.value) + " is dead"));
}

}  // namespace loom::test
