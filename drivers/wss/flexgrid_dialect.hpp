// The ASCII dialect of Finisar's OEM flexgrid WSS (source: a client of the University of Bristol's HPN group), as values and
// pure functions: `DCC 1=s0:sf;...` defines channels by inclusive slices counted from 1, `UCA ch,port,att;...` sets port and
// attenuation (blocked: 99, 99.9), replies are OK, CER, AER, RER, VER; optionally framed `^text$HHHH`.
//
// Ours, because nothing public says it: (1) the queries `DCC?`, `UCA?` and `SET?` and their one-line answers, each in the form
// of the command, `SET 1` for settled; all words are configurable. (2) A device of one input numbers its ports by output, one
// of one output by input (the same hardware turned around). For N x M a channel is (input, slices), written `ch=s0:sf@input`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"

namespace loom::flexgrid {

inline constexpr FrequencyOffset kSlice{6'250};
inline constexpr std::uint16_t kBlockedPort = 99;
inline constexpr std::int32_t kBlockedTenths = 999;  ///< 99.9 dB

enum class PortMap : std::uint8_t { by_output, by_input, by_pair };

struct Dialect {
  std::string grid_query = "DCC?";     ///< [K] ours
  std::string ports_query = "UCA?";    ///< [K] ours
  std::string settled_query = "SET?";  ///< [K] ours: the real command is not known
  bool checksum = false;
  PortMap map = PortMap::by_output;
  Frequency window_start{191'325'000};
  std::int32_t slices = 772;  ///< to 196.150 THz
  Db attenuation_max{1500};
};

PortMap port_map_of(PortNumber inputs, PortNumber outputs);

/// Inclusive slices from 1; `input` from 0, and 0 unless the map is by_pair.
struct Channel {
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::uint16_t input = 0;
  auto operator<=>(const Channel&) const = default;
};

struct PortSetting {
  std::uint16_t port = kBlockedPort;
  std::int32_t tenths = kBlockedTenths;  ///< attenuation, 0.1 dB
  auto operator<=>(const PortSetting&) const = default;
};

/// `channel` counts from 1.
struct ChannelSetting {
  std::int32_t channel = 0;
  PortSetting setting;
  bool operator==(const ChannelSetting&) const = default;
};

Channel channel_of(const Dialect& dialect, FrequencySlot slot, std::uint16_t input);
/// Nothing: its width is no multiple of 12.5 GHz, so that no slot of the grid describes it.
std::optional<FrequencySlot> slot_of(const Dialect& dialect, const Channel& channel);
PortSetting setting_of(const Dialect& dialect, const WssRoute& route);
/// Nothing: blocked, or a channel without a slot.
std::optional<WssRoute> route_of(const Dialect& dialect, const Channel& channel, const PortSetting& setting);

/// "DCC 1=5:20;2=21:36"
std::string write_grid(const Dialect& dialect, std::span<const Channel> channels);
/// "UCA 1,3,0.0;2,99,99.9"
std::string write_ports(std::span<const ChannelSetting> settings);
/// The inverse of both, strict: nothing unless every character is accounted for. Channels must come as 1, 2, 3, ...
std::optional<std::vector<Channel>> read_grid(std::string_view text);
std::optional<std::vector<ChannelSetting>> read_ports(std::string_view text);

/// Adds checksum and end of line. HHHH: two's complement of the sum of the characters, 16 bits.
std::string frame(const Dialect& dialect, std::string_view text);
/// The text of one line, nothing if its frame or checksum is wrong.
std::optional<std::string_view> unframe(const Dialect& dialect, std::string_view line);
/// "RER (out of range)" for an error reply; empty for anything else. The meanings are read from the letters [K].
std::string_view error_name(std::string_view reply);

}  // namespace loom::flexgrid
