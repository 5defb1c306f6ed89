// SPDX-License-Identifier: Apache-2.0
// SharedJoin: takes up an offer of shared memory of another process of this host. Loop's thread only.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>

#include "core/result.hpp"
#include "runtime/shm/shared_link.hpp"
#include "runtime/shm/shared_offer.hpp"
#include "runtime/shm/unix_socket.hpp"

namespace loom {

class SharedJoin : public std::enable_shared_from_this<SharedJoin> {
 public:
  /// Errors: refused (it is of another user, does not know what was offered, or hands out something else), unreachable (hung up
  /// on us), timed_out.
  using Done = std::function<void(Result<SharedEnd> end)>;

  /// `done` is called once, from inside a later turn of the loop, unless the join is dropped before. Errors: unreachable
  /// (nobody listens there: another network namespace, or gone), refused (another user), internal.
  static Result<std::shared_ptr<SharedJoin>> start(asio::io_context& io, const SharedOffer& offer, Done done);
  SharedJoin(asio::io_context& io, const SharedOffer& offer, Done done);

 private:
  void begin(UniqueDescriptor socket);
  void wait();
  void receive();
  Result<SharedEnd> take_memory(ReceivedBytes received);
  void finish(Result<SharedEnd> end);

  SharedOffer offer_;
  Done done_;
  asio::posix::stream_descriptor socket_;
  asio::steady_timer timer_;
};

}  // namespace loom
