// SPDX-License-Identifier: Apache-2.0
// A ring in shared memory: order, fullness, sleep, and what a liar on the other side can leave in it.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "runtime/shm/ring.hpp"

using namespace loom;

namespace {

/// Page-aligned and zero, as a fresh memfd is.
struct RingMemory {
  std::vector<std::byte> storage = std::vector<std::byte>(kRingBytes + 4'096);
  std::span<std::byte> ring() {
    void* begin = storage.data();
    std::size_t room = storage.size();
    return {static_cast<std::byte*>(std::align(4'096, kRingBytes, begin, room)), kRingBytes};
  }
  /// What the other side's process can do at any instant.
  template <class Number>
  void set(std::size_t offset, Number value) {
    std::memcpy(ring().data() + offset, &value, sizeof value);
  }
};

constexpr std::size_t kWrittenAt = 0;
constexpr std::size_t kTakenAt = 64;
constexpr std::size_t kTurn = 64u << 10;

bool write(RingWriter& writer, std::string_view message) {
  const auto written = writer.write(std::span(&message, 1));
  REQUIRE(written);
  return *written;
}

}  // namespace

TEST_CASE("messages cross a ring in their order, whole, around its end") {
  RingMemory memory;
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  const unsigned seed = GENERATE(1U, 2U, 3U);
  INFO("seed " << seed);
  std::mt19937 chance(seed);
  std::size_t next_in = 0;
  std::size_t next_out = 0;
  const auto text_of = [&](std::size_t number) {
    std::string text = std::to_string(number) + ":";
    return text + std::string(number * 7919 % (kRingMessageBytes - text.size()), static_cast<char>('a' + number % 26));
  };
  for (int round = 0; round < 400; ++round) {
    for (unsigned burst = chance() % 64; burst > 0; --burst) {
      const std::string text = text_of(next_in);
      const std::array<std::string_view, 2> parts{std::string_view(text).substr(0, 1), std::string_view(text).substr(1)};
      const auto written = writer.write(parts);
      REQUIRE(written);
      if (!*written) {
        break;
      }
      ++next_in;
    }
    const auto taken = reader.take(1'024 + chance() % kTurn);
    REQUIRE(taken);
    for (const std::string_view message : taken->messages) {
      REQUIRE(message == text_of(next_out++));
    }
  }
  CHECK(next_out > 5'000);
}

TEST_CASE("a full ring takes no message until some are taken out") {
  RingMemory memory;
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  const std::string message(kRingMessageBytes, 'x');
  std::size_t count = 0;
  while (write(writer, message)) {
    ++count;
  }
  CHECK(count == kRingDataBytes / (kRingMessageBytes + 4));
  CHECK_FALSE(write(writer, message));
  REQUIRE(reader.take(kTurn)->messages.size() == kTurn / (kRingMessageBytes + 4));
  CHECK(write(writer, message));
}

TEST_CASE("a reader that sleeps is woken once, and never goes to sleep over a message") {
  RingMemory memory;
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  write(writer, "before");
  CHECK_FALSE(writer.must_wake());  // it never said that it sleeps
  CHECK_FALSE(reader.sleep());
  REQUIRE(reader.take(kTurn)->messages.size() == 1);
  REQUIRE(reader.sleep());
  write(writer, "one");
  CHECK(writer.must_wake());
  write(writer, "two");
  CHECK_FALSE(writer.must_wake());
  reader.stay_awake();
  CHECK(reader.take(kTurn)->messages.size() == 2);
  REQUIRE(reader.sleep());
  write(writer, "three");
  REQUIRE(writer.must_wake());
  writer.wake_with_next();
  write(writer, "four");
  CHECK(writer.must_wake());
}

TEST_CASE("no message between two threads waits for a wake-up that nobody sends") {
  constexpr std::uint64_t kMessages = 200'000;
  RingMemory memory;
  std::counting_semaphore<> bell(0);
  std::thread other([&] {
    RingWriter writer(memory.ring());
    for (std::uint64_t number = 0; number < kMessages;) {
      const std::string_view message(reinterpret_cast<const char*>(&number), sizeof number);
      if (!*writer.write(std::span(&message, 1))) {
        std::this_thread::yield();
        continue;
      }
      if (writer.must_wake()) {
        bell.release();
      }
      ++number;
    }
  });
  RingReader reader(memory.ring());
  std::uint64_t next = 0;
  bool in_order = true;
  while (next < kMessages) {
    const auto taken = reader.take(kTurn);
    in_order = in_order && taken.has_value();
    for (const std::string_view message : taken->messages) {
      std::uint64_t number = 0;
      std::memcpy(&number, message.data(), sizeof number);
      in_order = in_order && number == next++;
    }
    if (taken->messages.empty() && reader.sleep()) {
      bell.acquire();
      reader.stay_awake();
    }
  }
  other.join();
  CHECK(in_order);
}

TEST_CASE("places and lengths that no honest side leaves are refused by name") {
  RingMemory memory;
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  write(writer, "sound");
  const auto is_refused = [&](const char* what) {
    const auto taken = reader.take(kTurn);
    REQUIRE_FALSE(taken);
    CHECK(taken.error().code == ErrorCode::malformed);
    INFO(taken.error().message);
    CHECK(taken.error().message.find(what) != std::string::npos);
  };
  SECTION("more than fits is written") {
    memory.set(kWrittenAt, std::uint64_t{kRingDataBytes + 1});
    is_refused("at most 262144 can wait");
  }
  SECTION("less is written than was taken") {
    REQUIRE(reader.take(kTurn));
    memory.set(kWrittenAt, std::uint64_t{8});
    is_refused("at most 262144 can wait");
  }
  SECTION("a message of nothing") {
    memory.set(kRingControlBytes, std::uint32_t{0});
    is_refused("has 0 bytes, allowed 1 to 516");
  }
  SECTION("a message beyond the limit") {
    memory.set(kRingControlBytes, std::uint32_t{kRingMessageBytes + 1});
    is_refused("has 517 bytes, allowed 1 to 516");
  }
  SECTION("a message that reaches beyond the memory") {
    memory.set(kRingControlBytes, ~std::uint32_t{0});
    is_refused("allowed 1 to 516");
  }
  SECTION("a message that is not all there") {
    memory.set(kRingControlBytes, std::uint32_t{100});
    is_refused("ends at byte 9, 9 bytes into a message");
  }
  SECTION("a length that is not all there") {
    memory.set(kWrittenAt, std::uint64_t{3});
    is_refused("ends at byte 3, 3 bytes into a message");
  }
  SECTION("more is taken than was written") {
    memory.set(kTakenAt, std::uint64_t{1'000});
    const std::string_view message = "next";
    const auto written = writer.write(std::span(&message, 1));
    REQUIRE_FALSE(written);
    CHECK(written.error().code == ErrorCode::malformed);
  }
}

TEST_CASE("whatever a liar leaves in a ring, what is taken lies in our copy, within the limits") {
  const unsigned seed = GENERATE(range(1U, 40U));
  INFO("seed " << seed);
  std::mt19937 chance(seed);
  RingMemory memory;
  RingReader reader(memory.ring());
  for (int round = 0; round < 200; ++round) {
    for (std::byte& byte : memory.ring().subspan(kRingControlBytes, 8'192)) {
      byte = static_cast<std::byte>(chance() % 8 == 0 ? chance() : 0);
    }
    memory.set(kWrittenAt, chance() % 2 == 0 ? std::uint64_t{chance() % 8'192} : std::uint64_t{chance()} << 32U | chance());
    const auto taken = reader.take(1'024 + chance() % kTurn);
    if (!taken) {
      CHECK(taken.error().code == ErrorCode::malformed);
      continue;
    }
    for (const std::string_view message : taken->messages) {
      REQUIRE(message.size() <= kRingMessageBytes);
      REQUIRE(message.data() >= taken->owner->data());
      REQUIRE(message.data() + message.size() <= taken->owner->data() + taken->owner->size());
    }
  }
}
