// SPDX-License-Identifier: Apache-2.0
// Each rule of the codec refuses what it shall refuse, and says which field, which value, which limit.
#include <catch2/catch.hpp>
#include <string>

#include "proto/check.hpp"
#include "proto/codec.hpp"
#include "proto/lightloom.pb.h"
#include "tests/unit/proto/proto_random.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;

Envelope with(Body body) {
  Envelope envelope;
  envelope.body = std::move(body);
  return envelope;
}

/// A plan of one device for node 0, revision 0.
Prepare prepare_of(std::vector<TimedSetpoint> timeline) {
  Prepare prepare;
  prepare.plan.devices.push_back({{1}, true, std::move(timeline)});
  return prepare;
}

TimedSetpoint at(std::int64_t offset_ns, Setpoint setpoint = TransmitterSetpoint{}) {
  return {Duration{offset_ns}, Duration{1}, Duration{1}, std::move(setpoint)};
}

void refuses(const Envelope& envelope, const std::string& words) {
  const auto decoded = decode_envelope(encode(envelope));
  INFO("expected a refusal that says: " << words);
  REQUIRE_FALSE(decoded.has_value());
  REQUIRE(decoded.error().code == ErrorCode::malformed);
  REQUIRE_THAT(decoded.error().message, Contains(words));
}

void refuses_bytes(const wire::Envelope& message, const std::string& words) {
  const auto decoded = decode_envelope(message.SerializeAsString());
  REQUIRE_FALSE(decoded.has_value());
  REQUIRE(decoded.error().code == ErrorCode::malformed);
  REQUIRE_THAT(decoded.error().message, Contains(words));
}

wire::Envelope lawful_wire() {
  wire::Envelope message;
  REQUIRE(message.ParseFromString(encode(with(Go{}))));
  return message;
}

TEST_CASE("another_wire_version_is_named_beside_ours") {
  Envelope envelope = with(Go{});
  envelope.wire_version = 9;
  const auto decoded = decode_envelope(encode(envelope));
  REQUIRE(decoded.error().code == ErrorCode::wrong_version);
  REQUIRE_THAT(decoded.error().message, Contains("version 9") && Contains("speaks version 1"));
  // A body that this build cannot even parse.
  wire::Envelope head;
  head.set_wire_version_number(3);
  const auto foreign = decode_envelope(head.SerializeAsString() + std::string{"\x82\x01\x05hello", 8} + "\x3a\x01\xff");
  REQUIRE(foreign.error().code == ErrorCode::wrong_version);
  REQUIRE(decode_record(std::string{"\x08\x02"}).error().code == ErrorCode::wrong_version);
}

TEST_CASE("a_missing_part_is_named") {
  wire::Envelope message = lawful_wire();
  message.clear_body();
  refuses_bytes(message, "body: is missing");
  message = lawful_wire();
  message.clear_role();
  refuses_bytes(message, "role = 0: must be 1..5");
  message.mutable_prepared();
  message.set_role(wire::ROLE_AGENT);
  refuses_bytes(message, "prepared.outcome: is missing");
  message.mutable_applied()->mutable_outcome();
  refuses_bytes(message, "applied.fire: is missing");
  message.mutable_prepare();
  refuses_bytes(message, "prepare.plan: is missing");
  message.mutable_prepare()->mutable_plan()->add_devices()->add_timeline();
  refuses_bytes(message, "prepare.plan.devices[0].timeline[0].setpoint.setpoint: is missing");
  message.mutable_operator_request();
  refuses_bytes(message, "operator_request.ask.oneof: is missing");
  message.mutable_alarm_report();
  refuses_bytes(message, "alarm_report.alarm.code = 0");
  message.mutable_operator_reply()->mutable_outcome();
  message.mutable_operator_reply()->mutable_status();
  refuses_bytes(message, "drift: is missing");
}

TEST_CASE("an_enumeration_beyond_its_last_word_is_refused") {
  Envelope envelope = with(Go{});
  envelope.role = static_cast<Role>(77);
  refuses(envelope, "role = 78: must be 1..5");
  refuses(with(Proceed{static_cast<CommitPhase>(2), {}}), "proceed.phase = 3");
  refuses(with(Unwelcome{{static_cast<ErrorCode>(99), ""}}), "unwelcome.error.code = 100");
  OperatorRequest request;
  request.ask = Query{static_cast<Noun>(14), {}};
  refuses(with(request), "operator_request.ask.noun = 15");
}

TEST_CASE("an_id_beyond_its_limit_is_refused") {
  Envelope envelope = with(Go{});
  envelope.node = {limits::kNodes};
  refuses(envelope, "node_id = 65536: must be 0..65535");
  Hello hello;
  hello.devices.push_back({{limits::kDevices}, DeviceHealth::ready});
  refuses(with(hello), "hello.devices[0].device_id = 16777216: must be 0..16777215");
  OperatorReply reply;
  CircuitReport row;
  row.circuit.receiver = {limits::kElements};
  reply.rows = std::vector<CircuitReport>{row};
  refuses(with(reply), "operator_reply.circuits[0].circuit.receiver_element_id = 4194304");
}

TEST_CASE("a_length_of_time_is_not_negative_and_not_endless") {
  refuses(with(Prepared{{}, Duration{-1}}), "prepared.lead_ns = -1: must be 0..");
  refuses(with(Settled{{}, Duration{limits::kDurationNs + 1}}), "settled.settle_ns");
  refuses(with(Welcome{Duration{0}, {}}), "welcome.heartbeat_interval_ns = 0: must be 1..");
  refuses(with(prepare_of({at(-1)})), "timeline[0].offset_ns = -1");
  refuses(with(Armed{{}, kForever}), "armed.slack_ns");
  Prepare prepare;
  prepare.plan.cycle = Duration{-5};
  refuses(with(prepare), "prepare.plan.cycle_ns = -5");
}

TEST_CASE("slack_lateness_and_silence_may_be_negative") {
  REQUIRE(decode_envelope(encode(with(Armed{{}, Duration{-5}}))).has_value());
  REQUIRE(decode_envelope(encode(with(Darkened{{}, Duration{-5}}))).has_value());
}

TEST_CASE("an_instant_is_on_its_clock") {
  refuses(with(Arm{instant_from_ns(-1)}), "arm.fire_at_ns = -1: must be 0..4611686018427387904");
  refuses(with(Arm{kNever}), "arm.fire_at_ns");
  refuses(with(Proceed{CommitPhase::relight, instant_from_ns(limits::kInstantNs + 1)}), "proceed.at_ns");
}

TEST_CASE("a_timeline_rises_and_only_its_end_may_be_endless") {
  refuses(with(prepare_of({at(5), at(5)})), "timeline.offset_ns = element 1: must be above");
  refuses(with(prepare_of({at(5), at(4)})), "timeline.offset_ns = element 1: must be above");
  std::vector<TimedSetpoint> endless{at(0), at(5)};
  endless[0].hold = kForever;
  refuses(with(prepare_of(endless)), "timeline.hold_ns = forever at element 0");
  refuses(with(prepare_of({at(0), at(5, WavelengthSwitchSetpoint{})})), "timeline.setpoint = another kind at element 1");
  refuses(with(prepare_of(std::vector<TimedSetpoint>(limits::kTimelineEntries + 1, at(0)))),
          "timeline = 4097: must be 0..4096");
}

TEST_CASE("devices_channels_routes_and_inputs_rise") {
  Prepare prepare;
  prepare.plan.devices = {{{2}, false, {}}, {{2}, false, {}}};
  refuses(with(prepare), "prepare.plan.devices.device_id = element 1");
  refuses(with(prepare_of({at(0, FilterSetpoint{{{3, {}}, {2, {}}}})})), "rings = element 1");
  refuses(with(prepare_of({at(0, FilterSetpoint{{{64, {}}}})})), "rings[0].channel_number = 64: must be 0..63");
  const WssRoute route;
  refuses(with(prepare_of({at(0, WavelengthSwitchSetpoint{{route, route}})})), "routes = element 1");
  refuses(with(prepare_of({at(0, CircuitSwitchSetpoint{{{4, 1}, {4, 2}}})})), "connects = element 1");
}

TEST_CASE("a_frequency_slot_lies_on_the_grid_and_has_a_width") {
  refuses(with(prepare_of({at(0, TransmitterSetpoint{{0, 0}, {}, false})})), "setpoint.slot_m = 0: must be 1..4096");
  refuses(with(prepare_of({at(0, TransmitterSetpoint{{16'385, 1}, {}, false})})), "slot_n = 16385");
  refuses(with(prepare_of({at(0, TransmitterSetpoint{{0, 1}, {100'001}, false})})), "power_centi_dbm = 100001");
}

TEST_CASE("a_prepare_is_for_the_node_and_the_revision_of_its_envelope") {
  Prepare prepare;
  prepare.plan.node = {4};
  refuses(with(prepare), "prepare.plan.node_id = 4: must be the envelope's node 0");
  prepare.plan.node = {};
  prepare.plan.revision = {6};
  refuses(with(prepare), "prepare.plan.revision_number = 6: must be the envelope's revision 0");
}

TEST_CASE("text_is_limited_in_both_directions") {
  wire::Envelope message = lawful_wire();
  message.set_principal(std::string(limits::kTextBytes + 1, 'x'));
  refuses_bytes(message, "principal = 4097 bytes: must be at most 4096 bytes");
  Envelope envelope = with(Unwelcome{{ErrorCode::busy, std::string(10'000, 'x') + "tail"}});
  const auto decoded = decode_envelope(encode(envelope));
  REQUIRE(std::get<Unwelcome>(decoded->body).error.message == std::string(limits::kTextBytes, 'x'));
}

TEST_CASE("text_that_is_no_utf8_is_refused") {
  wire::Envelope message = lawful_wire();
  message.set_principal("ab\xff");
  refuses_bytes(message, "principal = ill-formed at byte 2: must be UTF-8");
}

TEST_CASE("text_that_is_no_utf8_is_mended_when_it_is_sent") {
  REQUIRE(wire::sendable("a\xff\xc3z") == "a??z");
  REQUIRE(wire::sendable("\xed\xa0\x80") == "???");  // a surrogate
  REQUIRE(wire::sendable("\xf0\x9d\x84\x9e µ") == "\xf0\x9d\x84\x9e µ");
  REQUIRE(wire::sendable(std::string(limits::kTextBytes - 1, 'x') + "µ") == std::string(limits::kTextBytes - 1, 'x'));
}

TEST_CASE("a_job_is_limited") {
  SubmitJob submit;
  submit.spec.collectives.push_back({CollectiveKind::all_reduce, {}, {-1}, 1});
  refuses(with(OperatorRequest{{1}, submit}), "ask.spec.collectives[0].size_bytes = -1");
  submit.spec.collectives[0] = {CollectiveKind::all_reduce, {limits::kNodes}, {1}, 1};
  refuses(with(OperatorRequest{{1}, submit}), "rank_numbers = 65536");
  submit.spec.collectives.assign(limits::kCollectivesPerJob + 1, {});
  refuses(with(OperatorRequest{{1}, submit}), "collectives = 65537: must be 0..65536");
  submit.spec = {};
  submit.spec.compute = Duration{-1};
  refuses(with(OperatorRequest{{1}, submit}), "compute_ns = -1");
}

TEST_CASE("an_oversize_message_is_refused_before_it_is_parsed") {
  const auto decoded = decode_envelope(std::string(limits::kMessageBytes + 1, '\0'));
  REQUIRE_THAT(decoded.error().message, Contains("4194305 bytes: the limit is 4194304"));
}

void refuses_record(const Record& record, const std::string& words) {
  const auto decoded = decode_record(encode(record));
  REQUIRE_FALSE(decoded.has_value());
  REQUIRE(decoded.error().code == ErrorCode::malformed);
  REQUIRE_THAT(decoded.error().message, Contains(words));
}

TEST_CASE("a_planned_commit_has_its_own_plan") {
  refuses_record(CommitRecord{CommitDecision::planned, {4}, {}, nullptr}, "commit.plan: is missing");
  Plan plan;
  plan.revision = {5};
  refuses_record(CommitRecord{CommitDecision::planned, {4}, {}, std::make_shared<const Plan>(plan)},
                 "commit.plan.revision_number = 5: must be the record's revision 4");
  PlanChange change;
  change.of = {3};
  change.revision = {4};
  const auto changes = [&] {
    return CommitRecord{CommitDecision::planned, {4}, {}, {}, {}, std::make_shared<const PlanChange>(change)};
  };
  change.ended = {{3}, {2}};
  refuses_record(changes(), "change.ended_circuit_ids = element 1");
  plan.revision = {4};
  plan.changed = {{3}, {2}};
  refuses_record(CommitRecord{CommitDecision::going, {4}, {}, std::make_shared<const Plan>(plan)},
                 "changed_node_ids = element 1");
}

TEST_CASE("jobs_and_drained_nodes_of_an_intent_rise") {
  IntentRecord record;
  record.intent.jobs.resize(2);
  refuses_record(record, "intent.jobs.job_id = element 1");
  record.intent.jobs.clear();
  record.intent.drained = {{1}, {1}};
  refuses_record(record, "intent.drained_node_ids = element 1");
}

}  // namespace
}  // namespace loom
