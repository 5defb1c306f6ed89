// SPDX-License-Identifier: Apache-2.0
// How the one line that names a bus is read, and what is said about a wrong one.
#include "drivers/bus/endpoint.hpp"

#include <catch2/catch.hpp>

#include "drivers/bus/bus_device.hpp"

namespace loom {

TEST_CASE("reads_a_modbus_tcp_endpoint") {
  const auto endpoint = parse_endpoint("modbus-tcp://10.0.0.7:1502");
  REQUIRE(endpoint.has_value());
  CHECK(endpoint->protocol == Endpoint::Protocol::modbus_tcp);
  CHECK(std::get<TcpEndpoint>(endpoint->place).host == "10.0.0.7");
  CHECK(std::get<TcpEndpoint>(endpoint->place).port == 1502);
}

TEST_CASE("reads_a_tcp_endpoint") {
  const auto endpoint = parse_endpoint("tcp://switch.lab:5025");
  REQUIRE(endpoint.has_value());
  CHECK(endpoint->protocol == Endpoint::Protocol::tcp);
  CHECK(std::get<TcpEndpoint>(endpoint->place).host == "switch.lab");
  CHECK(std::get<TcpEndpoint>(endpoint->place).port == 5025);
}

TEST_CASE("reads_an_http_endpoint_whose_port_is_80_unless_it_says_so") {
  const auto [text, host, port] = GENERATE(table<std::string, std::string, std::uint16_t>({
      {"http://169.254.6.8", "169.254.6.8", 80},
      {"http://127.0.0.1:8080", "127.0.0.1", 8080},
      {"http://[fe80::1]", "fe80::1", 80},
      {"http://[fe80::1]:81", "fe80::1", 81},
  }));
  const auto endpoint = parse_endpoint(text);
  REQUIRE(endpoint.has_value());
  CHECK(endpoint->protocol == Endpoint::Protocol::http);
  CHECK(std::get<TcpEndpoint>(endpoint->place).host == host);
  CHECK(std::get<TcpEndpoint>(endpoint->place).port == port);
}

TEST_CASE("reads_an_ipv6_host") {
  const auto endpoint = parse_endpoint("modbus-tcp://[::1]:502");
  REQUIRE(endpoint.has_value());
  CHECK(std::get<TcpEndpoint>(endpoint->place).host == "::1");
}

TEST_CASE("reads_serial_options_and_keeps_the_usual_defaults") {
  const auto plain = parse_endpoint("serial:///dev/ttyUSB0");
  REQUIRE(plain.has_value());
  CHECK(std::get<SerialEndpoint>(plain->place).baud == 9600);
  CHECK(std::get<SerialEndpoint>(plain->place).parity == 'N');
  const auto full = parse_endpoint("modbus-rtu:///dev/ttyS1?baud=115200&parity=E&stop=2");
  REQUIRE(full.has_value());
  const auto& place = std::get<SerialEndpoint>(full->place);
  CHECK(full->protocol == Endpoint::Protocol::modbus_rtu);
  CHECK(place.device == "/dev/ttyS1");
  CHECK(place.baud == 115200);
  CHECK(place.parity == 'E');
  CHECK(place.stop_bits == 2);
  const auto any = parse_endpoint("serial:///dev/ttyUSB0?baud=auto");
  REQUIRE(any.has_value());
  CHECK(std::get<SerialEndpoint>(any->place).baud == SerialEndpoint::kAnyBaud);
}

TEST_CASE("reads_the_files_of_modules") {
  const auto optoe = parse_endpoint("optoe:///sys/bus/i2c/devices/11-0050/eeprom");
  REQUIRE(optoe.has_value());
  CHECK(optoe->protocol == Endpoint::Protocol::optoe);
  CHECK(std::get<FileEndpoint>(optoe->place).path == "/sys/bus/i2c/devices/11-0050/eeprom");
  const auto adapter = parse_endpoint("i2c:///dev/i2c-11");
  REQUIRE(adapter.has_value());
  CHECK(adapter->protocol == Endpoint::Protocol::i2c);
  CHECK(std::get<FileEndpoint>(adapter->place).path == "/dev/i2c-11");
}

TEST_CASE("names_what_is_wrong_with_an_endpoint") {
  const auto [text, word] = GENERATE(table<std::string, std::string>({
      {"", "unknown protocol"},
      {"sim", "unknown protocol"},
      {"ftp://x:1", "ftp"},
      {"modbus-tcp://", "HOST:PORT"},
      {"modbus-tcp://:502", "HOST:PORT"},
      {"modbus-tcp://host", "HOST:PORT"},
      {"modbus-tcp://::1:502", "in brackets: [::1]:502"},
      {"tcp://[::g]:5025", "no IPv6 address"},
      {"tcp://10.0.0.300:5025", "no IPv4 address"},
      {"modbus-tcp://host:0", "'0'"},
      {"modbus-tcp://host:65536", "'65536'"},
      {"modbus-tcp://host:50x", "'50x'"},
      {"tcp://host", "HOST:PORT"},
      {"http://", "HOST:PORT"},
      {"http://host:0", "'0'"},
      {"http://host/waveshaper", "more than a host and a port"},
      {"http://user@host", "more than a host and a port"},
      {"serial://", "device path"},
      {"serial://ttyUSB0", "device path"},
      {"serial:///dev/ttyUSB0?baud=9601", "'9601'"},
      {"serial:///dev/ttyUSB0?baud", "baud"},
      {"serial:///dev/ttyUSB0?baud=0", "'0'"},
      {"modbus-rtu:///dev/ttyUSB0?baud=auto", "'auto'"},
      {"serial:///dev/ttyUSB0?parity=X", "'X'"},
      {"modbus-rtu:///dev/ttyUSB0?stop=3", "'3'"},
      {"modbus-rtu:///dev/ttyUSB0?speed=9600", "'speed'"},
      {"optoe://eeprom", "absolute path"},
      {"i2c://", "i2c:///dev/i2c-11"},
  }));
  const auto endpoint = parse_endpoint(text);
  REQUIRE_FALSE(endpoint.has_value());
  CHECK(endpoint.error().code == ErrorCode::invalid_config);
  CHECK_THAT(endpoint.error().message, Catch::Contains(word) && Catch::Contains("'" + text + "'"));
  CHECK_FALSE(make_bus(text).has_value());
}

TEST_CASE("makes_a_bus_without_touching_the_device") {
  CHECK(make_bus("modbus-tcp://127.0.0.1:1").has_value());
  CHECK(make_bus("tcp://127.0.0.1:1").has_value());
  CHECK(make_bus("serial:///dev/there-is-no-such-line").has_value());
  CHECK(make_bus("optoe:///sys/there-is-no-such-module/eeprom").has_value());
  CHECK(make_bus("i2c:///dev/there-is-no-such-adapter").has_value());
}

}  // namespace loom
