// What the kernel says about its clocks. Reads only.
#include "runtime/clock.hpp"

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

Result<TaiState> judge_tai(const timex& reading, int state) {
  const std::string advice = "; let chrony or ptp4l with phc2sys discipline the clock, or keep agents on the controller's host";
  if (state == TIME_ERROR || (reading.status & STA_UNSYNC) != 0) {
    return fail(ErrorCode::refused,
                format_text("this host's clock is not synchronised (adjtimex state {}, error up to {} us){}", state,
                            reading.maxerror, advice));
  }
  if (reading.tai == 0) {
    return fail(ErrorCode::refused,
                "the kernel's TAI offset is 0 s, so its TAI is UTC: set it (chrony: leapsectz right/UTC)" + advice);
  }
  return TaiState{reading.tai, std::chrono::microseconds{reading.maxerror}};
}

Result<TaiState> check_tai() {
  timex reading{};
  const int state = adjtimex(&reading);
  if (state < 0) {
    return fail(ErrorCode::internal, format_text("adjtimex cannot be asked: {}", std::strerror(errno)));
  }
  return judge_tai(reading, state);
}

Instant monotonic_now() { return read_clock(CLOCK_MONOTONIC); }
Instant tai_now() { return read_clock(CLOCK_TAI); }
WallTime utc_now() { return WallTime{read_clock(CLOCK_REALTIME).time_since_epoch()}; }

}  // namespace loom
