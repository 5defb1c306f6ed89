// SPDX-License-Identifier: Apache-2.0
// What a clock is called in sentences.
#pragma once

#include <string>

#include "core/fabric/fabric_identity.hpp"
#include "core/ids.hpp"

namespace loom {

inline std::string clock_text(ClockId clock) {
  return clock == kTaiClock       ? "TAI"
         : clock == kVirtualClock ? "virtual time"
                                  : "the monotonic clock of kernel " + digest_text(clock.value);
}

}  // namespace loom
