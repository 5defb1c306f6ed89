// SPDX-License-Identifier: Apache-2.0
// The grammar: scheme "://" place ["?" key "=" value {"&" key "=" value}].
#include "drivers/bus/endpoint.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

// What termios of Linux can set without guessing.
constexpr std::array kBauds{1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600};

std::unexpected<Error> wrong(std::string_view text, const std::string& why) {
  return fail(ErrorCode::invalid_config, format_text("endpoint '{}': {}", text, why));
}

std::optional<int> number_of(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

Result<TcpEndpoint> tcp_place(std::string_view text, Result<HostPort> place) {
  return place ? std::move(place) : wrong(text, place.error().message);
}

/// Its port may be left out: 80 (RFC 9110 section 4.2.1).
Result<TcpEndpoint> parse_http(std::string_view text, std::string_view place) {
  if (place.find_first_of("/?@") != std::string_view::npos) {
    return wrong(text, "more than a host and a port, as in http://169.254.6.8 or http://[fd00::9]:8080");
  }
  return tcp_place(text, parse_host_port(place, std::uint16_t{80}));
}

Result<void> set_option(std::string_view text, SerialEndpoint& endpoint, std::string_view option) {
  const std::size_t equals = option.find('=');
  const std::string_view key = option.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view{} : option.substr(equals + 1);
  if (key == "baud" && value == "auto" && text.starts_with("serial://")) {
    endpoint.baud = SerialEndpoint::kAnyBaud;
  } else if (key == "baud") {
    const std::optional<int> baud = number_of(value);
    if (!baud || std::find(kBauds.begin(), kBauds.end(), *baud) == kBauds.end()) {
      return wrong(text,
                   format_text("baud '{}' is not one of 1200, 2400, 4800, 9600 ... 921600, nor auto on serial://", value));
    }
    endpoint.baud = *baud;
  } else if (key == "parity") {
    if (value != "N" && value != "E" && value != "O") {
      return wrong(text, format_text("parity '{}' is not N, E or O", value));
    }
    endpoint.parity = value.front();
  } else if (key == "stop") {
    if (value != "1" && value != "2") {
      return wrong(text, format_text("stop '{}' is not 1 or 2", value));
    }
    endpoint.stop_bits = value.front() - '0';
  } else {
    return wrong(text, format_text("unknown option '{}'; there are baud, parity and stop", key));
  }
  return {};
}

Result<SerialEndpoint> parse_serial(std::string_view text, std::string_view place) {
  const std::size_t question = place.find('?');
  SerialEndpoint endpoint;
  endpoint.device = std::string{place.substr(0, question)};
  if (endpoint.device.size() < 2 || endpoint.device.front() != '/') {
    return wrong(text, "no absolute device path, as in serial:///dev/ttyUSB0?baud=9600");
  }
  std::string_view options = question == std::string_view::npos ? std::string_view{} : place.substr(question + 1);
  while (!options.empty()) {
    const std::size_t end = std::min(options.find('&'), options.size());
    LOOM_TRY(set_option(text, endpoint, options.substr(0, end)));
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  return endpoint;
}

Result<FileEndpoint> parse_file(std::string_view text, std::string_view place, std::string_view example) {
  if (place.size() < 2 || place.front() != '/') {
    return wrong(text, format_text("no absolute path, as in {}", example));
  }
  return FileEndpoint{std::string(place)};
}

template <class Place>
Result<Endpoint> endpoint_of(Endpoint::Protocol protocol, Result<Place> place) {
  if (!place) {
    return std::unexpected(std::move(place).error());
  }
  return Endpoint{protocol, std::move(*place)};
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text) {
  const std::size_t separator = text.find("://");
  const std::string_view scheme = text.substr(0, separator);
  const std::string_view place = separator == std::string_view::npos ? std::string_view{} : text.substr(separator + 3);
  if (scheme == "modbus-tcp") {
    return endpoint_of(Endpoint::Protocol::modbus_tcp, tcp_place(text, parse_host_port(place)));
  }
  if (scheme == "tcp") {
    return endpoint_of(Endpoint::Protocol::tcp, tcp_place(text, parse_host_port(place)));
  }
  if (scheme == "http") {
    return endpoint_of(Endpoint::Protocol::http, parse_http(text, place));
  }
  if (scheme == "modbus-rtu") {
    return endpoint_of(Endpoint::Protocol::modbus_rtu, parse_serial(text, place));
  }
  if (scheme == "serial") {
    return endpoint_of(Endpoint::Protocol::serial, parse_serial(text, place));
  }
  if (scheme == "optoe") {
    return endpoint_of(Endpoint::Protocol::optoe, parse_file(text, place, "optoe:///sys/bus/i2c/devices/11-0050/eeprom"));
  }
  if (scheme == "i2c") {
    return endpoint_of(Endpoint::Protocol::i2c, parse_file(text, place, "i2c:///dev/i2c-11"));
  }
  return wrong(text, format_text("unknown protocol '{}'; there are modbus-tcp://, modbus-rtu://, tcp://, http://, serial://, "
                                 "optoe:// and i2c:// (and sim)",
                                 scheme));
}

}  // namespace loom
