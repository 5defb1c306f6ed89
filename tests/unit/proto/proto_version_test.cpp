// SPDX-License-Identifier: Apache-2.0
// Every kind of message in another wire version, cut at every byte, and followed by garbage: a named error, and never half of
// it.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <variant>

#include "proto/codec.hpp"
#include "proto/journal.pb.h"

namespace loom {
namespace {

template <std::size_t... Kind>
std::vector<Body> one_of_each(std::index_sequence<Kind...>) {
  return {Body(std::variant_alternative_t<Kind, Body>{})...};
}

std::vector<Body> one_of_each() { return one_of_each(std::make_index_sequence<std::variant_size_v<Body>>{}); }

Envelope envelope_of(Body body, std::uint32_t version = kWireVersion) {
  Envelope envelope;
  envelope.wire_version = version;
  envelope.body = std::move(body);
  return envelope;
}

TEST_CASE("every_kind_of_message_of_another_wire_version_is_refused_by_that_name") {
  for (const Body& body : one_of_each()) {
    CAPTURE(body.index());
    for (const std::uint32_t version : {0U, kWireVersion + 1, 4'294'967'295U}) {
      const auto decoded = decode_envelope(encode(envelope_of(body, version)));
      REQUIRE_FALSE(decoded.has_value());
      CHECK(decoded.error().code == ErrorCode::wrong_version);
      CHECK_THAT(decoded.error().message, Catch::Matchers::Contains("version " + std::to_string(version)) &&
                                              Catch::Matchers::Contains(std::to_string(kWireVersion)));
    }
  }
}

TEST_CASE("every_kind_of_message_cut_at_every_byte_is_an_error_or_whole") {
  for (const Body& body : one_of_each()) {
    CAPTURE(body.index());
    const std::string bytes = encode(envelope_of(body));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const auto decoded = decode_envelope(std::string_view(bytes).substr(0, length));
      if (decoded.has_value()) {
        CHECK(encode(*decoded).size() <= bytes.size());  // what was cut off was a field that may be left out
      } else {
        CHECK_FALSE(decoded.error().message.empty());
      }
    }
  }
}

TEST_CASE("every_kind_of_message_with_one_byte_damaged_never_crashes") {
  for (const Body& body : one_of_each()) {
    const std::string bytes = encode(envelope_of(body));
    for (std::size_t place = 0; place < bytes.size(); ++place) {
      for (const int flip : {0x01, 0x80, 0xFF}) {
        std::string damaged = bytes;
        damaged[place] = static_cast<char>(damaged[place] ^ flip);
        const auto decoded = decode_envelope(damaged);
        CHECK((decoded.has_value() || !decoded.error().message.empty()));
      }
    }
  }
}

/// A job as journals had it before options and shares became generic.
std::string earlier_record(std::uint32_t map, std::vector<std::uint32_t> groups) {
  Intent intent;
  intent.jobs.push_back({.id = JobId{1}, .spec = {}, .nodes = {NodeId{0}, NodeId{1}}});
  wire::Record record;
  REQUIRE(record.ParseFromString(encode(Record{IntentRecord{intent, 0, {}, {}, {}}})));
  wire::Job& job = *record.mutable_intent()->mutable_intent()->mutable_jobs(0);
  job.mutable_spec()->set_earlier_map_number(map);
  for (const std::uint32_t group : groups) {
    job.mutable_spec()->add_earlier_map_group_numbers(group);
  }
  job.add_earlier_plane_numbers(0);
  job.add_earlier_plane_numbers(2);
  job.add_earlier_order_numbers(1);
  return record.SerializeAsString();
}

TEST_CASE("what_a_job_of_an_earlier_journal_asked_for_is_not_lost") {
  const auto usual = decode_record(earlier_record(1, {}));
  REQUIRE(usual);
  const Job& job = std::get<IntentRecord>(*usual).intent.jobs.front();
  CHECK(job.spec.options.empty());
  CHECK(job.share == JobShare{{"orders", {1}}, {"planes", {0, 2}}});
  const auto custom = decode_record(earlier_record(5, {0, 1, 1, 0}));
  REQUIRE(custom);
  CHECK(std::get<IntentRecord>(*custom).intent.jobs.front().spec.options ==
        JobOptions{{"map", "custom"}, {"map_groups", "0-1-1-0"}});
  const auto again = decode_record(encode(*custom));  // written anew, it is in the present form
  REQUIRE(again);
  CHECK(std::get<IntentRecord>(*again) == std::get<IntentRecord>(*custom));
  CHECK_FALSE(decode_record(earlier_record(6, {})));
}

}  // namespace
}  // namespace loom
