// SPDX-License-Identifier: Apache-2.0
// The real loop and the real clocks: order, wake-ups from elsewhere, signals. Nothing here asserts how fast.
#include "runtime/loop.hpp"

#include <signal.h>

#include <catch2/catch.hpp>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/clock.hpp"

namespace loom {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::unique_ptr<AsioLoop> open_loop() {
  auto loop = AsioLoop::open();
  REQUIRE(loop.has_value());
  return std::move(*loop);
}

}  // namespace

TEST_CASE("runs_tasks_by_instant_and_equal_instants_by_arrival") {
  const auto loop = open_loop();
  const Instant at = loop->now() + milliseconds{3};
  std::vector<int> order;
  loop->call_at(at + milliseconds{1}, Precision::ordinary, [&] {
    order.push_back(5);
    loop->stop();
  });
  loop->call_at(at, Precision::exact, [&] { order.push_back(2); });
  loop->call_at(at, Precision::ordinary, [&] { order.push_back(3); });
  loop->call_at(at, Precision::exact, [&] { order.push_back(4); });
  loop->call_at(at - milliseconds{1}, Precision::exact, [&] { order.push_back(1); });
  CHECK(loop->run() == 0);
  CHECK(order == std::vector<int>{1, 2, 3, 4, 5});
  CHECK(loop->counters().exact_tasks == 3);
}

TEST_CASE("relaxed_tasks_of_one_stretch_run_together_and_none_early") {
  const auto loop = open_loop();
  const Instant begin = loop->now();
  std::vector<Instant> asked;
  std::vector<Instant> ran;
  int left = 40;
  for (int i = 0; i < 40; ++i) {
    const Instant at = begin + milliseconds{20} + microseconds{500 * i};
    asked.push_back(at);
    ran.emplace_back();
    loop->call_at(at, Precision::relaxed, [&, i] {
      ran[static_cast<std::size_t>(i)] = loop->now();
      if (--left == 0) {
        loop->stop();
      }
    });
  }
  bool was_late = true;
  loop->call_at(begin, Precision::relaxed, [&] { was_late = loop->now() >= begin + milliseconds{20}; });
  loop->run();
  CHECK_FALSE(was_late);  // what is due already is not put off
  for (std::size_t i = 0; i < asked.size(); ++i) {
    CHECK(ran[i] >= asked[i]);
    CHECK(ran[i].time_since_epoch() / kRelaxedLate >= (asked[i].time_since_epoch() - Duration{1}) / kRelaxedLate + 1);
  }
}

TEST_CASE("never_runs_a_task_early") {
  const auto loop = open_loop();
  int early = 0;
  int left = 60;
  for (int i = 0; i < 60; ++i) {
    const Instant at = loop->now() + microseconds{150 * i};
    loop->call_at(at, i % 2 == 0 ? Precision::exact : Precision::ordinary, [&, at] {
      early += loop->now() < at ? 1 : 0;
      if (--left == 0) {
        loop->stop();
      }
    });
  }
  loop->run();
  CHECK(early == 0);
}

TEST_CASE("a_task_in_the_past_runs_soon_but_not_from_inside") {
  const auto loop = open_loop();
  std::vector<int> order;
  loop->call_at(Instant{}, Precision::ordinary, [&] {
    loop->call_at(Instant{}, Precision::exact, [&] {
      order.push_back(2);
      loop->stop();
    });
    order.push_back(1);
  });
  CHECK(order.empty());
  loop->run();
  CHECK(order == std::vector<int>{1, 2});
}

TEST_CASE("tasks_that_renew_themselves_do_not_starve_posts") {
  const auto loop = open_loop();
  std::function<void()> renew = [&] { loop->call_at(Instant{}, Precision::exact, renew); };
  renew();
  std::jthread other([&] { loop->post([&] { loop->stop(); }); });
  loop->run();
  SUCCEED("the post was heard");
}

TEST_CASE("an_earlier_task_wakes_a_sleeping_loop") {
  const auto loop = open_loop();
  bool late = false;
  loop->call_at(loop->now() + std::chrono::hours{1}, Precision::ordinary, [&] {
    late = true;
    loop->stop();
  });
  std::jthread other(
      [&] { loop->post([&] { loop->call_at(loop->now() + milliseconds{1}, Precision::ordinary, [&] { loop->stop(); }); }); });
  loop->run();
  CHECK_FALSE(late);
}

TEST_CASE("a_signal_winds_down_once_and_is_reported") {
  const auto loop = open_loop();
  std::vector<int> received;
  loop->on_signal([&](int signal) {
    received.push_back(signal);
    raise(SIGINT);  // the second one stops
  });
  loop->post([] { raise(SIGTERM); });
  CHECK(loop->run() == SIGINT);
  CHECK(received == std::vector<int>{SIGTERM});
}

TEST_CASE("the_monotonic_clock_has_this_boots_name") {
  const auto loop = open_loop();
  const auto clock = boot_clock();
  REQUIRE(clock.has_value());
  CHECK(loop->clock() == *clock);
  CHECK(*clock != kTaiClock);
  CHECK(*clock != kVirtualClock);
  CHECK(clock_of_boot_id("a") != clock_of_boot_id("b"));
}

TEST_CASE("refuses_a_tai_that_is_not_synchronised") {
  timex good{};
  good.tai = 37;
  good.maxerror = 1200;
  const auto trusted = judge_tai(good, TIME_OK);
  REQUIRE(trusted.has_value());
  CHECK(trusted->offset_seconds == 37);
  CHECK(trusted->max_error == microseconds{1200});
  CHECK(judge_tai(good, TIME_ERROR).error().code == ErrorCode::refused);
  timex unsynchronised = good;
  unsynchronised.status = STA_UNSYNC;
  CHECK(judge_tai(unsynchronised, TIME_OK).error().code == ErrorCode::refused);
  timex without_offset = good;
  without_offset.tai = 0;
  const auto refused = judge_tai(without_offset, TIME_OK);
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error().message, Catch::Contains("TAI offset was never set"));
}

TEST_CASE("a_tai_loop_opens_exactly_when_tai_is_trusted") {
  CHECK(AsioLoop::open(LoopClock::tai).has_value() == check_tai().has_value());
}

TEST_CASE("a_due_task_runs_between_posts_that_never_end") {
  const auto loop = open_loop();
  std::uint64_t posts = 0;
  std::uint64_t ticks = 0;
  std::function<void()> flood = [&] {
    ++posts;
    loop->post(flood);  // as a transport does whose queue is never empty
  };
  std::function<void()> tick = [&] {
    if (++ticks == 20) {
      loop->stop();
      return;
    }
    loop->call_at(loop->now() + microseconds{200}, Precision::ordinary, tick);
  };
  loop->post(flood);
  loop->call_at(loop->now(), Precision::ordinary, tick);
  loop->run();
  CHECK(ticks == 20);
  CHECK(posts >= ticks);  // and the other way round: due tasks do not keep posts from being run
}

TEST_CASE("tasks_that_are_always_due_let_posts_run") {
  const auto loop = open_loop();
  std::uint64_t posts = 0;
  std::function<void()> due = [&] { loop->call_at(loop->now(), Precision::ordinary, due); };
  std::function<void()> post = [&] {
    if (++posts == 20) {
      loop->stop();
      return;
    }
    loop->post(post);
  };
  due();
  loop->post(post);
  loop->run();
  CHECK(posts == 20);
}

}  // namespace loom
