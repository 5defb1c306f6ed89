// SPDX-License-Identifier: Apache-2.0
// ServiceNotifier: tells a service manager, over sd_notify's datagrams, that a daemon serves, what it does, and that its loop
// turns. All of it is sent by the loop itself and never by a thread beside it, so a loop that hangs falls silent and the
// manager starts the daemon again (docs/units.md, ADR 74). Where no manager listens it does nothing.
#pragma once

#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/result.hpp"
#include "runtime/loop.hpp"

namespace loom {

/// What the manager says in the environment.
struct ServiceManager {
  std::string socket;  ///< a path, or '@' and a name in Linux's abstract namespace
  /// How long the daemon may be silent; nothing: nobody watches.
  std::optional<std::chrono::microseconds> silence_max;
};

/// NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, for this process. Takes them out of the environment, so that no child speaks
/// in this process's name. Nothing: no manager waits for this process.
/// Errors: invalid_argument (a socket or a number that is none).
Result<std::optional<ServiceManager>> take_service_manager();

class ServiceNotifier {
 public:
  /// `status`: one line of what the daemon does; asked on the loop's thread with every message, sent when it differs.
  /// A manager that has gone is no reason to stop: what cannot be sent is dropped.
  /// Errors: unreachable (no such socket), internal (no descriptors left).
  static Result<std::unique_ptr<ServiceNotifier>> open(asio::io_context& context, const ServiceManager& manager,
                                                       std::function<std::string()> status);
  ServiceNotifier(const ServiceNotifier&) = delete;
  ServiceNotifier& operator=(const ServiceNotifier&) = delete;
  ~ServiceNotifier();

  /// From the loop's first turn on: READY=1, then WATCHDOG=1 twice in the time that the manager allows.
  void begin();
  /// STOPPING=1; no more WATCHDOG=1. When the loop has returned.
  void end();

 private:
  ServiceNotifier(asio::io_context& context, int descriptor, std::optional<std::chrono::microseconds> silence_max,
                  std::function<std::string()> status);
  void send(const std::string& lines) const;
  std::string status_line();
  void tick(std::chrono::steady_clock::time_point due);

  asio::io_context& context_;
  int descriptor_;
  std::chrono::steady_clock::duration period_;
  bool is_watched_;
  std::function<std::string()> status_;
  std::string told_;
  asio::steady_timer timer_;
};

/// Runs the loop until SIGINT or SIGTERM, and tells the manager of this process's environment, if there is one, all of the
/// above. A manager that cannot be reached is a warning in the log: the daemon is needed without it.
void run_until_signalled(AsioLoop& loop, std::function<std::string()> status);

}  // namespace loom
