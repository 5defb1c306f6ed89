// SPDX-License-Identifier: Apache-2.0
// How addresses are written and read, and what is said of a wrong one.
#include "core/text/host_port.hpp"

#include <catch2/catch.hpp>

namespace loom {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("what_is_reached_over_tcp_is_an_address_or_a_name_and_a_port") {
  const auto [text, host, port, printed] = GENERATE(table<std::string, std::string, std::uint16_t, std::string>({
      {"10.0.0.7:502", "10.0.0.7", 502, "10.0.0.7:502"},
      {"switch.lab:5025", "switch.lab", 5025, "switch.lab:5025"},
      {"[::1]:5100", "::1", 5100, "[::1]:5100"},
      {"[FD00:0:0::0011]:1", "fd00::11", 1, "[fd00::11]:1"},
      {"[fe80::1%eth0]:65535", "fe80::1%eth0", 65535, "[fe80::1%eth0]:65535"},
      {"[::ffff:10.0.0.7]:80", "::ffff:10.0.0.7", 80, "[::ffff:10.0.0.7]:80"},
  }));
  const auto place = parse_host_port(text);
  INFO(text << (place ? "" : place.error().message));
  REQUIRE(place);
  CHECK(*place == HostPort{host, port});
  CHECK(to_string(*place) == printed);
  CHECK(parse_host_port(to_string(*place)).value() == *place);
}

TEST_CASE("a_port_may_be_usual_or_any_where_that_is_said") {
  CHECK(parse_host_port("[fd00::9]", std::uint16_t{80}).value() == HostPort{"fd00::9", 80});
  CHECK(parse_host_port("[fd00::9]:81", std::uint16_t{80}).value() == HostPort{"fd00::9", 81});
  CHECK(parse_host_port("switch.lab", std::uint16_t{80}).value() == HostPort{"switch.lab", 80});
  CHECK(parse_host_port("[::1]:0", PortZero::taken).value() == HostPort{"::1", 0});
  CHECK_FALSE(parse_host_port("[::1]:0"));
}

TEST_CASE("what_is_no_address_is_named_with_what_is_wrong") {
  const auto [text, words] = GENERATE(table<std::string, std::string>({
      {"", "'' is not HOST:PORT"},
      {"10.0.0.7", "is not HOST:PORT, as 10.0.0.7:502 and [fd00::7]:502 are"},
      {"[::1]", "is not HOST:PORT"},
      {":502", "is not HOST:PORT"},
      {"::1:5100", "an IPv6 address stands in brackets: [::1]:5100"},
      {"[::1:5100", "an IPv6 address stands in brackets: [::1]:5100"},
      {"[10.0.0.7]:1", "'[10.0.0.7]' is no IPv6 address"},
      {"[fd00::12345]:1", "is no IPv6 address"},
      {"[fe80::1%]:1", "is no IPv6 address"},
      {"10.0.0.300:1", "'10.0.0.300' is no IPv4 address"},
      {"two words:1", "neither an IP address nor a host's name"},
      {"*:1", "neither an IP address nor a host's name"},
      {"[::1]:", "port ''"},
      {"[::1]:65536", "port '65536', which is not in 1..65535"},
      {"host:5x", "port '5x'"},
  }));
  const auto place = parse_host_port(text);
  INFO(text);
  REQUIRE_FALSE(place);
  CHECK(place.error().code == ErrorCode::malformed);
  CHECK_THAT(place.error().message, Contains(words) && Contains("'" + text + "'"));
}

TEST_CASE("a_host_alone_needs_no_brackets") {
  CHECK(parse_host("fd00:0::11").value() == "fd00::11");
  CHECK(parse_host("[::1]").value() == "::1");
  CHECK(parse_host("rack-a.lab").value() == "rack-a.lab");
  CHECK_THAT(parse_host("fd00::g").error().message, Contains("is no IPv6 address"));
  CHECK((is_loopback("::1") && is_loopback("0:0::1") && is_loopback("127.0.0.9") && is_loopback("localhost")));
  CHECK_FALSE((is_loopback("::2") || is_loopback("127.lab") || is_loopback("10.0.0.1")));
}

TEST_CASE("an_endpoint_of_a_daemon_is_tcp_with_a_host_and_a_port") {
  CHECK(parse_tcp_endpoint("tcp://10.0.0.1:7601").value() == HostPort{"10.0.0.1", 7601});
  CHECK(parse_tcp_endpoint("tcp://[fd00::1]:7601").value() == HostPort{"fd00::1", 7601});
  CHECK(parse_tcp_endpoint("tcp://head.lab:1").has_value());
  for (const char* wrong : {"", "tcp://", "tcp://:1", "tcp://a", "tcp://a:", "tcp://a:0", "tcp://a:65536", "tcp://a:7x",
                            "ipc:///tmp/a", "tcp://a b:1", "tcp://*:7601", "tcp://fd00::1:7601", "tcp://[fd00::1]"}) {
    const auto place = parse_tcp_endpoint(wrong);
    INFO(wrong);
    REQUIRE_FALSE(place);
    CHECK_THAT(place.error().message, Contains("expected tcp://HOST:PORT with a port from 1 to 65535"));
  }
}

}  // namespace
}  // namespace loom
