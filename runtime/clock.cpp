// SPDX-License-Identifier: Apache-2.0
// What the kernel says about its clocks. Reads only.
#include "runtime/clock.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include "core/digest.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr const char* kBootIdFile = "/proc/sys/kernel/random/boot_id";
constexpr const char* kTimeNamespaceFile = "/proc/self/timens_offsets";  // absent before Linux 5.6: one time namespace

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Instant read_clock(clockid_t clock) {
  timespec reading{};
  LOOM_ASSERT(clock_gettime(clock, &reading) == 0);
  return instant_from_ns(std::int64_t{reading.tv_sec} * 1'000'000'000 + reading.tv_nsec);
}

}  // namespace

ClockId clock_of_boot_id(std::string_view boot_id) {
  Digest digest;
  digest.add(boot_id);
  return ClockId{digest.value() | 1ULL << 63};  // out of the way of the small well-known ids
}

Result<ClockId> boot_clock() {
  const std::string boot_id = text_of(kBootIdFile);
  if (boot_id.empty()) {
    return fail(ErrorCode::unsupported,
                format_text("{} cannot be read: this host's clock has no name; is /proc mounted?", kBootIdFile));
  }
  return clock_of_boot_id(boot_id + text_of(kTimeNamespaceFile));
}

namespace {

std::string state_text(int state) {
  constexpr std::array<std::string_view, 6> kStates{"TIME_OK", "TIME_INS", "TIME_DEL", "TIME_OOP", "TIME_WAIT", "TIME_ERROR"};
  const auto known = static_cast<std::size_t>(state);
  return known < kStates.size() ? std::string(kStates[known]) : format_text("state {}", state);
}

constexpr const char* kLookFurther =
    "chronyc tracking, or pmc -u -b 0 'GET TIME_STATUS_NP' where ptp4l and phc2sys run (docs/hosts.md)";

}  // namespace

Result<TaiState> judge_tai(const timex& reading, int state) {
  const std::string measured =
      format_text("adjtimex says {}, TAI offset {} s, error up to {} us", state_text(state), reading.tai, reading.maxerror);
  if (state == TIME_ERROR || (reading.status & STA_UNSYNC) != 0) {
    return fail(ErrorCode::refused,
                format_text("clock is not synchronised: {}; chrony, or ptp4l with phc2sys, has to discipline it", measured),
                kLookFurther);
  }
  if (reading.tai == 0) {
    return fail(
        ErrorCode::refused,
        format_text("TAI offset was never set, so its TAI is UTC: {}; chrony sets it with `leapsectz right/UTC`", measured),
        kLookFurther);
  }
  return TaiState{reading.tai, std::chrono::microseconds{reading.maxerror}};
}

Result<ClockReading> read_kernel_clock() {
  ClockReading answer;
  answer.state = adjtimex(&answer.reading);
  if (answer.state < 0) {
    return fail(ErrorCode::internal, format_text("adjtimex cannot be asked: {}", std::strerror(errno)));
  }
  return answer;
}

Result<TaiState> check_tai(const ClockReader& read) {
  const auto answer = read();
  return answer ? judge_tai(answer->reading, answer->state) : std::unexpected(answer.error());
}

Instant monotonic_now() { return read_clock(CLOCK_MONOTONIC); }
Instant tai_now() { return read_clock(CLOCK_TAI); }
WallTime utc_now() { return WallTime{read_clock(CLOCK_REALTIME).time_since_epoch()}; }

}  // namespace loom
