// SPDX-License-Identifier: Apache-2.0
// A ring of messages in shared memory, with one writer and one reader in two processes that need not trust each other. Each
// side keeps its own place in its own memory and only tells it to the other; what it reads of the other one's is checked
// against what that can be, and messages are copied before their lengths are looked at. Nothing here waits or calls the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits.hpp"
#include "core/result.hpp"

namespace loom {

/// Both sides' places, a cache line each, before the data.
inline constexpr std::size_t kRingControlBytes = 4'096;
/// Data of one direction: some 2,000 messages of the fast plane. What finds it full goes another way.
inline constexpr std::size_t kRingDataBytes = 256u << 10;
inline constexpr std::size_t kRingBytes = kRingControlBytes + kRingDataBytes;
/// One message: the node that it is for, and its envelope.
inline constexpr std::size_t kRingMessageBytes = 4 + limits::kGrantMessageBytes;

/// Messages that were taken out of a ring, in their order.
struct RingMessages {
  std::shared_ptr<const std::string> owner;  ///< of what the messages point into
  std::vector<std::string_view> messages;
};

class RingWriter {
 public:
  /// `ring`: kRingBytes, zeros when the first of both sides begins.
  explicit RingWriter(std::span<std::byte> ring) : ring_(ring) {}

  /// One message of all parts together. False: it is full. Precondition: 1 to kRingMessageBytes. Errors: malformed (the
  /// reader's place is none that it can have come to). Real-time safe but for the error.
  Result<bool> write(std::span<const std::string_view> parts);
  /// True once for each time that the reader went to sleep: whoever writes wakes it.
  bool must_wake();
  /// It could not be woken: the next message tries again.
  void wake_with_next();

 private:
  void copy_in(std::string_view bytes);

  std::span<std::byte> ring_;
  std::uint64_t written_ = 0;  ///< bytes, ever
};

class RingReader {
 public:
  explicit RingReader(std::span<std::byte> ring) : ring_(ring) {}

  /// As many whole messages as lie in the next `bytes_max` bytes, which is at least the longest one and its length; none: it is
  /// empty. Errors: malformed (no writer of ours can have left this: which number, where, and what is allowed).
  Result<RingMessages> take(std::size_t bytes_max);
  /// False: something has come meanwhile, and we are awake. True: the writer wakes us with its next message.
  bool sleep();
  /// Until sleep() the writer spares itself the waking.
  void stay_awake();

 private:
  std::span<std::byte> ring_;
  std::uint64_t taken_ = 0;  ///< bytes, ever
};

}  // namespace loom
