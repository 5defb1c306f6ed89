// SPDX-License-Identifier: Apache-2.0
// Order check: what of a controller's message no honest controller says. An agent remembers terms, revisions, numbers of orders
// and instants; one absurd value of a faulty controller would make all later ones old (ADR 24). Pure. Darkness is never
// refused: whoever says dark is followed, and only the number is not believed.
#pragma once

#include <optional>
#include <string>

#include "core/message.hpp"
#include "core/time.hpp"

namespace loom {

/// What an agent compares a message with.
struct KnownNumbers {
  Instant now{};
  Term term;        ///< that it follows
  Revision newest;  ///< that was prepared
  std::uint64_t laser_request = 0;
};

/// Nothing: it is believed. Else field, value and limit.
std::optional<std::string> implausible(const Envelope& envelope, const KnownNumbers& known);

}  // namespace loom
