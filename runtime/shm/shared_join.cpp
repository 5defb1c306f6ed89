// SPDX-License-Identifier: Apache-2.0
// Token there, proof and memory back, and a byte that says that the memory is mapped.
#include "runtime/shm/shared_join.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/text/format_text.hpp"
#include "runtime/shm/unix_socket.hpp"

namespace loom {
namespace {

constexpr auto kPatience = std::chrono::seconds{1};

}  // namespace

SharedJoin::SharedJoin(asio::io_context& io, const SharedOffer& offer, Done done)
    : offer_(offer), done_(std::move(done)), socket_(io), timer_(io) {}

Result<std::shared_ptr<SharedJoin>> SharedJoin::start(asio::io_context& io, const SharedOffer& offer, Done done) {
  auto socket = connect_to(socket_name(offer.name));
  if (!socket) {
    return std::unexpected(socket.error());
  }
  if (!is_our_user(socket->get())) {
    return fail(ErrorCode::refused, "the process that offers shared memory runs under another user");
  }
  if (!send_bytes(socket->get(), {offer.guest.data(), offer.guest.size()})) {
    return fail(ErrorCode::unreachable, "the process that offered shared memory takes nothing");
  }
  auto join = std::make_shared<SharedJoin>(io, offer, std::move(done));
  join->begin(*std::move(socket));
  return join;
}

void SharedJoin::begin(UniqueDescriptor socket) {
  socket_.assign(socket.release());
  timer_.expires_after(kPatience);
  timer_.async_wait([weak = weak_from_this()](asio::error_code error) {
    if (const auto self = weak.lock(); self && !error) {
      self->finish(fail(ErrorCode::timed_out, format_text("no shared memory within {} s of its offer", kPatience.count())));
    }
  });
  wait();
}

void SharedJoin::wait() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read, [weak = weak_from_this()](asio::error_code error) {
    if (const auto self = weak.lock(); self && !error) {
      self->receive();
    }
  });
}

void SharedJoin::receive() {
  ReceivedBytes received = receive_bytes(socket_.native_handle(), offer_.host.size());
  if (received.state == ReceivedBytes::State::nothing_yet) {
    return wait();
  }
  finish(take_memory(std::move(received)));
}

Result<SharedEnd> SharedJoin::take_memory(ReceivedBytes received) {
  if (received.state != ReceivedBytes::State::received) {
    return fail(ErrorCode::unreachable, "the process that offered shared memory hung up: the offer is void, or it is full");
  }
  SharedToken shown{};
  std::copy_n(received.bytes.begin(), std::min(received.bytes.size(), shown.size()), shown.begin());
  if (received.bytes.size() != shown.size() || !is_same(shown, offer_.host) || !received.descriptor.is_open()) {
    return fail(ErrorCode::refused, "whoever listens where shared memory was offered does not know what was offered");
  }
  auto memory = SharedMemory::adopt(std::move(received.descriptor), kLinkBytes);
  if (!memory) {
    return std::unexpected(memory.error());
  }
  if (!send_bytes(socket_.native_handle(), std::string_view("", 1))) {
    return fail(ErrorCode::unreachable, "the process that offered shared memory is gone");
  }
  return SharedEnd{UniqueDescriptor(socket_.release()), *std::move(memory), SharedSide::guest};
}

void SharedJoin::finish(Result<SharedEnd> end) {
  const auto self = shared_from_this();  // `done` drops us
  timer_.cancel();
  asio::error_code ignored;
  socket_.close(ignored);
  if (const auto done = std::exchange(done_, nullptr)) {
    done(std::move(end));
  }
}

}  // namespace loom
