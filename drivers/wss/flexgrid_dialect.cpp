// SPDX-License-Identifier: Apache-2.0
// Text of the flexgrid dialect to values and back. Never allocates more than its result; refuses what it does not know.
#include "drivers/wss/flexgrid_dialect.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include "core/limits.hpp"
#include "core/result.hpp"

namespace loom::flexgrid {
namespace {

constexpr std::string_view kEndOfLine = "\r\n";
constexpr std::int32_t kGreatestSlice = 1 << 20;  ///< far beyond any device; what a reply may say stays countable

/// Eats `text` from the front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}
  bool eat(std::string_view word) {
    if (!rest_.starts_with(word)) {
      return false;
    }
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::int32_t> number() {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || value < 0) {
      return std::nullopt;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::optional<std::int32_t> digit() {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') {
      return std::nullopt;
    }
    const std::int32_t value = rest_.front() - '0';
    rest_.remove_prefix(1);
    return value;
  }
  bool is_done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

void append_number(std::string& text, std::int64_t value) {
  std::array<char, 24> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), end);
}

std::string checksum_of(std::string_view text) {
  unsigned sum = 0;
  for (const char character : text) {
    sum += static_cast<unsigned char>(character);
  }
  std::array<char, 8> hex{};
  std::snprintf(hex.data(), hex.size(), "%04X", (0x10000u - (sum & 0xFFFFu)) & 0xFFFFu);
  return hex.data();
}

std::optional<Channel> read_channel(Cursor& cursor, std::int32_t number) {
  if (cursor.number() != number || !cursor.eat("=")) {
    return std::nullopt;
  }
  const auto first = cursor.number();
  if (!first || !cursor.eat(":")) {
    return std::nullopt;
  }
  const auto last = cursor.number();
  return last ? std::optional(Channel{*first, *last}) : std::nullopt;
}

std::optional<ChannelSetting> read_setting(Cursor& cursor) {
  const auto channel = cursor.number();
  if (!channel || !cursor.eat(",")) {
    return std::nullopt;
  }
  const auto port = cursor.number();
  if (!port || *port > 0xFFFF || !cursor.eat(",")) {
    return std::nullopt;
  }
  const auto whole = cursor.number();
  if (!whole || *whole > 99 || !cursor.eat(".")) {
    return std::nullopt;
  }
  const auto tenth = cursor.digit();
  if (!tenth) {
    return std::nullopt;
  }
  return ChannelSetting{*channel, {static_cast<std::uint16_t>(*port), *whole * 10 + *tenth}};
}

/// Slices of 6.25 GHz in one of the device.
std::int32_t fine_slices(const Dialect& dialect) { return kSlices / dialect.slices; }

/// After an item: the end, or a semicolon with spaces.
bool eat_separator(Cursor& cursor) {
  if (!cursor.eat(";")) {
    return cursor.is_done();
  }
  while (cursor.eat(" ")) {
  }
  return true;
}

constexpr std::array<std::string_view, 4> kErrors{"CER", "AER", "RER", "VER"};

}  // namespace

bool overlap(const Channel& a, const Channel& b) { return a.first <= b.last && b.first <= a.last; }

Channel channel_of(const Dialect& dialect, FrequencySlot slot) {
  const std::int64_t offset = (lower_edge_of(slot) - dialect.window_start).mhz;
  const std::int64_t first = (offset >= 0 ? offset : offset - kSlice.mhz + 1) / kSlice.mhz + 1;
  const std::int64_t width = width_of(slot).mhz / kSlice.mhz;
  return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(first + width - 1)};
}

bool fits_slices(const Dialect& dialect, const Channel& channel) {
  const std::int32_t fine = fine_slices(dialect);
  return (channel.first - 1) % fine == 0 && channel.last % fine == 0;
}

std::optional<FrequencySlot> slot_of(const Dialect& dialect, const Channel& channel) {
  const std::int64_t first = channel.first;  // whatever 32 bits a device may say
  const std::int64_t width = (channel.last - first + 1) * kSlice.mhz;
  const std::int64_t centre = dialect.window_start.mhz + (first - 1) * kSlice.mhz + width / 2 - kGridAnchor.mhz;
  if (width <= 0 || width % kSlotWidthStep.mhz != 0 || centre % kGridStep.mhz != 0) {
    return std::nullopt;
  }
  const std::int64_t n = centre / kGridStep.mhz;
  const std::int64_t m = width / kSlotWidthStep.mhz;
  if (n < -limits::kSlotN || n > limits::kSlotN || m > limits::kSlotM) {
    return std::nullopt;
  }
  return FrequencySlot{static_cast<std::int32_t>(n), static_cast<std::int32_t>(m)};
}

PortSetting setting_of(const Dialect& dialect, const WssRoute& route) {
  return {port_of(dialect.map, route), (route.attenuation.centi + 5) / 10};
}

std::optional<WssRoute> route_of(const Dialect& dialect, const Channel& channel, const PortSetting& setting) {
  const auto slot = slot_of(dialect, channel);
  if (!slot || setting.port == kBlockedPort || setting.port == 0) {
    return std::nullopt;
  }
  WssRoute route = route_at(dialect.map, *slot, setting.port);
  route.attenuation = Db{setting.tenths * 10};
  return route;
}

std::string write_grid(const Dialect& dialect, std::span<const Channel> channels) {
  const std::int32_t fine = fine_slices(dialect);
  std::string text;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    text += i == 0 ? "" : ";";
    append_number(text, static_cast<std::int64_t>(i + 1));
    text += '=';
    append_number(text, (channels[i].first - 1) / fine + 1);
    text += ':';
    append_number(text, channels[i].last / fine);
  }
  return text;
}

std::string write_ports(std::span<const ChannelSetting> settings) {
  std::string text;
  text.reserve(settings.size() * 12);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    text += i == 0 ? "" : ";";
    append_number(text, settings[i].channel);
    text += ',';
    append_number(text, settings[i].setting.port);
    text += ',';
    append_number(text, settings[i].setting.tenths / 10);
    text += '.';
    append_number(text, settings[i].setting.tenths % 10);
  }
  return text;
}

std::optional<std::vector<Channel>> read_grid(const Dialect& dialect, std::string_view text) {
  const std::int32_t fine = fine_slices(dialect);
  Cursor cursor(text);
  std::vector<Channel> channels;
  while (!cursor.is_done()) {
    const auto channel = read_channel(cursor, static_cast<std::int32_t>(channels.size()) + 1);
    if (!channel || channel->first > kGreatestSlice || channel->last > kGreatestSlice || !eat_separator(cursor) ||
        channels.size() >= limits::kWssRoutes) {
      return std::nullopt;
    }
    channels.push_back({(channel->first - 1) * fine + 1, channel->last * fine});
  }
  return channels;
}

std::optional<std::vector<ChannelSetting>> read_ports(std::string_view text) {
  Cursor cursor(text);
  std::vector<ChannelSetting> settings;
  while (!cursor.is_done()) {
    const auto setting = read_setting(cursor);
    if (!setting || !eat_separator(cursor) || settings.size() >= limits::kWssRoutes) {
      return std::nullopt;
    }
    settings.push_back(*setting);
  }
  return settings;
}

std::string frame(bool checksum, std::string_view text) {
  std::string line;
  line.reserve(text.size() + 8);
  if (checksum) {
    line += '^';
    line += text;
    line += '$';
    line += checksum_of(text);
  } else {
    line += text;
  }
  return line + std::string(kEndOfLine);
}

bool is_framed(std::string_view line) { return line.starts_with('^'); }

std::optional<std::string_view> unframe(std::string_view line) {
  if (!is_framed(line)) {
    return line;
  }
  if (line.size() < 6 || line[line.size() - 5] != '$') {
    return std::nullopt;
  }
  const std::string_view text = line.substr(1, line.size() - 6);
  return line.substr(line.size() - 4) == checksum_of(text) ? std::optional(text) : std::nullopt;
}

bool fails_check(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find(kEndOfLine), lines.size());
    if (!unframe(lines.substr(0, end))) {
      return true;
    }
    lines.remove_prefix(std::min(end + kEndOfLine.size(), lines.size()));
  }
  return false;
}

std::vector<std::string> last_lines() {
  std::vector<std::string> lines;
  for (const bool checksum : {false, true}) {
    for (const std::string_view end : {std::string_view("OK"), kErrors[0], kErrors[1], kErrors[2], kErrors[3]}) {
      lines.push_back(frame(checksum, end));
      lines.back().resize(lines.back().size() - kEndOfLine.size());
    }
  }
  return lines;
}

std::optional<Reply> read_reply(std::string_view bytes) {
  Reply reply;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find(kEndOfLine);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    const auto text = unframe(bytes.substr(0, end));
    if (!text || !reply.data.empty()) {
      return std::nullopt;
    }
    reply.data = std::exchange(reply.end, *text);
    bytes.remove_prefix(end + kEndOfLine.size());
  }
  const bool is_end = reply.end == "OK" || !error_name(reply.end).empty();
  return is_end ? std::optional(reply) : std::nullopt;
}

std::optional<std::uint16_t> read_status(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) {
    return std::nullopt;
  }
  text.remove_prefix(2);
  std::uint16_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string_view error_name(std::string_view end) {
  static constexpr std::array<std::string_view, 4> kNames{"CER (unknown command)", "AER (bad argument)", "RER (out of range)",
                                                          "VER (bad value)"};
  const auto found = std::find(kErrors.begin(), kErrors.end(), end);
  return found == kErrors.end() ? std::string_view{} : kNames[static_cast<std::size_t>(found - kErrors.begin())];
}

}  // namespace loom::flexgrid
