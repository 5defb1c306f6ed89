// SPDX-License-Identifier: Apache-2.0
// Endpoint: where a bus is found, parsed from the one line that an inventory gives it. A value; touches nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/result.hpp"
#include "core/text/host_port.hpp"

namespace loom {

using TcpEndpoint = HostPort;

struct SerialEndpoint {
  static constexpr int kAnyBaud = 0;
  std::string device;
  int baud = 9600;    ///< or kAnyBaud, as `baud=auto` says: the bus searches (drivers/bus/baud_search.hpp)
  char parity = 'N';  ///< N, E, O
  int stop_bits = 1;
};

/// A file of this host: optoe's `eeprom`, or an adapter of i2c-dev.
struct FileEndpoint {
  std::string path;
};

struct Endpoint {
  enum class Protocol : std::uint8_t { modbus_tcp, modbus_rtu, serial, tcp, http, optoe, i2c };
  Protocol protocol = Protocol::modbus_tcp;
  std::variant<TcpEndpoint, SerialEndpoint, FileEndpoint> place;
};

/// Errors: invalid_config.
Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace loom
