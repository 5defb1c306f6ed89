// SPDX-License-Identifier: Apache-2.0
// What a loadprofile asks for, in any of its types, as the points of a profile: the device's half of the conversation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "drivers/wss/waveshaper_json.hpp"
#include "drivers/wss/waveshaper_profile.hpp"

namespace loom::waveshaper {

/// Codes of a refusal; the real ones are not published [K].
enum class Refusal : std::int64_t {
  no_json = -1,
  type = -2,
  profile = -3,  ///< a line of a WSP that is none
  band = -4,     ///< a frequency that the device has not
  port = -5,
  parameter = -6,  ///< a number that lacks or means nothing
  optics = -100
};

Verdict refused(Refusal why, std::string words);

/// The points, or why there are none. `order`: {"type": "wsp" | "bandpass" | "bandstop" | "gaussian" | "blockall" |
/// "transmit", ...}; centre and bandwidth in THz, attn in dB.
std::variant<std::vector<Point>, Verdict> points_of_order(const Info& device, std::string_view order);

}  // namespace loom::waveshaper
