// SPDX-License-Identifier: Apache-2.0
// A DEALER a process, polled together.
#include "runtime/zmq/agents_client.hpp"

#include <zmq.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <utility>
#include <zmq.hpp>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"
#include "proto/codec.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/socket_options.hpp"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kRepeatInterval = std::chrono::milliseconds{500};

class Asking {
 public:
  Asking(const std::vector<AgentProcess>& processes, const KeyPair& keys, OperatorAsk what)
      : processes_(processes), keys_(keys), what_(std::move(what)) {}

  /// Throws zmq::error_t.
  void connect() {
    for (const AgentProcess& process : processes_) {
      for (const NodeId node : process.nodes) {
        answers_.emplace(
            node, fail(ErrorCode::unreachable,
                       process.endpoint.empty()
                           ? process.name + " has not written where it listens"
                           : format_text("{} at {} did not answer: it is down, cut off, or its keyring does not know this key",
                                         process.name, process.endpoint)));
      }
      zmq::socket_t socket(context_, zmq::socket_type::dealer);
      set_common_options(socket);
      set_dialler_options(socket);
      socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kFrameBytes));
      socket.set(zmq::sockopt::immediate, true);
      socket.set(zmq::sockopt::linger, 0);
      socket.set(zmq::sockopt::curve_serverkey, process.public_key);
      socket.set(zmq::sockopt::curve_publickey, keys_.public_key);
      socket.set(zmq::sockopt::curve_secretkey, keys_.secret_key);
      if (!process.endpoint.empty()) {
        connect_to(socket, process.endpoint);
      }
      sockets_.push_back(std::move(socket));
      ask_at_.push_back(Clock::now());
    }
    open_ = answers_.size();
  }

  void run(Clock::time_point deadline) {
    while (open_ > 0 && Clock::now() < deadline) {
      std::vector<zmq_pollitem_t> items;
      Clock::time_point next = deadline;
      for (std::size_t i = 0; i < sockets_.size(); ++i) {
        const bool is_due = Clock::now() >= ask_at_[i];
        items.push_back({sockets_[i].handle(), 0, static_cast<short>(is_due ? ZMQ_POLLIN | ZMQ_POLLOUT : ZMQ_POLLIN), 0});
        next = is_due ? next : std::min(next, ask_at_[i]);
      }
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
      zmq_poll(items.data(), static_cast<int>(items.size()), static_cast<long>(std::max<std::int64_t>(left, 0)));
      for (std::size_t i = 0; i < sockets_.size(); ++i) {
        if ((items[i].revents & ZMQ_POLLOUT) != 0) {
          ask(i);
        }
        if ((items[i].revents & ZMQ_POLLIN) != 0) {
          receive(i);
        }
      }
    }
  }

  std::vector<AgentAnswer> take() {
    std::vector<AgentAnswer> answers;
    for (auto& [node, reply] : answers_) {
      answers.push_back({node, std::move(reply)});
    }
    return answers;
  }

 private:
  void ask(std::size_t process) {
    ask_at_[process] = Clock::now() + kRepeatInterval;
    Batch batch;
    for (const NodeId node : processes_[process].nodes) {
      if (answers_.at(node)) {
        continue;
      }
      Envelope envelope;
      envelope.role = Role::viewer;  // the agent goes by what the key proves
      envelope.node = node;
      envelope.body = OperatorRequest{request_, what_};
      const std::string bytes = encode(envelope);
      if (!batch.fits(bytes.size())) {
        send(process, batch);
      }
      batch.add(bytes);
    }
    send(process, batch);
  }

  void send(std::size_t process, Batch& batch) {
    if (!batch.empty()) {
      zmq_send(sockets_[process].handle(), batch.bytes().data(), batch.bytes().size(), ZMQ_DONTWAIT);
    }
    batch.clear();
  }

  void receive(std::size_t process) {
    zmq::message_t frame;
    while (zmq_msg_recv(frame.handle(), sockets_[process].handle(), ZMQ_DONTWAIT) >= 0) {
      const auto envelopes = split_batch({frame.data<char>(), frame.size()});
      for (std::size_t i = 0; envelopes && i < envelopes->size(); ++i) {
        take(process, (*envelopes)[i]);
      }
    }
  }

  /// A process speaks for its own nodes.
  void take(std::size_t process, std::string_view bytes) {
    auto envelope = decode_envelope(bytes);
    auto* reply = envelope ? std::get_if<OperatorReply>(&envelope->body) : nullptr;
    const auto& nodes = processes_[process].nodes;
    if (reply == nullptr || reply->request != request_ ||
        std::find(nodes.begin(), nodes.end(), envelope->node) == nodes.end()) {
      return;
    }
    Result<OperatorReply>& answer = answers_.at(envelope->node);
    open_ -= answer ? 0U : 1U;
    answer = std::move(*reply);
  }

  const std::vector<AgentProcess>& processes_;
  const KeyPair& keys_;
  OperatorAsk what_;
  RequestId request_{(std::uint64_t{std::random_device{}()} << 32U) | std::random_device{}()};
  zmq::context_t context_;
  std::vector<zmq::socket_t> sockets_;     ///< by process
  std::vector<Clock::time_point> ask_at_;  ///< by process
  std::map<NodeId, Result<OperatorReply>> answers_;
  std::size_t open_ = 0;
};

}  // namespace

Result<std::vector<AgentAnswer>> ask_agents(const std::vector<AgentProcess>& processes, const KeyPair& keys,
                                            const OperatorAsk& what, Duration timeout) {
  LOOM_TRY(check_key("the operator's public key", keys.public_key));
  LOOM_TRY(check_key("the operator's secret key", keys.secret_key));
  for (const AgentProcess& process : processes) {
    LOOM_TRY(check_key("the public key of " + process.name, process.public_key));
  }
  try {
    Asking asking(processes, keys, what);
    asking.connect();
    asking.run(Clock::now() + timeout);
    return asking.take();
  } catch (const zmq::error_t& error) {
    return zmq_failure(ErrorCode::internal, "cannot connect to agents", error.num());
  }
}

}  // namespace loom
