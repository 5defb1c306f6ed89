// SPDX-License-Identifier: Apache-2.0
// SharedPeers: which links of a process run through shared memory. The process that has dialled a link offers it with its
// greetings, over CURVE; the other one, if it is of the same host, comes and is handed the memory. What cannot be agreed on, or
// ends, is no loss: the link over ZeroMQ is there all the while, and the next greeting offers anew. Loop's thread only.
#pragma once

#include <asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/result.hpp"
#include "runtime/shm/shared_door.hpp"
#include "runtime/shm/shared_join.hpp"
#include "runtime/shm/shared_link.hpp"

namespace loom {

struct SharedPeersListener {
  std::function<void(std::size_t process, RingMessages messages)> received;
  /// The link to this process runs through shared memory from now on.
  std::function<void(std::size_t process)> began;
  /// It does not any more, or (once for each reason) could not. malformed: the other process broke the rules.
  std::function<void(std::size_t process, const Error& why)> ended;
};

class SharedPeers {
 public:
  /// `kernel`: the boot clock, which names the host. Nothing: no link is shared.
  SharedPeers(asio::io_context& io, std::size_t processes, std::optional<ClockId> kernel, SharedPeersListener listener);
  ~SharedPeers();
  SharedPeers(const SharedPeers&) = delete;
  SharedPeers& operator=(const SharedPeers&) = delete;

  /// Errors: internal (no socket to hand memory out at): no link is shared then.
  Result<void> open();
  /// For a process that we have dialled; empty: there is nothing to offer.
  std::string offer_to(std::size_t process);
  /// Of a process that has dialled us. Errors: malformed, wrong_version. One of another host is none of ours, and no error.
  Result<void> take_offer(std::size_t process, std::string_view offer);
  /// False: it has to go over ZeroMQ. Precondition: as RingWriter::write().
  bool send(std::size_t process, std::span<const std::string_view> parts);
  bool is_shared(std::size_t process) const { return peers_[process].link != nullptr; }
  /// Its key counts no more, or is another one: the link ends, and what was offered is void. Nobody is told.
  void end(std::size_t process);
  /// Nothing is called any more.
  void close();

 private:
  struct Peer {
    std::shared_ptr<SharedLink> link;
    std::shared_ptr<SharedJoin> join;  ///< under way
    SharedToken joined{};              ///< of the offer that we took last
    std::chrono::steady_clock::time_point not_before{};
    std::string problem;  ///< as it was told last
  };

  void begin(std::size_t process, SharedEnd end);
  void fail_join(std::size_t process, const Error& why);

  asio::io_context& io_;
  std::optional<ClockId> kernel_;
  SharedPeersListener listener_;
  std::vector<Peer> peers_;  ///< by process
  std::shared_ptr<SharedDoor> door_;
};

}  // namespace loom
