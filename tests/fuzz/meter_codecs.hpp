// SPDX-License-Identifier: Apache-2.0
// As driver_codecs.hpp, of what meters of light say.
#pragma once

#include <string_view>
#include <vector>

namespace loom::fuzz {

/// Answers of power meters, wavemeters and spectrum analysers: numbers, lists, identities; what is read is a power or is none.
void check_meter_line(std::string_view line);
/// The same line said to the model of one: whatever it makes of it, what it answers afterwards can be read.
void check_meter_model(std::string_view line);

std::vector<std::string_view> meter_seeds();

}  // namespace loom::fuzz
