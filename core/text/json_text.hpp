// SPDX-License-Identifier: Apache-2.0
// Values as JSON text, for answers that are built without a library.
#pragma once

#include <string>
#include <string_view>

#include "core/time.hpp"

namespace loom {

std::string json_text(std::string_view text);
std::string json_number(double value);
/// Seconds and milliseconds since the start of the run, to the nanosecond.
std::string json_seconds(Instant instant);
std::string json_milliseconds(Duration duration);

}  // namespace loom
