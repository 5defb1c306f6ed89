// Ports, connections, and the end of a turn.
#include "runtime/zmq/agent_transport.hpp"

#include <array>
#include <asio/post.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proto/codec.hpp"
#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/loop_socket.hpp"
#include "runtime/zmq/socket_options.hpp"

namespace loom {

class AgentTransport::Core : public std::enable_shared_from_this<AgentTransport::Core> {
 public:
  Core(asio::io_context& io, AgentTransportOptions options) : io_(io), options_(std::move(options)) {}

  Result<void> open() {
    allow_many_sockets(context_);
    return options_.connection_each_agent ? Result<void>{} : add_connection();
  }
  void close();
  MessageSeam& port(NodeId node);

  AgentTransportCounters counters;

 private:
  struct Connection {
    std::shared_ptr<LoopSocket> socket;
    Batch outgoing;
    bool is_dirty = false;
  };

  class Port final : public MessageSeam {
   public:
    Port(Core& core, std::size_t connection) : core_(core), connection_(connection) {}
    void on_receive(Receive receive) override { receive_ = std::move(receive); }
    void on_refuse(std::function<void(Peer, Error)>) override {}  // it is the controller that refuses
    void send(Peer, std::string_view bytes) override { core_.send(connection_, bytes); }
    void take(std::string_view envelope) {
      if (receive_) {
        receive_(controller_peer(), "controller", Role::controller, envelope);
      }
    }

   private:
    Core& core_;
    std::size_t connection_;
    Receive receive_;
  };

  Result<void> add_connection();
  bool take_message(std::size_t index);
  void take_frame(std::string_view frame);
  void send(std::size_t index, std::string_view bytes);
  void flush();
  void flush(Connection& connection);

  asio::io_context& io_;
  AgentTransportOptions options_;
  zmq::context_t context_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Port>> ports_;  ///< by node
  std::vector<std::size_t> dirty_;
  bool is_flush_posted_ = false;
};

Result<void> AgentTransport::Core::add_connection() {
  try {
    zmq::socket_t socket(context_, zmq::socket_type::dealer);
    set_common_options(socket);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kFrameBytes));
    socket.set(zmq::sockopt::reconnect_ivl, 50);
    socket.set(zmq::sockopt::reconnect_ivl_max, 500);
    socket.set(zmq::sockopt::curve_serverkey, options_.controller_key);
    socket.set(zmq::sockopt::curve_publickey, options_.keys.public_key);
    socket.set(zmq::sockopt::curve_secretkey, options_.keys.secret_key);
    socket.connect(options_.endpoint);
    auto connection = std::make_unique<Connection>();
    connection->socket = std::make_shared<LoopSocket>(io_, std::move(socket));
    connections_.push_back(std::move(connection));
  } catch (const zmq::error_t& error) {
    return zmq_failure(ErrorCode::unreachable, "cannot connect to " + options_.endpoint, error.num());
  }
  return connections_.back()->socket->arm([this, index = connections_.size() - 1] { return take_message(index); });
}

void AgentTransport::Core::close() {
  for (const auto& connection : connections_) {
    flush(*connection);
    connection->socket->close();
  }
  for (const auto& [node, port] : ports_) {
    port->on_receive({});
  }
}

MessageSeam& AgentTransport::Core::port(NodeId node) {
  auto& port = ports_[node.value];
  if (port == nullptr) {
    if (options_.connection_each_agent) {
      const auto added = add_connection();
      LOOM_ASSERT(added);  // the endpoint was lawful for the first one
    }
    port = std::make_unique<Port>(*this, connections_.size() - 1);
  }
  return *port;
}

bool AgentTransport::Core::take_message(std::size_t index) {
  zmq::message_t part;
  if (!connections_[index]->socket->receive_part(part)) {
    return false;
  }
  take_frame(part.to_string_view());
  while (part.more() && connections_[index]->socket->receive_part(part)) {
    ++counters.malformed;  // our frames have one part
  }
  return true;
}

void AgentTransport::Core::take_frame(std::string_view frame) {
  ++counters.frames_in;
  const auto envelopes = split_batch(frame);
  if (!envelopes) {
    ++counters.malformed;
    return;
  }
  for (const std::string_view envelope : *envelopes) {
    const auto head = peek_head(envelope);
    if (!head) {
      ++counters.malformed;
      continue;
    }
    const auto port = ports_.find(head->node.value);
    if (port == ports_.end()) {
      ++counters.misdirected;
      continue;
    }
    ++counters.envelopes_in;
    port->second->take(envelope);
  }
}

void AgentTransport::Core::send(std::size_t index, std::string_view bytes) {
  Connection& connection = *connections_[index];
  if (!connection.outgoing.fits(bytes.size())) {
    flush(connection);
  }
  connection.outgoing.add(bytes);
  ++counters.envelopes_out;
  if (!connection.is_dirty) {
    connection.is_dirty = true;
    dirty_.push_back(index);
  }
  if (!is_flush_posted_) {
    is_flush_posted_ = true;
    asio::post(io_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->flush();
      }
    });
  }
}

void AgentTransport::Core::flush() {
  is_flush_posted_ = false;
  for (const std::size_t index : std::exchange(dirty_, {})) {
    flush(*connections_[index]);
  }
}

void AgentTransport::Core::flush(Connection& connection) {
  connection.is_dirty = false;
  if (connection.outgoing.empty()) {
    return;
  }
  const std::array<std::string_view, 1> parts{connection.outgoing.bytes()};
  if (connection.socket->send(parts) == SendOutcome::sent) {
    ++counters.frames_out;
  } else {
    counters.dropped += connection.outgoing.count();  // whoever waits for an answer asks again
  }
  connection.outgoing.clear();
}

AgentTransport::AgentTransport(std::shared_ptr<Core> core) : core_(std::move(core)) {}
AgentTransport::~AgentTransport() { core_->close(); }

Result<std::unique_ptr<AgentTransport>> AgentTransport::connect(asio::io_context& io, AgentTransportOptions options) {
  LOOM_TRY(check_key("the controller's public key", options.controller_key));
  auto core = std::make_shared<Core>(io, std::move(options));
  LOOM_TRY(core->open());
  return std::unique_ptr<AgentTransport>(new AgentTransport(std::move(core)));
}

MessageSeam& AgentTransport::port(NodeId node) { return core_->port(node); }
const AgentTransportCounters& AgentTransport::counters() const { return core_->counters; }

}  // namespace loom
