// SPDX-License-Identifier: Apache-2.0
// Lines that give edges, above what the kernel gives of them: a clock with periodic outputs and an output of a GPIO chip, both
// made of code. No card and no chip was at hand.
#include <linux/ptp_clock.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <mutex>
#include <thread>
#include <vector>

#include "core/config/trigger_file.hpp"
#include "drivers/bus/trigger/gpio_trigger.hpp"
#include "drivers/bus/trigger/phc_trigger.hpp"
#include "runtime/clock.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A card's clock as the kernel shows it.
struct FakeCard {
  int opened = 0;  ///< errno
  int caps_error = 0;
  int pin_error = 0;
  int request_error = 0;
  bool knows_one_shot = true;
  int outputs = 2;
  int pins = 4;
  Duration beside{};  ///< its clock stands this much beside the host's
  Instant now{seconds{1'000}};
  std::vector<ptp_perout_request> requests{};
  std::vector<ptp_pin_desc> set_pins{};
};

class FakePhcPort final : public PhcPort {
 public:
  explicit FakePhcPort(FakeCard& card) : card_(card) {}
  int open(const std::string&) override { return card_.opened; }
  int control(unsigned long request, void* argument) override {
    if (request == PTP_CLOCK_GETCAPS) {
      auto& caps = *static_cast<ptp_clock_caps*>(argument);
      caps.n_per_out = card_.outputs;
      caps.n_pins = card_.pins;
      return card_.caps_error;
    }
    if (request == PTP_PIN_SETFUNC) {
      card_.set_pins.push_back(*static_cast<ptp_pin_desc*>(argument));
      return card_.pin_error;
    }
    if (request != PTP_PEROUT_REQUEST2) {
      return ENOTTY;
    }
    const auto& order = *static_cast<ptp_perout_request*>(argument);
    const bool is_on = order.period.sec != 0 || order.period.nsec != 0;
    if ((order.flags & PTP_PEROUT_ONE_SHOT) != 0 && !card_.knows_one_shot) {
      return EOPNOTSUPP;
    }
    if (is_on && card_.request_error != 0) {
      return card_.request_error;
    }
    card_.requests.push_back(order);
    return 0;
  }
  int time(Instant& now) override {
    now = card_.now + card_.beside;
    return 0;
  }

 private:
  FakeCard& card_;
};

PhcTrigger phc_of(FakeCard& card, std::optional<std::uint32_t> pin = {}) {
  return PhcTrigger({"/dev/ptp0", 1, pin}, std::make_unique<FakePhcPort>(card), [&card] { return card.now; });
}

TEST_CASE("a_clock_with_a_periodic_output_is_told_the_instant_itself") {
  FakeCard card;
  PhcTrigger trigger = phc_of(card, 3);
  REQUIRE(trigger.open());
  REQUIRE(card.set_pins.size() == 1);
  CHECK(card.set_pins[0].index == 3);
  CHECK(card.set_pins[0].func == PTP_PF_PEROUT);
  CHECK(card.set_pins[0].chan == 1);
  REQUIRE(card.requests.size() == 1);  // whatever an earlier process asked for is off
  CHECK(card.requests[0].index == 1);
  CHECK((card.requests[0].period.sec == 0 && card.requests[0].period.nsec == 0));
  REQUIRE(trigger.arm(card.now + milliseconds{2}));
  REQUIRE(card.requests.size() == 2);
  CHECK(card.requests[1].start.sec == 1'000);
  CHECK(card.requests[1].start.nsec == 2'000'000);
  CHECK(card.requests[1].flags == PTP_PEROUT_ONE_SHOT);
  REQUIRE(trigger.disarm());
  CHECK((card.requests[2].period.sec == 0 && card.requests[2].period.nsec == 0));
}

TEST_CASE("a_clock_without_one_shot_outputs_is_asked_for_a_period_that_nobody_waits_for") {
  FakeCard card;
  card.knows_one_shot = false;
  {
    PhcTrigger trigger = phc_of(card);
    REQUIRE(trigger.open());
    CHECK(card.set_pins.empty());
    REQUIRE(trigger.arm(card.now + milliseconds{1}));
    CHECK(card.requests.back().flags == 0);
    CHECK(card.requests.back().period.sec >= 1);
  }
  CHECK(card.requests.back().period.sec == 0);  // it is off when its process ends
}

TEST_CASE("what_a_clock_cannot_do_is_known_at_the_start_with_path_and_errno") {
  const auto words = [](FakeCard card, std::optional<std::uint32_t> pin = {}) {
    const auto opened = phc_of(card, pin).open();
    REQUIRE_FALSE(opened);
    return opened.error().message;
  };
  CHECK(words({.opened = ENOENT}) == "/dev/ptp0: cannot be opened: No such file or directory (errno 2)");
  CHECK_THAT(words({.caps_error = ENOTTY}), Contains("is no PTP hardware clock") && Contains("(errno 25)"));
  CHECK_THAT(words({.outputs = 0}), Contains("/dev/ptp0: has no periodic output") && Contains("errno"));
  CHECK_THAT(words({.outputs = 1}), Contains("has periodic outputs 0 to 0, no 1"));
  CHECK_THAT(words({.pins = 0}, 0), Contains("has no programmable pin; leave pin out"));
  CHECK_THAT(words({.pins = 2}, 2), Contains("has pins 0 to 1, no 2"));
  CHECK_THAT(words({.pin_error = EBUSY}, 1), Contains("pin 1 cannot show periodic output 1") && Contains("(errno 16)"));
}

TEST_CASE("a_clock_that_is_not_the_hosts_gives_no_edge") {
  FakeCard card;
  PhcTrigger trigger = phc_of(card);
  REQUIRE(trigger.open());
  card.beside = -seconds{37};  // UTC
  const auto refused = trigger.arm(card.now + milliseconds{1});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::refused);
  CHECK_THAT(refused.error().message, Contains("/dev/ptp0 is 37000000 us behind this host's TAI"));
  card.beside = {};
  CHECK(trigger.arm(card.now + microseconds{10}).error().code == ErrorCode::timed_out);
  CHECK(trigger.arm(card.now - milliseconds{1}).error().code == ErrorCode::timed_out);
  card.request_error = ERANGE;
  CHECK_THAT(trigger.arm(card.now + milliseconds{1}).error().message, Contains("takes no start") && Contains("errno 34"));
  CHECK(card.requests.size() == 1);
}

TEST_CASE("a_clock_needs_instants_of_tai") {
  const auto made = make_trigger_output(PhcOutput{"/dev/ptp0"}, {[] { return Instant{}; }, false});
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error().message, Contains("/dev/ptp0") && Contains("--clock tai"));
}

/// A line as a chip would show it.
struct FakeOutput {
  std::mutex mutex;
  std::vector<std::pair<bool, Instant>> levels;
  bool is_broken = false;
  std::atomic<std::size_t> count = 0;
};

class FakeOutputPort final : public GpioOutputPort {
 public:
  explicit FakeOutputPort(FakeOutput& output) : output_(output) {}
  Result<void> open(const GpioOutput& line) override {
    return line.line < 32 ? Result<void>{} : fail(ErrorCode::unreachable, line.chip + " line 32: Invalid argument (errno 22)");
  }
  Result<void> set(bool active) override {
    const std::scoped_lock lock(output_.mutex);
    output_.levels.emplace_back(active, monotonic_now());
    ++output_.count;
    return output_.is_broken ? fail(ErrorCode::unreachable, "/dev/gpiochip0 line 17: Input/output error (errno 5)")
                             : Result<void>{};
  }

 private:
  FakeOutput& output_;
};

void await(const FakeOutput& output, std::size_t count) {
  for (int i = 0; i < 20'000 && output.count < count; ++i) {
    std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds{1});
  }
  REQUIRE(output.count >= count);
}

TEST_CASE("a_line_of_a_chip_gives_one_pulse_not_before_its_instant") {
  FakeOutput output;
  GpioTrigger trigger({"/dev/gpiochip0", 17, false, microseconds{10}}, std::make_unique<FakeOutputPort>(output), monotonic_now);
  REQUIRE(trigger.open());
  const Instant at = monotonic_now() + milliseconds{5};
  REQUIRE(trigger.arm(at));
  await(output, 2);
  REQUIRE(output.levels.size() == 2);
  CHECK((output.levels[0].first && !output.levels[1].first));
  CHECK(output.levels[0].second >= at);
  CHECK(output.levels[1].second - output.levels[0].second >= microseconds{10});
}

TEST_CASE("an_edge_that_was_taken_back_or_put_off_is_not_given") {
  FakeOutput output;
  GpioTrigger trigger({"/dev/gpiochip0", 17}, std::make_unique<FakeOutputPort>(output), monotonic_now);
  REQUIRE(trigger.open());
  REQUIRE(trigger.arm(monotonic_now() + seconds{10}));
  REQUIRE(trigger.disarm());
  const Instant later = monotonic_now() + milliseconds{20};
  REQUIRE(trigger.arm(later - milliseconds{10}));
  REQUIRE(trigger.arm(later));
  await(output, 2);
  CHECK(output.levels.size() == 2);
  CHECK(output.levels[0].second >= later);
  CHECK(trigger.arm(monotonic_now()).error().code == ErrorCode::timed_out);
}

TEST_CASE("a_line_that_is_not_there_or_breaks_is_named") {
  FakeOutput output;
  GpioTrigger missing({"/dev/gpiochip0", 32}, std::make_unique<FakeOutputPort>(output), monotonic_now);
  CHECK_THAT(missing.open().error().message, Contains("/dev/gpiochip0 line 32: Invalid argument (errno 22)"));
  GpioTrigger trigger({"/dev/gpiochip0", 17}, std::make_unique<FakeOutputPort>(output), monotonic_now);
  REQUIRE(trigger.open());
  output.is_broken = true;
  REQUIRE(trigger.arm(monotonic_now() + milliseconds{1}));
  await(output, 1);
  Result<void> told;
  for (int i = 0; i < 20'000 && told; ++i) {
    std::this_thread::sleep_for(milliseconds{1});
    told = trigger.arm(monotonic_now() + seconds{10});
  }
  REQUIRE_FALSE(told);
  CHECK_THAT(told.error().message, Contains("/dev/gpiochip0 line 17: Input/output error (errno 5)"));
  GpioTrigger no_chip({"/dev/there-is-no-such-chip", 0}, make_gpio_output_port(), monotonic_now);
  CHECK_THAT(no_chip.open().error().message, Contains("/dev/there-is-no-such-chip line 0: ") && Contains("errno"));
}

TEST_CASE("an_order_for_an_edge_is_a_write_of_its_instant") {
  FakeCard card;
  PhcTrigger trigger = phc_of(card);
  REQUIRE(trigger.open());
  const Instant at = card.now + milliseconds{3};
  CHECK(edge_instant(edge_order(DeviceId{4}, at)) == at);
  CHECK(edge_instant(edge_order(DeviceId{4}, Instant{})) == Instant{});
  CHECK(execute(trigger, edge_order(DeviceId{4}, at)).status == BusStatus::ok);
  CHECK(card.requests.back().start.nsec == 3'000'000);
  CHECK(execute(trigger, edge_order(DeviceId{4}, Instant{})).status == BusStatus::ok);
  CHECK(card.requests.back().period.sec == 0);
  const BusReply late = execute(trigger, edge_order(DeviceId{4}, card.now));
  CHECK(late.status == BusStatus::exception);
  CHECK_THAT(late.cause, Contains("an edge was asked for 0 us from now"));
  CHECK(execute(trigger, {DeviceId{4}, 0, Registers{0, 4, {}}, milliseconds{1}}).status == BusStatus::exception);
}

TEST_CASE("a_trigger_is_read_from_one_line") {
  CHECK(parse_trigger_endpoint("gpio:///dev/gpiochip0/17?active=low&pulse=50us").value() ==
        TriggerPlace{GpioOutput{"/dev/gpiochip0", 17, true, microseconds{50}}});
  CHECK(parse_trigger_endpoint("phc:///dev/ptp0").value() == TriggerPlace{PhcOutput{"/dev/ptp0"}});
  CHECK(parse_trigger_endpoint("phc:///dev/ptp1?channel=1&pin=3").value() == TriggerPlace{PhcOutput{"/dev/ptp1", 1, 3}});
  CHECK(parse_trigger_endpoint("sim").value() == TriggerPlace{SimulatedEdge{}});
  CHECK(parse_trigger_endpoint("sim?skew=100ns").value() == TriggerPlace{SimulatedEdge{Duration{100}}});
  const auto [text, word] = GENERATE(table<std::string, std::string>({
      {"", "expected gpio:///dev/gpiochip0/LINE"},
      {"gpio:///dev/gpiochip0", "line number"},
      {"gpio:///dev/gpiochip0/x", "line number"},
      {"gpio:///dev/gpiochip0/1?pulse=1s", "pulse: expected 1 us to 10 ms"},
      {"gpio:///dev/gpiochip0/1?bias=pull-up", "expected active=low or high, or pulse=10us"},
      {"phc://ptp0", "phc:///dev/ptpN"},
      {"phc:///dev/ptp0?pin=256", "0..255"},
      {"phc:///dev/ptp0?period=1", "expected channel= or pin="},
      {"sim?jitter=1", "sim?skew=100ns"},
      {"sim?skew=1s", "skew: expected"},
  }));
  const auto parsed = parse_trigger_endpoint(text);
  INFO(text);
  REQUIRE_FALSE(parsed);
  CHECK_THAT(parsed.error().message, Contains(word) && Contains("found '" + text + "'"));
}

}  // namespace
}  // namespace loom
