// SPDX-License-Identifier: Apache-2.0
// Checksums and bytes of ITLA frames. Never keeps state.
#include "drivers/transceiver/itla_frame.hpp"

#include <cstdio>

#include "core/text/format_text.hpp"

namespace loom::itla {
namespace {

/// BIP-4 over the four bytes, the checksum's own nibble left out.
std::uint8_t parity_of(std::span<const std::uint8_t> bytes) {
  const auto folded = static_cast<std::uint8_t>((bytes[0] & 0x0F) ^ bytes[1] ^ bytes[2] ^ bytes[3]);
  return static_cast<std::uint8_t>((folded >> 4) ^ (folded & 0x0F));
}

FrameBytes frame_of(std::uint8_t flags, Register reg, std::uint16_t data) {
  FrameBytes bytes{flags, static_cast<std::uint8_t>(reg), static_cast<std::uint8_t>(data >> 8),
                   static_cast<std::uint8_t>(data & 0xFF)};
  bytes[0] = static_cast<std::uint8_t>(bytes[0] | (parity_of(bytes) << 4));
  return bytes;
}

bool is_sound(std::span<const std::uint8_t> bytes) { return bytes.size() == 4 && (bytes[0] >> 4) == parity_of(bytes); }

std::uint16_t data_of(std::span<const std::uint8_t> bytes) { return static_cast<std::uint16_t>((bytes[2] << 8) | bytes[3]); }

}  // namespace

FrameBytes encode(const Request& request) {
  return frame_of(static_cast<std::uint8_t>((request.last_response ? 0x08 : 0) | (request.write ? 0x01 : 0)), request.reg,
                  request.data);
}

FrameBytes encode(const Response& response) {
  return frame_of(
      static_cast<std::uint8_t>((response.communication_error ? 0x08 : 0) | 0x04 | static_cast<std::uint8_t>(response.status)),
      response.reg, response.data);
}

std::optional<Request> decode_request(std::span<const std::uint8_t> bytes) {
  if (!is_sound(bytes)) {
    return std::nullopt;
  }
  return Request{(bytes[0] & 0x01) != 0, static_cast<Register>(bytes[1]), data_of(bytes), (bytes[0] & 0x08) != 0};
}

std::optional<Response> decode_response(std::span<const std::uint8_t> bytes) {
  if (!is_sound(bytes)) {
    return std::nullopt;
  }
  return Response{static_cast<Status>(bytes[0] & 0x03), (bytes[0] & 0x08) != 0, static_cast<Register>(bytes[1]),
                  data_of(bytes)};
}

std::string fault_of(std::span<const std::uint8_t> bytes, Register asked) {
  if (bytes.size() != 4) {
    return format_text("{} bytes where a frame has 4", bytes.size());
  }
  const auto response = decode_response(bytes);
  if (!response) {
    return "a damaged answer: wrong checksum";
  }
  if (response->communication_error) {
    return "the module found a wrong checksum in the request";
  }
  return format_text("an answer about {} where {} was asked", to_string(response->reg), to_string(asked));
}

std::string_view to_string(NopError error) {
  switch (error) {
    case NopError::none:
      return "OK (no error named)";
    case NopError::not_implemented:
      return "RNI (register not implemented)";
    case NopError::not_writable:
      return "RNW (register not writable)";
    case NopError::out_of_range:
      return "RVE (value out of range)";
    case NopError::pending:
      return "CIP (an operation is pending)";
    case NopError::initialising:
      return "CII (the module initialises)";
    case NopError::extended_range:
      return "ERE (extended address out of range)";
    case NopError::read_only:
      return "ERO (extended address read only)";
    case NopError::general:
      return "EXF (general execution failure)";
    case NopError::output_enabled:
      return "CIE (its output is enabled)";
    case NopError::invalid_configuration:
      return "IVC (invalid configuration)";
    case NopError::vendor:
      return "VSE (vendor specific)";
  }
  return "an unknown error";
}

std::string to_string(Register reg) {
  struct Name {
    Register reg;
    const char* text;
  };
  static constexpr std::array<Name, 33> kNames{{{Register::nop, "NOP"},
                                                {Register::device_type, "DevTyp"},
                                                {Register::maker, "MFGR"},
                                                {Register::model, "Model"},
                                                {Register::serial, "SerNo"},
                                                {Register::release, "Release"},
                                                {Register::extended, "AEA-EAR"},
                                                {Register::status_fatal, "StatusF"},
                                                {Register::status_warning, "StatusW"},
                                                {Register::channel, "Channel"},
                                                {Register::power, "PWR"},
                                                {Register::enable, "ResEna"},
                                                {Register::grid, "Grid"},
                                                {Register::fcf1, "FCF1"},
                                                {Register::fcf2, "FCF2"},
                                                {Register::lf1, "LF1"},
                                                {Register::lf2, "LF2"},
                                                {Register::oop, "OOP"},
                                                {Register::trim_max, "FTFR"},
                                                {Register::opsl, "OPSL"},
                                                {Register::opsh, "OPSH"},
                                                {Register::first1, "LFL1"},
                                                {Register::first2, "LFL2"},
                                                {Register::last1, "LFH1"},
                                                {Register::last2, "LFH2"},
                                                {Register::least_grid, "LGrid"},
                                                {Register::ftf, "FTF"},
                                                {Register::grid2, "Grid2"},
                                                {Register::fcf3, "FCF3"},
                                                {Register::lf3, "LF3"},
                                                {Register::first3, "LFL3"},
                                                {Register::last3, "LFH3"},
                                                {Register::least_grid2, "LGrid2"}}};
  const char* name = "register";
  for (const Name& row : kNames) {
    name = row.reg == reg ? row.text : name;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%s (0x%02X)", name, static_cast<unsigned>(reg));
  return text.data();
}

}  // namespace loom::itla
