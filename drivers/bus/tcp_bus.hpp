// SPDX-License-Identifier: Apache-2.0
// TcpBus: frames over one TCP connection (SCPI on port 5025, an ASCII dialect behind a terminal server). A connection whose
// reply failed is closed, so that a late answer dies with it; bytes that nobody asked for close it too.
#pragma once

#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/tcp_connection.hpp"

namespace loom {

class TcpBus final : public BusDevice {
 public:
  explicit TcpBus(TcpEndpoint endpoint) : connection_(std::move(endpoint)) {}

  /// Frame only, as SerialBus. Connecting counts against the deadline; resolving a host name does not (give an address).
  /// `lost`: nobody listens, or the device closed the connection. One that was closed between transactions is opened again
  /// unnoticed.
  BusReply execute(const Transaction& transaction) override;

 private:
  TcpConnection connection_;
};

}  // namespace loom
