// SPDX-License-Identifier: Apache-2.0
// The bell is one byte each time that the reader went to sleep. It is not an eventfd: that would be one open file of both
// processes, so the other one could make it block (fcntl, a counter at its end) whoever rings or answers. Each end of a socket
// is a file of its own.
#include "runtime/shm/shared_link.hpp"

#include <sys/socket.h>

#include <array>
#include <asio/post.hpp>
#include <cerrno>
#include <utility>

namespace loom {
namespace {

/// Taken in one turn: some hundred messages. What is left comes with the next, so that timers and sockets are not kept waiting.
constexpr std::size_t kTurnBytes = 64u << 10;
/// An arbiter on another core answers within 10 to 80 us. The loop goes round meanwhile, so that nothing else waits.
constexpr auto kAnswerAwaited = std::chrono::microseconds{100};

std::span<std::byte> ring_of(const SharedMemory& memory, SharedSide writer) {
  return memory.bytes().subspan(writer == SharedSide::host ? 0 : kRingBytes, kRingBytes);
}

SharedSide other(SharedSide side) { return side == SharedSide::host ? SharedSide::guest : SharedSide::host; }

}  // namespace

SharedLink::SharedLink(asio::io_context& io, SharedEnd end, Listener listener)
    : io_(io),
      memory_(std::move(end.memory)),
      writer_(ring_of(memory_, end.side)),
      reader_(ring_of(memory_, other(end.side))),
      bell_(io, end.socket.release()),
      listener_(std::move(listener)) {
  memory_.close_descriptor();
}

std::shared_ptr<SharedLink> SharedLink::open(asio::io_context& io, SharedEnd end, Listener listener) {
  auto link = std::make_shared<SharedLink>(io, std::move(end), std::move(listener));
  link->wait();
  link->take_soon();  // what was written before we came
  return link;
}

bool SharedLink::send(std::span<const std::string_view> parts) {
  if (!is_open_) {
    return false;
  }
  const auto written = writer_.write(parts);
  if (!written) {
    is_open_ = false;
    asio::post(io_, [self = shared_from_this(), why = written.error()] { self->end(why); });
    return false;
  }
  if (*written && writer_.must_wake()) {
    const ssize_t rung = ::send(bell_.native_handle(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (rung < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {  // else so many bells wait there that it is awake
      writer_.wake_with_next();
    }
  }
  if (*written && !awake_until_ && answers_.is_worthwhile()) {
    awake_until_ = std::chrono::steady_clock::now() + kAnswerAwaited;
    if (!is_take_posted_) {
      take_soon();
    }
  }
  return *written;
}

void SharedLink::close() {
  is_open_ = false;  // listener_ may be running just now, so it lives on
  is_over_ = true;
  asio::error_code ignored;
  bell_.close(ignored);
}

void SharedLink::end(const Error& why) {
  if (!is_over_) {
    close();
    listener_.ended(why);
  }
}

void SharedLink::wait() {
  bell_.async_wait(asio::posix::stream_descriptor::wait_read, [weak = weak_from_this()](asio::error_code error) {
    if (const auto self = weak.lock(); self && !error && self->is_open_) {
      self->wake_up();
    }
  });
}

/// First what the bell is about, then the bell: whoever wrote waits for an answer.
void SharedLink::wake_up() {
  const auto self = shared_from_this();
  const bool is_more = take_messages();
  std::array<char, 256> bells{};
  const ssize_t count = is_open_ ? ::recv(bell_.native_handle(), bells.data(), bells.size(), MSG_DONTWAIT) : 0;
  has_peer_ = count > 0 || (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
  rest(is_more);
  if (is_open_ && has_peer_) {
    wait();
  }
}

/// True: there was something, so that more may have come meanwhile.
bool SharedLink::take_messages() {
  reader_.stay_awake();
  auto taken = reader_.take(kTurnBytes);
  if (!taken) {
    end(taken.error());
    return false;
  }
  if (taken->messages.empty()) {
    return false;
  }
  if (std::exchange(awake_until_, std::nullopt)) {
    answers_.paid();
  }
  listener_.received(*std::move(taken));
  return true;
}

/// Awake for as long as something comes. What a process wrote before it ended was meant as everything else.
void SharedLink::rest(bool is_more) {
  if (!is_open_ || is_take_posted_) {
    return;
  }
  if (!is_more && !has_peer_) {
    return end({ErrorCode::unreachable, "the other process has ended or hung up"});
  }
  if (awake_until_ && std::chrono::steady_clock::now() >= *awake_until_) {
    awake_until_.reset();
    answers_.in_vain();
  }
  if (is_more || !has_peer_ || awake_until_ || !reader_.sleep()) {
    take_soon();
  }
}

void SharedLink::take_soon() {
  is_take_posted_ = true;
  asio::post(io_, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && self->is_open_) {
      self->is_take_posted_ = false;
      const bool is_more = self->take_messages();
      self->rest(is_more);
    }
  });
}

}  // namespace loom
