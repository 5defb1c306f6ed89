// LineServer: one simulated switch behind a TCP port, for several clients at once, speaking lines. The device model is the one
// of the simulation, on the clock of this host; what it does to light goes to a log. A power cycle takes its state and its
// connections away.
#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/signal_set.hpp>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/result.hpp"
#include "runtime/loop.hpp"
#include "sim_backend/world/sim_bus.hpp"

namespace loom {

struct LineServerOptions {
  std::string bind = "127.0.0.1";
  std::uint16_t port = 0;      ///< 0: any
  std::string light_log;       ///< a file that is begun anew; empty: none
  std::uint32_t light_id = 0;  ///< the device's id in the light log
  Duration boot = std::chrono::milliseconds{500};
  Duration late{};               ///< replies come this much later
  std::uint32_t late_count = 0;  ///< only the first so many replies are late; 0: all
  bool silent = false;           ///< takes requests, answers nothing and does nothing
  std::vector<DeviceFaultKind> faults = {};
  SimDeviceOptions device;
};

/// A fabric of one device that drives `element`, for SimBus.
std::shared_ptr<const Fabric> lone_device(Element element, DeviceRole kind);

class LineServer {
 public:
  /// Listens; `loop` and `device` are used until the end. Errors: conflict (the port is taken), invalid_argument (the address),
  /// storage (the light log).
  static Result<std::unique_ptr<LineServer>> open(AsioLoop& loop, std::shared_ptr<const Fabric> device,
                                                  LineServerOptions options);
  ~LineServer();

  std::uint16_t port() const;
  /// Drops every connection and all state; nobody is served before options.boot has passed. SIGHUP calls it.
  void power_cycle();

 private:
  class Client;

  LineServer(AsioLoop& loop, std::shared_ptr<const Fabric> device, LineServerOptions options);
  Result<void> listen();
  Result<void> open_light_log();
  void accept();
  void wait_for_hangup();
  void take(const std::shared_ptr<Client>& client, std::string line);
  void answer(const std::weak_ptr<Client>& client, const BusReply& reply);

  AsioLoop& loop_;
  LineServerOptions options_;
  SimBus bus_;
  std::ofstream light_log_;
  asio::ip::tcp::acceptor acceptor_;
  asio::signal_set hangup_;
  std::vector<std::weak_ptr<Client>> clients_;
  Instant booted_at_{};
  std::uint64_t replies_ = 0;
};

}  // namespace loom
