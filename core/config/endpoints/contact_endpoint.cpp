// SPDX-License-Identifier: Apache-2.0
// Places and options, scheme by scheme.
#include "core/config/endpoints/contact_endpoint.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "core/config/endpoints/endpoint_parts.hpp"
#include "core/config/yaml/quantity.hpp"
#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPollMin = milliseconds{1};
constexpr Duration kPollMax = seconds{1};
constexpr Duration kLostMax = seconds{10};
constexpr Duration kSettleMax = seconds{60};
/// Edges come as events; the level is read beside them in case one was lost.
constexpr Duration kGpioPoll = milliseconds{50};

Result<void> set_duration(Duration& field, Result<Duration> value) {
  if (!value) {
    return std::unexpected(std::move(value).error());
  }
  field = *value;
  return {};
}

Result<void> set_gpio(std::string_view text, GpioLine& line, std::string_view key, std::string_view value) {
  static constexpr std::array<std::string_view, 4> kBiases{"as-is", "disabled", "pull-up", "pull-down"};
  if (key == "active" && (value == "low" || value == "high")) {
    line.active_low = value == "low";
    return {};
  }
  const auto bias = std::find(kBiases.begin(), kBiases.end(), value);
  if (key == "bias" && bias != kBiases.end()) {
    line.bias = static_cast<GpioLine::Bias>(bias - kBiases.begin());
    return {};
  }
  return wrong_endpoint(text,
                        "expected active=low or high, bias=as-is, disabled, pull-up or pull-down, poll=, lost= or settle=");
}

/// What a serial line takes is judged again where it is opened.
Result<void> set_serial(std::string_view text, DiscreteInput& input, std::string_view key, std::string_view value) {
  const bool is_known = (key == "baud" && endpoint_number(value, 4'000'000)) ||
                        (key == "parity" && (value == "N" || value == "E" || value == "O")) ||
                        (key == "stop" && (value == "1" || value == "2"));
  if (!is_known || !input.bus.starts_with("modbus-rtu")) {
    return wrong_endpoint(text, input.bus.starts_with("modbus-rtu")
                                    ? "expected baud=9600, parity=N, E or O, stop=1 or 2, poll=, lost= or settle="
                                    : "expected poll=, lost= or settle=");
  }
  input.bus += format_text("{}{}={}", input.bus.find('?') == std::string::npos ? "?" : "&", key, value);
  return {};
}

Result<void> set_option(std::string_view text, ContactEndpoint& endpoint, std::string_view key, std::string_view value) {
  ContactTimings& timings = endpoint.timings;
  if (key == "poll") {
    return set_duration(timings.poll, endpoint_duration(text, key, value, kPollMin, kPollMax));
  }
  if (key == "lost") {
    return set_duration(timings.lost, endpoint_duration(text, key, value, 2 * kPollMin, kLostMax));
  }
  if (key == "settle") {
    return set_duration(timings.settle, endpoint_duration(text, key, value, Duration{0}, kSettleMax));
  }
  if (auto* line = std::get_if<GpioLine>(&endpoint.place)) {
    return set_gpio(text, *line, key, value);
  }
  if (auto* input = std::get_if<DiscreteInput>(&endpoint.place)) {
    return set_serial(text, *input, key, value);
  }
  return wrong_endpoint(text, "expected poll=, lost= or settle=");
}

Result<DiscreteInput> parse_discrete(std::string_view text, const EndpointParts& parts) {
  const bool is_tcp = parts.scheme == "modbus-tcp";
  std::string_view place = parts.place;
  const auto input = take_last(place);
  const auto unit = take_last(place);
  const auto input_number = endpoint_number(input, 65'535);
  const auto unit_number = endpoint_number(unit, 255);
  const auto host = is_tcp ? parse_host_port(place) : Result<HostPort>{};
  const std::uint32_t unit_value = unit_number.value_or(0);
  const bool is_place = is_tcp ? host.has_value() : place.starts_with("/dev/") && place.size() > 5;
  // Unit 0 of a serial line is everybody, and everybody answers nothing.
  if (!is_place || !input_number || !unit_number || (!is_tcp && (unit_value < 1 || unit_value > 247))) {
    return wrong_endpoint(
        text, is_tcp ? format_text("expected modbus-tcp://HOST:PORT/UNIT/INPUT, as in modbus-tcp://10.0.0.7:502/1/0{}",
                                   host ? "" : "; " + host.error().message)
                     : "expected modbus-rtu:///dev/DEVICE/UNIT/INPUT with a unit of 1..247, as in "
                       "modbus-rtu:///dev/ttyUSB0/1/0?baud=9600");
  }
  return DiscreteInput{is_tcp ? "modbus-tcp://" + to_string(*host) : "modbus-rtu://" + std::string(place),
                       static_cast<std::uint8_t>(unit_value), static_cast<std::uint16_t>(input_number.value_or(0))};
}

Result<ContactEndpoint> parse_place(std::string_view text, const EndpointParts& parts) {
  ContactEndpoint endpoint;
  if (parts.scheme == "gpio") {
    const auto line = parse_gpio_place(parts, "gpio:///dev/gpiochip0/17?active=low");
    if (!line) {
      return std::unexpected(line.error());
    }
    endpoint.place = GpioLine{line->chip, line->line, false, GpioLine::Bias::as_is};
    endpoint.timings.poll = kGpioPoll;
    return endpoint;
  }
  if (parts.scheme == "modbus-tcp" || parts.scheme == "modbus-rtu" || parts.scheme == "serial") {
    auto input = parse_discrete(text, parts);
    if (!input) {
      return std::unexpected(std::move(input).error());
    }
    endpoint.place = *std::move(input);
    return endpoint;
  }
  if (parts.scheme == "file" && parts.place.size() > 1 && parts.place.front() == '/') {
    endpoint.place = ContactFile{std::string(parts.place)};
    return endpoint;
  }
  return wrong_endpoint(text,
                        "expected gpio:///dev/gpiochip0/LINE, modbus-tcp://HOST:PORT/UNIT/INPUT, "
                        "modbus-rtu:///dev/DEVICE/UNIT/INPUT?baud=9600 or file:///PATH");
}

}  // namespace

Result<ContactEndpoint> parse_contact_endpoint(std::string_view text) {
  const EndpointParts parts = endpoint_parts(text);
  auto endpoint = parse_place(text, parts);
  if (endpoint) {
    LOOM_TRY(each_option(
        parts, [&](std::string_view key, std::string_view value) { return set_option(text, *endpoint, key, value); }));
  }
  if (endpoint && endpoint->timings.lost < 2 * endpoint->timings.poll) {
    return wrong_endpoint(text, format_text("lost: expected at least two polls, 2 x {}, found {}",
                                            print_quantity(endpoint->timings.poll.count(), kDurationUnits),
                                            print_quantity(endpoint->timings.lost.count(), kDurationUnits)));
  }
  return endpoint;
}

}  // namespace loom
