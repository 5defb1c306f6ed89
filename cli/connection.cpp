// SPDX-License-Identifier: Apache-2.0
// Keys and address from the state folder, one client.
#include "cli/connection.hpp"

#include <iterator>

#include "core/text/host_port.hpp"
#include "runtime/state/state_folder.hpp"
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
  const StateFolder files(globals.state_dir);
  auto address = globals.endpoint.empty() ? files.read_address() : Result<std::string>(globals.endpoint);
  if (!address) {
    return std::unexpected(address.error());
  }
  if (const auto place = parse_tcp_endpoint(*address); !place) {
    return fail(ErrorCode::invalid_argument, "the controller's address: " + place.error().message);
  }
  auto keys = load_keys(globals.as.empty() ? files.operator_key() : files.key(globals.as));
  if (!keys) {
    return std::unexpected(keys.error());
  }
  auto controller = load_public_key(files.controller_key() + ".pub");
  if (!controller) {
    return std::unexpected(controller.error());
  }
  auto client = OperatorClient::connect({*address, *controller, *keys, globals.timeout, globals.is_interrupted});
  if (!client) {
    return std::unexpected(client.error());
  }
  return Connection(std::make_unique<State>(State{std::move(*client), globals.timeout}));
}

namespace {

/// Appends a page; false: rows that do not come in pages, or the last page.
bool add_page(OperatorReply& whole, OperatorReply page) {
  return std::visit(
      [&]<class Rows>(Rows& rows) {
        if constexpr (requires { rows.size(); }) {
          auto* more = std::get_if<Rows>(&page.rows);
          if (more == nullptr || more->empty()) {
            return false;
          }
          rows.insert(rows.end(), std::make_move_iterator(more->begin()), std::make_move_iterator(more->end()));
          return rows.size() < page.total_rows;
        }
        return false;
      },
      whole.rows);
}

std::size_t rows_of(const OperatorReply& reply) {
  return std::visit(
      []<class Rows>(const Rows& rows) -> std::size_t {
        if constexpr (requires { rows.size(); }) {
          return rows.size();
        }
        return 1;
      },
      reply.rows);
}

}  // namespace

Result<OperatorReply> Connection::ask(OperatorAsk what) {
  const auto* query = std::get_if<Query>(&what);
  if (query == nullptr || query->limit != 0) {
    return ask_once(std::move(what));
  }
  Query next = *query;
  auto whole = ask_once(next);
  bool goes_on = whole && rows_of(*whole) < whole->total_rows;
  while (goes_on) {
    next.offset = query->offset + static_cast<std::uint32_t>(rows_of(*whole));
    auto page = ask_once(next);
    if (!page) {
      return page;
    }
    goes_on = add_page(*whole, std::move(*page));
  }
  return whole;
}

Result<OperatorReply> Connection::ask_once(OperatorAsk what) {
  OperatorRequest request;
  request.ask = std::move(what);
  auto reply = state_->client.ask(std::move(request), state_->timeout);
  if (reply && !reply->outcome.ok()) {
    return std::unexpected(*reply->outcome.error);
  }
  return reply;
}

}  // namespace loom::cli
