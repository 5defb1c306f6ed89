// SPDX-License-Identifier: Apache-2.0
// What holds for every byte string that the electronics of heaters, or somebody else on their line, may say: what is read of it
// is a number that a heater can have, or nothing. Broken: LOOM_ASSERT. A fuzzer and a corpus in the test suite call the same.
#pragma once

#include <string_view>
#include <vector>

namespace loom::fuzz {

/// Replies of a Qontrol and of a Nicslab, as answers to every question.
void check_heater_line(std::string_view text);
/// The same text said to their models: whatever they make of it, what they answer next can be read.
void check_heater_models(std::string_view text);

/// One lawful text of every form, from which mutations begin.
std::vector<std::string_view> heater_seeds();

}  // namespace loom::fuzz
