// SPDX-License-Identifier: Apache-2.0
// What holds for every byte string that a WaveShaper, or somebody else at its address, may say: as driver_codecs.hpp.
#pragma once

#include <string_view>
#include <vector>

namespace loom::fuzz {

/// Profiles (WSP), the JSON around them, and exchanges as frames have them.
void check_waveshaper_text(std::string_view text);
/// Bytes of a web server, and of a client of one: read in one piece and byte by byte they are the same message.
void check_http_bytes(std::string_view bytes);
/// The text said to the model of a WaveShaper: whatever it makes of it, what it answers can be read.
void check_waveshaper_model(std::string_view text);

std::vector<std::string_view> waveshaper_seeds();
std::vector<std::string_view> http_seeds();

}  // namespace loom::fuzz
