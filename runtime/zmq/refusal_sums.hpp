// SPDX-License-Identifier: Apache-2.0
// RefusalSums: a flood of refusals told in sums: the first of a sender and kind at once, the others once a second with their
// number, so that refusing costs whoever hears of it no more than one event a second. And the same across threads: what the ZAP
// handler turns away is one task on the loop, however many handshakes there are.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/step.hpp"
#include "core/time.hpp"
#include "runtime/zmq/keys/authenticator.hpp"

namespace loom {

/// Loop's thread only.
class RefusalSums {
 public:
  using Report = std::function<void(const MessageRefused&)>;

  /// `report` is called on the loop's thread, also from inside note().
  RefusalSums(asio::io_context& io, Report report) : timer_(io), report_(std::move(report)) {}

  /// Of `count` refusals like this one. The sender is known by its principal; without one, all that have none are one sender.
  void note(MessageRefused refused, Instant now);
  /// Nothing is told any more.
  void close();

 private:
  struct Row {
    Instant reported{};
    std::optional<MessageRefused> waiting{};
  };
  void await_flush();
  void flush();

  std::map<std::pair<std::string, RefusalKind>, Row> rows_;  ///< of principals in the keyring, and one
  asio::steady_timer timer_;
  Report report_;
  Instant now_{};  ///< of the last note
  bool is_waiting_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  ///< a timer that has run out may outlive us
};

/// A listener for an Authenticator that sums up what it turns away, and has at most one task under way on the loop at a time.
/// `report`: how many since the last time, and address and key of the last one.
using RejectSum = std::function<void(std::uint64_t count, const std::string& address, const std::string& public_key)>;
Authenticator::Reject summed_rejects(asio::io_context& io, RejectSum report);

}  // namespace loom
