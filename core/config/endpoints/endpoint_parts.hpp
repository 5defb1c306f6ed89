// SPDX-License-Identifier: Apache-2.0
// What the one-line endpoints of contacts and triggers are made of: scheme "://" place ["?" key "=" value {"&" key "=" value}].
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/time.hpp"

namespace loom {

struct EndpointParts {
  std::string_view text;  ///< all of it, for sentences
  std::string_view scheme;
  std::string_view place;
  std::string_view options;
};

/// Without "://" its parts are empty.
EndpointParts endpoint_parts(std::string_view text);

/// invalid_config: "found 'gpio://x'; expected ...".
std::unexpected<Error> wrong_endpoint(std::string_view text, const std::string& why);

std::optional<std::uint32_t> endpoint_number(std::optional<std::string_view> text, std::uint32_t max);
/// Takes the last part of a path off; nothing if there is none.
std::optional<std::string_view> take_last(std::string_view& place);

/// DEVICE/LINE of `gpio://`.
struct GpioPlace {
  std::string chip;
  std::uint32_t line = 0;
};
/// `example` ends the sentence about a wrong one. Errors: invalid_config.
Result<GpioPlace> parse_gpio_place(const EndpointParts& parts, std::string_view example);

/// Errors: invalid_config, with the limits.
Result<Duration> endpoint_duration(std::string_view text, std::string_view key, std::string_view value, Duration min,
                                   Duration max, std::string_view example = "100ms");

/// In the order of the text; the first error ends it.
Result<void> each_option(const EndpointParts& parts,
                         const std::function<Result<void>(std::string_view key, std::string_view value)>& take);

}  // namespace loom
