// SPDX-License-Identifier: Apache-2.0
// The library's socket monitor: a PAIR on which each event is two parts, number and value (6 bytes) and endpoint.
#include "runtime/zmq/keys/handshake_watch.hpp"

#include <zmq.h>

#include <cstring>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// A controller that is killed in the middle of a handshake fails it in the same way as one with another key, but not so often.
constexpr std::uint32_t kFailuresUntold = 3;
constexpr int kEvents = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
                        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

}  // namespace

HandshakeWatch::HandshakeWatch(HandshakeListener listener) : listener_(std::move(listener)) {}

Result<std::unique_ptr<HandshakeWatch>> HandshakeWatch::open(asio::io_context& io, zmq::context_t& context,
                                                             zmq::socket_t& socket, const std::string& endpoint,
                                                             HandshakeListener listener) {
  // A socket that took the place of another one to the same endpoint is watched under a name of its own.
  const std::string address =
      format_text("inproc://handshakes-of-{}-{}", endpoint, reinterpret_cast<std::uintptr_t>(socket.handle()));
  if (zmq_socket_monitor(socket.handle(), address.c_str(), kEvents) != 0) {
    return zmq_failure(ErrorCode::internal, "cannot watch the handshakes with " + endpoint, zmq_errno());
  }
  std::unique_ptr<HandshakeWatch> watch(new HandshakeWatch(std::move(listener)));
  watch->monitored_ = socket.handle();
  try {
    zmq::socket_t events(context, zmq::socket_type::pair);
    events.set(zmq::sockopt::linger, 0);
    events.connect(address);
    watch->events_ = std::make_shared<LoopSocket>(io, std::move(events));
  } catch (const zmq::error_t& error) {
    return zmq_failure(ErrorCode::internal, "cannot watch the handshakes with " + endpoint, error.num());
  }
  LOOM_TRY(watch->events_->arm([raw = watch.get()] { return raw->take_event(); }));
  return watch;
}

HandshakeWatch::~HandshakeWatch() {
  if (monitored_ != nullptr) {
    (void)zmq_socket_monitor(monitored_, nullptr, 0);
  }
  if (events_) {
    events_->close();
  }
}

bool HandshakeWatch::take_event() {
  zmq::message_t event;
  if (!events_->receive_part(event)) {
    return false;
  }
  for (zmq::message_t rest; event.more() && events_->receive_part(rest) && rest.more();) {
  }
  std::uint16_t number = 0;
  if (event.size() < sizeof number) {
    return true;
  }
  std::memcpy(&number, event.data(), sizeof number);
  if (number == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
    failures_ = 0;
    was_reported_ = false;
    listener_.accepted();
    return true;
  }
  if (number == ZMQ_EVENT_CONNECTED) {
    if (listener_.reached) {
      listener_.reached();
    }
    return true;
  }
  if (number == ZMQ_EVENT_DISCONNECTED) {
    listener_.lost();
    return true;
  }
  if (listener_.stumbled) {
    listener_.stumbled();
  }
  if (number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
    fail_once(HandshakeFailure::key_refused);
  } else if (++failures_ >= kFailuresUntold) {
    fail_once(HandshakeFailure::other_key);
  }
  return true;
}

void HandshakeWatch::fail_once(HandshakeFailure failure) {
  if (!std::exchange(was_reported_, true)) {
    listener_.failed(failure);
  }
}

}  // namespace loom
