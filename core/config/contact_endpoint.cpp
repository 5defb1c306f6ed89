// The grammar: scheme "://" place ["?" key "=" value {"&" key "=" value}].
#include "core/config/contact_endpoint.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "core/config/yaml/quantity.hpp"
#include "core/text/format_text.hpp"

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

std::unexpected<Error> wrong(std::string_view text, const std::string& why) {
  return fail(ErrorCode::invalid_config, format_text("found '{}'; {}", text, why));
}

std::optional<std::uint32_t> number_of(std::string_view text, std::uint32_t max) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value <= max ? std::optional{value} : std::nullopt;
}

std::optional<std::uint32_t> number_of(std::optional<std::string_view> text, std::uint32_t max) {
  return number_of(text.value_or(std::string_view{}), max);
}

struct Parts {
  std::string_view scheme;
  std::string_view place;
  std::string_view options;
};

Parts parts_of(std::string_view text) {
  const std::size_t separator = text.find("://");
  if (separator == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = text.substr(separator + 3);
  const std::size_t question = rest.find('?');
  return {text.substr(0, separator), rest.substr(0, question),
          question == std::string_view::npos ? std::string_view{} : rest.substr(question + 1)};
}

/// Takes the last part of a path off; nothing if there is none.
std::optional<std::string_view> take_last(std::string_view& place) {
  const std::size_t slash = place.rfind('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view last = place.substr(slash + 1);
  place = place.substr(0, slash);
  return last;
}

Result<Duration> duration_of(std::string_view text, std::string_view key, std::string_view value, Duration min, Duration max) {
  const auto parsed = parse_quantity(value, kDurationUnits);
  if (!parsed || *parsed < min.count() || *parsed > max.count()) {
    return wrong(text, format_text("{}: expected {} to {}, as in {}=100ms", key, print_quantity(min.count(), kDurationUnits),
                                   print_quantity(max.count(), kDurationUnits), key));
  }
  return Duration{*parsed};
}

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
  return wrong(text, "expected active=low or high, bias=as-is, disabled, pull-up or pull-down, poll=, lost= or settle=");
}

/// What a serial line takes is judged again where it is opened.
Result<void> set_serial(std::string_view text, DiscreteInput& input, std::string_view key, std::string_view value) {
  const bool is_known = (key == "baud" && number_of(value, 4'000'000)) ||
                        (key == "parity" && (value == "N" || value == "E" || value == "O")) ||
                        (key == "stop" && (value == "1" || value == "2"));
  if (!is_known || !input.bus.starts_with("modbus-rtu")) {
    return wrong(text, input.bus.starts_with("modbus-rtu")
                           ? "expected baud=9600, parity=N, E or O, stop=1 or 2, poll=, lost= or settle="
                           : "expected poll=, lost= or settle=");
  }
  input.bus += format_text("{}{}={}", input.bus.find('?') == std::string::npos ? "?" : "&", key, value);
  return {};
}

Result<void> set_option(std::string_view text, ContactEndpoint& endpoint, std::string_view option) {
  const std::size_t equals = std::min(option.find('='), option.size());
  const std::string_view key = option.substr(0, equals);
  const std::string_view value = equals == option.size() ? std::string_view{} : option.substr(equals + 1);
  ContactTimings& timings = endpoint.timings;
  if (key == "poll") {
    return set_duration(timings.poll, duration_of(text, key, value, kPollMin, kPollMax));
  }
  if (key == "lost") {
    return set_duration(timings.lost, duration_of(text, key, value, 2 * kPollMin, kLostMax));
  }
  if (key == "settle") {
    return set_duration(timings.settle, duration_of(text, key, value, Duration{0}, kSettleMax));
  }
  if (auto* line = std::get_if<GpioLine>(&endpoint.place)) {
    return set_gpio(text, *line, key, value);
  }
  if (auto* input = std::get_if<DiscreteInput>(&endpoint.place)) {
    return set_serial(text, *input, key, value);
  }
  return wrong(text, "expected poll=, lost= or settle=");
}

Result<GpioLine> parse_gpio(std::string_view text, std::string_view place) {
  const auto line = take_last(place);
  const auto number = number_of(line, 65'535);
  if (!number || !place.starts_with("/dev/") || place.size() < 6) {
    return wrong(text, "expected gpio:///dev/gpiochipN/LINE with a line number, as in gpio:///dev/gpiochip0/17?active=low");
  }
  return GpioLine{std::string(place), *number, false, GpioLine::Bias::as_is};
}

Result<DiscreteInput> parse_discrete(std::string_view text, const Parts& parts) {
  const bool is_tcp = parts.scheme == "modbus-tcp";
  std::string_view place = parts.place;
  const auto input = take_last(place);
  const auto unit = take_last(place);
  const auto input_number = number_of(input, 65'535);
  const auto unit_number = number_of(unit, 255);
  const std::size_t colon = place.rfind(':');
  const auto port =
      is_tcp && colon != std::string_view::npos && colon > 0 ? number_of(place.substr(colon + 1), 65'535) : std::nullopt;
  const std::uint32_t unit_value = unit_number.value_or(0);
  const bool is_place = is_tcp ? port && *port > 0 : place.starts_with("/dev/") && place.size() > 5;
  // Unit 0 of a serial line is everybody, and everybody answers nothing.
  if (!is_place || !input_number || !unit_number || (!is_tcp && (unit_value < 1 || unit_value > 247))) {
    return wrong(text, is_tcp ? "expected modbus-tcp://HOST:PORT/UNIT/INPUT, as in modbus-tcp://10.0.0.7:502/1/0"
                              : "expected modbus-rtu:///dev/DEVICE/UNIT/INPUT with a unit of 1..247, as in "
                                "modbus-rtu:///dev/ttyUSB0/1/0?baud=9600");
  }
  return DiscreteInput{(is_tcp ? "modbus-tcp://" : "modbus-rtu://") + std::string(place), static_cast<std::uint8_t>(unit_value),
                       static_cast<std::uint16_t>(input_number.value_or(0))};
}

Result<ContactEndpoint> parse_place(std::string_view text, const Parts& parts) {
  ContactEndpoint endpoint;
  if (parts.scheme == "gpio") {
    auto line = parse_gpio(text, parts.place);
    if (!line) {
      return std::unexpected(std::move(line).error());
    }
    endpoint.place = *std::move(line);
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
  return wrong(text,
               "expected gpio:///dev/gpiochip0/LINE, modbus-tcp://HOST:PORT/UNIT/INPUT, "
               "modbus-rtu:///dev/DEVICE/UNIT/INPUT?baud=9600 or file:///PATH");
}

}  // namespace

Result<ContactEndpoint> parse_contact_endpoint(std::string_view text) {
  const Parts parts = parts_of(text);
  auto endpoint = parse_place(text, parts);
  std::string_view options = parts.options;
  while (endpoint && !options.empty()) {
    const std::size_t end = std::min(options.find('&'), options.size());
    LOOM_TRY(set_option(text, *endpoint, options.substr(0, end)));
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  if (endpoint && endpoint->timings.lost < 2 * endpoint->timings.poll) {
    return wrong(text, format_text("lost: expected at least two polls, 2 x {}, found {}",
                                   print_quantity(endpoint->timings.poll.count(), kDurationUnits),
                                   print_quantity(endpoint->timings.lost.count(), kDurationUnits)));
  }
  return endpoint;
}

}  // namespace loom
