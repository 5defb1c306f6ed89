// SPDX-License-Identifier: Apache-2.0
// A DEALER and its patience.
#include "runtime/zmq/operator_client.hpp"

#include <zmq.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <utility>
#include <zmq.hpp>

#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"
#include "proto/codec.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/socket_options.hpp"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRepeatInterval = std::chrono::seconds{2};
constexpr auto kLookInterval = std::chrono::milliseconds{100};  ///< whether somebody interrupts us

std::string in_seconds(Duration duration) {
  const auto tenths = duration.count() / 100'000'000;
  return format_text("{}.{} s", tenths / 10, tenths % 10);
}

/// Waits for `events` until `deadline`; false: in vain.
bool wait_for(zmq::socket_t& socket, short events, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    zmq_pollitem_t item{socket.handle(), 0, events, 0};
    const int count = zmq_poll(&item, 1, static_cast<long>(std::max<std::int64_t>(left, 0)));
    if (count > 0 || left <= 0) {
      return count > 0;
    }
  }
}

}  // namespace

class OperatorClient::Core {
 public:
  explicit Core(OperatorClientOptions options) : options_(std::move(options)), socket_(context_, zmq::socket_type::dealer) {}

  /// Throws zmq::error_t.
  void connect() {
    set_common_options(socket_);
    set_dialler_options(socket_);
    socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kBatchBytes));
    socket_.set(zmq::sockopt::immediate, true);  // so that POLLOUT says "the controller has accepted us"
    socket_.set(zmq::sockopt::curve_serverkey, options_.controller_key);
    socket_.set(zmq::sockopt::curve_publickey, options_.keys.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, options_.keys.secret_key);
    connect_to(socket_, options_.endpoint);
  }
  bool is_accepted() { return wait(ZMQ_POLLOUT, Clock::now() + options_.connect_timeout); }

  Result<OperatorReply> ask(OperatorRequest request, Duration timeout) {
    const auto deadline = Clock::now() + timeout;
    const auto last_repetition = Clock::now() + std::chrono::nanoseconds{limits::kRequestRepeatNs};
    request.request = {++last_request_};
    const RequestId number = request.request;
    Envelope envelope;
    envelope.role = Role::viewer;  // the controller goes by what the key proves
    envelope.body = std::move(request);
    const std::string bytes = encode(envelope);
    // What the controller's decoder would refuse it would drop: found here, it costs no time-out, and the sentence names field,
    // value and limit.
    if (auto lawful = decode_envelope(bytes); !lawful) {
      return fail(ErrorCode::invalid_argument, "the request is not sent, no controller takes it: " + lawful.error().message);
    }
    Batch batch;
    if (!batch.fits(bytes.size())) {
      return fail(ErrorCode::out_of_range,
                  format_text("the request has {} bytes, the limit is {}", bytes.size(), limits::kMessageBytes));
    }
    batch.add(bytes);
    if (!wait(ZMQ_POLLOUT, deadline) ||
        zmq_send(socket_.handle(), batch.bytes().data(), batch.bytes().size(), ZMQ_DONTWAIT) < 0) {
      return fail(ErrorCode::unreachable, format_text("the connection to {} is gone", options_.endpoint));
    }
    while (Clock::now() < deadline && !is_interrupted()) {
      if (!wait(ZMQ_POLLIN, std::min(deadline, Clock::now() + kRepeatInterval))) {
        // Perhaps it was lost with a connection: the same number is never carried out twice, while it is remembered.
        if (Clock::now() < last_repetition && !is_interrupted()) {
          zmq_send(socket_.handle(), batch.bytes().data(), batch.bytes().size(), ZMQ_DONTWAIT);
        }
        continue;
      }
      auto reply = next_reply(number);
      if (!reply) {
        return std::unexpected(reply.error());
      }
      if (*reply) {
        return std::move(**reply);
      }
    }
    if (is_interrupted()) {
      return fail(ErrorCode::timed_out, format_text("interrupted before the controller at {} answered", options_.endpoint));
    }
    return fail(ErrorCode::timed_out,
                format_text("the controller at {} did not answer within {}", options_.endpoint, in_seconds(timeout)));
  }

 private:
  bool is_interrupted() const { return options_.is_interrupted && options_.is_interrupted(); }
  bool wait(short events, Clock::time_point deadline) {
    while (!is_interrupted()) {
      const auto until = options_.is_interrupted ? std::min(deadline, Clock::now() + kLookInterval) : deadline;
      if (wait_for(socket_, events, until) || until == deadline) {
        return wait_for(socket_, events, Clock::now());
      }
    }
    return false;
  }
  /// The reply to request `number`, if it is in the frame at hand.
  Result<std::optional<OperatorReply>> next_reply(RequestId number) {
    zmq::message_t frame;
    if (zmq_msg_recv(frame.handle(), socket_.handle(), ZMQ_DONTWAIT) < 0) {
      return std::optional<OperatorReply>{};
    }
    const auto envelopes = split_batch({frame.data<char>(), frame.size()});
    if (!envelopes) {
      return std::unexpected(envelopes.error());
    }
    for (const std::string_view bytes : *envelopes) {
      auto envelope = decode_envelope(bytes);
      if (!envelope) {
        return std::unexpected(envelope.error());
      }
      auto* reply = std::get_if<OperatorReply>(&envelope->body);
      if (reply != nullptr && reply->request == number) {
        return std::optional{std::move(*reply)};
      }
    }
    return std::optional<OperatorReply>{};
  }

  OperatorClientOptions options_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  /// Anywhere, so that no two clients of one key number their requests alike: the controller answers a number only once.
  std::uint64_t last_request_ = (std::uint64_t{std::random_device{}()} << 32U) | std::random_device{}();
};

Result<OperatorClient> OperatorClient::connect(OperatorClientOptions options) {
  LOOM_TRY(check_key("the controller's public key", options.controller_key));
  LOOM_TRY(check_key("the operator's public key", options.keys.public_key));
  LOOM_TRY(check_key("the operator's secret key", options.keys.secret_key));
  const std::string endpoint = options.endpoint;
  const Duration timeout = options.connect_timeout;
  try {
    auto core = std::make_unique<Core>(std::move(options));
    core->connect();
    if (!core->is_accepted()) {
      return fail(ErrorCode::unreachable,
                  format_text("no controller at {} accepted this key within {}: is it running, and is the key in its keyring?",
                              endpoint, in_seconds(timeout)));
    }
    return OperatorClient(std::move(core));
  } catch (const zmq::error_t& error) {
    return zmq_failure(ErrorCode::unreachable, "cannot connect to " + endpoint, error.num());
  }
}

OperatorClient::OperatorClient(std::unique_ptr<Core> core) : core_(std::move(core)) {}
OperatorClient::OperatorClient(OperatorClient&&) noexcept = default;
OperatorClient& OperatorClient::operator=(OperatorClient&&) noexcept = default;
OperatorClient::~OperatorClient() = default;

Result<OperatorReply> OperatorClient::ask(OperatorRequest request, Duration timeout) {
  return core_->ask(std::move(request), timeout);
}

}  // namespace loom
