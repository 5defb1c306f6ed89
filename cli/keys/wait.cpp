// SPDX-License-Identifier: Apache-2.0
// Asks again and again, briefly.
#include "cli/keys/wait.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>
#include <variant>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// A controller answers within a millisecond; this is how exactly the time is told.
constexpr auto kPoll = std::chrono::milliseconds{1};

}  // namespace

KeysController::KeysController(const Globals& globals) : globals_(globals) {
  auto connection = Connection::open(globals);
  if (connection) {
    connection_.emplace(std::move(*connection));
  } else {
    absence_ = connection.error().message;
  }
}

std::optional<StatusReport> KeysController::status() {
  if (!connection_) {
    return std::nullopt;
  }
  auto reply = connection_->ask(Query{Noun::status, {}});
  if (!reply || !std::holds_alternative<StatusReport>(reply->rows)) {
    return std::nullopt;
  }
  return std::get<StatusReport>(reply->rows);
}

InForce KeysController::await(std::uint64_t digest, Clock::time_point written, bool own_key_lost) {
  using State = InForce::State;
  if (!connection_) {
    return {State::no_controller, {}, absence_};
  }
  if (own_key_lost) {
    return {State::shut_out, {}, {}};
  }
  const auto deadline = written + globals_.timeout;
  while (true) {
    const auto now = status();
    const std::chrono::duration<double, std::milli> after = Clock::now() - written;
    if (!now) {
      return {State::late, after, "the controller does not answer any more"};
    }
    if (now->keyring_digest == digest) {
      return {State::in_force, after, {}};
    }
    if (Clock::now() >= deadline) {
      return {State::late, after, "the controller goes by another keyring still"};
    }
    std::this_thread::sleep_for(kPoll);
  }
}

std::optional<std::size_t> KeysController::received(const std::vector<NodeId>& nodes, Duration within) {
  if (!connection_) {
    return std::nullopt;
  }
  const auto reply = connection_->ask(Query{Noun::nodes, {}});
  if (!reply || !std::holds_alternative<std::vector<NodeReport>>(reply->rows)) {
    return std::nullopt;
  }
  const auto& rows = std::get<std::vector<NodeReport>>(reply->rows);
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const NodeReport& row) {
    return row.silence >= Duration{} && row.silence <= within && std::find(nodes.begin(), nodes.end(), row.node) != nodes.end();
  }));
}

std::string sentence_of(const InForce& in_force) {
  std::array<char, 32> after{};
  std::snprintf(after.data(), after.size(), "%.1f ms", in_force.after.count());
  switch (in_force.state) {
    case InForce::State::in_force:
      return format_text("in force after {}", after.data());
    case InForce::State::no_controller:
      return format_text("in force when lightloomd starts next ({})", in_force.why);
    case InForce::State::shut_out:
      return "it was your own key: the controller does not let you in any more";
    case InForce::State::late:
      break;
  }
  return format_text("not in force after {}: {}", after.data(), in_force.why);
}

int exit_code_of(const InForce& in_force) { return in_force.state == InForce::State::late ? kTimedOut : kDone; }

}  // namespace loom::cli
