// SPDX-License-Identifier: Apache-2.0
// Waiting until a changed keyring is in force: the controller's status carries the digest of the one that it goes by.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/connection.hpp"
#include "cli/options.hpp"
#include "core/messages/report.hpp"

namespace loom::cli {

/// What became of a changed keyring.
struct InForce {
  enum class State : std::uint8_t {
    in_force,       ///< the controller says so
    no_controller,  ///< at its next start
    late,           ///< it goes by another keyring still
    shut_out,       ///< the key that asks was the one that was revoked
  };
  State state = State::no_controller;
  std::chrono::duration<double, std::milli> after{};  ///< since the file was written
  std::string why;
};

/// A controller as the keys commands see it: perhaps there is none. Connected before anything is written, so that what is
/// measured is not the connection.
class KeysController {
 public:
  explicit KeysController(const Globals& globals);
  bool is_there() const { return connection_.has_value(); }
  std::optional<StatusReport> status();
  /// Waits, at most as long as --timeout says. `own_key_lost`: ours is not among those that are let in from now on.
  InForce await(std::uint64_t digest, std::chrono::steady_clock::time_point written, bool own_key_lost);
  /// How many of these nodes were heard within `within`. Nothing: nobody can say.
  std::optional<std::size_t> received(const std::vector<NodeId>& nodes, Duration within);

 private:
  const Globals& globals_;
  std::optional<Connection> connection_;
  std::string absence_;  ///< why there is none
};

/// "in force after 3.1 ms", or what else is to be said, and its exit code.
std::string sentence_of(const InForce& in_force);
int exit_code_of(const InForce& in_force);

}  // namespace loom::cli
