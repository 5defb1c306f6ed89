// SPDX-License-Identifier: Apache-2.0
// May this host's clock time a commit? Asked of a reader that stands in for the kernel.
#include "runtime/clock_watch.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "core/text/clock_text.hpp"

namespace loom {
namespace {

using std::chrono::microseconds;

ClockReading synchronised() {
  ClockReading reading;
  reading.state = TIME_OK;
  reading.reading.tai = 37;
  reading.reading.maxerror = 1'200;
  return reading;
}

ClockReading lost() {
  ClockReading reading = synchronised();
  reading.state = TIME_ERROR;
  reading.reading.status = STA_UNSYNC;
  reading.reading.maxerror = 16'000'000;
  return reading;
}

TEST_CASE("a_tai_loop_opens_by_what_the_reader_says_and_reads_tai") {
  const auto good = AsioLoop::open(LoopClock::tai, [] { return Result<ClockReading>(synchronised()); });
  REQUIRE(good.has_value());
  CHECK((*good)->clock() == kTaiClock);
  CHECK((*good)->source() == LoopClock::tai);
  const Instant before = tai_now();
  const Instant read = (*good)->now();
  CHECK(before <= read);
  CHECK(read <= tai_now());
}

TEST_CASE("a_clock_that_may_not_time_a_commit_is_refused_with_state_offset_bound_and_what_to_type") {
  const auto refused = AsioLoop::open(LoopClock::tai, [] { return Result<ClockReading>(lost()); });
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::refused);
  for (const char* part : {"this host's clock is not synchronised", "TIME_ERROR", "TAI offset 37 s", "16000000 us"}) {
    CHECK_THAT(refused.error().message, Catch::Contains(part));
  }
  CHECK_THAT(refused.error().next_command, Catch::Contains("chronyc tracking"));
  CHECK_THAT(refused.error().next_command, Catch::Contains("ptp4l"));
  ClockReading utc = synchronised();
  utc.reading.tai = 0;
  const auto without_offset = AsioLoop::open(LoopClock::tai, [utc] { return Result<ClockReading>(utc); });
  REQUIRE_FALSE(without_offset.has_value());
  CHECK_THAT(without_offset.error().message, Catch::Contains("TAI offset was never set"));
  CHECK_THAT(without_offset.error().message, Catch::Contains("leapsectz"));
}

TEST_CASE("a_host_that_loses_its_synchronisation_says_so_once_and_once_that_it_is_back") {
  std::vector<ClockReading> answers{synchronised(), synchronised(), lost(), lost(), lost(), synchronised(), synchronised()};
  std::size_t asked = 0;
  auto loop = AsioLoop::open(LoopClock::tai, [] { return Result<ClockReading>(synchronised()); });
  REQUIRE(loop.has_value());
  std::vector<ClockJudged> told;
  const ClockWatch watch(
      **loop, [&](const ClockJudged& judged) { told.push_back(judged); },
      [&] {
        const ClockReading answer = answers[std::min(asked, answers.size() - 1)];
        if (++asked == answers.size()) {
          (*loop)->stop();
        }
        return Result<ClockReading>(answer);
      },
      microseconds{200});
  (*loop)->run();
  REQUIRE(told.size() == 2);
  REQUIRE(told[0].problem.has_value());
  CHECK(told[0].problem->code == ErrorCode::refused);
  CHECK_FALSE(told[1].problem.has_value());
  CHECK(watch.counters().losses == 1);
  CHECK(watch.counters().is_good);
  CHECK(watch.counters().max_error == microseconds{1'200});
  CHECK(watch.counters().offset_seconds == 37);
}

TEST_CASE("a_kernel_that_cannot_be_asked_is_no_clock") {
  auto loop = AsioLoop::open(LoopClock::tai, [] { return Result<ClockReading>(synchronised()); });
  REQUIRE(loop.has_value());
  std::vector<ClockJudged> told;
  const ClockWatch watch(
      **loop, [&](const ClockJudged& judged) { told.push_back(judged); },
      []() -> Result<ClockReading> { return fail(ErrorCode::internal, "adjtimex cannot be asked: EPERM"); });
  REQUIRE(told.size() == 1);
  REQUIRE(told[0].problem.has_value());
  CHECK_THAT(told[0].problem->message, Catch::Contains("EPERM"));
}

TEST_CASE("nobody_watches_a_monotonic_clock") {
  auto loop = AsioLoop::open();
  REQUIRE(loop.has_value());
  const ClockWatch watch(
      **loop, [](const ClockJudged&) { FAIL("told of a clock that is the kernel's own"); },
      [] { return Result<ClockReading>(lost()); });
  CHECK(watch.counters().checks == 0);
  CHECK_FALSE(watch.counters().is_tai);
  CHECK(watch.counters().is_good);
}

TEST_CASE("clocks_have_names_in_sentences") {
  CHECK(clock_text(kTaiClock) == "TAI");
  CHECK(clock_text(kVirtualClock) == "virtual time");
  CHECK(clock_text(ClockId{0x8000'0000'0000'00ABU}) == "the monotonic clock of kernel 80000000000000ab");
}

}  // namespace
}  // namespace loom
