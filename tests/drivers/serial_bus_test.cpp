// SPDX-License-Identifier: Apache-2.0
// Frames over a pseudo terminal whose other end is a scripted device on a thread: it answers when the request has come.
#include "drivers/bus/serial_bus.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "tests/drivers/terminal.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

Transaction frame(std::string_view request, std::uint16_t reply_bytes, std::string terminator, milliseconds deadline) {
  Transaction transaction;
  transaction.order = Frame{bytes_of(request), reply_bytes, std::move(terminator)};
  transaction.deadline = deadline;
  return transaction;
}

}  // namespace

TEST_CASE("exchanges_frames_of_a_fixed_length_and_up_to_a_terminator") {
  Terminal terminal;
  SerialBus bus{terminal.endpoint()};
  std::string received;
  std::jthread device([&] {
    received = terminal.receive(4);
    terminal.deliver("\x01\x02\x03\x04");
    received += terminal.receive(6);
    terminal.deliver("1.5");
    terminal.deliver("00\r\n");
  });
  const BusReply fixed = bus.execute(frame("ITLA", 4, "", milliseconds{5000}));
  CHECK(fixed.status == BusStatus::ok);
  CHECK(fixed.bytes == std::vector<std::uint8_t>{1, 2, 3, 4});
  const BusReply line = bus.execute(frame("VOLT?\n", 0, "\r\n", milliseconds{5000}));
  CHECK(line.status == BusStatus::ok);
  CHECK(line.bytes == bytes_of("1.500\r\n"));
  device.join();
  CHECK(received == "ITLAVOLT?\n");
}

TEST_CASE("what_was_read_beside_or_short_of_a_reply_is_kept_in_the_failure") {
  Terminal terminal;
  SerialBus bus{terminal.endpoint()};
  std::jthread device([&] {
    terminal.receive(5);
    terminal.deliver("E02:03\nOK\n");  // a device that complains unasked, before its answer
    terminal.receive(5);
    terminal.deliver("4.5");
  });
  const BusReply both = bus.execute(frame("v0=1\n", 0, "\n", milliseconds{5000}));
  CHECK(both.status == BusStatus::malformed);
  CHECK(both.bytes == bytes_of("E02:03\nOK\n"));
  const BusReply half = bus.execute(frame("v00?\n", 0, "\n", milliseconds{150}));
  CHECK(half.status == BusStatus::timeout);
  CHECK(half.bytes == bytes_of("4.5"));
}

TEST_CASE("a_late_serial_reply_is_not_taken_for_the_next_one") {
  Terminal terminal;
  SerialBus bus{terminal.endpoint()};
  CHECK(bus.execute(frame("first", 3, "", milliseconds{30})).status == BusStatus::timeout);
  terminal.deliver("OLD");  // late: after the time-out, before the next request
  std::jthread device([&] {
    terminal.receive(11);
    terminal.deliver("NEW");
  });
  const BusReply reply = bus.execute(frame("second", 3, "", milliseconds{5000}));
  CHECK(reply.status == BusStatus::ok);
  CHECK(reply.bytes == bytes_of("NEW"));
}

TEST_CASE("a_reply_longer_than_asked_for_is_malformed") {
  Terminal terminal;
  SerialBus bus{terminal.endpoint()};
  std::jthread device([&] {
    terminal.receive(1);
    terminal.deliver("12345");
  });
  CHECK(bus.execute(frame("x", 3, "", milliseconds{5000})).status == BusStatus::malformed);
}

TEST_CASE("a_serial_reply_that_does_not_come_whole_says_how_much_came") {
  Terminal terminal;
  SerialBus bus{terminal.endpoint()};
  const std::string device = terminal.endpoint().device;
  CHECK(bus.execute(frame("x", 4, "", milliseconds{20})).cause == device + ": silence");
  const auto after = [&](std::string_view part, std::uint16_t reply_bytes, std::string terminator) {
    const Terminal another;
    SerialBus line{another.endpoint()};
    std::jthread peer([&] {
      another.receive(1);
      another.deliver(part);
    });
    const BusReply reply = line.execute(frame("x", reply_bytes, std::move(terminator), milliseconds{500}));
    CHECK(reply.status == BusStatus::timeout);
    return reply.cause.substr(another.endpoint().device.size());
  };
  CHECK(after("abc", 4, "") == ": 3 of 4 bytes came");
  CHECK(after("1.5\r", 0, "\r\n") == ": 4 bytes came, and no end");
}

TEST_CASE("a_line_that_is_not_there_is_lost_and_found_when_it_comes") {
  SerialBus bus{{"/dev/there-is-no-such-line", 9600, 'N', 1}};
  CHECK(bus.execute(frame("x", 1, "", milliseconds{100})).status == BusStatus::lost);
  const BusReply lost = bus.execute(frame("x", 1, "", milliseconds{100}));
  CHECK(lost.status == BusStatus::lost);
  CHECK(lost.cause == "/dev/there-is-no-such-line: No such file or directory (errno 2)");
}

TEST_CASE("a_serial_line_refuses_register_transactions") {
  Terminal terminal;
  SerialBus bus{terminal.endpoint()};
  Transaction transaction;
  transaction.order = Registers{0, 1, {}};
  CHECK(bus.execute(transaction).status == BusStatus::exception);
}

}  // namespace loom
