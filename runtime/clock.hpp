// Clocks: which clock this host's instants are read from, and whether its TAI may be trusted with a commit. The monotonic
// clock is shared by everything under one kernel; between hosts only a synchronised TAI will do. It never sets a clock.
#pragma once

#include <sys/timex.h>

#include <cstdint>
#include <string_view>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace loom {

/// The id of CLOCK_MONOTONIC under this kernel and time namespace: a hash of the boot id. Never kTaiClock or kVirtualClock.
/// Errors: unsupported (/proc is not readable).
Result<ClockId> boot_clock();

/// The id that a boot id (any text) hashes to.
ClockId clock_of_boot_id(std::string_view boot_id);

struct TaiState {
  int offset_seconds = 0;  ///< TAI - UTC, 37 s since 2017
  Duration max_error{};    ///< the kernel's bound; a metric, and an input of the commit's lead
};

/// Pure: what adjtimex said. `state`: its return value. Errors: refused (unsynchronised, or the TAI offset was never set).
Result<TaiState> judge_tai(const timex& reading, int state);

/// May a commit be timed by this host's TAI? Asks the kernel; changes nothing. Errors: refused, internal.
Result<TaiState> check_tai();

Instant monotonic_now();
Instant tai_now();
WallTime utc_now();

}  // namespace loom
