// SPDX-License-Identifier: Apache-2.0
// The safety judge against planted faults: each rule must catch the light that breaks it, and stay silent on a clean commit.
#include "sim_backend/judge/light_checker.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "sim_backend/judge/fault_excuse.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using namespace loom::test;

namespace {

/// 8 nodes in two groups of four, and plans written by hand.
struct Court {
  std::shared_ptr<const Fabric> fabric = small_oddl(8, 4);
  LightModel light{fabric};
  bool is_out_of_reach = true;  ///< whoever a plan leaves alone
  LightChecker checker{light, {.is_out_of_reach = [this](ElementId) { return is_out_of_reach; }}};
  std::int64_t clock = 0;

  Court() = default;
  Court(const Court&) = delete;  // the judge keeps a reference to the light
  Court& operator=(const Court&) = delete;

  Circuit circuit(std::uint64_t id, std::uint32_t source, std::uint32_t destination, std::int32_t channel) const {
    return {CircuitId{id},
            JobId{1},
            NodeId{source},
            NodeId{destination},
            fabric->nodes[source].transmitters.front(),
            fabric->nodes[destination].receivers.front(),
            slot_of_channel(channel),
            gigabits(100)};
  }
  void journal(CommitDecision decision, std::uint64_t revision, std::vector<Circuit> circuits = {}) {
    auto plan = std::make_shared<Plan>();
    plan->revision = Revision{revision};
    plan->circuits = std::move(circuits);
    checker.learn(instant_from_ns(clock), CommitRecord{decision, Revision{revision}, CircuitId{}, plan});
  }
  void apply(OpticalChange change) {
    change.at = instant_from_ns(++clock);
    const auto changed = light.apply(change);
    checker.judge(change.at, changed);
  }
  void emit(std::uint32_t node, std::int32_t channel) {
    apply(laser(*fabric, 0, NodeId{node}, centre_of(slot_of_channel(channel))));
  }
  void darken(std::uint32_t node) { apply(dark(*fabric, 0, NodeId{node})); }
  void tune_ring(std::uint32_t node, std::int32_t channel) {
    apply(ring(*fabric, 0, NodeId{node}, centre_of(slot_of_channel(channel))));
  }
  /// Group 0 talks to itself on all channels.
  void open_group() {
    std::vector<WssRoute> open;
    for (std::int32_t channel = 0; channel < 6; ++channel) {
      open.push_back({slot_of_channel(channel), 0, 0, Db{0}});
    }
    apply(routes(*fabric, 0, "wss-out-0", open));
    apply(routes(*fabric, 0, "wss-in-0", open));
  }
  std::size_t count(SafetyRule rule) const {
    return static_cast<std::size_t>(std::count_if(checker.violations().begin(), checker.violations().end(),
                                                  [&](const Violation& violation) { return violation.rule == rule; }));
  }
};

/// Revision 1: node 0 sends to node 1 on channel 1, confirmed and lit.
struct LitCourt : Court {
  LitCourt() {
    open_group();
    tune_ring(1, 1);
    tune_ring(2, 2);
    journal(CommitDecision::going, 1, {circuit(1, 0, 1, 1)});
    emit(0, 1);
    journal(CommitDecision::confirmed, 1);
  }
};

}  // namespace

TEST_CASE("a_clean_commit_breaks_no_rule") {
  Court court;
  court.open_group();
  court.tune_ring(1, 1);
  court.tune_ring(2, 2);
  court.journal(CommitDecision::going, 1, {court.circuit(1, 0, 1, 1), court.circuit(2, 3, 2, 2)});
  court.emit(0, 1);
  court.emit(3, 2);
  court.journal(CommitDecision::confirmed, 1);
  court.journal(CommitDecision::going, 2, {court.circuit(2, 3, 2, 2), court.circuit(3, 0, 3, 3)});
  court.darken(0);
  court.tune_ring(1, 0);
  court.tune_ring(3, 3);
  court.emit(0, 3);
  court.journal(CommitDecision::confirmed, 2);
  CHECK(court.checker.violations().empty());
  CHECK(court.checker.mixed() == 0);
  CHECK(differences(court.light, court.checker.confirmed()).empty());
}

TEST_CASE("light_of_a_plan_that_only_a_snapshot_tells_of_is_lawful_and_light_of_what_it_replaced_is_not") {
  LitCourt court;
  const auto plan = [&](std::uint64_t revision, std::vector<Circuit> circuits) {
    auto made = std::make_shared<Plan>();
    made->revision = Revision{revision};
    made->circuits = std::move(circuits);
    return made;
  };
  SnapshotRecord snapshot;
  const Circuit kept = court.circuit(1, 0, 1, 1);
  snapshot.confirmed = plan(2, {kept});
  snapshot.uncertain = {plan(3, {kept, court.circuit(2, 3, 2, 2)})};
  snapshot.going = plan(4, {kept, court.circuit(3, 2, 3, 3)});
  court.tune_ring(3, 3);
  court.checker.learn(instant_from_ns(court.clock), snapshot);
  REQUIRE(court.checker.confirmed() != nullptr);
  CHECK(court.checker.confirmed()->revision == Revision{2});
  court.emit(3, 2);
  court.darken(3);
  court.emit(2, 3);
  for (const Violation& violation : court.checker.violations()) {
    FAIL_CHECK(violation.evidence);
  }
  SECTION("once the last one is confirmed, only its light is lawful") {
    court.journal(CommitDecision::confirmed, 4);
    CHECK(court.checker.violations().empty());
    court.emit(3, 2);
    CHECK(court.count(SafetyRule::stray) > 0);
  }
  SECTION("the same snapshot again changes nothing, nor does one that knows less") {
    court.checker.learn(instant_from_ns(court.clock), snapshot);
    court.checker.learn(instant_from_ns(court.clock), SnapshotRecord{});
    CHECK(court.checker.confirmed()->revision == Revision{2});
    court.darken(2);
    court.emit(3, 2);
    CHECK(court.checker.violations().empty());
  }
  SECTION("lasers that it says are off must be dark") {
    snapshot.intent.lasers_off = true;
    court.checker.learn(instant_from_ns(court.clock), snapshot);
    court.clock += std::chrono::nanoseconds{CheckerOptions{}.lasers_off_bound}.count();
    court.checker.judge_all(instant_from_ns(court.clock));
    CHECK(court.count(SafetyRule::lasers_off) == 2);
  }
}

TEST_CASE("two_transmitters_on_one_wavelength_collide_on_the_combiners_fibre") {
  Court court;
  court.journal(CommitDecision::going, 1, {court.circuit(1, 0, 1, 1), court.circuit(2, 2, 1, 1)});
  court.emit(0, 1);
  CHECK(court.count(SafetyRule::collision) == 0);
  court.emit(2, 1);
  CHECK(court.count(SafetyRule::collision) == 1);
  CHECK(court.checker.violations().front().evidence.find("tx-0") != std::string::npos);
}

TEST_CASE("two_wavelengths_at_one_receiver_collide") {
  Court court;
  court.open_group();
  court.journal(CommitDecision::going, 1, {court.circuit(1, 0, 1, 1), court.circuit(2, 2, 1, 5)});
  court.emit(0, 1);
  court.emit(2, 5);  // channel 5 leaves the grating at output 1 too; the ring takes one of them
  court.tune_ring(1, 1);
  CHECK(court.count(SafetyRule::collision) == 0);
  // The grating's output carries both; one laser drifts until the ring drops it too.
  court.apply(laser(*court.fabric, 0, NodeId{2}, centre_of(slot_of_channel(1)) + FrequencyOffset{30'000}));
  CHECK(court.count(SafetyRule::collision) == 1);
}

TEST_CASE("light_of_no_plan_is_stray") {
  Court court;
  court.emit(0, 1);
  REQUIRE(court.count(SafetyRule::stray) == 1);
  CHECK(court.checker.violations().front().evidence.find("belongs to no circuit") != std::string::npos);
}

TEST_CASE("light_that_a_plan_leaves_alone_is_no_stray_where_an_earlier_plan_had_it") {
  LitCourt court;
  const bool is_flagged = GENERATE(true, false);
  court.is_out_of_reach = GENERATE(true, false);  // a plan that leaves alone whoever it could tell is none
  const bool is_left_alone = is_flagged && court.is_out_of_reach;
  auto plan = std::make_shared<Plan>();
  plan->revision = Revision{2};
  NodePlan node;
  const DeviceId laser = *court.fabric->device_of_element[court.fabric->nodes[0].transmitters.front().value];
  DevicePlan& device = node.devices.emplace_back(DevicePlan{laser, false, {{{}, {}, kForever, TransmitterSetpoint{}}}});
  device.left_alone = is_flagged;
  plan->nodes.push_back(std::move(node));
  for (const CommitDecision decision : {CommitDecision::going, CommitDecision::confirmed}) {
    court.checker.learn(instant_from_ns(court.clock), CommitRecord{decision, Revision{2}, CircuitId{}, plan});
  }
  CHECK(court.count(SafetyRule::stray) == (is_left_alone ? 0 : 1));
  court.emit(0, 3);  // another colour is nobody's, either way
  CHECK(court.count(SafetyRule::stray) > 0);
}

TEST_CASE("light_that_was_left_alone_and_went_dark_does_not_come_back") {
  LitCourt court;
  auto plan = std::make_shared<Plan>();
  plan->revision = Revision{2};
  const DeviceId laser = *court.fabric->device_of_element[court.fabric->nodes[0].transmitters.front().value];
  DevicePlan left_alone{laser, false, {{{}, {}, kForever, TransmitterSetpoint{}}}, true};
  NodePlan node;
  node.devices.push_back(left_alone);
  plan->nodes.push_back(std::move(node));
  const bool was_dark = GENERATE(true, false);
  if (was_dark) {
    court.darken(0);
  }
  for (const CommitDecision decision : {CommitDecision::going, CommitDecision::confirmed}) {
    court.checker.learn(instant_from_ns(court.clock), CommitRecord{decision, Revision{2}, CircuitId{}, plan});
  }
  REQUIRE(court.count(SafetyRule::stray) == 0);
  court.darken(0);
  court.emit(0, 1);
  CHECK(court.count(SafetyRule::stray) == 1);
}

TEST_CASE("light_at_a_receiver_of_no_circuit_is_stray_there") {
  Court court;
  court.open_group();
  court.tune_ring(1, 1);
  court.journal(CommitDecision::going, 1, {court.circuit(1, 0, 3, 1)});  // the plan is wrong: channel 1 leads to node 1
  court.emit(0, 1);
  REQUIRE(court.count(SafetyRule::stray) == 1);
  CHECK(court.checker.violations().front().evidence.find("rx-1") != std::string::npos);
}

TEST_CASE("a_stale_circuit_left_alight_is_found_when_the_next_revision_is_confirmed") {
  LitCourt court;
  court.journal(CommitDecision::going, 2, {court.circuit(2, 3, 2, 2)});
  court.journal(CommitDecision::confirmed, 2);  // node 0 was never darkened
  CHECK(court.count(SafetyRule::stray) == 1);
}

TEST_CASE("skipping_the_blank_mixes_two_revisions_at_a_switch_port") {
  LitCourt court;
  court.journal(CommitDecision::going, 2, {court.circuit(2, 3, 2, 2)});
  court.emit(3, 2);  // the new circuit while the old one is still lit
  CHECK(court.count(SafetyRule::mixed) == 1);
  CHECK(court.checker.mixed() == 1);
}

TEST_CASE("unchanged_circuits_belong_to_both_revisions") {
  LitCourt court;
  court.journal(CommitDecision::going, 2, {court.circuit(1, 0, 1, 1), court.circuit(2, 3, 2, 2)});
  court.emit(3, 2);
  court.journal(CommitDecision::confirmed, 2);
  CHECK(court.checker.violations().empty());
}

TEST_CASE("a_returned_revision_and_the_one_that_replaces_it_may_not_shine_together") {
  LitCourt court;
  court.journal(CommitDecision::going, 2, {court.circuit(2, 3, 2, 2)});
  court.darken(0);
  court.emit(3, 2);
  court.journal(CommitDecision::returned, 2);
  court.journal(CommitDecision::going, 3, {court.circuit(3, 0, 1, 1)});
  court.emit(0, 1);  // back, but revision 2 is still alight
  CHECK(court.count(SafetyRule::mixed) == 1);
}

TEST_CASE("relighting_before_the_switch_has_settled_is_light_into_a_moving_port") {
  LitCourt court;
  court.journal(CommitDecision::going, 2, {court.circuit(2, 0, 1, 1)});
  court.darken(0);
  const WssRoute route{slot_of_channel(1), 0, 0, Db{0}};
  court.apply(routes(*court.fabric, 0, "wss-out-0", {}, {route}));
  CHECK(court.checker.violations().empty());
  court.emit(0, 1);
  REQUIRE(court.count(SafetyRule::moving_port) == 1);
  CHECK(court.checker.violations().front().evidence.find("wss-out-0") != std::string::npos);
}

TEST_CASE("moving_a_switch_under_light_is_light_into_a_moving_port") {
  LitCourt court;
  const WssRoute route{slot_of_channel(1), 0, 0, Db{0}};
  court.apply(routes(*court.fabric, 0, "wss-in-0", {}, {route}));
  CHECK(court.count(SafetyRule::moving_port) == 1);
}

TEST_CASE("light_after_lasers_off_is_found_when_the_bound_passes") {
  LitCourt court;
  Intent intent;
  intent.lasers_off = true;
  const Instant ordered = instant_from_ns(court.clock);
  court.checker.learn(ordered, IntentRecord{intent, 1, JobId{2}});
  const Instant bound = court.checker.next_bound(ordered);
  REQUIRE(bound == ordered + CheckerOptions{}.lasers_off_bound);
  court.checker.judge_all(bound - Duration{1});
  CHECK(court.checker.violations().empty());
  court.checker.judge_all(bound);
  CHECK(court.count(SafetyRule::lasers_off) == 1);
}

TEST_CASE("an_agents_latch_counts_for_its_own_transmitters") {
  LitCourt court;
  const Instant latched = instant_from_ns(court.clock);
  court.checker.learn_latch(latched, NodeId{1}, LatchRecord{true, 1});
  court.checker.judge_all(latched + CheckerOptions{}.latch_bound);
  CHECK(court.checker.violations().empty());  // node 0 shines, node 1 is latched
  court.checker.learn_latch(latched, NodeId{0}, LatchRecord{true, 1});
  court.checker.judge_all(latched + CheckerOptions{}.latch_bound);
  CHECK(court.count(SafetyRule::lasers_off) == 1);
}

TEST_CASE("whoever_lifts_a_latch_that_no_operator_has_rearmed_is_found_before_any_light_returns") {
  LitCourt court;
  court.darken(0);
  const NodeId node{0};
  LatchRecord latch{true, 5};
  latch.is_own = GENERATE(false, true);
  court.checker.learn_latch(instant_from_ns(court.clock), node, latch);
  IntentRecord rearm{{}, 9, JobId{2}};
  rearm.laser_request_to_all = GENERATE(0U, 6U, 9U);
  court.checker.learn(instant_from_ns(court.clock), rearm);
  court.checker.learn_latch(instant_from_ns(court.clock), node, LatchRecord{false, 9});
  CHECK(court.count(SafetyRule::lasers_off) == (rearm.laser_request_to_all == 9 ? 0 : 1));
}

TEST_CASE("a_node_that_is_taken_into_service_again_needs_no_rearm") {
  LitCourt court;
  court.darken(0);
  LatchRecord latch;
  latch.node_off = true;
  latch.node_order = 5;
  court.checker.learn_latch(instant_from_ns(court.clock), NodeId{0}, latch);
  court.checker.learn_latch(instant_from_ns(court.clock), NodeId{0}, LatchRecord{});
  CHECK(court.checker.violations().empty());
}

TEST_CASE("an_open_contact_is_dark_within_the_devices_times_and_until_a_rearm_with_the_contact_closed") {
  LitCourt court;
  const auto& transmitter = std::get<Transmitter>(court.fabric->element(court.fabric->nodes[0].transmitters.front()).kind);
  const Instant opened = instant_from_ns(court.clock);
  court.checker.note_contact(opened, NodeId{1}, ContactState::open);  // node 1 shines nothing
  court.checker.note_contact(opened, NodeId{0}, ContactState::open);
  const Instant bound = opened + transmitter.blank_max + transmitter.control_max;
  REQUIRE(court.checker.next_bound(opened) == bound);
  court.checker.judge_all(bound - Duration{1});
  CHECK(court.checker.violations().empty());
  const bool is_dark = GENERATE(true, false);
  if (is_dark) {
    court.darken(0);
  }
  court.checker.judge_all(bound);
  CHECK(court.count(SafetyRule::interlock) == (is_dark ? 0 : 1));
}

TEST_CASE("a_contact_that_opened_and_closed_while_no_process_could_read_it_asks_for_no_darkness") {
  LitCourt court;
  court.checker.note_contact(instant_from_ns(court.clock), NodeId{0}, ContactState::open);
  const bool was_seen = GENERATE(true, false);
  court.checker.note_contact(instant_from_ns(court.clock), NodeId{0}, was_seen ? ContactState::closed : ContactState::unread);
  court.clock += 1'000'000'000;
  court.checker.judge_all(instant_from_ns(court.clock));
  CHECK(court.count(SafetyRule::interlock) == (was_seen ? 1 : 0));
}

TEST_CASE("a_contact_that_opens_unseen_takes_nothing_from_what_an_earlier_opening_asks_for") {
  LitCourt court;
  court.darken(0);
  const auto note = [&](ContactState state) { court.checker.note_contact(instant_from_ns(court.clock), NodeId{0}, state); };
  note(ContactState::open);
  note(ContactState::closed);  // and nobody rearms
  note(ContactState::open);
  note(ContactState::unread);
  court.clock += 1'000'000'000;
  court.emit(0, 1);
  CHECK(court.count(SafetyRule::interlock) == 1);
}

TEST_CASE("light_after_an_open_contact_is_unlawful_until_somebody_rearms_while_it_is_closed") {
  LitCourt court;
  court.checker.note_contact(instant_from_ns(court.clock), NodeId{0}, ContactState::open);
  court.darken(0);
  court.checker.note_rearm();  // too early: it is open
  court.checker.note_contact(instant_from_ns(court.clock), NodeId{0}, ContactState::closed);
  const bool is_rearmed = GENERATE(true, false);
  if (is_rearmed) {
    court.checker.note_rearm();
  }
  court.clock += 1'000'000'000;
  court.emit(0, 1);
  CHECK(court.count(SafetyRule::interlock) == (is_rearmed ? 0 : 1));
}

TEST_CASE("more_light_in_a_fibre_than_its_limit_is_found_by_the_sum_of_all_lights") {
  Court court;
  Fabric fabric = *court.fabric;
  const FibreId fibre = *fabric.fibre_out[fabric.nodes[0].transmitters.front().value][0];
  const ElementId combiner = fabric.fibres[fibre.value].to.element;
  const FibreId trunk = *fabric.fibre_out[combiner.value][0];
  const Db loss = fabric.element(combiner).insertion_loss;
  fabric.fibres[trunk.value].power_limit = Dbm{0} - loss + Db{200};  // one laser of 0 dBm fits, two (+3 dB) do not
  LightModel light(std::make_shared<const Fabric>(fabric));
  LightChecker checker(light, CheckerOptions{});
  const auto emit = [&](std::uint32_t node, std::int32_t channel) {
    const auto change = laser(fabric, ++court.clock, NodeId{node}, centre_of(slot_of_channel(channel)));
    checker.judge(change.at, light.apply(change));
    return std::ranges::count(checker.violations(), SafetyRule::power, &Violation::rule);
  };
  CHECK(emit(0, 1) == 0);
  CHECK(emit(1, 2) == 1);
}

constexpr RuleSet kAstray = rule_set({SafetyRule::stray, SafetyRule::collision, SafetyRule::crosstalk});

TEST_CASE("an_injected_fault_excuses_stray_light_but_not_mixing") {
  LitCourt court;
  court.checker.excuse({court.fabric->nodes[0].transmitters.front(), kAstray, kNever, "laser-0: laser-detuned"});
  court.apply(laser(*court.fabric, 0, NodeId{0}, centre_of(slot_of_channel(1)) + FrequencyOffset{60'000}));
  CHECK(court.checker.violations().empty());
  REQUIRE(court.checker.excused().size() == 1);  // and it is visible
  CHECK(court.checker.excused().front().violation.rule == SafetyRule::stray);
  CHECK(court.checker.excused().front().fault == "laser-0: laser-detuned");
  court.emit(0, 1);
  court.journal(CommitDecision::going, 2, {court.circuit(2, 3, 2, 2)});
  court.emit(3, 2);
  CHECK(court.count(SafetyRule::mixed) == 1);
}

TEST_CASE("a_fault_excuses_until_its_end_and_not_beyond") {
  LitCourt court;
  const Instant end = instant_from_ns(court.clock + 100);
  court.checker.excuse({court.fabric->nodes[0].transmitters.front(), kAstray, end, "laser-0: laser-stuck"});
  court.apply(laser(*court.fabric, 0, NodeId{0}, centre_of(slot_of_channel(1)) + FrequencyOffset{60'000}));
  court.checker.judge_all(end - Duration{1});
  CHECK(court.checker.violations().empty());
  court.checker.judge_all(end);
  CHECK(court.count(SafetyRule::stray) == 1);
}

TEST_CASE("a_fault_excuses_the_rules_that_it_explains_and_its_own_light") {
  LitCourt court;
  const ElementId own = court.fabric->nodes[0].transmitters.front();
  const ElementId other = court.fabric->nodes[3].transmitters.front();
  const auto stray = [&] {
    court.apply(laser(*court.fabric, 0, NodeId{0}, centre_of(slot_of_channel(1)) + FrequencyOffset{60'000}));
  };
  SECTION("another rule") { court.checker.excuse({own, rule_set({SafetyRule::lasers_off}), kNever, "laser-0: silent"}); }
  SECTION("no rule") { court.checker.excuse({own, 0, kNever, "laser-0: late"}); }
  SECTION("another laser's light") { court.checker.excuse({other, kAstray, kNever, "laser-3: laser-detuned"}); }
  SECTION("light that has changed meanwhile") {
    court.checker.excuse({own, kAstray, kNever, "laser-0: silent"});
    court.checker.withdraw(own, "laser-0: silent");
  }
  stray();
  CHECK(court.count(SafetyRule::stray) == 1);
  CHECK(court.checker.excused().empty());
}

TEST_CASE("light_at_a_moving_port_is_excused_by_the_way_on_which_it_came_to_that_port") {
  // tx-0 enters wss-in-0 by input 0, leaves it, and comes back by input 1, since two fibres are exchanged.
  LitCourt court;
  const ElementId wss = element_named(*court.fabric, "wss-in-0");
  const std::vector exchanged{std::pair{*court.fabric->fibre_out[wss.value][0], *court.fabric->fibre_in[wss.value][1]}};
  for (const FibreId fibre : {exchanged.front().first, exchanged.front().second}) {
    court.checker.excuse(fibre, {{}, kUntrueLight, kNever, "exchanged fibres"});
  }
  const PortNumber moving = GENERATE(PortNumber{0}, PortNumber{1});
  CAPTURE(moving);
  const auto changed = court.light.set_fibres(instant_from_ns(++court.clock), exchanged);
  court.checker.judge(instant_from_ns(court.clock), changed);
  const WssRoute straight{slot_of_channel(1), 0, 0, Db{0}};
  const WssRoute moves{slot_of_channel(1), moving, 0, Db{0}};
  court.apply(routes(*court.fabric, 0, "wss-in-0", moving == 0 ? std::vector<WssRoute>{} : std::vector{straight}, {moves}));
  REQUIRE(court.light.moving_ports_on_path(court.fabric->nodes[0].transmitters.front()).size() == 1);
  CHECK(court.count(SafetyRule::moving_port) == (moving == 0 ? 1 : 0));
  const auto& excused = court.checker.excused();
  CHECK(std::count_if(excused.begin(), excused.end(), [](const ExcusedViolation& each) {
          return each.violation.rule == SafetyRule::moving_port;
        }) == (moving == 0 ? 0 : 1));
}

TEST_CASE("light_of_a_plan_that_another_controller_had_decided_is_lawful_until_that_one_is_dismissed") {
  LitCourt court;
  court.journal(CommitDecision::going, 2, {court.circuit(1, 0, 1, 1), court.circuit(2, 3, 2, 2)});
  const bool is_known = GENERATE(false, true);
  court.checker.admit_all_but(is_known ? std::vector{Revision{2}} : std::vector<Revision>{});
  court.emit(3, 2);
  court.journal(CommitDecision::going, 1'003, {court.circuit(1, 0, 1, 1)});
  court.journal(CommitDecision::confirmed, 1'003);
  CHECK(court.count(SafetyRule::stray) == (is_known ? 1 : 0));
  court.checker.dismiss_others(instant_from_ns(++court.clock));
  CHECK(court.count(SafetyRule::stray) == 1);
}

TEST_CASE("what_a_fault_explains_follows_from_its_kind_and_its_device") {
  using Kind = DeviceFaultKind;
  for (const DeviceRole device :
       {DeviceRole::transmitter, DeviceRole::filter, DeviceRole::wavelength_switch, DeviceRole::circuit_switch}) {
    const RuleSet late =
        device == DeviceRole::transmitter ? rule_set({SafetyRule::interlock}) : 0;  // dark as late as it answers
    CHECK(excuse_for(Kind::late, device).rules == late);
    CHECK((excuse_for(Kind::dim, device).rules & ~rule_set({SafetyRule::crosstalk})) == 0);  // leaks beside weak light
    CHECK(excuse_for(Kind::silence, device).as_it_was);
    CHECK((excuse_for(Kind::silence, device).rules & rule_set({SafetyRule::moving_port, SafetyRule::mixed})) == 0);
  }
  CHECK(excuse_for(Kind::detune, DeviceRole::transmitter).rules == (kAstray | rule_set({SafetyRule::power})));
  CHECK_FALSE(excuse_for(Kind::detune, DeviceRole::transmitter).must_be_mended);
  CHECK(excuse_for(Kind::fail, DeviceRole::transmitter).rules == 0);  // dark light is nowhere
  CHECK(excuse_for(Kind::fail, DeviceRole::wavelength_switch).rules == 0);
  CHECK(excuse_for(Kind::reboot, DeviceRole::wavelength_switch).rules == 0);
  CHECK(excuse_for(Kind::reboot, DeviceRole::filter).must_be_mended);
}

TEST_CASE("ground_truth_that_differs_from_the_confirmed_plan_is_named") {
  LitCourt court;
  CHECK(differences(court.light, court.checker.confirmed()).empty());
  court.darken(0);
  const auto missing = differences(court.light, court.checker.confirmed());
  REQUIRE(missing.size() == 1);
  CHECK(missing.front().find("tx-0 does not reach rx-1") == 0);
  court.emit(3, 2);
  CHECK(differences(court.light, court.checker.confirmed()).size() == 2);
}
