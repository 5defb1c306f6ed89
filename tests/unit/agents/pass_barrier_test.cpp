// SPDX-License-Identifier: Apache-2.0
// Iterations without a controller: who is ready says so until it is answered, and everybody's light begins at one instant.
#include <catch2/catch.hpp>

#include "tests/unit/agents/agent_bench.hpp"

using namespace loom;
using namespace loom::test;

namespace {

constexpr NodeId kLeader{1};
constexpr JobId kJob{7};
constexpr Duration kCompute = milliseconds{40};
constexpr Duration kLead = milliseconds{6};

/// Laser 0 has light in both of two timeslots, 100 ms a pass, once an iteration.
NodePlan repeated_plan(const AgentBench& bench, std::uint64_t revision, NodeId leader) {
  NodePlan plan = bench.static_plan(revision, 16);
  plan.cycle = milliseconds{100};
  plan.cycles = 1;
  AgentBench::part(plan, bench.lasers[0]).timeline = {
      {milliseconds{0}, milliseconds{10}, milliseconds{30}, laser_at(16)},
      {milliseconds{50}, milliseconds{10}, milliseconds{30}, laser_at(32)},
  };
  AgentBench::part(plan, bench.lasers[1]).timeline = {{Duration{}, Duration{}, kForever, laser_at(16, false)}};
  plan.iterations = IterationPlan{kJob, Revision{revision}, leader, {}, 1, kCompute, PacedBy::model, kLead};
  if (leader == kBenchNode) {
    plan.iterations->members = {kBenchNode, NodeId{1}, NodeId{2}};
  }
  return plan;
}

class PassBench : public AgentBench {
 public:
  explicit PassBench(NodeId leader, PacedBy pace = PacedBy::model) {
    start();
    receive(Revision{}, Welcome{milliseconds{100}, {}});
    NodePlan plan = repeated_plan(*this, 1, leader);
    plan.iterations->paced_by = pace;
    commit(plan);
    REQUIRE(last<Applied>() != nullptr);
    REQUIRE(last<Applied>()->outcome.ok());
    lit_at = first_light();
  }

  void hear(NodeId from, Body body, Revision revision = Revision{1}, ClockId clock = kBenchClock) {
    Envelope envelope;
    envelope.role = Role::agent;
    envelope.node = from;
    envelope.clock = clock;
    envelope.revision = revision;
    envelope.body = std::move(body);
    deliver(MessageArrived{agent_peer(from), std::move(envelope)});
  }

  Instant first_light() const {
    const auto lit = std::find_if(log.begin(), log.end(), [](const Actuation& each) { return each.op == Op::light; });
    return lit == log.end() ? kNever : lit->ordered;
  }
  /// How often it said that it is ready, not only that its pass is over.
  std::size_t ready_words() const {
    return static_cast<std::size_t>(std::count_if(sent.begin(), sent.end(), [](const Envelope& each) {
      const auto* word = std::get_if<PassReady>(&each.body);
      return word != nullptr && word->is_ready;
    }));
  }
  /// A leader's, with its next heartbeat.
  IterationReport report() {
    receive(Revision{}, Welcome{milliseconds{100}, {}});
    run_for(milliseconds{120});
    REQUIRE(last<IterationReport>() != nullptr);
    return *last<IterationReport>();
  }
  void train(std::uint64_t iteration, bool is_unsent = false) { deliver(TrainingReady{iteration, is_unsent}); }
  std::size_t lights() const { return actuations(lasers[0], Op::light); }
  std::size_t forged() const {
    return static_cast<std::size_t>(std::count_if(alarms.begin(), alarms.end(),
                                                  [](const Alarm& each) { return each.code == AlarmCode::malformed_message; }));
  }
  /// When the pass that began with the commit ends: light came 10 ms after its begin.
  Instant pass_end() const { return lit_at + milliseconds{90}; }

  Instant lit_at{};
};

}  // namespace

TEST_CASE("a_node_is_ready_when_its_model_has_computed_and_says_so_until_it_is_answered") {
  PassBench bench(kLeader);
  bench.run_until(bench.pass_end() + kCompute - milliseconds{1});
  REQUIRE(bench.count<PassReady>() == 1);  // its pass is over and its lasers are tuned: it could be played again
  CHECK_FALSE(bench.last<PassReady>()->is_ready);
  CHECK(bench.last<PassReady>()->tuned_in < kCompute);
  bench.run_for(milliseconds{2});
  REQUIRE(bench.ready_words() == 1);
  CHECK(bench.last<PassReady>()->job == kJob);
  CHECK(bench.last<PassReady>()->pass == 2);
  CHECK(bench.last<PassReady>()->missed == 0);
  CHECK(bench.last<PassReady>()->computed_in == kCompute);
  CHECK(bench.sent.back().revision == Revision{1});
  bench.run_for(milliseconds{20});
  CHECK(bench.ready_words() > 5);
  CHECK(bench.count<CycleDone>() == 0);  // the controller has nothing to do
  CHECK(bench.lights() == 2);

  const std::size_t said = bench.ready_words();
  const Instant light = bench.now + kLead;
  bench.hear(kLeader, PassBegin{kJob, 2, 2, light - milliseconds{10}});  // the guard has gone by: it is tuned
  bench.run_until(light + milliseconds{95});
  CHECK(bench.ready_words() == said);
  CHECK(bench.lights() == 4);
  CHECK(std::any_of(bench.log.begin(), bench.log.end(), [&](const Actuation& each) {
    return each.op == Op::light && each.ordered >= light && each.ordered < light + milliseconds{1};
  }));
  CHECK(bench.agent->barrier().passes().iterations == 2);
  CHECK(bench.agent->barrier().passes().late == 0);
  bench.run_for(kCompute);
  CHECK(bench.last<PassReady>()->pass == 3);
  CHECK(bench.last<PassReady>()->is_ready);
}

TEST_CASE("an_instant_that_comes_late_lights_what_is_left_and_names_what_stayed_dark") {
  PassBench bench(kLeader);
  bench.run_until(bench.pass_end() + kCompute + milliseconds{5});
  const Instant begin = bench.now - milliseconds{45};  // the first timeslot is over
  bench.hear(kLeader, PassBegin{kJob, 2, 2, begin});
  bench.run_for(milliseconds{150});
  CHECK(bench.lights() == 3);
  CHECK(bench.last<PassReady>()->pass == 3);
  CHECK(bench.last<PassReady>()->missed == 1);
  CHECK(bench.last<PassReady>()->device == bench.lasers[0]);
  CHECK(bench.agent->barrier().passes().late == 1);
}

TEST_CASE("only_the_leader_of_this_light_begins_the_next_pass_and_only_soon") {
  PassBench bench(kLeader);
  bench.run_until(bench.pass_end() + kCompute + milliseconds{5});
  const Instant soon = bench.now + kLead;
  const PassBarrierCounters& counters = bench.agent->barrier().counters();
  bench.hear(NodeId{2}, PassBegin{kJob, 2, 2, soon});
  CHECK(counters.strangers == 1);
  bench.hear(kLeader, PassBegin{JobId{8}, 2, 2, soon});
  CHECK(counters.strangers == 2);
  bench.hear(kLeader, PassBegin{kJob, 2, 2, soon}, Revision{2});
  CHECK(counters.other_revision == 1);
  bench.hear(kLeader, PassBegin{kJob, 2, 2, soon}, Revision{1}, ClockId{5});
  CHECK(counters.other_clock == 1);
  bench.hear(kLeader, PassBegin{kJob, 3, 2, soon});
  bench.hear(kLeader, PassBegin{kJob, 2, 2, bench.now + seconds{2}});
  CHECK(counters.implausible == 2);
  bench.hear(kLeader, PassReady{kJob, 2, 0});
  CHECK(counters.strangers == 3);
  bench.run_for(milliseconds{100});
  CHECK(bench.lights() == 2);
  CHECK(bench.forged() == 2);  // one of a kind aloud

  bench.hear(kLeader, PassBegin{kJob, 2, 2, bench.now});
  bench.hear(kLeader, PassBegin{kJob, 2, 2, bench.now + milliseconds{3}});  // doubled by the network, or worse
  CHECK(counters.repeated == 1);
  bench.run_for(milliseconds{100});
  CHECK(bench.lights() == 4);
}

TEST_CASE("a_leader_waits_for_all_and_answers_whoever_asks_again") {
  PassBench bench(kBenchNode);
  bench.hear(NodeId{1}, PassReady{kJob, 2, 0});  // ahead of the leader itself
  bench.hear(NodeId{1}, PassReady{kJob, 2, 0});
  bench.run_until(bench.pass_end() + kCompute + seconds{1});
  CHECK(bench.count<PassBegin>() == 0);
  CHECK(bench.count<PassReady>() == 0);  // its own readiness needs no message
  bench.hear(NodeId{3}, PassReady{kJob, 2, 0});
  CHECK(bench.agent->barrier().counters().strangers == 1);
  bench.hear(NodeId{2}, PassReady{kJob, 3, 0});
  CHECK(bench.agent->barrier().counters().implausible == 1);
  CHECK(bench.count<PassBegin>() == 0);

  bench.hear(NodeId{2}, PassReady{kJob, 2, 0});
  REQUIRE(bench.count<PassBegin>() == 2);
  CHECK(*bench.last<PassBegin>() == PassBegin{kJob, 2, 2, bench.now + kLead - milliseconds{10}});
  const PassBegin said = *bench.last<PassBegin>();
  bench.run_for(milliseconds{2});
  bench.hear(NodeId{2}, PassReady{kJob, 2, 0});
  REQUIRE(bench.count<PassBegin>() == 3);
  CHECK(*bench.last<PassBegin>() == said);
  bench.run_for(milliseconds{100});
  CHECK(bench.lights() == 4);
}

TEST_CASE("a_pass_that_stayed_dark_somewhere_is_the_same_iteration_once_more") {
  PassBench bench(kBenchNode);
  bench.run_until(bench.pass_end() + kCompute + milliseconds{5});
  bench.hear(NodeId{1}, PassReady{kJob, 2, 0});
  bench.hear(NodeId{2}, PassReady{kJob, 2, 3});
  REQUIRE(bench.last<PassBegin>() != nullptr);
  CHECK(bench.last<PassBegin>()->pass == 2);
  CHECK(bench.last<PassBegin>()->iteration == 1);
  CHECK(bench.agent->barrier().passes().iterations == 1);
  CHECK(bench.agent->barrier().passes().passes == 2);
}

TEST_CASE("a_pass_is_played_again_at_once_whoever_has_computed_or_not") {
  PassBench bench(kBenchNode);
  const auto over = [](std::uint32_t missed, std::optional<DeviceId> device) {
    PassReady word{kJob, 2, missed, false};
    word.device = device;
    return word;
  };
  bench.run_until(bench.pass_end() + milliseconds{30});  // tuned; the model computes for another 10 ms
  bench.hear(NodeId{1}, over(0, {}));
  bench.hear(NodeId{2}, over(3, DeviceId{5}));
  REQUIRE(bench.last<PassBegin>() != nullptr);
  CHECK(bench.last<PassBegin>()->pass == 2);
  CHECK(bench.last<PassBegin>()->iteration == 1);
  bench.run_for(milliseconds{110});
  CHECK(bench.lights() == 4);

  PassBench member(kLeader);
  member.run_until(member.pass_end() + milliseconds{30});
  const Instant light = member.now + kLead;
  member.hear(kLeader, PassBegin{kJob, 2, 2, light});  // not before it is ready
  CHECK(member.agent->barrier().counters().implausible == 1);
  member.hear(kLeader, PassBegin{kJob, 2, 1, light - milliseconds{10}});
  member.run_until(light + milliseconds{95});
  CHECK(member.lights() == 4);
  CHECK(member.agent->barrier().passes().iterations == 1);
}

TEST_CASE("the_ledger_of_a_leader_adds_up_and_explains_the_slowest_iteration_down_to_the_device") {
  PassBench bench(kBenchNode);
  const auto play = [&](Duration late, std::uint32_t missed) {
    const std::uint64_t pass = bench.agent->barrier().pass() + 1;
    PassReady word{kJob, pass, missed, missed == 0};
    word.computed_in = kCompute + late;
    word.device = DeviceId{5};
    bench.run_for(milliseconds{150});
    bench.hear(NodeId{1}, PassReady{kJob, pass, 0, true, kCompute});
    bench.run_for(late);
    bench.hear(NodeId{2}, word);
  };
  play({}, 0);  // ends the iteration of the commit, whose light the leader has not timed
  CHECK(bench.agent->barrier().passes().iterations == 2);
  play({}, 0);
  play(milliseconds{200}, 0);
  IterationReport seen = bench.report();
  CHECK(seen.iterations == 3);  // the fourth is under way
  CHECK(seen.slowest.iteration == 3);
  CHECK(seen.slowest.cause == DelayCause::training);
  CHECK(seen.slowest.node == NodeId{2});
  CHECK(seen.slowest.took == kCompute + milliseconds{200});
  CHECK(seen.p99 >= seen.p50);
  const Duration mean = (seen.p50 + seen.slowest.length) / 2;
  CHECK(std::abs((seen.ledger.total() - mean).count()) <= 2);
  CHECK(seen.ledger.dark == Duration{});
  CHECK(seen.ledger.waited > milliseconds{90});
  CHECK(seen.ledger.lead == kLead);

  play({}, 2);  // one of its timeslots stayed dark, so that the pass is played again
  play({}, 0);
  seen = bench.report();
  CHECK(seen.replayed == 1);
  CHECK(seen.missed == 2);
  CHECK(seen.ledger.dark > Duration{});
  CHECK(seen.slowest.cause == DelayCause::dark);
  CHECK(seen.slowest.device == DeviceId{5});
}

TEST_CASE("a_leader_names_whom_it_waits_for") {
  PassBench bench(kBenchNode);
  bench.run_until(bench.pass_end() + kCompute + milliseconds{20});
  bench.hear(NodeId{1}, PassReady{kJob, 2, 0, false});
  bench.run_for(seconds{2});
  IterationReport seen = bench.report();
  REQUIRE(seen.awaited);
  CHECK(seen.awaited->node == NodeId{2});  // it has not said that its pass is over
  CHECK_FALSE(seen.awaited->is_over);
  CHECK(seen.awaited->since > seconds{1});
  bench.hear(NodeId{2}, PassReady{kJob, 2, 0, true});
  bench.run_for(seconds{2});
  seen = bench.report();
  REQUIRE(seen.awaited);
  CHECK(seen.awaited->node == NodeId{1});
  CHECK(seen.awaited->is_over);
}

TEST_CASE("a_training_process_paces_its_node_and_is_told_when_there_is_light") {
  PassBench bench(kLeader, PacedBy::training);
  using What = TrainingWord::What;
  bench.run_until(bench.pass_end() + seconds{1});
  REQUIRE(bench.told.size() == 1);
  CHECK(bench.told[0].what == What::over);
  CHECK(bench.told[0].iteration == 0);  // the light of the commit: nobody has asked for it
  CHECK(bench.told[0].compute == kCompute);
  CHECK(bench.ready_words() == 0);
  CHECK(bench.count<PassReady>() >= 9);  // every 100 ms: it could be played again
  CHECK(bench.agent->barrier().passes().iterations == 0);

  bench.train(7);
  CHECK(bench.ready_words() == 1);
  bench.train(7);  // doubled
  CHECK(bench.ready_words() == 1);
  CHECK(bench.agent->barrier().counters().repeated == 1);
  const Instant light = bench.now + kLead;
  bench.hear(kLeader, PassBegin{kJob, 2, 1, light - milliseconds{10}});
  REQUIRE(bench.told.size() == 2);
  CHECK(bench.told[1] == TrainingWord{What::lit, kJob, Revision{1}, 7, false, light, kCompute});
  bench.train(7);  // late
  bench.train(3);  // of long ago
  CHECK(bench.agent->barrier().counters().untimely == 1);
  bench.run_until(light + milliseconds{95});
  REQUIRE(bench.told.size() == 3);
  CHECK(bench.told[2].what == What::over);
  CHECK(bench.told[2].iteration == 7);
  CHECK(bench.ready_words() == 1);
  bench.run_for(seconds{1});
  bench.train(8);
  CHECK(bench.ready_words() == 2);
  CHECK(bench.last<PassReady>()->computed_in > milliseconds{900});
}

TEST_CASE("a_training_process_that_is_ready_early_is_not_asked_again_and_one_with_bytes_left_gets_its_light_again") {
  PassBench bench(kLeader, PacedBy::training);
  bench.train(1);  // while the light of the commit still plays
  bench.run_until(bench.pass_end() + milliseconds{40});
  CHECK(bench.ready_words() >= 1);
  const Instant light = bench.now + kLead;
  bench.hear(kLeader, PassBegin{kJob, 2, 1, light - milliseconds{10}});
  bench.run_until(light + milliseconds{120});
  CHECK(bench.last<PassReady>()->pass == 3);
  CHECK(bench.last<PassReady>()->missed == 0);
  bench.train(1, true);
  CHECK(bench.last<PassReady>()->missed == 1);
  CHECK_FALSE(bench.last<PassReady>()->is_ready);
  const Instant again = bench.now + kLead;
  bench.hear(kLeader, PassBegin{kJob, 3, 1, again - milliseconds{10}});
  CHECK(bench.told.back().what == TrainingWord::What::lit);
  CHECK(bench.told.back().iteration == 1);
  CHECK(bench.told.back().is_again);
  bench.run_until(again + milliseconds{120});
  CHECK(bench.last<PassReady>()->missed == 0);
  bench.receive(Revision{}, SetLasers{false, 1});
  CHECK(bench.told.back().what == TrainingWord::What::none);
}

TEST_CASE("lasers_off_ends_the_passes_and_a_later_instant_lights_nothing") {
  PassBench bench(kLeader);
  bench.run_until(bench.pass_end() + kCompute + milliseconds{5});
  bench.receive(Revision{}, SetLasers{false, 1});
  bench.run_for(milliseconds{50});
  bench.log.clear();
  const std::size_t said = bench.count<PassReady>();
  bench.hear(kLeader, PassBegin{kJob, 2, 2, bench.now + kLead});
  bench.run_for(seconds{1});
  CHECK(bench.count<PassReady>() == said);
  CHECK(bench.actuations(bench.lasers[0], Op::light) == 0);
  CHECK_FALSE(bench.device(bench.lasers[0]).emitting);
}

TEST_CASE("a_new_revision_that_leaves_the_light_as_it_was_laid_leaves_its_passes") {
  PassBench bench(kLeader);
  bench.run_until(bench.pass_end() + milliseconds{5});
  NodePlan next = repeated_plan(bench, 2, kLeader);
  next.iterations->routed_by = Revision{1};
  for (DevicePlan& device : next.devices) {
    device.touched = false;
  }
  bench.commit(next);
  CHECK(bench.agent->commit().applied() == Revision{2});
  bench.run_for(kCompute);
  REQUIRE(bench.last<PassReady>() != nullptr);
  CHECK(bench.last<PassReady>()->pass == 2);
  const Instant light = bench.now + kLead;
  bench.hear(kLeader, PassBegin{kJob, 2, 2, light - milliseconds{10}});
  bench.run_until(light + milliseconds{90});
  CHECK(bench.lights() == 4);

  bench.commit(bench.static_plan(3, 48));  // and one that takes it ends them
  CHECK_FALSE(bench.agent->barrier().is_on());
  CHECK(bench.agent->commit().applied() == Revision{3});
}

TEST_CASE("plans_of_iterations_that_cannot_be_are_refused_by_name") {
  AgentBench bench;
  bench.start();
  bench.receive(Revision{}, Welcome{milliseconds{100}, {}});
  std::uint64_t revision = 10;
  const auto refused = [&](auto change) {
    NodePlan plan = repeated_plan(bench, ++revision, kBenchNode);
    change(plan);
    bench.receive(plan.revision, Prepare{plan});
    REQUIRE(bench.last<Prepared>() != nullptr);
    REQUIRE_FALSE(bench.last<Prepared>()->outcome.ok());
    return bench.last<Prepared>()->outcome.error->message;
  };
  using Catch::Contains;
  CHECK_THAT(refused([](NodePlan& plan) { plan.iterations->lead = seconds{2}; }), Contains("lead"));
  CHECK_THAT(refused([](NodePlan& plan) { plan.iterations->routed_by = {}; }), Contains("revision above 0"));
  CHECK_THAT(refused([](NodePlan& plan) { plan.iterations->members = {NodeId{1}}; }), Contains("names itself"));
  CHECK_THAT(refused([](NodePlan& plan) { plan.iterations->leader = NodeId{1}; }), Contains("others name nobody"));
  CHECK_THAT(refused([](NodePlan& plan) { plan.cycles = 0; }), Contains("must have an end"));
}
