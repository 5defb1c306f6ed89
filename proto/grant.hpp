// Words of the grant plane as bytes and back (core/grant.hpp says what they mean). What comes from outside is checked here
// value by value; whether a word is true, current or allowed is for the machines to judge.
#pragma once

#include <string>
#include <string_view>

#include "core/grant.hpp"
#include "core/result.hpp"

namespace loom {

std::string encode(const GrantEnvelope& envelope);

/// Beyond ranges: the speaker is the stream's source in a sender's word and its destination in an arbiter's; source and
/// destination differ; epochs, request numbers and sequences are not 0; a grant's window has a length of at most
/// limits::kGrantWindowNs.
/// Errors: wrong_version (names both), malformed (names the field, the value and the rule).
Result<GrantEnvelope> decode_grant(std::string_view bytes);

}  // namespace loom
