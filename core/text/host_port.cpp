// SPDX-License-Identifier: Apache-2.0
// inet_pton() and inet_ntop() read and write addresses; what is none is a name.
#include "core/text/host_port.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kNameMax = 253;  // RFC 1035 section 2.3.4: 255 octets with the lengths of its labels

std::unexpected<Error> wrong(std::string_view text, const std::string& why) {
  return fail(ErrorCode::malformed, format_text("'{}' {}", text, why));
}

/// Letters, digits, and what stands between them in names of hosts and of interfaces.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameMax && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

/// As RFC 5952 has it; nothing: no IPv6 address.
std::optional<std::string> canonical_ipv6(std::string_view host) {
  const std::size_t percent = host.find('%');
  const std::string_view zone = percent == std::string_view::npos ? std::string_view{} : host.substr(percent);
  in6_addr address{};
  if (inet_pton(AF_INET6, std::string(host.substr(0, percent)).c_str(), &address) != 1 ||
      (!zone.empty() && !is_name(zone.substr(1)))) {
    return std::nullopt;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(AF_INET6, &address, text.data(), text.size()) == nullptr) {
    return std::nullopt;
  }
  return std::string(text.data()).append(zone);
}

std::optional<std::uint16_t> port_of(std::string_view text, PortZero zero) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_number = !text.empty() && error == std::errc{} && end == text.data() + text.size();
  return is_number && (port > 0 || zero == PortZero::taken) ? std::optional(port) : std::nullopt;
}

}  // namespace

bool is_ipv4(std::string_view host) {
  in_addr address{};
  return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1;
}

bool is_ipv6(std::string_view host) { return canonical_ipv6(host).has_value(); }

bool is_loopback(std::string_view host) {
  return host == "localhost" || (is_ipv4(host) && host.starts_with("127.")) || canonical_ipv6(host) == "::1";
}

Result<std::string> parse_host(std::string_view text) {
  const bool has_brackets = text.starts_with('[') && text.ends_with(']') && text.size() > 2;
  const std::string_view host = has_brackets ? text.substr(1, text.size() - 2) : text;
  if (auto address = canonical_ipv6(host)) {
    return *std::move(address);
  }
  if (has_brackets || host.find_first_of(":[]%") != std::string_view::npos) {
    return wrong(text, "is no IPv6 address, as fd00::11 is");
  }
  if (is_ipv4(host)) {
    return std::string(host);
  }
  if (!host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos) {
    return wrong(text, "is no IPv4 address, as 10.0.0.11 is");
  }
  return is_name(host) ? Result<std::string>(std::string(host)) : wrong(text, "is neither an IP address nor a host's name");
}

Result<HostPort> parse_host_port(std::string_view text, PortZero zero) {
  const std::size_t colon = text.rfind(':');
  const std::string_view host = text.substr(0, colon == std::string_view::npos ? text.size() : colon);
  if (host.empty() || colon == std::string_view::npos || text.ends_with(']')) {
    return wrong(text, "is not HOST:PORT, as 10.0.0.7:502 and [fd00::7]:502 are");
  }
  if (host.find(':') != std::string_view::npos && !(host.starts_with('[') && host.ends_with(']'))) {
    // Where its port begins nobody can tell.
    return wrong(text, format_text("has colons in its address; an IPv6 address stands in brackets: [{}]:{}",
                                   host.substr(host.starts_with('[') ? 1 : 0), text.substr(colon + 1)));
  }
  const auto port = port_of(text.substr(colon + 1), zero);
  if (!port) {
    return wrong(
        text, format_text("has port '{}', which is not in {}..65535", text.substr(colon + 1), zero == PortZero::taken ? 0 : 1));
  }
  auto parsed = parse_host(host);
  return parsed ? Result<HostPort>(HostPort{*std::move(parsed), *port})
                : wrong(text, format_text("has host {}", parsed.error().message));
}

Result<HostPort> parse_host_port(std::string_view text, std::uint16_t usual_port) {
  const bool is_host = text.find(':') == std::string_view::npos || text.ends_with(']');
  return parse_host_port(is_host ? format_text("{}:{}", text, usual_port) : std::string(text));
}

Result<HostPort> parse_tcp_endpoint(std::string_view endpoint) {
  constexpr std::string_view kScheme = "tcp://";
  const bool is_tcp = endpoint.starts_with(kScheme);
  auto place = is_tcp ? parse_host_port(endpoint.substr(kScheme.size())) : Result<HostPort>{};
  if (!is_tcp || !place) {
    return fail(ErrorCode::malformed, format_text("found '{}'; expected tcp://HOST:PORT with a port from 1 to 65535{}",
                                                  endpoint, is_tcp ? "; " + place.error().message : ""));
  }
  return place;
}

std::string bracketed(std::string_view host) {
  return host.find(':') == std::string_view::npos ? std::string(host) : format_text("[{}]", host);
}

std::string to_string(const HostPort& place) { return format_text("{}:{}", bracketed(place.host), place.port); }

}  // namespace loom
