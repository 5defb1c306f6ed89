// SPDX-License-Identifier: Apache-2.0
// One operator's connection to a running controller: finds its address and keys in the state folder, asks, waits.
#pragma once

#include <memory>
#include <variant>

#include "cli/options.hpp"
#include "core/message.hpp"
#include "core/result.hpp"

namespace loom::cli {

class Connection {
 public:
  /// Errors: unreachable (no controller wrote an address into the state folder), invalid_config (keys).
  static Result<Connection> open(const Globals& globals);
  ~Connection();
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;

  /// Blocks for at most the globals' time-out a page. A refusal of the controller comes back as its error; the rows of a query
  /// without a limit are all of them, however many pages they came in.
  Result<OperatorReply> ask(OperatorAsk what);

 private:
  struct State;
  Result<OperatorReply> ask_once(OperatorAsk what);
  explicit Connection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace loom::cli
