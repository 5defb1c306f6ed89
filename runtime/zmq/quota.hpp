// SPDX-License-Identifier: Apache-2.0
// Quotas: what one key may send, by what the keyring grants it. Constants and their reasons are in
// core/messages/intake_limits.hpp.
#pragma once

#include "runtime/zmq/intake.hpp"
#include "runtime/zmq/keys/keyring.hpp"

namespace loom {

/// An agents' key has as much as its nodes need, up to what a loop can do.
IntakeQuota quota_of(const Grant& grant);
/// Connections that the key may have at a time.
std::size_t connections_of(const Grant& grant);
/// For a peer that nobody but us has chosen: a controller to its agents, an agents' process to another.
IntakeQuota peer_quota();

}  // namespace loom
