// SPDX-License-Identifier: Apache-2.0
// SharedOffer: how one process invites another one into shared memory, over a connection on which both are authenticated
// already. Whoever connects to the named Unix socket shows `guest`, and is shown `host`: each believes the other one only
// because nobody else has read the offer.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/ids.hpp"
#include "core/result.hpp"

namespace loom {

/// 128 random bits.
using SharedToken = std::array<char, 16>;

struct SharedOffer {
  ClockId kernel;    ///< boot clock of whoever offers: under another kernel there is nothing to connect to
  SharedToken name;  ///< of its socket
  SharedToken guest;
  SharedToken host;
  bool operator==(const SharedOffer&) const = default;
};

std::string encode(const SharedOffer& offer);
/// Errors: malformed, wrong_version.
Result<SharedOffer> decode_offer(std::string_view bytes);

/// Errors: internal (the kernel has no random bytes).
Result<SharedToken> fresh_token();
/// Takes as long for every pair.
bool is_same(const SharedToken& a, const SharedToken& b);

/// Abstract name of a socket: of this network namespace, without a file.
std::string socket_name(const SharedToken& name);

}  // namespace loom
