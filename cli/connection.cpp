// Keys and address from the state folder, one client.
#include "cli/connection.hpp"

#include "cli/lab_files.hpp"
#include "runtime/zmq/operator_client.hpp"

namespace loom::cli {

struct Connection::State {
  OperatorClient client;
  Duration timeout{};
};

Connection::Connection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Connection::~Connection() = default;
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;

Result<Connection> Connection::open(const Globals& globals) {
  const LabFiles files(globals.state_dir);
  auto address = globals.endpoint.empty() ? files.read_address() : Result<std::string>(globals.endpoint);
  if (!address) {
    return std::unexpected(address.error());
  }
  auto keys = load_keys(files.operator_key());
  if (!keys) {
    return std::unexpected(keys.error());
  }
  auto controller = load_public_key(files.controller_key() + ".pub");
  if (!controller) {
    return std::unexpected(controller.error());
  }
  auto client = OperatorClient::connect({*address, *controller, *keys, globals.timeout});
  if (!client) {
    return std::unexpected(client.error());
  }
  return Connection(std::make_unique<State>(State{std::move(*client), globals.timeout}));
}

Result<OperatorReply> Connection::ask(OperatorAsk what) {
  OperatorRequest request;
  request.ask = std::move(what);
  auto reply = state_->client.ask(std::move(request), state_->timeout);
  if (reply && !reply->outcome.ok()) {
    return std::unexpected(*reply->outcome.error);
  }
  return reply;
}

}  // namespace loom::cli
