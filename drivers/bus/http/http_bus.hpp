// SPDX-License-Identifier: Apache-2.0
// HttpBus: one HTTP/1.1 exchange at a time with a device's web server, over one connection that is kept alive. A reply of any
// status is a reply: what 404 means is the driver's affair. A connection whose exchange failed is closed, so that a late answer
// dies with it.
#pragma once

#include <string>

#include "core/text/http_text.hpp"
#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/tcp_connection.hpp"

namespace loom {

/// Longest body of a reply: the profile of a programmable filter is 130 KB.
inline constexpr std::size_t kHttpBodyBytesMax = 1u << 20;

class HttpBus final : public BusDevice {
 public:
  explicit HttpBus(TcpEndpoint endpoint);

  /// Frames in the form of core/text/http_text.hpp, replies likewise. Connecting counts against the deadline; resolving a host
  /// name does not. `lost`: nobody listens, or the connection was closed before a reply; `malformed`: no HTTP, half a reply, or
  /// more than kHttpBodyBytesMax. One that the device closed between exchanges is opened again unnoticed. HTTP is stateless: a
  /// transaction that belongs to one connection is `lost`.
  BusReply execute(const Transaction& transaction) override;

 private:
  BusReply exchange(const HttpRequest& request, Instant until);
  BusReply failed(BusStatus status, const std::string& why) const;

  TcpConnection connection_;
  std::string host_;  ///< as the field Host has it
};

}  // namespace loom
