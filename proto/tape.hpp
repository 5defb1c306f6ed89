// SPDX-License-Identifier: Apache-2.0
// The tape's entries as bytes (core/journal/tape.hpp says what they are).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/journal/tape.hpp"
#include "core/result.hpp"

namespace loom {

std::string encode(const TapeHead& head);
/// `bytes` as in TapedEvent. Precondition: an event that a controller hears.
std::string encode_taped(Instant at, const Event& event, const std::vector<std::string>& bytes, std::uint64_t digest);

/// Errors: wrong_version (names both), malformed (names the field, the value and the rule).
Result<TapeEntry> decode_tape_entry(std::string_view bytes);

}  // namespace loom
