// SPDX-License-Identifier: Apache-2.0
// Frames over TCP whose other end is a scripted server on a thread: polite, late, halting, flooding, gone.
#include "drivers/bus/tcp_bus.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <latch>
#include <stop_token>
#include <string>
#include <thread>

#include "drivers/bus/stream.hpp"
#include "tests/drivers/tcp_peer.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

Transaction line(std::string_view request, milliseconds deadline = milliseconds{5000}) {
  Transaction transaction;
  transaction.order = Frame{{request.begin(), request.end()}, 0, "\n"};
  transaction.deadline = deadline;
  return transaction;
}

std::string text_of(const BusReply& reply) { return {reply.bytes.begin(), reply.bytes.end()}; }

}  // namespace

TEST_CASE("tcp_exchanges_lines_in_parts_over_one_connection") {
  TcpPeer peer;
  TcpBus bus{peer.endpoint()};
  std::string received;
  std::jthread device([&] {
    const auto client = peer.accept();
    received = client.receive(6);
    client.deliver("Pola");
    client.deliver("tis\n");
    received += client.receive(6);
    client.deliver("1\r\n");
  });
  CHECK(text_of(bus.execute(line("*idn?\n"))) == "Polatis\n");
  CHECK(text_of(bus.execute(line("*opc?\n"))) == "1\r\n");
  device.join();
  CHECK(received == "*idn?\n*opc?\n");
}

TEST_CASE("tcp_skips_parts_that_answer_nothing_before_a_request_and_after_it") {
  TcpPeer peer;
  TcpBus bus{peer.endpoint()};
  const auto ask = [](std::string_view request, std::string answers) {
    Transaction transaction = line(request);
    std::get<Frame>(transaction.order).terminator = ";";
    std::get<Frame>(transaction.order).answers = std::move(answers);
    return transaction;
  };
  std::latch announced{1};
  std::jthread device([&] {
    const auto client = peer.accept();
    client.receive(4);
    client.deliver("A 1 REPT;M 7 COMPLD;\r\n");
    client.deliver("A 2 REPT;A 3 half of");
    announced.count_down();
    client.receive(4);
    client.deliver(" it;M 9 COMPLD;");
  });
  const BusReply first = bus.execute(ask("one;", " 7 "));
  CHECK(text_of(first) == "A 1 REPT;M 7 COMPLD;");
  announced.wait();
  const BusReply second = bus.execute(ask("two;", " 9 "));
  CHECK(second.status == BusStatus::ok);
  CHECK(text_of(second).ends_with("M 9 COMPLD;"));
  CHECK(second.connection == first.connection);
}

TEST_CASE("tcp_never_takes_a_late_answer_for_the_next_one") {
  TcpPeer peer;
  TcpBus bus{peer.endpoint()};
  CHECK(bus.execute(line("first\n", milliseconds{30})).status == BusStatus::timeout);
  std::jthread device([&] {
    const auto first = peer.accept();
    const auto second = peer.accept();  // the bus has turned its back on the first connection
    first.deliver("late\n");
    second.receive(7);
    second.deliver("prompt\n");
  });
  CHECK(text_of(bus.execute(line("second\n"))) == "prompt\n");
}

TEST_CASE("tcp_half_a_line_is_a_timeout_and_its_rest_is_never_an_answer") {
  TcpPeer peer;
  TcpBus bus{peer.endpoint()};
  std::jthread device([&] {
    const auto first = peer.accept();
    first.receive(6);
    first.deliver("(@1),(@1");
    const auto second = peer.accept();
    first.deliver("7)\n");
    second.receive(6);
    second.deliver("1\n");
  });
  CHECK(bus.execute(line("stat?\n", milliseconds{60})).status == BusStatus::timeout);
  CHECK(text_of(bus.execute(line("*opc?\n"))) == "1\n");
}

TEST_CASE("tcp_a_drip_without_end_ends_with_the_deadline") {
  TcpPeer peer;
  TcpBus bus{peer.endpoint()};
  std::jthread device([&](const std::stop_token& stop) {
    const auto client = peer.accept();
    while (!stop.stop_requested() && client.try_deliver("x")) {
    }
  });
  const BusStatus status = bus.execute(line("stat?\n", milliseconds{100})).status;
  CHECK((status == BusStatus::timeout || status == BusStatus::malformed));
}

TEST_CASE("tcp_a_flood_without_a_terminator_is_cut_off") {
  TcpPeer peer;
  TcpBus bus{peer.endpoint()};
  std::jthread device([&] {
    const auto client = peer.accept();
    client.receive(6);
    const std::string part(4096, 'x');
    for (std::size_t delivered = 0; delivered <= kReplyBytesMax && client.try_deliver(part); delivered += part.size()) {
    }
    client.receive(1);  // until the bus hangs up
  });
  CHECK(bus.execute(line("stat?\n")).status == BusStatus::malformed);
}

TEST_CASE("tcp_two_answers_to_one_question_are_malformed") {
  TcpPeer peer;
  TcpBus bus{peer.endpoint()};
  std::jthread device([&] {
    const auto first = peer.accept();
    first.receive(6);
    first.deliver("1\n1\n");
    const auto second = peer.accept();
    second.receive(6);
    second.deliver("2\n");
  });
  CHECK(bus.execute(line("*opc?\n")).status == BusStatus::malformed);
  CHECK(text_of(bus.execute(line("*opc?\n"))) == "2\n");
}

TEST_CASE("tcp_bytes_that_nobody_asked_for_answer_nothing") {
  TcpPeer peer;
  TcpBus bus{peer.endpoint()};
  std::latch asked(1);
  std::latch delivered(1);
  std::jthread device([&] {
    const auto first = peer.accept();
    first.receive(6);
    first.deliver("1\n");
    asked.wait();
    first.deliver("unasked\n");
    delivered.count_down();
    const auto second = peer.accept();
    second.receive(6);
    second.deliver("2\n");
  });
  CHECK(text_of(bus.execute(line("*opc?\n"))) == "1\n");
  asked.count_down();
  delivered.wait();
  CHECK(text_of(bus.execute(line("*opc?\n"))) == "2\n");
}

TEST_CASE("tcp_a_device_that_hangs_up_is_lost_and_found_again") {
  TcpPeer peer;
  TcpBus bus{peer.endpoint()};
  std::jthread device([&] {
    {
      const auto first = peer.accept();
      first.receive(6);
    }
    const auto second = peer.accept();
    second.receive(6);
    second.deliver("2\n");
  });
  CHECK(bus.execute(line("*opc?\n")).status == BusStatus::lost);
  CHECK(text_of(bus.execute(line("*opc?\n"))) == "2\n");
}

TEST_CASE("tcp_a_connection_closed_between_transactions_is_opened_again_unnoticed") {
  TcpPeer peer;
  TcpBus bus{peer.endpoint()};
  std::jthread device([&] {
    const auto client = peer.accept();
    client.receive(6);
    client.deliver("1\n");
  });
  CHECK(text_of(bus.execute(line("*opc?\n"))) == "1\n");
  device.join();
  std::jthread again([&] {
    const auto client = peer.accept();
    client.receive(6);
    client.deliver("2\n");
  });
  CHECK(text_of(bus.execute(line("*opc?\n"))) == "2\n");
}

TEST_CASE("tcp_nobody_there_is_lost_and_registers_are_refused") {
  const TcpEndpoint nobody = TcpPeer{}.endpoint();  // a port that was free a moment ago
  TcpBus bus{nobody};
  const BusReply lost = bus.execute(line("*opc?\n"));
  CHECK(lost.status == BusStatus::lost);
  CHECK(lost.cause == nobody.host + " port " + std::to_string(nobody.port) + ": Connection refused (errno 111)");
  Transaction registers;
  registers.order = Registers{0, 1, {}};
  CHECK(bus.execute(registers).status == BusStatus::exception);
}

}  // namespace loom
