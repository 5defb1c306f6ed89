// SPDX-License-Identifier: Apache-2.0
// Clocks: which clock this host's instants are read from, and whether its TAI may be trusted with a commit. The monotonic
// clock is shared by everything under one kernel; between hosts only a synchronised TAI will do. It never sets a clock.
#pragma once

#include <sys/timex.h>

#include <cstdint>
#include <functional>
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

/// Pure: what adjtimex said. `state`: its return value. Errors: refused (unsynchronised, or the TAI offset was never set), each
/// naming state, offset and bound, with the command that looks further.
Result<TaiState> judge_tai(const timex& reading, int state);

/// What adjtimex said.
struct ClockReading {
  timex reading{};
  int state = TIME_ERROR;
};

/// Where it is asked: the kernel, or whoever stands in for it.
using ClockReader = std::function<Result<ClockReading>()>;

/// Asks the kernel; changes nothing. Errors: internal.
Result<ClockReading> read_kernel_clock();

/// May a commit be timed by this host's TAI? Errors: refused, internal.
Result<TaiState> check_tai(const ClockReader& read = read_kernel_clock);

Instant monotonic_now();
Instant tai_now();
WallTime utc_now();

}  // namespace loom
