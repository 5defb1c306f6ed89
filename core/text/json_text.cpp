// SPDX-License-Identifier: Apache-2.0
// Escapes and fixed decimals.
#include "core/text/json_text.hpp"

#include <array>
#include <cstdio>

namespace loom {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(letter));
      out += escape.data();
    } else {
      out += letter;
    }
  }
  return out + '"';
}

std::string json_number(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

std::string json_seconds(Instant instant) {
  std::array<char, 40> text{};
  const std::int64_t ns = ns_of(instant);
  std::snprintf(text.data(), text.size(), "%lld.%09lld", static_cast<long long>(ns / 1'000'000'000),
                static_cast<long long>(ns % 1'000'000'000));
  return text.data();
}

std::string json_milliseconds(Duration duration) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%lld.%06lld", static_cast<long long>(duration.count() / 1'000'000),
                static_cast<long long>(duration.count() % 1'000'000));
  return text.data();
}

}  // namespace loom
