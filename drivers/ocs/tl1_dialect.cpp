// SPDX-License-Identifier: Apache-2.0
// Text of TL1 to values and back. Refuses what it does not know.
#include "drivers/ocs/tl1_dialect.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text/format_text.hpp"
#include "drivers/ocs/scpi_dialect.hpp"

namespace loom::tl1 {
namespace {

constexpr std::size_t kRowsMax = 8'192;

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// Up to `separator`, which goes with it; all of it where there is none.
std::string_view eat_to(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view eat_word(std::string_view& text) {
  text = trimmed(text);
  return eat_to(text, ' ');
}

std::optional<std::uint32_t> read_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_code(std::string_view line) {
  return line.size() == 4 && std::ranges::all_of(line, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// A message up to its `;`, which may stand in quotes; nothing where it does not end.
std::optional<std::string_view> eat_message(std::string_view& text) {
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    is_quoted = is_quoted != (text[i] == '"');
    if (text[i] == ';' && !is_quoted) {
      const std::string_view message = text.substr(0, i);
      text.remove_prefix(i + 1);
      return message;
    }
  }
  return std::nullopt;
}

/// One line after the header.
bool take_line(std::string_view line, Reply& reply) {
  if (line.size() >= 2 && line.starts_with('"') && line.ends_with('"')) {
    const std::string_view row = line.substr(1, line.size() - 2);
    if (row.find('"') != std::string_view::npos || !is_printable(row) || reply.rows.size() >= kRowsMax) {
      return false;
    }
    reply.rows.emplace_back(row);
    return true;
  }
  if (line.size() >= 4 && line.starts_with("/*") && line.ends_with("*/")) {
    const std::string_view comment = trimmed(line.substr(2, line.size() - 4));
    reply.comment = is_printable(comment) ? comment : std::string_view{};
    return true;
  }
  if (!reply.completed && is_code(line)) {
    reply.code = line;
    return true;
  }
  return false;
}

/// Nothing: it is not the reply, or is damaged.
std::optional<Reply> read_message(std::string_view message, std::string_view ctag) {
  Reply reply;
  bool is_ours = false;
  while (!message.empty()) {
    std::string_view line = trimmed(eat_to(message, '\n'));
    if (is_ours) {
      if (!line.empty() && !take_line(line, reply)) {
        return std::nullopt;
      }
      continue;
    }
    if (line.starts_with("M ") && eat_word(line) == "M" && eat_word(line) == ctag) {
      const std::string_view end = trimmed(line);
      is_ours = end == "COMPLD" || end == "DENY";
      reply.completed = end == "COMPLD";
    }
  }
  return is_ours ? std::optional(std::move(reply)) : std::nullopt;
}

}  // namespace

std::optional<Reply> read_reply(std::string_view text, std::string_view ctag) {
  while (const auto message = eat_message(text)) {
    if (auto reply = read_message(*message, ctag)) {
      return reply;
    }
  }
  return std::nullopt;
}

std::string describe_denial(const Reply& reply) {
  return format_text("denies it{}{}{}{}", reply.code.empty() && reply.comment.empty() ? "" : ": ", reply.code,
                     reply.code.empty() || reply.comment.empty() ? "" : ", ", reply.comment);
}

std::string write_ports(std::span<const std::uint32_t> ports) {
  std::string text;
  for (const std::uint32_t port : ports) {
    text += format_text("{}{}", text.empty() ? "" : "&", port);
  }
  return text;
}

std::string write_patches(Numbers numbers, std::span<const CrossConnect> connects) {
  std::vector<std::uint32_t> inputs;
  std::vector<std::uint32_t> outputs;
  for (const CrossConnect each : connects) {
    inputs.push_back(numbers.first_input + each.input);
    outputs.push_back(numbers.first_output + each.output);
  }
  return write_ports(inputs) + "," + write_ports(outputs);
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c <= '~' && c != ':' && c != ';' && c != ',' && c != '"' && c != '&' && c != '\\';
  });
}

std::optional<std::vector<CrossConnect>> read_patches(Numbers numbers, SwitchSize size, const std::vector<std::string>& rows) {
  std::vector<CrossConnect> connects;
  std::vector<bool> has_input(size.inputs);
  std::vector<bool> has_output(size.outputs);
  for (const std::string& row : rows) {
    std::string_view rest = row;
    const auto some = read_number(eat_to(rest, ','));
    const auto other = read_number(rest);
    if (!some || !other || std::min(*some, *other) < numbers.first_input || std::max(*some, *other) < numbers.first_output) {
      return std::nullopt;
    }
    const std::uint32_t input = std::min(*some, *other) - numbers.first_input;
    const std::uint32_t output = std::max(*some, *other) - numbers.first_output;
    if (input >= size.inputs || output >= size.outputs || has_input[input] || has_output[output]) {
      return std::nullopt;
    }
    has_input[input] = has_output[output] = true;
    connects.push_back({static_cast<std::uint16_t>(input), static_cast<std::uint16_t>(output)});
  }
  std::ranges::sort(connects, {}, &CrossConnect::input);
  return connects;
}

std::optional<std::string> value_of(const std::vector<std::string>& rows, std::string_view key) {
  for (const std::string& row : rows) {
    for (std::string_view rest = row; !rest.empty();) {
      const std::size_t end = std::min(rest.find_first_of(",:"), rest.size());
      std::string_view field = trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::string_view name = eat_to(field, '=');
      if (scpi::same_word(trimmed(name), key) && !field.empty()) {
        return std::string(trimmed(field));
      }
    }
  }
  return std::nullopt;
}

std::optional<std::vector<std::pair<std::uint32_t, std::string>>> read_port_words(const std::vector<std::string>& rows) {
  std::vector<std::pair<std::uint32_t, std::string>> words;
  for (const std::string& row : rows) {
    std::string_view rest = row;
    const auto port = read_number(trimmed(eat_to(rest, ':')));
    if (!port || trimmed(rest).empty()) {
      return std::nullopt;
    }
    words.emplace_back(*port, std::string(trimmed(rest)));
  }
  return words;
}

std::optional<Dbm> read_power(std::string_view text) {
  double dbm = 0;
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dbm, std::chars_format::fixed);
  const bool whole = error == std::errc{} && end == text.data() + text.size() && std::isfinite(dbm) && std::abs(dbm) <= 200;
  return whole ? std::optional(Dbm{static_cast<std::int32_t>(std::lround(dbm * 100))}) : std::nullopt;
}

std::optional<FiberConnect> read_fiber_connect(std::string_view row) {
  const std::vector<std::string> one{std::string(row)};
  const auto port = [&](std::string_view key) {
    const auto text = value_of(one, key);
    return text ? read_number(*text) : std::nullopt;
  };
  const auto power = [&](std::string_view key) {
    const auto text = value_of(one, key);
    return text ? read_power(*text) : std::nullopt;
  };
  const auto input = port("IPORTID");
  const auto output = port("OPORTID");
  return input && output ? std::optional(FiberConnect{*input, *output, power("INPWR"), power("OUTPWR")}) : std::nullopt;
}

}  // namespace loom::tl1
