// Text of the flexgrid dialect to values and back. Never allocates more than its result; refuses what it does not know.
#include "drivers/wss/flexgrid_dialect.hpp"

#include <array>
#include <charconv>
#include <cstdio>

#include "core/limits.hpp"

namespace loom::flexgrid {
namespace {

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
  if (!last) {
    return std::nullopt;
  }
  std::int32_t input = 1;
  if (cursor.eat("@")) {
    input = cursor.number().value_or(0);
  }
  if (input < 1 || input > 0xFFFF) {
    return std::nullopt;
  }
  return Channel{*first, *last, static_cast<std::uint16_t>(input - 1)};
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

}  // namespace

PortMap port_map_of(PortNumber inputs, PortNumber outputs) {
  return inputs <= 1 ? PortMap::by_output : outputs <= 1 ? PortMap::by_input : PortMap::by_pair;
}

Channel channel_of(const Dialect& dialect, FrequencySlot slot, std::uint16_t input) {
  const std::int64_t offset = (lower_edge_of(slot) - dialect.window_start).mhz;
  const std::int64_t first = (offset >= 0 ? offset : offset - kSlice.mhz + 1) / kSlice.mhz + 1;
  const std::int64_t width = width_of(slot).mhz / kSlice.mhz;
  return {static_cast<std::int32_t>(first), static_cast<std::int32_t>(first + width - 1),
          dialect.map == PortMap::by_pair ? input : std::uint16_t{0}};
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
  const std::uint16_t port = dialect.map == PortMap::by_input ? route.input : route.output;
  return {static_cast<std::uint16_t>(port + 1), (route.attenuation.centi + 5) / 10};
}

std::optional<WssRoute> route_of(const Dialect& dialect, const Channel& channel, const PortSetting& setting) {
  const auto slot = slot_of(dialect, channel);
  if (!slot || setting.port == kBlockedPort || setting.port == 0) {
    return std::nullopt;
  }
  const auto port = static_cast<std::uint16_t>(setting.port - 1);
  const bool by_input = dialect.map == PortMap::by_input;
  return WssRoute{*slot, by_input ? port : channel.input, by_input ? std::uint16_t{0} : port, Db{setting.tenths * 10}};
}

std::string write_grid(const Dialect& dialect, std::span<const Channel> channels) {
  std::string text = "DCC ";
  for (std::size_t i = 0; i < channels.size(); ++i) {
    text += i == 0 ? "" : ";";
    append_number(text, static_cast<std::int64_t>(i + 1));
    text += '=';
    append_number(text, channels[i].first);
    text += ':';
    append_number(text, channels[i].last);
    if (dialect.map == PortMap::by_pair) {
      text += '@';
      append_number(text, channels[i].input + 1);
    }
  }
  return text;
}

std::string write_ports(std::span<const ChannelSetting> settings) {
  std::string text = "UCA ";
  text.reserve(4 + settings.size() * 12);
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

std::optional<std::vector<Channel>> read_grid(std::string_view text) {
  Cursor cursor(text);
  std::vector<Channel> channels;
  if (!cursor.eat("DCC ")) {
    return std::nullopt;
  }
  while (!cursor.is_done()) {
    const auto channel = read_channel(cursor, static_cast<std::int32_t>(channels.size()) + 1);
    if (!channel || (!cursor.eat(";") && !cursor.is_done()) || channels.size() >= limits::kWssRoutes) {
      return std::nullopt;
    }
    channels.push_back(*channel);
  }
  return channels;
}

std::optional<std::vector<ChannelSetting>> read_ports(std::string_view text) {
  Cursor cursor(text);
  std::vector<ChannelSetting> settings;
  if (!cursor.eat("UCA ")) {
    return std::nullopt;
  }
  while (!cursor.is_done()) {
    const auto setting = read_setting(cursor);
    if (!setting || (!cursor.eat(";") && !cursor.is_done()) || settings.size() >= limits::kWssRoutes) {
      return std::nullopt;
    }
    settings.push_back(*setting);
  }
  return settings;
}

std::string frame(const Dialect& dialect, std::string_view text) {
  std::string line;
  line.reserve(text.size() + 8);
  if (dialect.checksum) {
    line += '^';
    line += text;
    line += '$';
    line += checksum_of(text);
  } else {
    line += text;
  }
  return line + "\r\n";
}

std::optional<std::string_view> unframe(const Dialect& dialect, std::string_view line) {
  if (!line.ends_with("\r\n")) {
    return std::nullopt;
  }
  line.remove_suffix(2);
  if (!dialect.checksum) {
    return line;
  }
  if (line.size() < 6 || line.front() != '^' || line[line.size() - 5] != '$') {
    return std::nullopt;
  }
  const std::string_view text = line.substr(1, line.size() - 6);
  if (line.substr(line.size() - 4) != checksum_of(text)) {
    return std::nullopt;
  }
  return text;
}

std::string_view error_name(std::string_view reply) {
  if (reply == "CER") {
    return "CER (unknown command)";
  }
  if (reply == "AER") {
    return "AER (bad argument)";
  }
  if (reply == "RER") {
    return "RER (out of range)";
  }
  if (reply == "VER") {
    return "VER (bad value)";
  }
  return {};
}

}  // namespace loom::flexgrid
