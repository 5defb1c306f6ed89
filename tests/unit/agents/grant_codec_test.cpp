// SPDX-License-Identifier: Apache-2.0
// Words of the grant plane on the wire: what is said is what is heard, and what is unlawful is refused by name.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/message.hpp"
#include "proto/codec.hpp"

using namespace loom;

namespace {

constexpr NodeId kSource{1};
constexpr NodeId kReceiver{2};

std::vector<Envelope> one_of_each() {
  const StreamId stream{JobId{7}, 9, kSource, kReceiver};
  const GrantKey key{3, 11};
  const Instant at = instant_from_ns(1'000'000);
  const Instant later = instant_from_ns(1'050'000);
  std::vector<Envelope> all;
  const auto add = [&](NodeId from, const GrantMessage& message) {
    Envelope envelope;
    envelope.node = from;
    envelope.clock = kVirtualClock;
    envelope.revision = Revision{4};
    envelope.body = GrantPlaneMessage{message};
    all.push_back(envelope);
  };
  add(kSource, StreamRequest{stream, 5, 6, Bytes{561'200}, at, true, later, true});
  add(kSource, StreamAccept{stream, 5, key, later});
  add(kSource, StreamRefusal{stream, 5, key, RefusalReason::taken, at, later});
  add(kSource, StreamRelease{stream, 5, key, later, Bytes{0}});
  add(kReceiver, StreamQueued{stream, 5, 6, 3, true});
  add(kReceiver, StreamGrant{stream, 5, 6, key, at, later, Bytes{561'200}});
  return all;
}

GrantMessage& message_of(Envelope& envelope) { return std::get<GrantPlaneMessage>(envelope.body).message; }
const GrantMessage& message_of(const Envelope& envelope) { return std::get<GrantPlaneMessage>(envelope.body).message; }

std::string refusal_of(const Envelope& envelope) {
  const auto decoded = decode_envelope(encode(envelope));
  return decoded ? "" : decoded.error().message;
}

}  // namespace

TEST_CASE("every_word_of_the_grant_plane_is_heard_as_it_was_said") {
  const auto words = one_of_each();
  REQUIRE(words.size() == std::variant_size_v<GrantMessage>);
  for (std::size_t i = 0; i < words.size(); ++i) {
    CHECK(message_of(words[i]).index() == i);
    const std::string bytes = encode(words[i]);
    CHECK(bytes.size() <= limits::kGrantMessageBytes);
    const auto decoded = decode_envelope(bytes);
    REQUIRE(decoded);
    CHECK(*decoded == words[i]);
  }
}

TEST_CASE("a_word_cut_short_or_damaged_never_crashes_the_decoder") {
  std::size_t refused = 0;
  for (const Envelope& word : one_of_each()) {
    const std::string bytes = encode(word);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      refused += decode_envelope(bytes.substr(0, i)) ? 0 : 1;
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
        const auto decoded = decode_envelope(damaged);
        CHECK((!decoded || decode_envelope(encode(*decoded)).value() == *decoded));
      }
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("unlawful_words_of_the_grant_plane_are_refused_by_the_name_of_the_field") {
  const auto words = one_of_each();
  Envelope word = words[0];
  word.node = kReceiver;
  CHECK(refusal_of(word).find("node_id") != std::string::npos);
  word = words[5];
  word.node = kSource;
  CHECK(refusal_of(word).find("node_id") != std::string::npos);
  word = words[0];
  std::get<StreamRequest>(message_of(word)).remaining = Bytes{limits::kStreamBytes + 1};
  CHECK(refusal_of(word).find("remaining_bytes") != std::string::npos);
  word = words[0];
  std::get<StreamRequest>(message_of(word)).free_at = Instant{Duration{-1}};
  CHECK(refusal_of(word).find("free_at_ns") != std::string::npos);
  word = words[0];
  std::get<StreamRequest>(message_of(word)).sender_epoch = 0;
  CHECK(refusal_of(word).find("sender_epoch_number") != std::string::npos);
  word = words[0];
  std::get<StreamRequest>(message_of(word)).stream.destination = kSource;
  CHECK(refusal_of(word).find("destination_id") != std::string::npos);
  word = words[1];
  std::get<StreamAccept>(message_of(word)).key.sequence = 0;
  CHECK(refusal_of(word).find("key.sequence_number") != std::string::npos);
  word = words[5];
  std::get<StreamGrant>(message_of(word)).end = std::get<StreamGrant>(message_of(word)).start;
  CHECK(refusal_of(word).find("end_ns") != std::string::npos);
  word = words[5];
  std::get<StreamGrant>(message_of(word)).end += Duration{limits::kGrantWindowNs};
  CHECK(refusal_of(word).find("end_ns") != std::string::npos);
  word = words[5];
  word.principal = std::string(limits::kGrantMessageBytes, 'x');
  CHECK(refusal_of(word).find("a message of the grant plane of") != std::string::npos);
}
