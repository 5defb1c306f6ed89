// SPDX-License-Identifier: Apache-2.0
// The wire of OIF-ITLA-MSA-01.3: four bytes each way with a BIP-4 checksum, the registers that Lightloom knows, and the
// words of the NOP error field. Values and pure functions; it never knows what a register is good for.
// Source: clients of real modules (pytla, ITLA-PPCL550); the specification itself was not read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace loom::itla {

enum class Register : std::uint8_t {
  nop = 0x00,
  device_type = 0x01,  ///< texts: answered with their bytes' count, then read from `extended`
  maker = 0x02,
  model = 0x03,
  serial = 0x04,
  release = 0x06,
  extended = 0x0B,  ///< the next two bytes of a text
  status_fatal = 0x20,
  status_warning = 0x21,
  channel = 0x30,
  power = 0x31,     ///< s16, 0.01 dBm
  enable = 0x32,    ///< ResEna: bit 3 SENA, bit 1 SR, bit 0 MR
  grid = 0x34,      ///< s16, 0.1 GHz
  fcf1 = 0x35,      ///< THz
  fcf2 = 0x36,      ///< 0.1 GHz
  lf1 = 0x40,       ///< THz
  lf2 = 0x41,       ///< 0.1 GHz
  oop = 0x42,       ///< s16, 0.01 dBm
  trim_max = 0x4F,  ///< FTFR, MHz
  opsl = 0x50,      ///< s16, 0.01 dBm
  opsh = 0x51,
  first1 = 0x52,       ///< lowest frequency of its band: THz
  first2 = 0x53,       ///< 0.1 GHz
  last1 = 0x54,        ///< highest: THz
  last2 = 0x55,        ///< 0.1 GHz
  least_grid = 0x56,   ///< LGrid, 0.1 GHz
  ftf = 0x62,          ///< s16, MHz
  grid2 = 0x66,        ///< MHz
  fcf3 = 0x67,         ///< MHz
  lf3 = 0x68,          ///< MHz
  first3 = 0x69,       ///< MHz
  last3 = 0x6A,        ///< MHz
  least_grid2 = 0x6B,  ///< MHz
};

inline constexpr std::uint16_t kSoftwareEnable = 0x0008;     ///< SENA of ResEna
inline constexpr std::uint16_t kStatusFrequency = 1u << 10;  ///< FFREQ / WFREQ, not latched
inline constexpr std::uint16_t kStatusPower = 1u << 8;
inline constexpr std::uint16_t kStatusFatal = 1u << 13;
inline constexpr std::uint16_t kStatusRestarted = 1u << 5;  ///< MRL: module restarted, latched until it is cleared
inline constexpr std::uint16_t kStatusPresent = 0x3F00;     ///< what is so now; the rest was so once, or sums up what was
inline constexpr std::uint16_t kStatusLatches = 0x00FF;     ///< written to StatusF or StatusW: clears what is latched
inline constexpr std::uint16_t kNopReady = 1u << 4;         ///< MRDY [K]
inline constexpr std::uint16_t kNopPending = 0xFF00;        ///< one bit a pending operation [K]
inline constexpr std::uint16_t kNopError = 0x000F;

/// Bits 3-0 of NOP after an execution error.
enum class NopError : std::uint8_t {
  none = 0,
  not_implemented = 1,
  not_writable = 2,
  out_of_range = 3,
  pending = 4,
  initialising = 5,
  extended_range = 6,
  read_only = 7,
  general = 8,
  output_enabled = 9,
  invalid_configuration = 10,
  vendor = 15,
};

enum class Status : std::uint8_t { ok, execution_error, extended_address, pending };

struct Request {
  bool write = false;
  Register reg = Register::nop;
  std::uint16_t data = 0;
  bool last_response = false;  ///< LstRsp: send the last response again
  bool operator==(const Request&) const = default;
};

struct Response {
  Status status = Status::ok;
  bool communication_error = false;  ///< CE: the module could not read the request
  Register reg = Register::nop;
  std::uint16_t data = 0;
  bool operator==(const Response&) const = default;
};

using FrameBytes = std::array<std::uint8_t, 4>;

FrameBytes encode(const Request& request);
FrameBytes encode(const Response& response);
/// Nothing: not four bytes, or the checksum is wrong.
std::optional<Request> decode_request(std::span<const std::uint8_t> bytes);
std::optional<Response> decode_response(std::span<const std::uint8_t> bytes);
/// What is wrong with bytes that are no answer to a request about `asked`, for a sentence.
std::string fault_of(std::span<const std::uint8_t> bytes, Register asked);

/// "RVE (value out of range)".
std::string_view to_string(NopError error);
/// "Channel (0x30)".
std::string to_string(Register reg);

}  // namespace loom::itla
