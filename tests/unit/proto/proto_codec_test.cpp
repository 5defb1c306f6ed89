// SPDX-License-Identifier: Apache-2.0
// Everything that may be said comes out as it went in; damaged bytes never crash and never become something that cannot be
// said.
#include <catch2/catch.hpp>
#include <string>

#include "proto/codec.hpp"
#include "tests/unit/proto/proto_random.hpp"

namespace loom {
namespace {

using test::Random;

constexpr std::size_t kBodyCount = std::variant_size_v<Body>;
constexpr std::size_t kRecordCount = std::variant_size_v<Record>;

/// Whatever decodes must be lawful: encoded again, it decodes to the same value, and the transport's peek names the same node.
bool is_lawful_or_refused(const std::string& bytes) {
  const auto envelope = decode_envelope(bytes);
  if (!envelope) {
    return !envelope.error().message.empty();
  }
  const auto head = peek_head(bytes);
  const auto again = decode_envelope(encode(*envelope));
  return head && head->node == envelope->node && head->wire_version == envelope->wire_version && again && *again == *envelope;
}

bool is_lawful_record_or_refused(const std::string& bytes) {
  const auto record = decode_record(bytes);
  if (!record) {
    return !record.error().message.empty();
  }
  const auto again = decode_record(encode(*record));
  return again && test::equal(*record, *again);
}

TEST_CASE("every_body_survives_the_wire") {
  for (std::size_t alternative = 0; alternative < kBodyCount; ++alternative) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      Random random(seed);
      const Envelope sent = test::random_envelope(random, alternative);
      REQUIRE(sent.body.index() == alternative);
      const auto received = decode_envelope(encode(sent));
      INFO("body " << alternative << ", seed " << seed << ": " << (received ? "" : received.error().message));
      REQUIRE(received.has_value());
      REQUIRE(*received == sent);
    }
  }
}

TEST_CASE("every_record_survives_the_journal") {
  for (std::size_t alternative = 0; alternative < kRecordCount; ++alternative) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      Random random(seed);
      const Record written = test::random_record(random, alternative);
      const auto read = decode_record(encode(written));
      INFO("record " << alternative << ", seed " << seed << ": " << (read ? "" : read.error().message));
      REQUIRE(read.has_value());
      REQUIRE(test::equal(*read, written));
    }
  }
}

TEST_CASE("equal_values_have_equal_bytes_and_memory_is_reused") {
  Random one(7);
  Random two(7);
  std::string out = "what was there before";
  for (std::size_t alternative = 0; alternative < kBodyCount; ++alternative) {
    encode_to(test::random_envelope(one, alternative), out);
    REQUIRE(out == encode(test::random_envelope(two, alternative)));
  }
}

TEST_CASE("peek_agrees_with_decode") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Envelope sent = test::random_envelope(random, seed % kBodyCount);
    const std::string bytes = encode(sent);  // which the head points into
    const auto head = peek_head(bytes);
    REQUIRE(head.has_value());
    REQUIRE(head->node == sent.node);
    REQUIRE(head->wire_version == kWireVersion);
    REQUIRE(head->principal == sent.principal);
  }
}

TEST_CASE("an_envelope_that_is_passed_on_is_the_same_of_another_principal") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    Envelope sent = test::random_envelope(random, seed % kBodyCount);
    const std::string whose(1 + seed % 255, 'p');
    const std::string passed_on = with_principal(encode(sent), whose);
    const auto head = peek_head(passed_on);
    REQUIRE(head.has_value());
    REQUIRE(head->principal == whose);
    REQUIRE(head->node == sent.node);
    sent.principal = whose;
    const auto decoded = decode_envelope(passed_on);
    REQUIRE(decoded.has_value());
    REQUIRE(encode(*decoded) == encode(sent));
  }
}

TEST_CASE("the_number_of_a_request_that_does_not_decode_can_be_read") {
  Envelope envelope;
  OperatorRequest request;
  request.request = {0x1234'5678'9abcULL};
  request.ask = DeviceRequest{DeviceId{3}, TransmitterSetpoint{{1'000'000, 8}, Dbm{0}, true}, false};
  envelope.body = request;
  const std::string bytes = encode(envelope);
  REQUIRE_FALSE(decode_envelope(bytes).has_value());
  CHECK(peek_request(bytes) == request.request);
  for (std::size_t length = 0; length < bytes.size(); ++length) {  // cut short: a number or none, never another one
    const auto number = peek_request(std::string_view(bytes).substr(0, length));
    CHECK((!number || *number == request.request));
  }
  envelope.body = Heartbeat{};
  CHECK_FALSE(peek_request(encode(envelope)));
  CHECK_FALSE(peek_request(""));
}

TEST_CASE("peek_and_decode_agree_on_a_node_that_is_named_twice") {
  Envelope envelope;
  envelope.node = {5};
  const std::string twice = encode(envelope) + std::string{"\x18\x09"};  // field 3, varint 9
  REQUIRE(peek_head(twice)->node == NodeId{9});
  REQUIRE(decode_envelope(twice)->node == NodeId{9});
  // A tag of more than 32 bits, whose low bits spell field 3.
  const std::string hidden = encode(envelope) + std::string{"\x98\x80\x80\x80\x10\x09", 6};
  REQUIRE_FALSE(peek_head(hidden).has_value());
  REQUIRE_FALSE(decode_envelope(hidden).has_value());
}

TEST_CASE("one_damaged_byte_is_refused_or_lawful") {
  for (std::size_t alternative = 0; alternative < kBodyCount; ++alternative) {
    Random random(alternative + 1);
    const std::string bytes = encode(test::random_envelope(random, alternative));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        INFO("body " << alternative << ", byte " << at << ", bit " << bit);
        REQUIRE(is_lawful_or_refused(damaged));
      }
    }
  }
}

TEST_CASE("one_damaged_byte_of_a_record_is_refused_or_lawful") {
  for (std::size_t alternative = 0; alternative < kRecordCount; ++alternative) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Random random(seed);
      const std::string bytes = encode(test::random_record(random, alternative));
      for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(random.word());
        INFO("record " << alternative << ", seed " << seed << ", byte " << at);
        REQUIRE(is_lawful_record_or_refused(damaged));
      }
    }
  }
}

TEST_CASE("a_message_that_is_cut_off_is_refused_or_lawful") {
  for (std::size_t alternative = 0; alternative < kBodyCount; ++alternative) {
    Random random(alternative + 50);
    const std::string bytes = encode(test::random_envelope(random, alternative));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      REQUIRE(is_lawful_or_refused(bytes.substr(0, length)));
    }
  }
}

TEST_CASE("noise_is_refused_or_lawful") {
  Random random(99);
  for (int round = 0; round < 20'000; ++round) {
    std::string noise;
    const std::int64_t length = random.between(0, 64);
    for (std::int64_t i = 0; i < length; ++i) {
      noise += static_cast<char>(random.word());
    }
    REQUIRE(is_lawful_or_refused(noise));
    REQUIRE(is_lawful_record_or_refused(noise));
  }
}

}  // namespace
}  // namespace loom
