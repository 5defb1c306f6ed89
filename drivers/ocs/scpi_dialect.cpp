// SPDX-License-Identifier: Apache-2.0
// Text of the SCPI dialect to values and back. Refuses what it does not know.
#include "drivers/ocs/scpi_dialect.hpp"

#include <algorithm>
#include <charconv>

#include "core/text/format_text.hpp"

namespace loom::scpi {
namespace {

constexpr std::size_t kPortsMax = 0x20000;  ///< PortNumber counts inputs and outputs apart
constexpr std::size_t kErrorsMax = 256;     ///< SCPI asks for a queue of at least two

bool eat(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) {
    return false;
  }
  text.remove_prefix(word.size());
  return true;
}

/// NR1 of IEEE 488.2: digits with an optional sign.
std::optional<std::int32_t> eat_number(std::string_view& text) {
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// A quoted string; a quote inside it comes twice.
std::optional<std::string> eat_quoted(std::string_view& text) {
  if (!eat(text, "\"")) {
    return std::nullopt;
  }
  std::string inside;
  while (!text.empty()) {
    const char character = text.front();
    text.remove_prefix(1);
    if (character != '"') {
      inside += character;
    } else if (text.starts_with('"')) {
      inside += '"';
      text.remove_prefix(1);
    } else {
      return inside;
    }
  }
  return std::nullopt;
}

char lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
}

void append_channels(std::string& text, std::span<const CrossConnect> connects, std::uint32_t (*port)(Size, CrossConnect),
                     Size size) {
  text += "(@";
  for (std::size_t i = 0; i < connects.size(); ++i) {
    text += i == 0 ? "" : ",";
    text += std::to_string(port(size, connects[i]));
  }
  text += ')';
}

}  // namespace

std::string write_channels(std::span<const std::uint32_t> ports) {
  std::string text = "(@";
  for (std::size_t i = 0; i < ports.size(); ++i) {
    text += format_text("{}{}", i == 0 ? "" : ",", ports[i]);
  }
  return text + ")";
}

std::string write_map(Size size, std::span<const CrossConnect> connects) {
  std::string text;
  append_channels(text, connects, [](Size, CrossConnect connect) { return connect.input + 1U; }, size);
  text += ',';
  append_channels(text, connects, [](Size s, CrossConnect connect) { return s.inputs + connect.output + 1U; }, size);
  return text;
}

std::string write_connects(std::string_view verb, Size size, std::span<const CrossConnect> connects) {
  return format_text("{} {};*opc?", verb, write_map(size, connects));
}

std::optional<Size> read_size(std::string_view text) {
  const auto inputs = eat_number(text);
  if (!inputs || !eat(text, ",")) {
    return std::nullopt;
  }
  const auto outputs = eat_number(text);
  if (!outputs || !text.empty() || *inputs < 1 || *outputs < 1 || *inputs > 0xFFFF || *outputs > 0xFFFF) {
    return std::nullopt;
  }
  return Size{static_cast<std::uint32_t>(*inputs), static_cast<std::uint32_t>(*outputs)};
}

std::optional<std::vector<std::uint32_t>> eat_channels(std::string_view& text) {
  std::vector<std::uint32_t> ports;
  if (!eat(text, "(@")) {
    return std::nullopt;
  }
  while (!eat(text, ")")) {
    if (!ports.empty() && !eat(text, ",")) {
      return std::nullopt;
    }
    const auto port = eat_number(text);
    if (!port || *port < 1 || ports.size() >= kPortsMax) {
      return std::nullopt;
    }
    ports.push_back(static_cast<std::uint32_t>(*port));
  }
  return ports;
}

std::optional<std::vector<CrossConnect>> read_map(Size size, std::string_view text) {
  const auto some = eat_channels(text);
  if (!some || !eat(text, ",")) {
    return std::nullopt;
  }
  const auto others = eat_channels(text);
  if (!others || !text.empty() || some->size() != others->size()) {
    return std::nullopt;
  }
  std::vector<CrossConnect> connects;
  std::vector<bool> taken(size.inputs + size.outputs + 1, false);
  for (std::size_t i = 0; i < some->size(); ++i) {
    const std::uint32_t ingress = std::min((*some)[i], (*others)[i]);
    const std::uint32_t egress = std::max((*some)[i], (*others)[i]);
    if (ingress > size.inputs || egress <= size.inputs || egress > size.inputs + size.outputs || taken[ingress] ||
        taken[egress]) {
      return std::nullopt;
    }
    taken[ingress] = true;
    taken[egress] = true;
    connects.push_back({static_cast<std::uint16_t>(ingress - 1), static_cast<std::uint16_t>(egress - size.inputs - 1)});
  }
  std::sort(connects.begin(), connects.end(), [](CrossConnect a, CrossConnect b) { return a.input < b.input; });
  return connects;
}

std::optional<std::vector<QueuedError>> read_errors(std::string_view text) {
  std::vector<QueuedError> errors;
  do {
    const auto number = eat_number(text);
    if (!number || !eat(text, ",")) {
      return std::nullopt;
    }
    auto sentence = eat_quoted(text);
    if (!sentence || errors.size() >= kErrorsMax) {
      return std::nullopt;
    }
    if (*number != 0) {
      errors.push_back({*number, std::move(*sentence)});
    }
  } while (eat(text, ","));
  return text.empty() ? std::optional(std::move(errors)) : std::nullopt;
}

std::optional<std::vector<PortState>> read_port_states(std::string_view text) {
  std::vector<PortState> states;
  if (!eat(text, "(")) {
    return std::nullopt;
  }
  while (!eat(text, ")")) {
    if ((!states.empty() && !eat(text, ",")) || text.empty() || states.size() >= kPortsMax) {
      return std::nullopt;
    }
    const char letter = lower(text.front());
    if (letter != 'e' && letter != 'd' && letter != 'f') {
      return std::nullopt;
    }
    states.push_back(letter == 'e' ? PortState::enabled : letter == 'd' ? PortState::disabled : PortState::failed);
    text.remove_prefix(1);
  }
  return text.empty() ? std::optional(std::move(states)) : std::nullopt;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::string_view> unframe(const Dialect& dialect, std::string_view line) {
  if (dialect.terminator.empty() || !line.ends_with(dialect.terminator)) {
    return std::nullopt;
  }
  line.remove_suffix(dialect.terminator.size());
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  const bool printable = std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return printable && !line.empty() ? std::optional(line) : std::nullopt;
}

}  // namespace loom::scpi
