// SPDX-License-Identifier: Apache-2.0
// The edge-triggered descriptor and its traps.
#include "runtime/zmq/loop_socket.hpp"

#include <unistd.h>
#include <zmq.h>

#include <asio/post.hpp>
#include <cerrno>
#include <utility>

#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {

std::unexpected<Error> zmq_failure(ErrorCode code, const std::string& what, int error) {
  return fail(code, format_text("{}: {}", what, zmq_strerror(error)));
}

LoopSocket::LoopSocket(asio::io_context& io, zmq::socket_t socket) : io_(io), socket_(std::move(socket)), descriptor_(io) {}

Result<void> LoopSocket::arm(Receive receive) {
  receive_ = std::move(receive);
  int fd = -1;
  std::size_t size = sizeof fd;
  if (zmq_getsockopt(socket_.handle(), ZMQ_FD, &fd, &size) != 0) {
    return zmq_failure(ErrorCode::internal, "ZMQ_FD", zmq_errno());
  }
  const int copy = ::dup(fd);  // asio closes its own, libzmq closes its own
  if (copy < 0) {
    return zmq_failure(ErrorCode::internal, "dup of ZMQ_FD", errno);
  }
  asio::error_code error;
  descriptor_.assign(copy, error);
  if (error) {
    ::close(copy);
    return fail(ErrorCode::internal, "ZMQ_FD on the loop: " + error.message());
  }
  is_open_ = true;
  wait();
  pump_soon();
  return {};
}

void LoopSocket::close() {
  is_open_ = false;  // receive_ may be running just now, so it lives on
  asio::error_code ignored;
  descriptor_.close(ignored);
  socket_.close();
}

void LoopSocket::wait() {
  descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, [weak = weak_from_this()](asio::error_code error) {
    const auto self = weak.lock();
    if (!self || error || !self->is_open_) {
      return;
    }
    self->pump();
    if (self->is_open_) {
      self->wait();
    }
  });
}

void LoopSocket::pump_soon() {
  if (is_pump_posted_) {
    return;
  }
  is_pump_posted_ = true;
  asio::post(io_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->is_pump_posted_ = false;
      self->pump();
    }
  });
}

void LoopSocket::pump() {
  // Timers and buses of the same loop must not wait for a flood.
  is_round_over_ = false;
  for (std::size_t i = 0; i < limits::kFramesPerRound && !is_round_over_; ++i) {
    if (!is_open_ || !has_message() || !receive_()) {
      return;
    }
  }
  pump_soon();
}

bool LoopSocket::has_message() {
  int events = 0;
  std::size_t size = sizeof events;
  return socket_.handle() != nullptr && zmq_getsockopt(socket_.handle(), ZMQ_EVENTS, &events, &size) == 0 &&
         (events & ZMQ_POLLIN) != 0;
}

SendOutcome LoopSocket::send(std::span<const std::string_view> parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const int flags = ZMQ_DONTWAIT | (i + 1 < parts.size() ? ZMQ_SNDMORE : 0);
    if (zmq_send(socket_.handle(), parts[i].data(), parts[i].size(), flags) < 0) {
      const SendOutcome outcome = zmq_errno() == EHOSTUNREACH ? SendOutcome::gone : SendOutcome::full;
      if (is_open_ && has_message()) {
        pump_soon();
      }
      return outcome;
    }
  }
  if (is_open_ && has_message()) {  // the send may have eaten the descriptor's edge
    pump_soon();
  }
  return SendOutcome::sent;
}

bool LoopSocket::receive_part(zmq::message_t& part) { return zmq_msg_recv(part.handle(), socket_.handle(), ZMQ_DONTWAIT) >= 0; }

}  // namespace loom
