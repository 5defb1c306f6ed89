// SPDX-License-Identifier: Apache-2.0
// HostPort: where something is reached over TCP, as people write it: `10.0.0.7:502`, `[fd00::11]:502`, `switch.lab:5025`. The
// one grammar of all endpoints, options and peer addresses. A value: it resolves nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace loom {

struct HostPort {
  std::string host;  ///< IPv4 address, IPv6 address without its brackets, or a name
  std::uint16_t port = 0;
  bool operator==(const HostPort&) const = default;
};

bool is_ipv4(std::string_view host);
/// Without brackets; a zone may follow a `%` (RFC 4007): fe80::1%eth0.
bool is_ipv6(std::string_view host);
inline bool is_address(std::string_view host) { return is_ipv4(host) || is_ipv6(host); }
/// An address of loopback, or `localhost`.
bool is_loopback(std::string_view host);

/// An IPv4 address, an IPv6 address with or without brackets, or a name; IPv6 as RFC 5952 has it, so that one address is one
/// text. Errors: malformed, in a sentence that quotes `text`.
Result<std::string> parse_host(std::string_view text);

enum class PortZero : std::uint8_t { refused, taken };
/// HOST:PORT, an IPv6 address in brackets. Errors: malformed, in a sentence that quotes `text`.
Result<HostPort> parse_host_port(std::string_view text, PortZero zero = PortZero::refused);
/// As parse_host_port, but ":PORT" may be left out.
Result<HostPort> parse_host_port(std::string_view text, std::uint16_t usual_port);

/// "tcp://HOST:PORT" with a port from 1 to 65535, of controllers and agents. Errors: malformed, in a sentence.
Result<HostPort> parse_tcp_endpoint(std::string_view endpoint);

/// What parse_host_port reads: "[::1]:502".
std::string to_string(const HostPort& place);
/// In brackets where it is an IPv6 address.
std::string bracketed(std::string_view host);

}  // namespace loom
