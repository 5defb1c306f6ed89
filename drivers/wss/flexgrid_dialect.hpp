// SPDX-License-Identifier: Apache-2.0
// The ASCII dialect of Finisar's OEM flexgrid WSS as published, as values and pure functions (sources: two clients of the
// University of Bristol's HPN group, whose docstrings quote the manual, and the guide of the simulator w0sa). Lines end in
// `\r\n`, each plain or framed `^text$HHHH`; every reply ends in a line of its own, `OK` or an error: CER, AER, RER, VER.
//
//   CHW 0                      force flexgrid
//   DCC 1=s0:sf;2=s0:sf;...    defines channels by inclusive slices, counted from 1; DCC? tells them
//   UCA ch,port,att;...        sets port and attenuation of some channels at once (blocked: 99,99.9)
//   URA ch,port,att;...        prepares a pattern for all channels, unseen; RSW switches to it
//   RRA?                       port and attenuation of every channel as commanded; it is no reading of the light
//   OSS? SNO? FWR? HWR? SUS?   operation status, serial number, releases, start-up state
//
// Nothing tells that a switch is over, and nothing shows the prepared pattern. A device has one common port: of one input its
// ports are its outputs, turned around they are its inputs. It has 772 slices of 6.25 GHz or 386 of 12.5 GHz; `Channel` always
// counts 6.25 GHz, and only what is written to the device or read from it counts the device's own slices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "drivers/wss/wss_routes.hpp"

namespace loom::flexgrid {

inline constexpr FrequencyOffset kSlice{6'250};
inline constexpr std::int32_t kSlices = 772;        ///< to 196.150 THz
inline constexpr std::int32_t kCoarseSlices = 386;  ///< of 12.5 GHz
inline constexpr std::uint16_t kBlockedPort = 99;
inline constexpr std::int32_t kBlockedTenths = 999;  ///< 99.9 dB

using loom::port_map_of;
using loom::PortMap;

struct Dialect {
  PortMap map = PortMap::by_output;
  Frequency window_start{191'325'000};
  std::int32_t slices = kSlices;  ///< that the device counts: kSlices or kCoarseSlices
  Db attenuation_max{1500};
};

/// Inclusive slices of 6.25 GHz from 1.
struct Channel {
  std::int32_t first = 0;
  std::int32_t last = 0;
  auto operator<=>(const Channel&) const = default;
};
bool overlap(const Channel& a, const Channel& b);

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

Channel channel_of(const Dialect& dialect, FrequencySlot slot);
/// Do its edges lie on slices of the device?
bool fits_slices(const Dialect& dialect, const Channel& channel);
/// Nothing: its width is no multiple of 12.5 GHz, so that no slot of the grid describes it.
std::optional<FrequencySlot> slot_of(const Dialect& dialect, const Channel& channel);
PortSetting setting_of(const Dialect& dialect, const WssRoute& route);
/// Nothing: blocked, or a channel without a slot.
std::optional<WssRoute> route_of(const Dialect& dialect, const Channel& channel, const PortSetting& setting);

/// "1=5:20;2=21:36", in slices of the device. Precondition: fits_slices() of each.
std::string write_grid(const Dialect& dialect, std::span<const Channel> channels);
/// "1,3,0.0;2,99,99.9"
std::string write_ports(std::span<const ChannelSetting> settings);
/// The inverse of both, strict but for a last semicolon and spaces after one: nothing unless every character is accounted for.
/// Channels must come as 1, 2, 3, ...; those of read_grid() are in slices of 6.25 GHz. Empty text: no channels.
std::optional<std::vector<Channel>> read_grid(const Dialect& dialect, std::string_view text);
std::optional<std::vector<ChannelSetting>> read_ports(std::string_view text);

/// Adds the end of line and, if asked, the checksum. HHHH: two's complement of the sum of the characters, 16 bits.
std::string frame(bool checksum, std::string_view text);
/// The text of one line without its end, in either form; nothing if its frame or checksum is wrong.
std::optional<std::string_view> unframe(std::string_view line);
/// Is there a line among them whose frame or checksum is wrong?
bool fails_check(std::string_view lines);
/// Is the line framed with a checksum?
bool is_framed(std::string_view line);
/// With these lines a reply ends, in both forms.
std::vector<std::string> last_lines();

struct Reply {
  std::string_view data;  ///< the line before the last; empty: there is none
  std::string_view end;   ///< "OK" or an error
};
/// Nothing: damaged, or more than one line of data.
std::optional<Reply> read_reply(std::string_view bytes);
/// "0x0010" to 16; nothing: something else.
std::optional<std::uint16_t> read_status(std::string_view text);
/// "RER (out of range)" for an error; empty for anything else. The meanings are read from the letters [K].
std::string_view error_name(std::string_view end);

}  // namespace loom::flexgrid
