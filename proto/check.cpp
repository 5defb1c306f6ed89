// SPDX-License-Identifier: Apache-2.0
// How a refused value is told, and what of a text may be sent.
#include "proto/check.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom::wire {
namespace {

/// Length of the well-formed UTF-8 sequence at the beginning of `text` (Unicode 15, table 3-7), or 0.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return continues(1) ? 2 : 0;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// How many bytes at the beginning are well-formed.
std::size_t well_formed_length(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) {
      break;
    }
    at += length;
  }
  return at;
}

}  // namespace

Check::Scope Check::in(const char* field, int index) {
  LOOM_ASSERT(depth_ < path_.size());
  path_[depth_++] = {field, index};
  return Scope{*this};
}

void Check::refuse(std::string_view field, std::string_view value, std::string_view rule) {
  if (fault_) {
    return;
  }
  std::string message;
  for (std::size_t i = 0; i < depth_; ++i) {
    message += path_[i].field;
    if (path_[i].index >= 0) {
      message += format_text("[{}]", path_[i].index);
    }
    message += '.';
  }
  message += field;
  if (!value.empty()) {
    message += " = ";
    message += value;
  }
  message += ": ";
  message += rule;
  fault_ = Error{ErrorCode::malformed, std::move(message)};
}

void Check::refuse_number(const char* field, std::int64_t value, std::int64_t min, std::int64_t max) {
  refuse(field, std::to_string(value), format_text("must be {}..{}", min, max));
}

bool Check::present(const char* field, bool is_present) {
  if (!is_present) {
    refuse(field, "", "is missing");
  }
  return is_present;
}

std::string Check::text(const char* field, const std::string& value) {
  if (value.size() > limits::kTextBytes) {
    refuse(field, format_text("{} bytes", value.size()), format_text("must be at most {} bytes", limits::kTextBytes));
    return {};
  }
  if (!is_ascii(value) && well_formed_length(value) != value.size()) {
    refuse(field, format_text("ill-formed at byte {}", well_formed_length(value)), "must be UTF-8");
    return {};
  }
  return value;
}

std::string sendable(std::string_view text) {
  if (is_ascii(text)) {
    return std::string{text.substr(0, limits::kTextBytes)};
  }
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (out.size() + std::max<std::size_t>(length, 1) > limits::kTextBytes) {
      break;
    }
    out += length == 0 ? std::string_view{"?"} : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace loom::wire
