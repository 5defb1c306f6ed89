// SPDX-License-Identifier: Apache-2.0
// The agent's tables and pure pieces: revision, session, interlock, claims, playback, deadlines.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <utility>

#include "agents/commit/deadline.hpp"
#include "agents/commit/revision.hpp"
#include "agents/commit/timeline.hpp"
#include "agents/devices/audit.hpp"
#include "agents/devices/claims.hpp"
#include "agents/devices/interlock.hpp"
#include "agents/session.hpp"

using namespace loom;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t index_of(RevisionState state) { return static_cast<std::size_t>(state); }

/// The road as the page tells it: which word moves which state where.
const std::map<std::pair<RevisionState, RevisionMessage>, RevisionState>& pipeline() {
  using enum RevisionState;
  using W = RevisionMessage;
  static const std::map<std::pair<RevisionState, RevisionMessage>, RevisionState> kPipeline = {
      {{prepared, W::arm}, armed},
      {{armed, W::arm}, armed},
      {{preparing, W::all_ready}, prepared},
      {{armed, W::go}, going},
      {{armed, W::fire}, dark},
      {{going, W::fire}, darkening},
      {{dark, W::go}, darkening},
      {{darkening, W::all_dark}, moving},
      {{moving, W::move}, moving},
      {{moving, W::all_settled}, settled},
      {{settled, W::relight}, relighting},
      {{relighting, W::all_lit}, lit},
      {{lit, W::confirm}, idle},
  };
  return kPipeline;
}

/// The first state in which a request has been heard already.
RevisionState received_from(RevisionMessage word) {
  switch (word) {
    case RevisionMessage::arm:
      return RevisionState::going;
    case RevisionMessage::go:
      return RevisionState::darkening;
    case RevisionMessage::move:
      return RevisionState::settled;
    default:
      return RevisionState::relighting;
  }
}

RevisionStep expected(RevisionState state, RevisionMessage word) {
  if (const auto step = pipeline().find({state, word}); step != pipeline().end()) {
    return {Reaction::handle, step->second};
  }
  const bool under_way = state >= RevisionState::preparing && state <= RevisionState::relighting;
  if (word == RevisionMessage::abandon) {
    return under_way || state == RevisionState::failed ? RevisionStep{Reaction::handle, RevisionState::idle} : RevisionStep{};
  }
  if (word == RevisionMessage::trouble && under_way) {
    return {Reaction::handle, RevisionState::failed};
  }
  if (word > RevisionMessage::relight) {
    return {};
  }
  if (state == RevisionState::going && word == RevisionMessage::go) {
    return {Reaction::again, {}};
  }
  const bool received = !under_way || state >= received_from(word);
  return {received ? Reaction::again : Reaction::early, {}};
}

NodePlan timed_plan(std::uint32_t cycles, Duration cycle, std::vector<TimedSetpoint> timeline) {
  NodePlan plan;
  plan.cycle = cycle;
  plan.cycles = cycles;
  plan.devices.push_back({DeviceId{0}, true, std::move(timeline)});
  return plan;
}

TimedSetpoint slot(int offset_ms, int guard_ms, int hold_ms, bool emit = true) {
  return {milliseconds{offset_ms}, milliseconds{guard_ms}, milliseconds{hold_ms}, TransmitterSetpoint{{16, 8}, Dbm{0}, emit}};
}

}  // namespace

TEST_CASE("every_row_of_the_revision_table_says_what_the_page_says") {
  for (std::size_t state = 0; state < kRevisionStates; ++state) {
    for (std::size_t word = 0; word < kRevisionMessages; ++word) {
      const auto from = static_cast<RevisionState>(state);
      const auto delivered = static_cast<RevisionMessage>(word);
      INFO(to_string(from) << " x word " << word);
      CHECK(react(from, delivered) == expected(from, delivered));
    }
  }
}

TEST_CASE("no_word_skips_a_stage_on_the_way_to_light") {
  for (std::size_t state = 0; state < kRevisionStates; ++state) {
    for (std::size_t word = 0; word < kRevisionMessages; ++word) {
      const RevisionStep step = react(static_cast<RevisionState>(state), static_cast<RevisionMessage>(word));
      if (step.reaction == Reaction::handle && step.next == RevisionState::relighting) {
        CHECK(state == index_of(RevisionState::settled));
      }
      if (step.reaction == Reaction::handle && step.next == RevisionState::moving) {
        CHECK((state == index_of(RevisionState::darkening) || state == index_of(RevisionState::moving)));
      }
    }
  }
}

TEST_CASE("session_table_has_every_state_with_every_event_once") {
  std::set<std::pair<SessionState, SessionEvent>> rows;
  for (const SessionRow& row : kSessionTable) {
    CHECK(rows.emplace(row.from, row.event).second);
    CHECK((row.to == SessionState::joined) == (row.event == SessionEvent::welcome));
  }
  CHECK(rows.size() == 12);
}

TEST_CASE("hello_is_repeated_until_welcome_and_again_after_silence") {
  EffectSink sink;
  Session session({milliseconds{200}, milliseconds{100}});
  session.start({Instant{}, &sink});
  int hellos = 0;
  int heartbeats = 0;
  const auto run = [&](int from_ms, int to_ms) {
    hellos = heartbeats = 0;
    for (int ms = from_ms; ms < to_ms; ++ms) {
      const Session::Due due = session.advance({Instant{milliseconds{ms}}, &sink});
      hellos += due == Session::Due::hello ? 1 : 0;
      heartbeats += due == Session::Due::heartbeat ? 1 : 0;
    }
  };
  run(0, 1000);
  CHECK(hellos == 4);
  CHECK(heartbeats == 0);
  session.received(Instant{milliseconds{1000}});
  session.welcome({Instant{milliseconds{1000}}, &sink}, milliseconds{50});
  run(1000, 1240);
  CHECK(hellos == 0);
  CHECK(heartbeats == 4);
  CHECK(session.state() == SessionState::joined);
  run(1240, 5990);
  CHECK(hellos == 0);
  run(5990, 7000);
  CHECK(session.state() == SessionState::greeting);
  CHECK(hellos >= 3);
}

TEST_CASE("an_unwelcome_agent_waits_longer_before_it_greets_again") {
  EffectSink sink;
  Session session({milliseconds{200}, milliseconds{100}});
  session.start({Instant{}, &sink});
  session.unwelcome({Instant{}, &sink});
  CHECK(session.advance({Instant{milliseconds{1999}}, &sink}) == Session::Due::nothing);
  CHECK(session.advance({Instant{milliseconds{2000}}, &sink}) == Session::Due::hello);
}

TEST_CASE("only_a_newer_order_lifts_the_latch") {
  Interlock interlock;
  CHECK(interlock.order({false, 3}) == Interlock::Change::latched);
  CHECK(interlock.order({true, 3}) == Interlock::Change::none);
  CHECK(interlock.order({true, 2}) == Interlock::Change::none);
  CHECK(interlock.latched());
  CHECK(interlock.refusal(NodeId{4}).message.find("order 3") != std::string::npos);
  CHECK(interlock.order({true, 4}) == Interlock::Change::lifted);
  CHECK_FALSE(interlock.latched());
  CHECK(interlock.order({false, 3}) == Interlock::Change::none);  // an old duplicate
  CHECK_FALSE(interlock.latched());
}

TEST_CASE("an_open_contact_latches_and_closing_it_does_not_lift") {
  Interlock interlock;
  CHECK(interlock.contact({true, "door", {}}, "noon") == Interlock::Change::latched);
  CHECK(interlock.order({true, 1, 1}) == Interlock::Change::held);
  CHECK(interlock.latched());
  CHECK(interlock.contact({false, "door", {}}, "one") == Interlock::Change::none);
  CHECK(interlock.latched());
  CHECK(interlock.order({true, 1, 1}) == Interlock::Change::none);  // the order that came while it was open is used up
  CHECK(interlock.order({true, 2, 1}) == Interlock::Change::held);  // whoever gave it knew of an open contact
  CHECK(interlock.own_latch() == OwnLatch{2, "interlock contact door was open since noon, and is read closed since one"});
  CHECK(interlock.order({true, 3, 2}) == Interlock::Change::lifted);
}

TEST_CASE("a_latch_names_the_contact_that_is_still_open_and_else_when_the_last_was_closed") {
  Interlock interlock({"door", "cover"});
  CHECK(interlock.contact({true, "door", {}}, "one") == Interlock::Change::latched);
  CHECK(interlock.contact({true, "cover", "EIO"}, "two") == Interlock::Change::none);
  CHECK(interlock.contact({false, "cover", {}}, "three") == Interlock::Change::none);
  CHECK(interlock.own_latch().cause == "interlock contact door is open since one");
  CHECK(interlock.contact({false, "door", {}}, "four") == Interlock::Change::none);
  CHECK(interlock.own_latch().cause == "interlock contact door was open since one, and is read closed since four");
  Interlock anew({"door", "cover"});
  anew.restore(interlock.record());
  CHECK(anew.contact({false, "door", {}}, "five") == Interlock::Change::none);
  CHECK(anew.own_latch().cause == "interlock contact door was open since one, and is read closed since four");
  CHECK(anew.own_latch().number == interlock.own_latch().number + 1);
}

TEST_CASE("a_higher_activity_takes_a_device_from_a_lower_one_only") {
  Claim claim;
  CHECK(claim.take(Activity::commit));
  CHECK_FALSE(claim.take(Activity::audit));
  CHECK_FALSE(claim.take(Activity::timeline));
  CHECK(claim.take(Activity::interlock));
  claim.release(Activity::commit);
  CHECK(claim.owner() == Activity::interlock);
  CHECK_FALSE(claim.take(Activity::commit));
  claim.release(Activity::interlock);
  CHECK(claim.take(Activity::audit));
}

TEST_CASE("edges_of_a_timeline_are_counted_from_its_start") {
  const auto plan = std::make_shared<const NodePlan>(timed_plan(2, milliseconds{100}, {slot(0, 5, 40), slot(50, 10, 40)}));
  Playback playback(plan, plan->devices.front(), Instant{milliseconds{1000}});
  std::vector<std::int64_t> edges;
  for (; playback.edge() != Playback::Edge::over; playback.next_edge()) {
    edges.push_back(ns_of(playback.at()) / 1'000'000);
  }
  CHECK(edges == std::vector<std::int64_t>{1000, 1005, 1045, 1050, 1060, 1100, 1100, 1105, 1145, 1150, 1160, 1200});
  CHECK(playback.at() == kNever);
}

TEST_CASE("a_playback_that_was_asleep_leaves_out_whole_passes_and_counts_them") {
  const auto plan = std::make_shared<const NodePlan>(
      timed_plan(0, milliseconds{100}, {slot(0, 5, 40), slot(50, 10, 40), slot(100, 0, 0, false)}));
  Playback playback(plan, plan->devices.front(), Instant{});
  CHECK(playback.catch_up(Instant{milliseconds{99}}) == 0);
  CHECK(playback.catch_up(Instant{std::chrono::hours{1}}) == 2 * 36'000);
  CHECK(playback.at() == Instant{std::chrono::hours{1}});
  const auto short_plan = std::make_shared<const NodePlan>(timed_plan(3, milliseconds{100}, {slot(0, 5, 40)}));
  Playback ended(short_plan, short_plan->devices.front(), Instant{});
  CHECK(ended.catch_up(Instant{std::chrono::hours{1}}) == 3);
  CHECK(ended.edge() == Playback::Edge::over);
}

TEST_CASE("sums_of_time_stay_in_range_and_periods_do_not_drift") {
  CHECK(later(Instant{milliseconds{1}}, kForever) == kNever);
  CHECK(sum(Duration::min(), Duration{-1}) == Duration::min());
  CHECK(between(Instant{milliseconds{5}}, Instant{milliseconds{2}}) == milliseconds{-3});
  CHECK(between(Instant{Duration::min()}, kNever) == Duration::max());
  CHECK(next_period(Instant{milliseconds{100}}, milliseconds{10}, Instant{milliseconds{104}}) == Instant{milliseconds{110}});
  CHECK(next_period(Instant{milliseconds{100}}, milliseconds{10}, Instant{milliseconds{137}}) == Instant{milliseconds{140}});
}

TEST_CASE("noise_of_a_power_meter_is_no_news_but_lost_light_is") {
  Observation before{
      DeviceId{1}, DeviceHealth::ready, {}, TransmitterObservation{{193'100'000}, Dbm{-3}, true, true, 0, 0}, {}};
  Observation after = before;
  std::get<TransmitterObservation>(after.reading).power = Dbm{5};
  CHECK_FALSE(is_news(before, after));
  std::get<TransmitterObservation>(after.reading).emitting = false;
  CHECK(is_news(before, after));
}

TEST_CASE("noise_of_a_monitor_is_no_news_light_that_moves_or_goes_is") {
  const Observation before{
      DeviceId{1}, DeviceHealth::ready, {}, MonitorObservation{{{0, Dbm{-900}, {193'100'000}}, {2, Dbm{-1'200}, {}}}}, {}};
  const auto changed = [&](std::size_t light, LightReading reading) {
    Observation after = before;
    std::get<MonitorObservation>(after.reading).lights[light] = reading;
    return is_news(before, after);
  };
  CHECK_FALSE(is_news(before, before));
  CHECK_FALSE(changed(0, {0, Dbm{-930}, {193'100'250}}));
  CHECK(changed(0, {0, Dbm{-931}, {193'100'000}}));
  CHECK(changed(0, {0, Dbm{-900}, {193'100'251}}));
  CHECK(changed(1, {3, Dbm{-1'200}, {}}));
  Observation dark = before;
  std::get<MonitorObservation>(dark.reading).lights.pop_back();
  CHECK(is_news(before, dark));
}
