// SPDX-License-Identifier: Apache-2.0
// TcpConnection: one TCP connection to a device, opened when it is needed and closed by whoever found it wanting. It knows no
// protocol: buses of lines and of HTTP hold one each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/time.hpp"
#include "core/transaction.hpp"
#include "drivers/bus/endpoint.hpp"

namespace loom {

class TcpConnection {
 public:
  explicit TcpConnection(TcpEndpoint endpoint) : endpoint_(std::move(endpoint)) {}
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;
  ~TcpConnection() { close(); }

  bool is_open() const { return socket_ >= 0; }
  /// Neither closed by the device nor with bytes from before. Precondition: is_open().
  bool is_fresh() const;
  /// Connecting counts against `until`; resolving a host name does not (give an address). Ok, timeout, or lost with its cause.
  BusReply open(Instant until);
  void close();
  /// Drops what came although nothing was asked. Precondition: is_open().
  void drop_pending() const;

  int descriptor() const { return socket_; }
  std::uint32_t number() const { return number_; }  ///< counts connections; another one each time that it was opened
  std::string where() const;                        ///< "10.0.0.8 port 5025"

 private:
  TcpEndpoint endpoint_;
  int socket_ = -1;
  std::uint32_t number_ = 0;
};

}  // namespace loom
