// SPDX-License-Identifier: Apache-2.0
// EmulatorServer: simulated devices behind a TCP port or a pseudo terminal, for several clients at once. The device models are
// those of the simulation, on the clock of this host, so that one physics is behind all emulators; what they do to light goes
// to a log. A protocol is a Framing. A power cycle (SIGHUP) takes the devices' state and every connection away.
#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/signal_set.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "runtime/loop.hpp"
#include "sim_backend/devices/light_observer.hpp"
#include "sim_backend/emulate/emulated_bus.hpp"
#include "sim_backend/emulate/framing.hpp"
#include "sim_backend/emulate/options.hpp"
#include "sim_backend/emulate/transport.hpp"

namespace loom {

/// What makes one emulator differ from the others.
struct EmulatedProtocol {
  /// One for each connection.
  std::function<std::unique_ptr<Framing>(const EmulatorOptions& options)> framing;
  /// Registers of a board beside its device, that the model does not know: the last word on a reply. Empty: none.
  std::function<BusReply(const EmulatedRequest& request, BusReply reply)> amend{};
  /// What monitors measure. Empty: darkness.
  LightSight sight{};
};

class EmulatorServer {
 public:
  /// `loop` is used until the end. Errors: conflict (the port is taken), invalid_argument (an address, a fault), storage (the
  /// light log), internal.
  static Result<std::unique_ptr<EmulatorServer>> open(AsioLoop& loop, EmulatedDevices devices, const SimDeviceOptions& models,
                                                      EmulatedProtocol protocol, EmulatorOptions options);
  ~EmulatorServer();

  /// As it is said on stdout: "port 5100", "pty /dev/pts/5".
  std::string place() const;
  /// Drops every connection and all state; nobody is served before options.boot_ms have passed. SIGHUP calls it.
  void power_cycle();

 private:
  class Client;
  template <class Stream>
  class StreamClient;

  EmulatorServer(AsioLoop& loop, std::unique_ptr<EmulatedBus> bus, EmulatedProtocol protocol, EmulatorOptions options);
  Result<void> open_place();
  void accept();
  void serve_terminal();
  void wait_for_hangup();
  void lose_connections();
  bool is_booting() const { return loop_.now() < booted_at_; }
  void ask(const std::shared_ptr<Client>& client, std::uint64_t number, EmulatedRequest request);
  const Device* addressed(const EmulatedRequest& request) const;

  AsioLoop& loop_;
  EmulatorOptions options_;
  EmulatedProtocol protocol_;
  std::unique_ptr<EmulatedBus> bus_;
  asio::ip::tcp::acceptor acceptor_;
  std::optional<PseudoTerminal> terminal_;
  asio::signal_set hangup_;
  std::vector<std::shared_ptr<Client>> clients_;
  Instant booted_at_{};
};

/// Opens a loop and a server, says its place on stdout and serves until SIGTERM. The exit code of the program; what goes wrong
/// is said on stderr.
int run_emulator(const Result<EmulatedDevices>& devices, const SimDeviceOptions& models, EmulatedProtocol protocol,
                 const EmulatorOptions& options);

}  // namespace loom
