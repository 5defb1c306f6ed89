// HeaterServer: heater banks behind one Modbus/TCP port, for several clients at once, as polite or as rude as it is told.
// It speaks the protocol with libmodbus's server side; it never models heat.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "sim_backend/emulate/heater_registers.hpp"

struct _modbus;

namespace loom {

struct HeaterServerOptions {
  std::string bind = "127.0.0.1";
  std::uint16_t port = 1502;  ///< 0: any
  std::uint16_t bank_channels = 8;
  std::vector<std::uint8_t> units = {1};  ///< one bank each
  double busy = 0;                        ///< probability of exception 6
  Duration late{};                        ///< the reply comes this much later
  std::uint32_t late_count = 0;           ///< only the first so many replies are late; 0: all
  bool silent = false;                    ///< takes requests, answers nothing
  std::uint64_t seed = 1;
};

class HeaterServer {
 public:
  /// Listens; from here on SIGHUP is a power cycle: outputs and connections are lost. Errors: conflict (the port is taken),
  /// internal.
  static Result<HeaterServer> open(HeaterServerOptions options);
  HeaterServer(HeaterServer&&) noexcept;
  ~HeaterServer();

  std::uint16_t port() const { return port_; }
  /// Serves for ever. Errors: internal (the socket is gone).
  Result<void> serve();

 private:
  struct Request {
    int client = -1;
    Instant due{};
    std::vector<std::uint8_t> frame;
  };
  struct Closer {
    void operator()(_modbus* context) const;
  };

  HeaterServer(HeaterServerOptions options, std::unique_ptr<_modbus, Closer> context, int listener, std::uint16_t port);
  Duration rest() const;
  void power_cycle();
  void accept_client();
  void receive_from(int client);
  void drop(int client);
  void answer_due();
  void answer(const Request& request);
  void send_values(const Request& request, const HeaterRegisters& bank);
  void refuse(const Request& request, ModbusException exception);
  HeaterRegisters* bank_of(std::uint8_t unit);
  bool draws_busy();

  HeaterServerOptions options_;
  std::unique_ptr<_modbus, Closer> context_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::vector<int> clients_;
  std::vector<Request> waiting_;  ///< ascending due time
  std::vector<HeaterRegisters> banks_;
  std::mt19937_64 chance_;
  std::uint64_t replies_ = 0;
};

}  // namespace loom
