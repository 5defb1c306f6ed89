// SPDX-License-Identifier: Apache-2.0
// The seven frames of a ZAP request and the six of its reply.
#include "runtime/zmq/keys/authenticator.hpp"

#include <zmq.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/zmq/keys/keys.hpp"
#include "runtime/zmq/loop_socket.hpp"

namespace loom {
namespace {

// RFC 27: version, request id, domain, address, identity, mechanism, credentials.
constexpr std::size_t kRequestFrames = 7;
constexpr std::size_t kCurveKeyBytes = 32;

/// All frames of one request; nothing once the context is shut down.
std::optional<std::vector<std::string>> next_request(void* socket) {
  std::vector<std::string> frames;
  bool has_more = true;
  while (has_more) {
    zmq::message_t frame;
    if (zmq_msg_recv(frame.handle(), socket, 0) < 0) {
      if (zmq_errno() == EINTR) {
        continue;
      }
      return std::nullopt;
    }
    frames.push_back(frame.to_string());
    has_more = frame.more();
  }
  return frames;
}

/// The key of a CURVE request in Z85; empty: no lawful CURVE request.
std::string key_of(const std::vector<std::string>& request) {
  if (request.size() != kRequestFrames || request[2] != kZapDomain || request[5] != "CURVE" ||
      request[6].size() != kCurveKeyBytes) {
    return {};
  }
  std::array<char, kKeyCharacters + 1> text{};
  zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(request[6].data()), kCurveKeyBytes);
  return text.data();
}

}  // namespace

Result<std::unique_ptr<Authenticator>> Authenticator::start(zmq::context_t& context, std::set<std::string> public_keys,
                                                            Reject reject) {
  try {
    zmq::socket_t socket(context, zmq::socket_type::rep);
    socket.set(zmq::sockopt::linger, 0);
    socket.bind("inproc://zeromq.zap.01");
    return std::unique_ptr<Authenticator>(new Authenticator(std::move(socket), std::move(public_keys), std::move(reject)));
  } catch (const zmq::error_t& error) {
    return zmq_failure(ErrorCode::internal, "the ZAP handler", error.num());
  }
}

Authenticator::Authenticator(zmq::socket_t socket, std::set<std::string> public_keys, Reject reject)
    : socket_(std::move(socket)), public_keys_(std::move(public_keys)), reject_(std::move(reject)) {
  thread_ = std::thread([this] { serve(); });
}

Authenticator::~Authenticator() { thread_.join(); }

void Authenticator::replace_keys(std::set<std::string> public_keys) {
  const std::scoped_lock lock(mutex_);
  public_keys_ = std::move(public_keys);
}

bool Authenticator::is_known(const std::string& public_key) {
  const std::scoped_lock lock(mutex_);
  return public_keys_.contains(public_key);
}

void Authenticator::serve() {
  while (const auto request = next_request(socket_.handle())) {
    const std::string key = key_of(*request);
    const bool is_welcome = !key.empty() && is_known(key);
    // Version, request id, status, text, user id, metadata.
    const std::array<std::string, 6> reply{"1.0",
                                           request->size() > 1 ? (*request)[1] : "",
                                           is_welcome ? "200" : "400",
                                           is_welcome ? "OK" : "unknown key",
                                           is_welcome ? key : "",
                                           ""};
    for (std::size_t i = 0; i < reply.size(); ++i) {
      zmq_send(socket_.handle(), reply[i].data(), reply[i].size(), i + 1 < reply.size() ? ZMQ_SNDMORE : 0);
    }
    if (!is_welcome) {
      reject_(request->size() > 3 ? (*request)[3] : "?", key);
    }
  }
  socket_.close();
}

}  // namespace loom
