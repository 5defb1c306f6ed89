// SPDX-License-Identifier: Apache-2.0
// Quantities for people.
#include "controller/workload/quantity_text.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

std::string three_digits(double value, const char* unit) {
  std::array<char, 48> text{};
  const double size = std::fabs(value);
  const int decimals = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, value, unit);
  return text.data();
}

}  // namespace

std::string text_of(Duration duration) {
  if (duration == kForever) {
    return "never";
  }
  const double ns = static_cast<double>(duration.count());
  const double size = std::fabs(ns);
  if (size < 1e3) {
    return three_digits(ns, "ns");
  }
  if (size < 1e6) {
    return three_digits(ns * 1e-3, "us");
  }
  return size < 1e9 ? three_digits(ns * 1e-6, "ms") : three_digits(ns * 1e-9, "s");
}

std::string text_of(Bytes bytes) {
  const double count = static_cast<double>(bytes.count);
  if (count < 1e3) {
    return format_text("{} B", bytes.count);
  }
  if (count < 1e6) {
    return three_digits(count * 1e-3, "kB");
  }
  return count < 1e9 ? three_digits(count * 1e-6, "MB") : three_digits(count * 1e-9, "GB");
}

std::string text_of(BitRate rate) { return three_digits(static_cast<double>(rate.bits_per_second) * 1e-9, "Gb/s"); }

std::string seconds_text(double seconds) {
  return seconds == 0 ? "0 s" : text_of(Duration{static_cast<std::int64_t>(seconds * 1e9 + 0.5)});
}

std::string count_text(std::uint64_t value, const char* one, const char* many) {
  return format_text("{} {}", value, value == 1 ? one : many);
}

std::string number_text(double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

}  // namespace loom
