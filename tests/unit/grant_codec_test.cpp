// Words of the grant plane on the wire: what is said is what is heard, and what is unlawful is refused by name.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/message.hpp"
#include "proto/grant.hpp"

using namespace loom;

namespace {

constexpr NodeId kSource{1};
constexpr NodeId kReceiver{2};

std::vector<GrantEnvelope> one_of_each() {
  const StreamId stream{JobId{7}, 9, kSource, kReceiver};
  const GrantKey key{3, 11};
  const Instant at = instant_from_ns(1'000'000);
  const Instant later = instant_from_ns(1'050'000);
  std::vector<GrantEnvelope> all;
  const auto add = [&](NodeId from, const GrantMessage& message) {
    all.push_back({from, kVirtualClock, Revision{4}, message});
  };
  add(kSource, StreamRequest{stream, 5, 6, Bytes{561'200}, at});
  add(kSource, StreamAccept{stream, 5, key, later});
  add(kSource, StreamRefusal{stream, 5, key, RefusalReason::taken, at, later});
  add(kSource, StreamRelease{stream, 5, key, later, Bytes{0}});
  add(kReceiver, StreamQueued{stream, 5, 6, 3});
  add(kReceiver, StreamGrant{stream, 5, 6, key, at, later, Bytes{561'200}});
  return all;
}

std::string refusal_of(const GrantEnvelope& envelope) {
  const auto decoded = decode_grant(encode(envelope));
  return decoded ? "" : decoded.error().message;
}

}  // namespace

TEST_CASE("every_word_of_the_grant_plane_is_heard_as_it_was_said") {
  const auto words = one_of_each();
  REQUIRE(words.size() == std::variant_size_v<GrantMessage>);
  for (std::size_t i = 0; i < words.size(); ++i) {
    CHECK(words[i].message.index() == i);
    const std::string bytes = encode(words[i]);
    CHECK(bytes.size() <= limits::kGrantMessageBytes);
    const auto decoded = decode_grant(bytes);
    REQUIRE(decoded);
    CHECK(*decoded == words[i]);
  }
}

TEST_CASE("a_word_cut_short_or_damaged_never_crashes_the_decoder") {
  std::size_t refused = 0;
  for (const GrantEnvelope& word : one_of_each()) {
    const std::string bytes = encode(word);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      refused += decode_grant(bytes.substr(0, i)) ? 0 : 1;
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
        const auto decoded = decode_grant(damaged);
        CHECK((!decoded || decode_grant(encode(*decoded)).value() == *decoded));
      }
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("unlawful_words_of_the_grant_plane_are_refused_by_the_name_of_the_field") {
  const auto words = one_of_each();
  GrantEnvelope word = words[0];
  word.from = kReceiver;
  CHECK(refusal_of(word).find("from_id") != std::string::npos);
  word = words[5];
  word.from = kSource;
  CHECK(refusal_of(word).find("from_id") != std::string::npos);
  word = words[0];
  std::get<StreamRequest>(word.message).remaining = Bytes{limits::kStreamBytes + 1};
  CHECK(refusal_of(word).find("remaining_bytes") != std::string::npos);
  word = words[0];
  std::get<StreamRequest>(word.message).sender_epoch = 0;
  CHECK(refusal_of(word).find("sender_epoch_number") != std::string::npos);
  word = words[0];
  std::get<StreamRequest>(word.message).stream.destination = kSource;
  CHECK(refusal_of(word).find("destination_id") != std::string::npos);
  word = words[1];
  std::get<StreamAccept>(word.message).key.sequence = 0;
  CHECK(refusal_of(word).find("key.sequence_number") != std::string::npos);
  word = words[5];
  std::get<StreamGrant>(word.message).end = std::get<StreamGrant>(word.message).start;
  CHECK(refusal_of(word).find("end_ns") != std::string::npos);
  word = words[5];
  std::get<StreamGrant>(word.message).end += Duration{limits::kGrantWindowNs};
  CHECK(refusal_of(word).find("end_ns") != std::string::npos);
  CHECK(decode_grant("").error().code == ErrorCode::wrong_version);
  CHECK(decode_grant(std::string(limits::kGrantMessageBytes + 1, 'x')).error().code == ErrorCode::malformed);
}
