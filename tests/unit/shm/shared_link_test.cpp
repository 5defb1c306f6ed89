// SPDX-License-Identifier: Apache-2.0
// Shared memory between two ends on one loop: who is handed it, what crosses, and what a peer that lies or dies can do.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/shm/shared_door.hpp"
#include "runtime/shm/shared_join.hpp"
#include "runtime/shm/unix_socket.hpp"
#include "tests/run_until.hpp"

using namespace loom;

namespace {

constexpr ClockId kKernel{77};

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

/// What one end of a link has seen.
struct End {
  std::shared_ptr<SharedLink> link;
  std::vector<std::string> received;
  std::optional<Error> ended;

  void open(asio::io_context& io, SharedEnd end) {
    link = SharedLink::open(io, std::move(end),
                            {[this](RingMessages messages) {
                               for (const std::string_view message : messages.messages) {
                                 received.emplace_back(message);
                               }
                             },
                             [this](const Error& why) { ended = why; }});
  }
  bool send(std::string_view message) const { return link->send(std::span(&message, 1)); }
};

class Rig {
 public:
  Rig() {
    auto opened = SharedDoor::open(io, kKernel, [this](std::size_t number, SharedEnd end) {
      guests.push_back(number);
      host.open(io, std::move(end));
    });
    REQUIRE(opened);
    door = *std::move(opened);
  }
  ~Rig() { door->close(); }
  SharedOffer invite() {
    auto offer = door->invite(3);
    REQUIRE(offer);
    return *offer;
  }
  void join(const SharedOffer& offer) {
    auto started = SharedJoin::start(io, offer, [this](Result<SharedEnd> end) {
      if (end) {
        guest.open(io, *std::move(end));
      } else {
        refusal = end.error();
      }
    });
    REQUIRE(started);
    joining = *std::move(started);
  }
  template <class Condition>
  bool run_until(Condition is_done) {
    return test::run_until(io, is_done);
  }
  void connect() {
    join(invite());
    REQUIRE(run_until([&] { return host.link && guest.link; }));
  }

  asio::io_context io;
  std::shared_ptr<SharedDoor> door;
  std::shared_ptr<SharedJoin> joining;
  std::vector<std::size_t> guests;
  std::optional<Error> refusal;
  End host;
  End guest;
};

/// A guest by hand, which may do what ours never does.
struct RawGuest {
  UniqueDescriptor socket;
  std::optional<SharedMemory> memory;

  explicit RawGuest(Rig& rig) {
    const SharedOffer offer = rig.invite();
    auto connected = connect_to(socket_name(offer.name));
    REQUIRE(connected);
    socket = *std::move(connected);
    REQUIRE(send_bytes(socket.get(), {offer.guest.data(), offer.guest.size()}));
    ReceivedBytes received;
    REQUIRE(rig.run_until([&] {
      received = receive_bytes(socket.get(), sizeof(SharedToken));
      return received.state == ReceivedBytes::State::received;
    }));
    auto adopted = SharedMemory::adopt(std::move(received.descriptor), kLinkBytes);
    REQUIRE(adopted);
    memory = *std::move(adopted);
    REQUIRE(send_bytes(socket.get(), "r"));
    REQUIRE(rig.run_until([&] { return rig.host.link != nullptr; }));
  }
  std::span<std::byte> our_ring() const { return memory->bytes().subspan(kRingBytes, kRingBytes); }
  std::span<std::byte> their_ring() const { return memory->bytes().subspan(0, kRingBytes); }
  void ring_bell() const { REQUIRE(send_bytes(socket.get(), "b")); }
};

/// A memfd whose size anybody may change.
UniqueDescriptor unsealed(std::size_t bytes) {
  UniqueDescriptor descriptor(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(descriptor.get(), static_cast<off_t>(bytes)) == 0);
  return descriptor;
}

}  // namespace

TEST_CASE("who shows the token of an offer is handed the memory, and messages cross both ways in their order") {
  Rig rig;
  rig.connect();
  CHECK(rig.guests == std::vector<std::size_t>{3});
  std::size_t sent = 0;
  for (std::size_t number = 0; number < 20'000;) {  // several times what a ring holds
    const bool is_taken = rig.host.send("to the guest " + std::to_string(number));
    if (is_taken) {
      REQUIRE(rig.run_until([&] { return rig.guest.send("to the host " + std::to_string(number)); }));
      ++number;
      ++sent;
    }
    if (!is_taken || number % 64 == 0) {
      rig.io.restart();
      rig.io.poll();
    }
  }
  REQUIRE(rig.run_until([&] { return rig.host.received.size() == sent && rig.guest.received.size() == sent; }));
  for (std::size_t number = 0; number < sent; ++number) {
    REQUIRE(rig.guest.received[number] == "to the guest " + std::to_string(number));
    REQUIRE(rig.host.received[number] == "to the host " + std::to_string(number));
  }
}

TEST_CASE("an offer is taken once, and not at all when it was withdrawn or is not the one that was made") {
  Rig rig;
  SharedOffer offer = rig.invite();
  CHECK(rig.invite() == offer);
  SECTION("taken already") {
    rig.join(offer);
    REQUIRE(rig.run_until([&] { return rig.guest.link != nullptr; }));
  }
  SECTION("withdrawn") { rig.door->withdraw(3); }
  SECTION("another token") { offer.guest[5] = static_cast<char>(offer.guest[5] ^ 1); }
  rig.join(offer);
  REQUIRE(rig.run_until([&] { return rig.refusal.has_value(); }));
  CHECK(rig.refusal->code == ErrorCode::unreachable);
  CHECK(rig.door->refused() == 1);
  CHECK(rig.invite() != offer);
}

TEST_CASE("whoever listens where memory was offered must know what was offered, and hand out memory of a sealed size") {
  Rig rig;
  SharedOffer offer = rig.invite();
  offer.name = *fresh_token();
  const auto listener = listen_at(socket_name(offer.name), 4);
  REQUIRE(listener);
  const std::size_t descriptors = open_descriptors();
  rig.join(offer);
  std::optional<UniqueDescriptor> accepted;
  REQUIRE(rig.run_until([&] {
    auto next = accept_from(listener->get());
    REQUIRE(next);
    accepted = *std::move(next);
    return accepted.has_value();
  }));
  const std::string_view proof(offer.host.data(), offer.host.size());
  std::string what;
  SECTION("it does not know the token") {
    const auto memory = SharedMemory::create(kLinkBytes);
    REQUIRE(send_bytes(accepted->get(), "0123456789abcdef", memory->descriptor()));
    what = "does not know what was offered";
  }
  SECTION("it hands out nothing") {
    REQUIRE(send_bytes(accepted->get(), proof));
    what = "does not know what was offered";
  }
  SECTION("memory that can be taken away") {
    REQUIRE(send_bytes(accepted->get(), proof, unsealed(kLinkBytes).get()));
    what = "not sealed";
  }
  SECTION("memory of another size") {
    const auto memory = SharedMemory::create(kLinkBytes / 2);
    REQUIRE(send_bytes(accepted->get(), proof, memory->descriptor()));
    what = "wanted " + std::to_string(kLinkBytes);
  }
  SECTION("no memory at all") {
    const UniqueDescriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    REQUIRE(send_bytes(accepted->get(), proof, null.get()));
    what = "wanted " + std::to_string(kLinkBytes);
  }
  REQUIRE(rig.run_until([&] { return rig.refusal.has_value(); }));
  INFO(rig.refusal->message);
  CHECK(rig.refusal->code == ErrorCode::refused);
  CHECK(rig.refusal->message.find(what) != std::string::npos);
  accepted.reset();
  rig.joining.reset();
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("memory that is shared keeps its size whatever the other process does") {
  auto memory = SharedMemory::create(kLinkBytes);
  REQUIRE(memory);
  CHECK(::ftruncate(memory->descriptor(), 0) != 0);
  CHECK(::ftruncate(memory->descriptor(), static_cast<off_t>(2 * kLinkBytes)) != 0);
  CHECK(memory->bytes().size() == kLinkBytes);
}

TEST_CASE("a visitor that says nothing is hung up on, and keeps nobody out") {
  Rig rig;
  const SharedOffer offer = rig.invite();
  const auto silent = connect_to(socket_name(offer.name));
  REQUIRE(silent);
  rig.join(offer);
  REQUIRE(rig.run_until([&] { return rig.host.link && rig.guest.link; }));
  REQUIRE(rig.run_until([&] { return rig.door->refused() == 1; }));
  CHECK(receive_bytes(silent->get(), 1).state == ReceivedBytes::State::gone);
}

TEST_CASE("when a process dies the other one takes what it had written and then learns of its end") {
  Rig rig;
  rig.connect();
  REQUIRE(rig.run_until([&] { return rig.io.poll() == 0; }));
  REQUIRE(rig.guest.send("the last words"));
  rig.guest.link->close();
  REQUIRE(rig.run_until([&] { return rig.host.ended.has_value(); }));
  CHECK(rig.host.ended->code == ErrorCode::unreachable);
  CHECK(rig.host.received == std::vector<std::string>{"the last words"});
  CHECK_FALSE(rig.host.send("too late"));
  CHECK_FALSE(rig.guest.ended);
}

TEST_CASE("a process that writes what none of ours writes loses its link, and nothing else happens") {
  Rig rig;
  RawGuest liar(rig);
  const auto number =
      GENERATE(std::uint64_t{3}, std::uint64_t{100}, std::uint64_t{kRingDataBytes + 1}, std::uint64_t{1} << 63U);
  SECTION("into the ring that we read") {
    std::memcpy(liar.our_ring().data(), &number, sizeof number);
    liar.ring_bell();
  }
  SECTION("about the ring that we write") {
    std::memcpy(liar.their_ring().data() + 64, &number, sizeof number);
    CHECK_FALSE(rig.host.send("hello"));
  }
  REQUIRE(rig.run_until([&] { return rig.host.ended.has_value(); }));
  CHECK(rig.host.ended->code == ErrorCode::malformed);
  CHECK(rig.host.received.empty());
}

TEST_CASE("a process that reads neither ring nor bells, and is always asleep, cannot block us") {
  Rig rig;
  RawGuest liar(rig);
  const std::uint32_t asleep = 1;
  std::size_t sent = 0;
  std::memcpy(liar.their_ring().data() + 128, &asleep, sizeof asleep);
  while (rig.host.send("a message")) {
    ++sent;
    std::memcpy(liar.their_ring().data() + 128, &asleep, sizeof asleep);
  }
  CHECK(sent == kRingDataBytes / (4 + std::string_view("a message").size()));
  for (std::size_t bells = 0; bells < 10'000 && send_bytes(liar.socket.get(), "b"); ++bells) {
  }
  rig.io.restart();
  rig.io.poll();
  CHECK_FALSE(rig.host.ended);
  liar.socket.reset();
  REQUIRE(rig.run_until([&] { return rig.host.ended.has_value(); }));
  CHECK(rig.host.ended->code == ErrorCode::unreachable);
}

TEST_CASE("an offer reads as it was written, and nothing else is one") {
  const SharedOffer offer{kKernel, *fresh_token(), *fresh_token(), *fresh_token()};
  const std::string bytes = encode(offer);
  CHECK(decode_offer(bytes).value() == offer);
  CHECK(decode_offer(bytes + "x").error().code == ErrorCode::malformed);
  CHECK(decode_offer(bytes.substr(1)).error().code == ErrorCode::wrong_version);
  CHECK(decode_offer("").error().code == ErrorCode::wrong_version);
}

TEST_CASE("answers are awaited where that pays, and ever more seldom where it is in vain") {
  AnswerWatch answers;
  for (int i = 0; i < 100; ++i) {
    REQUIRE(answers.is_worthwhile());
    answers.paid();
  }
  std::size_t tried = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (answers.is_worthwhile()) {
      ++tried;
      answers.in_vain();
    }
  }
  CHECK(tried < 20);  // 10 until the intervals have grown, and then one of 1024
  CHECK(tried > 10);
  int sent = 0;
  for (int paid = 0; paid < 5; ++sent) {  // the other process has a core of its own again
    if (answers.is_worthwhile()) {
      answers.paid();
      ++paid;
    }
  }
  CHECK(sent <= 1'024 + 5);
}
