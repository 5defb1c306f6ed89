// SPDX-License-Identifier: Apache-2.0
// The fast plane in the whole system: jobs whose agents grant each other's light, under virtual time, through the real drivers,
// judged from ground truth. What the judge calls a collision is two lit transmitters on one receiver.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/predict/replay.hpp"
#include "sim_backend/simulation.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Scenario granted(std::uint32_t nodes, std::uint32_t group_size, const std::string& workload = "dlrm") {
  Scenario scenario;
  scenario.name = "grants";
  scenario.fabric = small_oddl(nodes, group_size);
  JobSubmission job;
  job.name = "granted";
  job.workload = workload;
  job.nodes = nodes;
  job.at = milliseconds{500};
  job.transmit = Transmit::grants;
  scenario.jobs = {job};
  return scenario;
}

/// A world of one job, whose light the test may disturb while it runs.
struct Run {
  explicit Run(const Scenario& scenario, std::uint64_t seed = 1, WorldOptions options = {}) {
    options.seed = seed;
    auto script = script_of(scenario);
    REQUIRE(script);
    spec = script->front().spec;
    world = std::make_unique<World>(scenario, std::move(*script), options);
    REQUIRE(world->start());
  }

  void until(Duration at) { world->run_until(Instant{at}); }
  static bool has_begun_again(const Agent& agent) {
    return agent.barrier().is_on() && agent.barrier().pass() > agent.barrier().plan()->phases;
  }
  /// Every stream of the first iteration was sent: each node is in the next one, or the controller goes back to the first
  /// stage.
  bool is_played() const {
    const auto& jobs = world->controller().jobs().records();
    if (!jobs.empty() && jobs.begin()->second.stages > 1) {
      return world->is_up(controller_peer()) && jobs.begin()->second.played.iterations() > 0;
    }
    for (std::uint32_t node = 0; node < spec.node_count; ++node) {
      if (!world->is_up(agent_peer(NodeId{node})) || !has_begun_again(world->agent(NodeId{node}))) {
        return false;
      }
    }
    return true;
  }
  /// Runs on until the job's second iteration begins, or the patience is over.
  bool plays_out(Duration patience) {
    const Instant end = world->loop_now() + patience;
    while (world->loop_now() < end && !is_played()) {
      world->run_until(world->loop_now() + milliseconds{20});
    }
    return is_played();
  }
  bool runs_until_lit(NodeId source, Duration patience) {
    const Instant end = world->loop_now() + patience;
    while (world->loop_now() < end) {
      for (const Reach& reach : world->light().reached()) {
        if (reach.source == source) {
          return true;
        }
      }
      world->run_until(world->loop_now() + milliseconds{1});
    }
    return false;
  }
  void check_safe() const {
    for (const Violation& violation : world->checker().violations()) {
      FAIL_CHECK("at " << seconds_of(violation.at.time_since_epoch()) << " s: " << to_string(violation.rule) << ": "
                       << violation.evidence);
    }
  }
  std::set<std::pair<NodeId, NodeId>> lit_pairs() const {
    std::set<std::pair<NodeId, NodeId>> pairs;
    for (const LitWindow& window : world->light().timeline()) {
      pairs.insert({window.source, window.destination});
    }
    return pairs;
  }
  /// One iteration of the job over the light that there was.
  Result<Replay> replayed() const {
    JobSpec placed = spec;
    placed.placement = world->controller().jobs().facts_of(world->controller().jobs().records().begin()->first).nodes;
    std::sort(placed.placement.begin(), placed.placement.end());
    const LightTimeline light = world->light().timeline();
    Instant first = kNever;
    for (const LitWindow& window : light) {
      first = std::min(first, window.begin);
    }
    return replay(placed, light, {first, std::chrono::microseconds{1}, TransferOrder::merged});
  }

  JobSpec spec;
  std::unique_ptr<World> world;
};

std::uint64_t overdue_of(const World& world, std::uint32_t nodes) {
  std::uint64_t sum = 0;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const ReceiverArbiter* arbiter =
        world.is_up(agent_peer(NodeId{node})) ? world.agent(NodeId{node}).grants().arbiter() : nullptr;
    sum += arbiter != nullptr ? arbiter->counters().overdue : 0;
  }
  return sum;
}

}  // namespace

TEST_CASE("eight_nodes_under_grants_send_every_stream_and_never_light_one_receiver_twice") {
  Run run(granted(8, 4));
  REQUIRE(run.plays_out(seconds{60}));
  run.check_safe();
  CHECK(run.lit_pairs().size() == 8 * 7);
  const auto replayed = run.replayed();
  if (!replayed) {
    FAIL(replayed.error().message);
  }
  CHECK(replayed->iteration > run.spec.compute);
  WARN("8 nodes, dlrm under grants: iteration " << milliseconds_of(replayed->iteration) << " ms of replayed light");
}

TEST_CASE("one_per_cent_of_lost_words_costs_time_and_no_safety") {
  Scenario scenario = granted(8, 4);
  scenario.network.loss = 0.01;
  scenario.network.duplicate = 0.01;
  const std::uint64_t seed = GENERATE(range(1, 6));
  CAPTURE(seed);
  Run run(scenario, seed);
  REQUIRE(run.plays_out(seconds{90}));
  run.check_safe();
  CHECK(run.lit_pairs().size() == 8 * 7);
}

TEST_CASE("an_agent_killed_while_its_laser_is_lit_closes_that_receiver_until_it_is_back_and_dark") {
  Run run(granted(8, 4), GENERATE(range(1, 4)));
  REQUIRE(run.runs_until_lit(NodeId{2}, seconds{30}));
  run.world->crash(agent_peer(NodeId{2}), seconds{2});
  const Instant dead = run.world->loop_now();
  run.until(dead.time_since_epoch() + milliseconds{1'900});
  CHECK(overdue_of(*run.world, 8) >= 1);  // somebody waits for the dead agent's word, and lets nobody else in
  run.check_safe();
  REQUIRE(run.plays_out(seconds{90}));
  run.check_safe();
}

TEST_CASE("without_a_controller_every_stream_of_the_stage_is_sent_all_the_same") {
  Run run(granted(8, 4));
  REQUIRE(run.runs_until_lit(NodeId{1}, seconds{30}));
  run.world->crash(controller_peer(), kForever);
  const auto is_done = [&](std::uint32_t node) { return run.world->agent(NodeId{node}).grants().is_done(); };
  CHECK_FALSE(is_done(1));
  run.until(run.world->loop_now().time_since_epoch() + seconds{20});
  for (std::uint32_t node = 0; node < 8; ++node) {
    CHECK(is_done(node));
  }
  CHECK(run.world->light().reached().empty());  // lit while granted, and not a moment longer
  run.check_safe();
}

TEST_CASE("lasers_off_darkens_what_was_granted_and_the_light_that_comes_back_is_whole") {
  Run run(granted(8, 4));
  REQUIRE(run.runs_until_lit(NodeId{3}, seconds{30}));
  run.world->lasers_request(false);
  run.until(run.world->loop_now().time_since_epoch() + seconds{2});
  CHECK(run.world->light().reached().empty());
  run.world->lasers_request(true);
  REQUIRE(run.plays_out(seconds{90}));
  run.check_safe();
}

TEST_CASE("a_grant_that_no_arbiter_gave_is_refused_with_its_reason_and_lights_nothing") {
  WorldOptions options;
  std::uint64_t forged = 0;
  options.agent_saboteur = [&](NodeId node, EffectSink& sink) {
    std::vector<Effect> more;
    for (const Effect& effect : sink.effects()) {
      const auto* send = std::get_if<Send>(&effect);
      const auto* word = send == nullptr ? nullptr : std::get_if<GrantPlaneMessage>(&send->envelope.body);
      const auto* grant = word == nullptr ? nullptr : std::get_if<StreamGrant>(&word->message);
      if (node != NodeId{0} || grant == nullptr || forged > 0) {
        continue;
      }
      Send forgery = *send;
      StreamGrant other = *grant;
      other.sender_epoch += 1'000;
      other.key.sequence += 1'000;
      forgery.envelope.body = GrantPlaneMessage{other};
      more.emplace_back(std::move(forgery));
      ++forged;
    }
    for (Effect& effect : more) {
      sink.effects().push_back(std::move(effect));
    }
  };
  Run run(granted(8, 4), 1, options);
  REQUIRE(run.plays_out(seconds{60}));
  run.check_safe();
  CHECK(forged == 1);
  const auto& alarms = run.world->alarms();
  CHECK(std::any_of(alarms.begin(), alarms.end(), [](const Alarm& alarm) {
    return alarm.code == AlarmCode::malformed_message && alarm.evidence.find("yet to come") != std::string::npos;
  }));
}

namespace {

/// One false word beside a true one of node 0, lawful enough to pass the codec (grant_codec_test has the others).
struct Mischief {
  std::string name;
  /// What is said beside `word`; nothing: wait for another word.
  std::function<std::optional<GrantMessage>(const GrantMessage& word)> forge;
  std::string evidence;  ///< of the alarm; empty: only counted
  std::function<std::uint64_t(const GrantPlane&)> counted;
  std::uint64_t revisions_off = 0;
};

template <class Body, class Change>
auto forging(Change change) {
  return [change](const GrantMessage& word) -> std::optional<GrantMessage> {
    const auto* body = std::get_if<Body>(&word);
    return body == nullptr ? std::nullopt : std::optional<GrantMessage>{change(*body)};
  };
}

std::vector<Mischief> mischiefs() {
  const auto forged = [](const GrantPlane& plane) { return plane.counters().forged; };
  const auto foreign = [](const GrantPlane& plane) { return plane.arbiter() ? plane.arbiter()->counters().foreign : 0; };
  const auto of_kind = [](GrantKind kind) {
    return [kind](const GrantPlane& plane) {
      return plane.sender() ? plane.sender()->counters().grants[static_cast<std::size_t>(kind)] : 0;
    };
  };
  return {
      {"a promise beyond its window", forging<StreamAccept>([](StreamAccept accept) {
         accept.until += seconds{5};
         return accept;
       }),
       "beyond the window that it was granted", forged, 0},
      {"a grant for a stream that does not exist", forging<StreamGrant>([](StreamGrant grant) {
         grant.stream.collective += 77;
         return grant;
       }),
       "", of_kind(GrantKind::unwanted), 0},
      {"a release without a grant", forging<StreamRequest>([](const StreamRequest& request) {
         return StreamRelease{request.stream, request.sender_epoch, {request.sender_epoch, 999}, {}, Bytes{0}};
       }),
       "", foreign, 0},
      {"a grant of another revision", forging<StreamGrant>([](StreamGrant grant) { return grant; }), "",
       [](const GrantPlane& plane) { return plane.counters().other_revision; }, 7},
  };
}

}  // namespace

TEST_CASE("every_false_word_is_refused_with_its_reason_or_counted_and_lights_nothing") {
  const Mischief mischief = mischiefs()[GENERATE(range(std::size_t{0}, std::size_t{4}))];
  CAPTURE(mischief.name);
  bool is_done = false;
  WorldOptions options;
  options.agent_saboteur = [&](NodeId node, EffectSink& sink) {
    std::optional<Send> forgery;
    for (const Effect& effect : sink.effects()) {
      const auto* send = std::get_if<Send>(&effect);
      const auto* word = send == nullptr ? nullptr : std::get_if<GrantPlaneMessage>(&send->envelope.body);
      const auto forged = word == nullptr ? std::nullopt : mischief.forge(word->message);
      if (node == NodeId{0} && !is_done && forged) {
        forgery = *send;
        forgery->envelope.body = GrantPlaneMessage{*forged};
        forgery->envelope.revision.value += mischief.revisions_off;
        is_done = true;
      }
    }
    if (forgery) {
      sink.effects().insert(sink.effects().begin(), Effect{std::move(*forgery)});
    }
  };
  Run run(granted(8, 4), 1, options);
  while (!is_done && run.world->loop_now() < Instant{seconds{30}}) {
    run.until(run.world->loop_now().time_since_epoch() + milliseconds{1});
  }
  REQUIRE(is_done);
  run.until(run.world->loop_now().time_since_epoch() + milliseconds{20});
  std::uint64_t counted = 0;
  for (std::uint32_t node = 1; node < 8; ++node) {
    counted += mischief.counted(run.world->agent(NodeId{node}).grants());
  }
  CHECK(counted >= 1);
  const auto& alarms = run.world->alarms();
  CHECK((mischief.evidence.empty() || std::any_of(alarms.begin(), alarms.end(), [&](const Alarm& alarm) {
           return alarm.code == AlarmCode::malformed_message && alarm.evidence.find(mischief.evidence) != std::string::npos;
         })));
  REQUIRE(run.plays_out(seconds{60}));
  run.check_safe();
}

TEST_CASE("the_same_seed_gives_the_same_grants") {
  const auto digest_of_run = [](std::uint64_t seed) {
    Run run(granted(8, 4), seed);
    run.until(seconds{4});
    return run.world->digest();
  };
  CHECK(digest_of_run(3) == digest_of_run(3));
  CHECK(digest_of_run(3) != digest_of_run(4));
}

TEST_CASE("rings_alone_and_beside_direct_traffic_are_granted_and_replayed") {
  const std::string workload = GENERATE(as<std::string>{}, "vgg19", "moe", "dlrm");
  const std::uint32_t nodes = GENERATE(4U, 8U);
  CAPTURE(workload, nodes);
  Run run(granted(nodes, 4, workload));
  REQUIRE(run.plays_out(seconds{90}));
  run.check_safe();
  const auto replayed = run.replayed();
  if (!replayed) {
    FAIL(replayed.error().message);
  }
  CHECK(replayed->iteration > run.spec.compute);
  WARN(nodes << " nodes, " << workload << " under grants: iteration " << milliseconds_of(replayed->iteration)
             << " ms of replayed light");
}

TEST_CASE("sixty_four_nodes_under_grants_never_light_one_receiver_twice") {
  Scenario scenario = granted(64, 16);
  scenario.network.loss = 0.01;
  Run run(scenario);
  REQUIRE(run.plays_out(seconds{600}));
  run.check_safe();
  const auto replayed = run.replayed();
  if (!replayed) {
    FAIL(replayed.error().message);
  }
  WARN("64 nodes, dlrm under grants, 1 % loss: iteration " << milliseconds_of(replayed->iteration) << " ms of replayed light");
}
