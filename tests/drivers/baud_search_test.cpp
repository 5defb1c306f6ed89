// SPDX-License-Identifier: Apache-2.0
// A speed that nobody knows: the search by itself, and a module on a pseudo terminal that understands at its own speed only.
// A pseudo terminal carries bytes at any speed, so the module looks at the speed that the line was set to.
#include "drivers/bus/baud_search.hpp"

#include <termios.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "drivers/bus/serial_bus.hpp"
#include "tests/drivers/terminal.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

Transaction asking(std::string_view request) {
  Transaction transaction;
  transaction.order = Frame{bytes_of(request), 4, {}};
  transaction.deadline = milliseconds{400};
  return transaction;
}

speed_t speed_of_line(const Terminal& terminal) {
  termios line{};
  LOOM_ASSERT(tcgetattr(terminal.master(), &line) == 0);
  return cfgetospeed(&line);
}

/// Answers `requests` requests: at its own speed with "good", at any other with what noise makes of it.
class Module {
 public:
  Module(const Terminal& terminal, speed_t speed, std::string noise, int requests)
      : thread_([&terminal, speed, noise = std::move(noise), requests] {
          for (int i = 0; i < requests; ++i) {
            terminal.receive(4);
            const std::string answer = speed_of_line(terminal) == speed ? "good" : noise;
            if (!answer.empty()) {
              terminal.deliver(answer);
            }
          }
        }) {}

 private:
  std::jthread thread_;
};

SerialEndpoint endpoint_of(const Terminal& terminal) {
  SerialEndpoint endpoint = terminal.endpoint();
  endpoint.baud = SerialEndpoint::kAnyBaud;
  return endpoint;
}

}  // namespace

TEST_CASE("a_search_stays_where_the_next_question_is_another_one") {
  BaudSearch search;
  const auto first = bytes_of("ask1");
  const auto second = bytes_of("ask2");
  CHECK(search.speed_for(first) == 9600);
  search.ended(false);
  CHECK(search.speed_for(first) == 19200);
  search.ended(true);
  CHECK(search.speed_for(first) == 38400);  // the same again: what was heard made no sense
  search.ended(true);
  CHECK_FALSE(search.is_found());
  CHECK(search.speed_for(second) == 38400);
  CHECK(search.is_found());
  for (int i = 0; i < 10; ++i) {
    search.ended(true);
    CHECK(search.speed_for(second) == 38400);  // once found, the same question may come as often as it likes
  }
  for (unsigned i = 0; i < BaudSearch::kPatience; ++i) {
    CHECK(search.speed_for(first) == 38400);
    search.ended(false);
  }
  CHECK(search.speed_for(first) == 9600);  // it was reset, and speaks as it was delivered
  CHECK_FALSE(search.is_found());
}

TEST_CASE("a_search_goes_round_through_every_speed") {
  BaudSearch search;
  for (int round = 0; round < 2; ++round) {
    for (const int speed : BaudSearch::kSpeeds) {
      CHECK(search.speed_for(bytes_of("same")) == speed);
      search.ended(false);
    }
  }
}

TEST_CASE("a_module_of_unknown_speed_is_found_whatever_noise_it_makes_at_others") {
  for (const std::string noise : {"~~~~", "~~~~~~~"}) {
    for (const speed_t speed : {B9600, B57600, B115200, B4800}) {
      INFO("noise " << noise << ", speed " << speed);
      const Terminal terminal;
      SerialBus bus{endpoint_of(terminal)};
      int tries = 0;
      {
        const std::size_t place = speed == B9600 ? 0 : speed == B57600 ? 3 : speed == B115200 ? 4 : 5;
        const Module module(terminal, speed, noise, static_cast<int>(place) + 4);
        BusReply reply;
        do {
          reply = bus.execute(asking("whoo"));
          ++tries;
        } while (reply.bytes != bytes_of("good") && tries < 10);
        CHECK(tries == static_cast<int>(place) + 1);
        for (const char* request : {"what", "what", "when"}) {
          CHECK(bus.execute(asking(request)).bytes == bytes_of("good"));
        }
      }
      CHECK(speed_of_line(terminal) == speed);
    }
  }
}

TEST_CASE("a_silent_line_is_searched_and_its_speed_named") {
  const Terminal terminal;
  SerialBus bus{endpoint_of(terminal)};
  Transaction transaction = asking("whoo");
  transaction.deadline = milliseconds{20};
  const BusReply first = bus.execute(transaction);
  CHECK(first.status == BusStatus::timeout);
  CHECK(first.cause.ends_with(": silence at 9600 baud, which is searched for"));
  CHECK(bus.execute(transaction).cause.ends_with(": silence at 19200 baud, which is searched for"));
  CHECK(speed_of_line(terminal) == B19200);
}

}  // namespace loom
