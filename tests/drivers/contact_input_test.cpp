// SPDX-License-Identifier: Apache-2.0
// Contacts as they are read: a file, a Modbus server of another hand (pymodbus), and the logic above libgpiod. No GPIO of a
// real kernel is tried here: that takes the module gpio-sim.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "core/config/endpoints/contact_endpoint.hpp"
#include "drivers/bus/contact_input.hpp"
#include "drivers/bus/gpio_contact.hpp"
#include "tests/drivers/discrete_input_server.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<ContactInput> input_at(const std::string& endpoint) {
  const auto parsed = parse_contact_endpoint(endpoint);
  REQUIRE(parsed);
  auto input = make_contact_input(*parsed);
  REQUIRE(input);
  return std::move(*input);
}

bool is_closed(ContactInput& input) {
  const auto read = input.read(milliseconds{2'000});
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  return *read;
}

Error failure_of(ContactInput& input, Duration limit = milliseconds{100}) {
  const auto read = input.read(limit);
  REQUIRE_FALSE(read);
  return read.error();
}

bool says(const Error& error, const std::string& part) { return error.message.find(part) != std::string::npos; }

/// A line as a kernel would give it: a level and a queue of edges.
struct FakeLine {
  bool level = true;
  int edges = 0;
  bool is_gone = false;
  int opened = 0;
};

class FakePort final : public GpioPort {
 public:
  explicit FakePort(FakeLine& line) : line_(line) {}
  Result<void> open(const GpioLine& place) override {
    ++line_.opened;
    return line_.is_gone ? Result<void>(fail(ErrorCode::unreachable, place.chip + ": gone")) : Result<void>{};
  }
  void close() override {}
  Result<bool> is_active() override {
    return line_.is_gone ? Result<bool>(fail(ErrorCode::unreachable, "gone")) : Result<bool>(line_.level);
  }
  Result<bool> take_edge(Duration) override {
    if (line_.is_gone) {
      return fail(ErrorCode::unreachable, "gone");
    }
    if (line_.edges == 0) {
      return false;
    }
    --line_.edges;
    return true;
  }

 private:
  FakeLine& line_;
};

}  // namespace

TEST_CASE("a_file_says_closed_or_open_and_anything_else_cannot_be_read") {
  const auto path = std::filesystem::temp_directory_path() / ("loom-contact-" + std::to_string(getpid()));
  const auto input = input_at("file://" + path.string());
  CHECK(failure_of(*input).code == ErrorCode::unreachable);
  const auto write = [&](const std::string& text) { std::ofstream(path, std::ios::trunc) << text; };
  for (const char* closed : {"1", "closed\n", " closed "}) {
    write(closed);
    CHECK(is_closed(*input));
  }
  for (const char* open : {"0\n", "open"}) {
    write(open);
    CHECK_FALSE(is_closed(*input));
  }
  for (const char* garbage : {"", "ajar", "1 0", "clo", "10"}) {  // "" is also a file that is just being written
    write(garbage);
    CHECK(failure_of(*input).code == ErrorCode::malformed);
  }
  std::filesystem::remove(path);
}

TEST_CASE("a_discrete_input_of_a_server_of_another_hand_is_read_and_its_refusals_have_names") {
  DiscreteInputServer server(true);
  if (!server.is_there()) {
    return;
  }
  const auto input = input_at(server.endpoint(1, 3));
  CHECK(is_closed(*input));
  server.set(false);
  CHECK_FALSE(is_closed(*input));
  server.set(true);
  CHECK(is_closed(*input));
  const Error refused = failure_of(*input_at(server.endpoint(1, 4'000)), milliseconds{2'000});
  CHECK(refused.code == ErrorCode::device_error);
  CHECK(says(refused, "Modbus exception 2"));
  server.stop();  // it neither answers nor hangs up, as a network that was cut
  const Error silent = failure_of(*input);
  CHECK(silent.code == ErrorCode::timed_out);
  CHECK(says(silent, "unit 1 input 3"));
  server.go_on();
  CHECK(is_closed(*input));  // and no late answer of the question before is taken for this one's
  server.set(false);
  CHECK_FALSE(is_closed(*input));
  server.end();
  CHECK(failure_of(*input).code == ErrorCode::unreachable);
}

TEST_CASE("an_opening_of_a_line_between_two_readings_counts_though_it_is_closed_again") {
  FakeLine line;
  GpioContact contact(GpioLine{"/dev/gpiochip0", 17, false, GpioLine::Bias::as_is}, std::make_unique<FakePort>(line));
  CHECK(is_closed(contact));
  CHECK(is_closed(contact));
  line.edges = 2;  // open and closed again
  CHECK_FALSE(is_closed(contact));
  CHECK(is_closed(contact));
  line.edges = 1;
  line.level = false;
  CHECK(contact.wait(milliseconds{50}));  // the edge ends the wait, and is not forgotten
  line.level = true;
  CHECK_FALSE(is_closed(contact));
  CHECK(is_closed(contact));
}

TEST_CASE("a_line_whose_chip_goes_away_cannot_be_read_and_is_taken_again_when_it_is_back") {
  FakeLine line;
  GpioContact contact(GpioLine{"/dev/gpiochip0", 17, false, GpioLine::Bias::as_is}, std::make_unique<FakePort>(line));
  CHECK(is_closed(contact));
  line.is_gone = true;
  CHECK(failure_of(contact).code == ErrorCode::unreachable);
  CHECK_FALSE(contact.wait(milliseconds{50}));
  CHECK(says(failure_of(contact), "/dev/gpiochip0"));
  line.is_gone = false;
  line.level = false;
  CHECK_FALSE(is_closed(contact));
  line.level = true;
  CHECK(is_closed(contact));
  CHECK(line.opened == 3);
}

TEST_CASE("a_chip_that_is_not_there_cannot_be_read_and_the_sentence_names_it") {
  const auto input = input_at("gpio:///dev/gpiochip987/17?active=low&bias=pull-up");
  const Error error = failure_of(*input);
  CHECK(error.code == ErrorCode::unreachable);
  CHECK(says(error, "/dev/gpiochip987 line 17"));
  CHECK(says(error, "errno"));
}

}  // namespace loom
