// SPDX-License-Identifier: Apache-2.0
// SharedDoor: where other processes of this host come for the shared memory that they were offered. It listens on an abstract
// Unix socket; who connects is of our user, shows the token of an offer that nobody has taken yet, and is handed the memory.
// Everybody else is hung up on. Loop's thread only.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/result.hpp"
#include "runtime/shm/shared_link.hpp"
#include "runtime/shm/shared_offer.hpp"

namespace loom {

class SharedDoor : public std::enable_shared_from_this<SharedDoor> {
 public:
  /// `guest`: as it was invited. From inside a turn of the loop.
  using Joined = std::function<void(std::size_t guest, SharedEnd end)>;

  /// `kernel`: written into each offer. Errors: internal (no socket).
  static Result<std::shared_ptr<SharedDoor>> open(asio::io_context& io, ClockId kernel, Joined joined);
  SharedDoor(asio::io_context& io, ClockId kernel, Joined joined);

  /// What to send to this guest; the same until it has been taken or withdrawn. Errors: internal.
  Result<SharedOffer> invite(std::size_t guest);
  /// The offer is void, and whoever is being handed its memory is hung up on.
  void withdraw(std::size_t guest);
  /// Nothing is called any more.
  void close();
  /// Who was hung up on: strangers, and guests that did not do their part in time.
  std::uint64_t refused() const { return refused_; }

 private:
  /// Somebody who has connected.
  struct Visitor {
    explicit Visitor(asio::io_context& io) : socket(io), timer(io) {}
    asio::posix::stream_descriptor socket;
    asio::steady_timer timer;
    std::optional<std::size_t> guest{};  ///< the token was shown, and it was handed the memory
    std::optional<SharedMemory> memory{};
  };

  Result<void> listen();
  void wait();
  void take_visitors();
  void await(const std::shared_ptr<Visitor>& visitor);
  void receive(const std::shared_ptr<Visitor>& visitor);
  std::optional<std::size_t> guest_of(const SharedToken& token) const;
  bool hand_over(Visitor& visitor, std::size_t guest);
  void hang_up(const std::shared_ptr<Visitor>& visitor);

  asio::io_context& io_;
  ClockId kernel_;
  Joined joined_;
  asio::posix::stream_descriptor listener_;
  asio::steady_timer pause_;
  SharedToken name_{};
  std::map<std::size_t, SharedOffer> offers_;
  std::vector<std::shared_ptr<Visitor>> visitors_;
  std::uint64_t refused_ = 0;
  bool is_open_ = false;
};

}  // namespace loom
