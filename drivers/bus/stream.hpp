// SPDX-License-Identifier: Apache-2.0
// Bytes over a descriptor, with deadlines: what serial lines and TCP connections share. Blocking; never raises SIGPIPE.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "core/transaction.hpp"

namespace loom {

/// CLOCK_MONOTONIC.
Instant steady_now();
/// "Permission denied (errno 13)".
std::string describe_errno(int number);

/// Waits until `descriptor` is ready for poll()'s `events`. Errors: timed_out, unreachable (the line is gone). May return
/// early.
Result<void> wait_for(int descriptor, short events, Instant until);

/// Reads and forgets what still comes from a request that timed out: until it was spoken and is silent again, or `until`.
void listen_out(int descriptor, Instant until);

/// The message of an error: the other end has closed the connection, in order.
inline constexpr std::string_view kEndOfFile = "end of file";

/// Errors: timed_out, unreachable.
Result<void> write_all(int descriptor, std::span<const std::uint8_t> bytes, Instant until);
/// What is there, waiting for the first byte; at most `limit` bytes. Errors: timed_out, unreachable.
Result<std::vector<std::uint8_t>> read_some(int descriptor, std::size_t limit, Instant until);

/// Longest reply up to a terminator: the map of a 1008 x 1008 switch is 10 KB, the channels of a WSS 15 KB.
inline constexpr std::size_t kReplyBytesMax = 65'536;

/// What a transaction gets that makes sense on one connection alone (Transaction::connection), which is no more.
BusReply connection_is_gone(const std::string& where);

/// Says the request and hears its reply: reply_bytes, or up to the terminator (kept in the reply; of many lines, that of the
/// last one, or of the one that answers), or nothing if the frame has neither. `malformed`: bytes beyond the reply, or
/// kReplyBytesMax without a terminator. A drip does not stretch `until`. What was read of a reply that is none is kept in it:
/// some devices complain unasked. Every failure has a cause: silence, how much came, errno.
BusReply exchange_frame(int descriptor, const Frame& frame, Instant until);

}  // namespace loom
