// SPDX-License-Identifier: Apache-2.0
// Splits; judges numbers and durations.
#include "core/config/endpoints/endpoint_parts.hpp"

#include <algorithm>
#include <charconv>

#include "core/config/yaml/quantity.hpp"
#include "core/text/format_text.hpp"

namespace loom {

EndpointParts endpoint_parts(std::string_view text) {
  const std::size_t separator = text.find("://");
  if (separator == std::string_view::npos) {
    return {text, {}, {}, {}};
  }
  const std::string_view rest = text.substr(separator + 3);
  const std::size_t question = rest.find('?');
  return {text, text.substr(0, separator), rest.substr(0, question),
          question == std::string_view::npos ? std::string_view{} : rest.substr(question + 1)};
}

std::unexpected<Error> wrong_endpoint(std::string_view text, const std::string& why) {
  return fail(ErrorCode::invalid_config, format_text("found '{}'; {}", text, why));
}

std::optional<std::uint32_t> endpoint_number(std::optional<std::string_view> text, std::uint32_t max) {
  std::uint32_t value = 0;
  const std::string_view digits = text.value_or(std::string_view{});
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && end == digits.data() + digits.size() && value <= max ? std::optional{value} : std::nullopt;
}

std::optional<std::string_view> take_last(std::string_view& place) {
  const std::size_t slash = place.rfind('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view last = place.substr(slash + 1);
  place = place.substr(0, slash);
  return last;
}

Result<GpioPlace> parse_gpio_place(const EndpointParts& parts, std::string_view example) {
  std::string_view place = parts.place;
  const auto line = take_last(place);
  const auto number = endpoint_number(line, 65'535);
  if (!number || !place.starts_with("/dev/") || place.size() < 6) {
    return wrong_endpoint(parts.text, format_text("expected gpio:///dev/gpiochipN/LINE with a line number, as in {}", example));
  }
  return GpioPlace{std::string(place), *number};
}

Result<Duration> endpoint_duration(std::string_view text, std::string_view key, std::string_view value, Duration min,
                                   Duration max, std::string_view example) {
  const auto parsed = parse_quantity(value, kDurationUnits);
  if (!parsed || *parsed < min.count() || *parsed > max.count()) {
    return wrong_endpoint(text,
                          format_text("{}: expected {} to {}, as in {}={}", key, print_quantity(min.count(), kDurationUnits),
                                      print_quantity(max.count(), kDurationUnits), key, example));
  }
  return Duration{*parsed};
}

Result<void> each_option(const EndpointParts& parts,
                         const std::function<Result<void>(std::string_view key, std::string_view value)>& take) {
  std::string_view options = parts.options;
  while (!options.empty()) {
    const std::size_t end = std::min(options.find('&'), options.size());
    const std::string_view option = options.substr(0, end);
    const std::size_t equals = std::min(option.find('='), option.size());
    LOOM_TRY(take(option.substr(0, equals), equals == option.size() ? std::string_view{} : option.substr(equals + 1)));
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  return {};
}

}  // namespace loom
