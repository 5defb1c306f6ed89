// SPDX-License-Identifier: Apache-2.0
// Forwarding tables on the wire: what is refused, by which words; and schedules of journals that had two other forms.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/forwarding/forwarding_builder.hpp"
#include "proto/codec.hpp"
#include "proto/journal.pb.h"
#include "tests/unit/proto/proto_random.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;

Record record_of(const JobSchedule& schedule) {
  Intent intent;
  intent.jobs.push_back({.id = JobId{1}, .spec = {}, .nodes = {NodeId{40}, NodeId{10}, NodeId{30}, NodeId{20}}});
  intent.pinned = {schedule};
  return IntentRecord{intent, 0, {}, Probation{Revision{1}, ClockId{2}, Instant{}, {schedule}}, {}};
}

/// Ranks 0, 1 share a row; 2 and 3 have one each.
ForwardingTable lawful() {
  ForwardingBuilder table(ForwardingMode::cut_through, {NodeId{40}, NodeId{10}, NodeId{30}, NodeId{20}}, {0, 0, 1, 2});
  table.add(0, 2, std::vector<std::uint32_t>{1, 3});
  table.add(0, 3, std::vector<std::uint32_t>{2});
  table.add(2, 0, std::vector<std::uint32_t>{2});
  return table.take();
}

TEST_CASE("a_table_arrives_as_it_was_sent") {
  const Record sent = record_of({JobId{1}, {}, lawful()});
  const auto received = decode_record(encode(sent));
  REQUIRE(received);
  CHECK(test::equal(*received, sent));
}

TEST_CASE("random_tables_arrive_as_they_were_sent") {
  std::size_t entries = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    INFO("seed " << seed);
    test::Random random(seed);
    const Body sent = test::random_body(random, Body(OperatorReply{}).index());
    const auto* reply = std::get_if<OperatorReply>(&sent);
    REQUIRE(reply != nullptr);
    const auto* parts = std::get_if<std::vector<SchedulePart>>(&reply->rows);
    if (parts == nullptr) {
      continue;
    }
    Envelope envelope;
    envelope.body = sent;
    const auto received = decode_envelope(encode(envelope));
    REQUIRE(received);
    CHECK(std::get<std::vector<SchedulePart>>(std::get<OperatorReply>(received->body).rows) == *parts);
    for (const SchedulePart& part : *parts) {
      entries += part.part.forwarding.entries.size();
    }
  }
  CHECK(entries > 0);
}

/// What the codec says of lawful() after a change.
template <class Change>
std::string refusal_of(const Change& change) {
  wire::Record record;
  REQUIRE(record.ParseFromString(encode(record_of({JobId{1}, {}, lawful()}))));
  change(*record.mutable_intent()->mutable_intent()->mutable_pinned(0)->mutable_forwarding());
  const auto decoded = decode_record(record.SerializeAsString());
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().code == ErrorCode::malformed);
  return decoded.error().message;
}

TEST_CASE("a_table_that_breaks_a_promise_is_refused_by_the_field_and_the_limit") {
  using Table = wire::ForwardingTable;
  CHECK_THAT(refusal_of([](Table& table) { table.set_mode(static_cast<wire::ForwardingMode>(4)); }),
             Contains("intent.pinned[0].forwarding.mode = 4: must be 1..3"));
  CHECK_THAT(refusal_of([](Table& table) { table.clear_mode(); }), Contains("forwarding.mode = 0: must be 1..3"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_mode(wire::FORWARDING_MODE_NONE); }),
             Contains("node_ids = 4 elements: must be 0"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_node_ids(1, 40); }), Contains("node_ids = 40: has two ranks"));
  CHECK_THAT(refusal_of([](Table& table) { table.add_row_numbers(0); }),
             Contains("row_numbers = 5 elements: must be 4, as many as node_ids"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_row_numbers(0, 3); }), Contains("row_numbers = 3: must be 0..2"));
  CHECK_THAT(refusal_of([](Table& table) { table.add_destination_counts(0); }),
             Contains("destination_counts = 4 elements: must be 3"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_destination_counts(1, 1); }),
             Contains("destination_counts = 4 in sum: must be 3, as many as destination_numbers"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_destination_numbers(0, 4); }),
             Contains("destination_numbers = 4: must be 0..3"));
  CHECK_THAT(refusal_of([](Table& table) { table.add_path_numbers(0); }),
             Contains("path_numbers = 4 elements: must be 3, as many as destination_numbers"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_path_numbers(0, 2); }), Contains("path_numbers = 2: must be 0..1"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_hop_counts(1, 0); }), Contains("hop_counts = 0: must be 1..3"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_hop_counts(1, 2); }),
             Contains("hop_counts = 4 in sum: must be 3, as many as hop_numbers"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_hop_numbers(0, 4); }), Contains("hop_numbers = 4: must be 0..3"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_hop_numbers(1, 1); }),
             Contains("hop_numbers = rank 1: is on path 0 twice"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_destination_numbers(1, 2); }),
             Contains("destination_numbers = rank 2: must be above the one before it (row 0, path 1)"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_hop_numbers(1, 2); }),
             Contains("destination_numbers = rank 2: is on the path that leads to it (row 0, path 0)"));
  CHECK_THAT(refusal_of([](Table& table) { table.set_path_numbers(2, 0); }),
             Contains("hop_numbers = rank 3: is on a path that begins there (row 2, path 0)"));
}

TEST_CASE("a_table_whose_paths_come_in_another_order_is_the_same_table") {
  wire::Record record;
  REQUIRE(record.ParseFromString(encode(record_of({JobId{1}, {}, lawful()}))));
  wire::ForwardingTable& table = *record.mutable_intent()->mutable_intent()->mutable_pinned(0)->mutable_forwarding();
  table.clear_path_numbers();
  table.clear_hop_counts();
  table.clear_hop_numbers();
  for (const std::uint32_t path : {3U, 0U, 2U}) {
    table.add_path_numbers(path);
  }
  for (const auto& hops : std::vector<std::vector<std::uint32_t>>{{2}, {0, 1}, {2}, {1, 3}}) {  // one twice, one for nobody
    table.add_hop_counts(static_cast<std::uint32_t>(hops.size()));
    table.mutable_hop_numbers()->Add(hops.begin(), hops.end());
  }
  const auto decoded = decode_record(record.SerializeAsString());
  REQUIRE(decoded);
  CHECK(std::get<IntentRecord>(*decoded).intent.pinned[0].forwarding == lawful());
}

/// A pinned schedule, and one on probation, as journals had them before there was one table.
template <class Fill>
std::string earlier_record(const Fill& fill) {
  wire::Record record;
  REQUIRE(record.ParseFromString(encode(record_of({JobId{1}, {}, {}, 3, "a note"}))));
  wire::IntentRecord& intent = *record.mutable_intent();
  for (wire::JobSchedule* schedule :
       {intent.mutable_intent()->mutable_pinned(0), intent.mutable_probation()->mutable_pinned_before(0)}) {
    schedule->clear_forwarding();
    fill(*schedule);
  }
  return record.SerializeAsString();
}

void add_route(wire::JobSchedule& schedule, std::uint32_t source, std::uint32_t destination,
               const std::vector<std::uint32_t>& through) {
  wire::ForwardedPair& route = *schedule.add_earlier_routes();
  route.set_source_node_id(source);
  route.set_destination_node_id(destination);
  route.mutable_through_node_ids()->Add(through.begin(), through.end());
}

TEST_CASE("routes_of_an_earlier_journal_are_cut_through_by_the_ranks_of_the_job") {
  const auto decoded = decode_record(earlier_record([](wire::JobSchedule& schedule) {
    schedule.set_earlier_forwards(true);
    add_route(schedule, 10, 20, {30});
    add_route(schedule, 30, 40, {20, 10});
  }));
  REQUIRE(decoded);
  const auto& record = std::get<IntentRecord>(*decoded);
  const ForwardingTable& table = record.intent.pinned[0].forwarding;
  CHECK(table.mode == ForwardingMode::cut_through);
  CHECK(table.nodes == record.intent.jobs[0].nodes);
  CHECK(table.pairs() == ForwardedPairs{2, 3});
  CHECK(std::ranges::equal(table.through(1, 3), std::vector<std::uint32_t>{2}));
  CHECK(std::ranges::equal(table.through(2, 0), std::vector<std::uint32_t>{3, 1}));
  CHECK(record.probation->pinned_before == record.intent.pinned);
  CHECK(record.intent.pinned[0].waiting == 3);
  CHECK(record.intent.pinned[0].note == "a note");
  const auto again = decode_record(encode(*decoded));  // written anew, it is in the present form
  REQUIRE(again);
  CHECK(test::equal(*again, *decoded));
}

TEST_CASE("a_topology_of_an_earlier_journal_without_routes_is_cut_through_too") {
  const auto decoded = decode_record(earlier_record([](wire::JobSchedule& schedule) { schedule.set_earlier_forwards(true); }));
  REQUIRE(decoded);
  const ForwardingTable& table = std::get<IntentRecord>(*decoded).intent.pinned[0].forwarding;
  CHECK(table.mode == ForwardingMode::cut_through);
  CHECK(table.empty());
  const auto direct = decode_record(earlier_record([](wire::JobSchedule&) {}));
  REQUIRE(direct);
  CHECK(std::get<IntentRecord>(*direct).intent.pinned[0].forwarding == ForwardingTable{});
}

TEST_CASE("a_route_of_an_earlier_journal_over_a_node_that_the_job_has_not_is_kept_with_its_name") {
  const auto decoded = decode_record(earlier_record([](wire::JobSchedule& schedule) { add_route(schedule, 10, 20, {50}); }));
  REQUIRE(decoded);
  const ForwardingTable& table = std::get<IntentRecord>(*decoded).intent.pinned[0].forwarding;
  REQUIRE(table.through(1, 3).size() == 1);
  CHECK(table.nodes[table.through(1, 3)[0]] == NodeId{50});
}

TEST_CASE("relays_of_an_earlier_journal_are_stored_and_forwarded_as_they_were") {
  const std::vector<std::uint32_t> row_of{0, 0, 1, 1};
  const std::vector<std::uint32_t> via{0, 1, 0, 1, 2, 3, 2, 3};
  const auto earlier = [&](std::uint32_t ranks) {
    return earlier_record([&](wire::JobSchedule& schedule) {
      schedule.mutable_earlier_forwarding_row_numbers()->Add(row_of.begin(), row_of.begin() + ranks);
      schedule.mutable_earlier_forwarding_rank_numbers()->Add(via.begin(), via.end());
    });
  };
  const auto decoded = decode_record(earlier(4));
  REQUIRE(decoded);
  const auto& record = std::get<IntentRecord>(*decoded);
  const ForwardingTable& table = record.intent.pinned[0].forwarding;
  CHECK(table.mode == ForwardingMode::store_and_forward);
  CHECK(table.nodes == record.intent.jobs[0].nodes);
  CHECK(table.row_of == row_of);
  for (std::uint32_t source = 0; source < 4; ++source) {
    for (std::uint32_t destination = 0; destination < 4; ++destination) {
      const std::uint32_t relay = via[row_of[source] * 4 + destination];
      CHECK((source == destination || table.next(source, destination) == (relay == source ? destination : relay)));
    }
  }
  CHECK(record.probation->pinned_before == record.intent.pinned);
  CHECK_FALSE(decode_record(earlier(3)));  // 8 are no rows of 3
}

TEST_CASE("a_damaged_schedule_of_an_earlier_journal_is_refused_by_its_field") {
  const auto refusal = [](const auto& fill) {
    const auto decoded = decode_record(earlier_record(fill));
    REQUIRE_FALSE(decoded);
    return decoded.error().message;
  };
  CHECK_THAT(refusal([](wire::JobSchedule& schedule) { add_route(schedule, 10, 20, {30, 30}); }),
             Contains("pinned[0].earlier_routes = 10 to 20: passes a node twice, or is there twice"));
  CHECK_THAT(refusal([](wire::JobSchedule& schedule) {
               add_route(schedule, 10, 20, {30});
               add_route(schedule, 10, 20, {40});
             }),
             Contains("is there twice"));
  CHECK_THAT(refusal([](wire::JobSchedule& schedule) {
               for (const std::uint32_t row : {0U, 0U, 0U, 1U}) {
                 schedule.add_earlier_forwarding_row_numbers(row);
                 schedule.add_earlier_forwarding_rank_numbers(0);
               }
             }),
             Contains("earlier_forwarding_row_numbers = 1: must be 0..0"));
}

}  // namespace
}  // namespace loom
