// SPDX-License-Identifier: Apache-2.0
// Unix sockets with abstract names, who is at the other end, and descriptors that are handed through them. Nothing here blocks.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "runtime/shm/unique_descriptor.hpp"

namespace loom {

/// `name`: as socket_name() makes it. Errors: internal, conflict (the name is taken).
Result<UniqueDescriptor> listen_at(std::string_view name, int backlog);
/// Errors: unreachable (nobody listens there, in this network namespace), internal.
Result<UniqueDescriptor> connect_to(std::string_view name);
/// Nothing: nobody waits. Errors: internal (no descriptor is free).
Result<std::optional<UniqueDescriptor>> accept_from(int listener);
/// Does the process at the other end run under our user?
bool is_our_user(int socket);

/// False: it could not be sent whole at once. `descriptor`: the other process gets one of its own for the same file.
bool send_bytes(int socket, std::string_view bytes, std::optional<int> descriptor = std::nullopt);

struct ReceivedBytes {
  enum class State { received, nothing_yet, gone } state = State::nothing_yet;
  std::string bytes{};
  /// Only when exactly one came; of more, all are closed.
  UniqueDescriptor descriptor{};
};
/// At most `bytes_max`.
ReceivedBytes receive_bytes(int socket, std::size_t bytes_max);

}  // namespace loom
