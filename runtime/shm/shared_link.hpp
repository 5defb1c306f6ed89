// SPDX-License-Identifier: Apache-2.0
// SharedLink: messages between two processes of one host through two rings in shared memory, one a direction. Beside them lies
// a Unix socket: a byte on it wakes a reader that sleeps, and its end is how the other process's end is noticed. Of the other
// process it believes nothing: whatever it writes, it can neither crash nor block us, only end the link. Loop's thread only.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/shm/answer_watch.hpp"
#include "runtime/shm/ring.hpp"
#include "runtime/shm/shared_memory.hpp"
#include "runtime/shm/unique_descriptor.hpp"

namespace loom {

/// A ring a direction.
inline constexpr std::size_t kLinkBytes = 2 * kRingBytes;

/// Who made the memory writes the first ring, who joined the second.
enum class SharedSide : std::uint8_t { host, guest };

/// What both processes have agreed on.
struct SharedEnd {
  UniqueDescriptor socket;
  SharedMemory memory;
  SharedSide side = SharedSide::host;
};

class SharedLink : public std::enable_shared_from_this<SharedLink> {
 public:
  struct Listener {
    /// From inside a turn of the loop, in the order in which they were written.
    std::function<void(RingMessages messages)> received;
    /// Once, from inside a turn of the loop; nothing follows. unreachable: the other process is gone or has hung up; malformed:
    /// it wrote what no process of ours writes.
    std::function<void(const Error& why)> ended;
  };

  static std::shared_ptr<SharedLink> open(asio::io_context& io, SharedEnd end, Listener listener);
  SharedLink(asio::io_context& io, SharedEnd end, Listener listener);

  /// False: the ring is full, or the link has ended. Never blocks. Precondition: as RingWriter::write().
  bool send(std::span<const std::string_view> parts);
  /// Nothing is called any more; the other process sees the end.
  void close();

 private:
  void wait();
  void wake_up();
  bool take_messages();
  void rest(bool is_more);
  void take_soon();
  void end(const Error& why);

  asio::io_context& io_;
  SharedMemory memory_;
  RingWriter writer_;
  RingReader reader_;
  asio::posix::stream_descriptor bell_;
  Listener listener_;
  bool is_open_ = true;   ///< messages go and come
  bool is_over_ = false;  ///< nobody is called any more
  bool has_peer_ = true;  ///< it has not hung up
  bool is_take_posted_ = false;
  AnswerWatch answers_;
  std::optional<std::chrono::steady_clock::time_point> awake_until_{};  ///< for an answer
};

}  // namespace loom
