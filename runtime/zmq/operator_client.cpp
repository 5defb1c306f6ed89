// Send, poll, match the request's number.
#include "runtime/zmq/operator_client.hpp"

#include <chrono>
#include <utility>
#include <zmq.hpp>

#include "proto/codec.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/socket_options.hpp"

namespace loom {

struct OperatorClient::State {
  zmq::context_t context;
  zmq::socket_t socket;
  std::string endpoint;
};

OperatorClient::OperatorClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
OperatorClient::~OperatorClient() = default;

Result<std::unique_ptr<OperatorClient>> OperatorClient::connect(OperatorClientOptions options) {
  LOOM_TRY(check_key("the controller's public key", options.controller_key));
  auto state = std::make_unique<State>();
  state->endpoint = options.endpoint;
  try {
    state->socket = zmq::socket_t(state->context, zmq::socket_type::dealer);
    set_common_options(state->socket);
    state->socket.set(zmq::sockopt::curve_serverkey, options.controller_key);
    state->socket.set(zmq::sockopt::curve_publickey, options.keys.public_key);
    state->socket.set(zmq::sockopt::curve_secretkey, options.keys.secret_key);
    state->socket.connect(options.endpoint);
  } catch (const zmq::error_t& error) {
    return zmq_failure(ErrorCode::unreachable, "cannot connect to " + options.endpoint, error.num());
  }
  return std::unique_ptr<OperatorClient>(new OperatorClient(std::move(state)));
}

Result<OperatorReply> OperatorClient::ask(OperatorRequest request, Duration timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const RequestId id = request.request;
  Envelope envelope;
  envelope.role = Role::operator_;
  envelope.body = std::move(request);
  Batch batch;
  batch.add(encode(envelope));
  try {
    state_->socket.send(zmq::buffer(batch.bytes()), zmq::send_flags::none);
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      state_->socket.set(zmq::sockopt::rcvtimeo, static_cast<int>(std::max<std::int64_t>(0, left.count())));
      zmq::message_t frame;
      if (!state_->socket.recv(frame)) {
        return fail(ErrorCode::unreachable, "no answer from " + state_->endpoint + " within " +
                                                std::to_string(timeout / std::chrono::milliseconds{1}) +
                                                " ms: no controller is there, or it does not know this key");
      }
      const auto envelopes = split_batch(frame.to_string_view());
      for (const std::string_view bytes : envelopes ? *envelopes : std::vector<std::string_view>{}) {
        auto answer = decode_envelope(bytes);
        auto* reply = answer ? std::get_if<OperatorReply>(&answer->body) : nullptr;
        if (reply != nullptr && reply->request == id) {
          return std::move(*reply);
        }
        if (!answer) {
          return std::unexpected(answer.error());
        }
      }
    }
  } catch (const zmq::error_t& error) {
    return zmq_failure(ErrorCode::unreachable, "talking to " + state_->endpoint, error.num());
  }
}

}  // namespace loom
