// SPDX-License-Identifier: Apache-2.0
// Every interleaving of a small fast plane: which message arrives when and in which order, one lost, one doubled, one restart
// or one death, up to a horizon in ticks; states are told apart by a 64-bit fingerprint. Then every road must lead home.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/property/grant_world.hpp"

namespace loom::testing {
namespace {

using std::chrono::microseconds;

struct Budget {
  int losses = 1;
  int doubles = 1;
  int restarts = 0;
  int deaths = 0;
  int halts = 0;    ///< by_message: lasers latched off
  int delays = -1;  ///< messages that take longer than a tick; -1: all may
};

struct Bounds {
  int horizon = 20;   ///< ticks
  int delay_max = 3;  ///< ticks that a message may take; beyond, only loss
  std::uint64_t states = 6'000'000;
  int settle_ticks = 600;
  Duration wait_max = kForever;     ///< of any stream of a rival
  std::uint64_t settle_every = 16;  ///< of the states within the horizon; at the horizon every one
};

struct Covered {
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t settled = 0;
  int longest = 0;  ///< ticks until home
  Duration longest_wait{};
  bool is_complete = true;
  std::string violation;
};

class Explorer {
 public:
  Explorer(const GrantWorldOptions& options, Budget budget, Bounds bounds) : bounds_(bounds) {
    GrantWorld world(options);
    end_ = world.now() + bounds.horizon * options.tick;
    delay_max_ = bounds.delay_max * options.tick;
    tick_ = options.tick;
    nodes_ = options.nodes;
    visit(world, budget, 0);
  }
  const Covered& covered() const { return covered_; }

 private:
  bool is_over() const { return !covered_.violation.empty() || !covered_.is_complete; }

  void visit(const GrantWorld& world, Budget budget, std::uint32_t cursor) {
    Digest digest;
    digest.add(world.fingerprint());
    digest.add(cursor);
    digest.add(static_cast<std::uint64_t>(budget.losses * 1000 + budget.doubles * 100 + budget.restarts * 10 + budget.deaths));
    digest.add(static_cast<std::uint64_t>(budget.halts * 100 + budget.delays + 1));
    if (is_over() || !seen_.insert(digest.value()).second) {
      return;
    }
    if (!world.violation().empty()) {
      covered_.violation = world.violation();
      return;
    }
    covered_.longest_wait = std::max(covered_.longest_wait, world.longest_wait());
    if (world.longest_wait() > bounds_.wait_max) {
      covered_.violation = "a stream waits for " + std::to_string(world.longest_wait().count()) + " ns: " + world.describe();
      return;
    }
    ++covered_.states;
    covered_.is_complete = covered_.states < bounds_.states;
    const bool at_end = world.now() >= end_;
    if (at_end || digest.value() % bounds_.settle_every == 0) {
      settle(world);
    }
    if (!at_end) {
      branch(world, budget, cursor);
    }
  }

  void settle(GrantWorld world) {
    if (bounds_.wait_max != kForever) {
      world.settle(static_cast<int>(bounds_.wait_max / tick_));  // the rivals go on
      covered_.longest_wait = std::max(covered_.longest_wait, world.longest_wait());
      if (world.longest_wait() > bounds_.wait_max) {
        covered_.violation = "a stream waits for " + std::to_string(world.longest_wait().count()) + " ns: " + world.describe();
        return;
      }
    }
    world.stop_rivals();
    const auto ticks = world.settle(bounds_.settle_ticks);
    ++covered_.settled;
    if (!world.violation().empty()) {
      covered_.violation = world.violation() + " (after the faults had stopped)";
    } else if (!ticks) {
      covered_.violation = "something still waits when the faults have long stopped: " + world.describe();
    } else {
      covered_.longest = std::max(covered_.longest, *ticks);
    }
  }

  template <class Act>
  void take(const GrantWorld& world, Budget budget, std::uint32_t cursor, Act act) {
    if (is_over()) {
      return;
    }
    GrantWorld next = world;
    act(next);
    ++covered_.transitions;
    visit(next, budget, cursor);
  }

  static Budget without(Budget budget, int Budget::* fault) {
    --(budget.*fault);
    return budget;
  }

  // Three reductions, none of which hides a state that differs for any machine. A message that will be lost is lost at its
  // greatest age: nobody can tell since when. A message is doubled when its first copy is delivered. Within a tick, whatever
  // happens to different machines commutes, so it is tried in their order (`cursor`) only: a node's sender, then its arbiter,
  // then the next node's. What happens to a node as a whole may come between any two of its machines' messages.
  void branch(const GrantWorld& world, Budget budget, std::uint32_t cursor) {
    bool may_wait = true;
    Budget later = budget;
    for (std::size_t i = 0; i < world.flying().size(); ++i) {
      const FlyingGrant& each = world.flying()[i];
      const Duration age = world.now() - each.sent;
      const bool is_due = age >= delay_max_;
      later.delays -= budget.delays >= 0 && age == tick_ ? 1 : 0;
      may_wait = may_wait && !is_due && (budget.delays < 0 || later.delays >= 0);
      const std::uint32_t to = 2 * each.to.value + (is_to_arbiter(each.message) ? 1 : 0);
      if (each.sent == world.now() || to < cursor) {
        continue;
      }
      take(world, budget, to, [&](GrantWorld& next) { next.deliver(i); });
      if (is_due && budget.losses > 0) {
        take(world, without(budget, &Budget::losses), to, [&](GrantWorld& next) { next.lose(i); });
      }
      if (budget.doubles > 0) {
        take(world, without(budget, &Budget::doubles), to, [&](GrantWorld& next) {
          next.duplicate(i);
          next.deliver(i);
        });
      }
    }
    for (std::uint32_t node = cursor / 2; node < nodes_; ++node) {
      if (budget.restarts > 0) {
        take(world, without(budget, &Budget::restarts), 2 * node, [&](GrantWorld& next) { next.restart(node); });
      }
      if (budget.deaths > 0) {
        take(world, without(budget, &Budget::deaths), 2 * node, [&](GrantWorld& next) { next.kill(node); });
      }
    }
    if (world.is_by_message()) {
      branch_by_word(world, budget, cursor);
    }
    if (may_wait && !world.is_due()) {
      take(world, later, 0, [](GrantWorld& next) { next.advance(); });
    }
  }

  /// Proofs of darkness, returns, commits and beginnings, each at any instant until it is due.
  void branch_by_word(const GrantWorld& world, Budget budget, std::uint32_t cursor) {
    for (std::size_t i = 0; i < world.darkening().size(); ++i) {
      const std::uint32_t node = world.darkening()[i].node.value;
      if (node >= cursor / 2 && world.is_alive(node)) {
        take(world, budget, 2 * node, [&](GrantWorld& next) { next.prove_dark(i); });
      }
    }
    for (std::uint32_t node = cursor / 2; node < nodes_; ++node) {
      if (!world.is_alive(node)) {
        take(world, budget, 2 * node, [&](GrantWorld& next) { next.restart(node); });
      } else if (world.may_begin(node) && !world.may_reroute()) {
        take(world, budget, 2 * node, [&](GrantWorld& next) { next.begin(node); });
      } else if (world.is_on(node) && budget.halts > 0) {
        take(world, without(budget, &Budget::halts), 2 * node, [&](GrantWorld& next) { next.halt(node); });
      }
    }
    if (world.may_reroute()) {
      take(world, budget, 0, [](GrantWorld& next) { next.reroute(); });
    }
  }

  Bounds bounds_;
  Instant end_{};
  Duration delay_max_{};
  Duration tick_{};
  std::uint32_t nodes_ = 0;
  std::unordered_set<std::uint64_t> seen_;
  Covered covered_;
};

/// One tick is a microsecond, and carries 1000 bytes.
GrantWorldOptions small_plane(std::uint32_t nodes, std::uint32_t transmitters) {
  GrantWorldOptions options;
  options.nodes = nodes;
  options.tick = microseconds{1};
  GrantTimings timings;
  timings.rate = gigabits(8);
  timings.tune = microseconds{1};
  timings.lock = microseconds{1};
  timings.control = microseconds{1};
  timings.flight = microseconds{1};
  timings.flight_error = Duration::zero();
  timings.clock_error = Duration::zero();
  timings.blank = microseconds{1};
  timings.trigger_late = Duration::zero();
  options.sender.timings = timings;
  options.sender.transmitters = transmitters;
  options.sender.streams_max = 4;
  options.sender.repeat = microseconds{4};
  options.sender.keepalive = microseconds{16};
  options.sender.give_up = microseconds{100};
  options.sender.starvation = microseconds{60};
  options.arbiter.timings = timings;
  options.arbiter.quantum = microseconds{3};
  options.arbiter.slack = microseconds{2};
  options.arbiter.repeat = microseconds{3};
  return options;
}

GrantOffer offer(int tick, std::uint64_t collective, std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
  return {Instant{microseconds{tick}}, StreamId{JobId{1}, collective, NodeId{from}, NodeId{to}}, Bytes{bytes}};
}

/// The same behind executors in software: proofs of darkness come up to two ticks late, one grant after another.
GrantWorldOptions small_plane_by_message(std::uint32_t nodes, std::uint32_t transmitters) {
  GrantWorldOptions options = small_plane(nodes, transmitters);
  options.arbiter.lease_end = LeaseEnd::by_message;
  options.arbiter.ahead = 1;
  options.proof_ticks = 2;
  options.commit_ticks = 2;
  return options;
}

void explore(const std::string& name, const GrantWorldOptions& options, Budget budget, Bounds bounds) {
  if (const char* more = std::getenv("LIGHTLOOM_GRANT_HORIZON_MORE")) {
    bounds.horizon += std::atoi(more);
    bounds.states = 200'000'000;
  }
  const Covered covered = Explorer(options, budget, bounds).covered();
  WARN(name << ": " << covered.states << " states, " << covered.transitions << " transitions, " << covered.settled
            << " led home in at most " << covered.longest << " ticks; longest wait "
            << covered.longest_wait.count() / options.tick.count() << "; horizon " << bounds.horizon << " ticks"
            << (covered.is_complete ? ", complete" : ", NOT complete"));
  CHECK(covered.violation == "");
  CHECK(covered.is_complete);
}

}  // namespace

TEST_CASE("two_senders_of_one_receiver_never_meet_whatever_is_lost_or_doubled") {
  GrantWorldOptions options = small_plane(3, 1);
  options.offers = {offer(1, 1, 0, 2, 2000), offer(1, 2, 1, 2, 1000)};
  explore("3 nodes, k = 1, incast of 2, one loss and one double", options, {1, 1, 0, 0}, {.horizon = 14, .delay_max = 2});
}

TEST_CASE("two_senders_of_one_receiver_never_meet_whoever_restarts") {
  GrantWorldOptions options = small_plane(3, 1);
  options.offers = {offer(1, 1, 0, 2, 2000), offer(1, 2, 1, 2, 1000)};
  explore("3 nodes, k = 1, incast of 2, one restart and one double", options, {0, 1, 1, 0}, {.horizon = 13, .delay_max = 2});
}

TEST_CASE("a_receiver_is_never_stuck_on_the_dead") {
  GrantWorldOptions options = small_plane(3, 1);
  options.offers = {offer(1, 1, 0, 2, 2000), offer(1, 2, 1, 2, 1000)};
  explore("3 nodes, k = 1, incast of 2, one death and one loss", options, {1, 0, 0, 1}, {.horizon = 14, .delay_max = 2});
}

TEST_CASE("a_sender_of_two_receivers_lights_one_transmitter_at_a_time") {
  GrantWorldOptions options = small_plane(3, 1);
  options.offers = {offer(1, 1, 0, 1, 2000), offer(1, 2, 0, 2, 1000)};
  explore("3 nodes, k = 1, one sender of two receivers", options, {1, 1, 0, 0}, {.horizon = 13, .delay_max = 2});
}

TEST_CASE("two_transmitters_of_one_node_never_meet_at_one_receiver") {
  GrantWorldOptions options = small_plane(2, 2);
  options.offers = {offer(1, 1, 0, 1, 4000), offer(1, 2, 0, 1, 1000), offer(2, 3, 1, 0, 1000)};
  explore("2 nodes, k = 2, two streams one way and one back", options, {1, 1, 0, 0}, {.horizon = 11, .delay_max = 2});
}

TEST_CASE("a_restart_and_a_death_in_a_pair_of_nodes_lead_home") {
  GrantWorldOptions options = small_plane(2, 1);
  options.offers = {offer(1, 1, 0, 1, 4000), offer(2, 2, 1, 0, 1000)};
  explore("2 nodes, k = 1, one of everything", options, {1, 1, 1, 1}, {.horizon = 9, .delay_max = 2});
}

TEST_CASE("clocks_and_flights_that_err_as_far_as_they_may_are_within_the_guard") {
  GrantWorldOptions options = small_plane(3, 2);
  for (GrantTimings* timings : {&options.sender.timings, &options.arbiter.timings}) {
    timings->clock_error = microseconds{1};
    timings->flight_error = microseconds{1};
  }
  options.clock_offset = {microseconds{-1}, microseconds{1}, microseconds{0}};
  options.flight = {microseconds{2}, microseconds{0}, microseconds{1}};
  options.offers = {offer(1, 1, 0, 2, 1000), offer(1, 2, 1, 2, 2000)};
  explore("3 nodes, k = 2, clocks and flights err, one loss and one double", options, {1, 1, 0, 0},
          {.horizon = 20, .delay_max = 2});
}

TEST_CASE("an_exchange_waits_for_a_turn_and_lights_never_meet") {
  GrantWorldOptions options = small_plane(3, 1);
  options.arbiter.quantum = microseconds{8};  // a turn is two ticks
  // Node 1 is nearest before receiver 2 and sends to 0 first; when it is nearly free, node 0 asks receiver 2 as well.
  options.offers = {offer(1, 1, 1, 0, 8000), offer(1, 1, 1, 2, 8000), offer(10, 1, 0, 2, 8000)};
  explore("3 nodes, k = 1, an exchange that waits for a turn, one loss and one double", options, {1, 1, 0, 0},
          {.horizon = 15, .delay_max = 2});
  // What was waited for is lit at the sixteenth tick.
  explore("the same, one loss", options, {1, 0, 0, 0}, {.horizon = 20, .delay_max = 2});
}

namespace {

GrantRival rival(std::uint32_t from, std::uint32_t to, std::int64_t bytes) { return {NodeId{from}, NodeId{to}, Bytes{bytes}}; }

/// A stream to receiver 2 whose sender two short rivals hold, and whose receiver an incast rival holds: the short ones keep
/// taking the transmitter whenever the receiver is free.
GrantWorldOptions rivals_of_a_long_stream() {
  GrantWorldOptions options = small_plane(4, 1);
  options.sender.streams_max = 8;
  options.sender.starvation = microseconds{20};
  options.rivals = {rival(0, 2, 3000), rival(0, 1, 1000), rival(0, 3, 1000), rival(1, 2, 3000)};
  return options;
}

/// Two grants at its receiver, two rows at its transmitter, each with the turn that is waited for, and a round trip: what a
/// starving stream that is the oldest of all waits for at most. The stream itself is lit for one window more.
Duration starving_wait_max(const GrantWorldOptions& options) {
  const GrantTimings& timings = options.arbiter.timings;
  const Duration turn = options.arbiter.quantum / kTurnShare;
  const Duration window = turn + overhead_of(timings) + options.arbiter.quantum + options.arbiter.slack + guard_of(timings);
  return options.sender.starvation + 5 * window + 2 * timings.control;
}

}  // namespace

TEST_CASE("no_stream_waits_beyond_starvation_and_its_turn") {
  const GrantWorldOptions options = rivals_of_a_long_stream();
  explore("4 nodes, k = 1, incast of 2, two rivals at one sender", options, {.losses = 0, .doubles = 0, .delays = 0},
          {.horizon = 34, .delay_max = 2, .wait_max = starving_wait_max(options)});
}

TEST_CASE("no_stream_waits_beyond_starvation_and_its_turn_though_a_word_is_late_or_lost") {
  const GrantWorldOptions options = rivals_of_a_long_stream();
  explore("the same, one late word", options, {.losses = 0, .doubles = 0, .delays = 1},
          {.horizon = 20, .delay_max = 3, .wait_max = starving_wait_max(options)});
  explore("the same, one loss", options, {.losses = 1, .doubles = 0, .delays = 0},
          {.horizon = 18, .delay_max = 1, .wait_max = starving_wait_max(options) + options.sender.keepalive});
}

TEST_CASE("no_stream_of_an_all_to_all_waits_beyond_starvation_and_its_turn") {
  GrantWorldOptions options = small_plane(3, 1);
  options.sender.streams_max = 8;
  options.sender.starvation = microseconds{20};
  options.rivals = {rival(0, 1, 2000), rival(0, 2, 3000), rival(1, 0, 2000),
                    rival(1, 2, 3000), rival(2, 0, 3000), rival(2, 1, 3000)};
  explore("3 nodes, k = 1, all to all without end", options, {.losses = 0, .doubles = 0, .delays = 0},
          {.horizon = 60, .delay_max = 2, .wait_max = starving_wait_max(options)});
}

TEST_CASE("no_stream_of_an_exchange_that_never_ends_waits_beyond_starvation_and_its_turn") {
  GrantWorldOptions options = small_plane(3, 1);
  options.sender.streams_max = 8;
  options.sender.starvation = microseconds{20};
  options.is_exchange = true;
  options.arbiter.quantum = microseconds{8};  // a turn is two ticks
  options.rivals = {rival(0, 1, 2000), rival(0, 2, 3000), rival(1, 0, 2000),
                    rival(1, 2, 3000), rival(2, 0, 3000), rival(2, 1, 3000)};
  explore("3 nodes, k = 1, an exchange without end", options, {.losses = 0, .doubles = 0, .delays = 0},
          {.horizon = 40, .delay_max = 2, .wait_max = starving_wait_max(options)});
}

TEST_CASE("without_the_starvation_rule_the_same_rivals_keep_a_stream_waiting") {
  GrantWorldOptions options = rivals_of_a_long_stream();
  const Duration bound = starving_wait_max(options);
  options.sender.starvation = std::chrono::seconds{1};
  const Covered covered =
      Explorer(options, {.losses = 0, .doubles = 0, .delays = 0}, {.horizon = 120, .delay_max = 2, .wait_max = bound})
          .covered();
  CHECK(covered.violation.find("a stream waits for") == 0);
}

TEST_CASE("by_word_two_senders_of_one_receiver_never_meet_however_late_they_darken") {
  GrantWorldOptions options = small_plane_by_message(3, 1);
  options.offers = {offer(1, 1, 0, 2, 2000), offer(1, 2, 1, 2, 1000)};
  explore("by word: 3 nodes, k = 1, incast of 2, one loss and one double", options, {1, 1, 0, 0},
          {.horizon = 16, .delay_max = 2});
}

TEST_CASE("by_word_a_dead_sender_closes_one_receiver_until_all_is_laid_anew") {
  GrantWorldOptions options = small_plane_by_message(3, 1);
  options.offers = {offer(1, 1, 0, 2, 2000), offer(1, 2, 1, 2, 1000)};
  explore("by word: 3 nodes, k = 1, incast of 2, one death", options, {0, 0, 0, 1}, {.horizon = 11, .delay_max = 2});
}

TEST_CASE("by_word_a_death_and_a_loss_lead_home_through_a_commit") {
  GrantWorldOptions options = small_plane_by_message(3, 1);
  options.offers = {offer(1, 1, 0, 2, 2000), offer(1, 2, 1, 2, 1000)};
  explore("by word: 3 nodes, k = 1, incast of 2, one death and one loss", options, {1, 0, 0, 1},
          {.horizon = 12, .delay_max = 1});
}

TEST_CASE("by_word_lasers_latched_off_let_the_next_one_in_once_they_are_dark") {
  GrantWorldOptions options = small_plane_by_message(3, 1);
  options.offers = {offer(1, 1, 0, 2, 2000), offer(1, 2, 1, 2, 1000)};
  explore("by word: 3 nodes, k = 1, incast of 2, lasers of one off, one loss", options, {1, 0, 0, 0, 1},
          {.horizon = 11, .delay_max = 2});
}

}  // namespace loom::testing
