// SPDX-License-Identifier: Apache-2.0
// The presets, and the keys that overrule them.
#include "drivers/heater/heater_board.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Waveshare's wiki, "Modbus RTU Analog Output 8CH": 0x0064 is release 1.00; that there will be no 10.00 is an assumption [K].
constexpr HeaterBoard::Identity kWaveshareVersion{0x8000, false, 100, 999};
/// ADAM-4000 series: 40201 on, a type code an output; 0x30 is 0 to 20 mA [K].
constexpr HeaterBoard::Identity kAdamTypeCode{200, true, 0x30, 0x30};
constexpr double kAdamCounts = 4095;  ///< at full scale, range from 0 [K]

constexpr std::array<HeaterBoard, kHeaterBoardNames.size()> kBoards{{
    {kHeaterBoardNames[0], 0, 0, false, 10, 1e3, true, kWaveshareVersion, {}},
    {kHeaterBoardNames[1], 0, 0, true, 20e-3, 1e6, true, kWaveshareVersion, {}},
    {kHeaterBoardNames[2], 0, 4, false, 10, kAdamCounts / 10, true, {}, 100},  // 40001..40004, status from 40101 on
    {kHeaterBoardNames[3], 0, 4, true, 20e-3, kAdamCounts / 20e-3, true, kAdamTypeCode, {}},  // 40001..40004
    {kHeaterBoardNames[4], 10, 2, false, 10, kAdamCounts / 10, true, {}, {}},                 // 40011, 40012
    {kHeaterBoardNames[5], 0, 0, false, 10, 0, true, {}, {}},
}};

struct StatusBit {
  unsigned bit;
  std::string_view trouble;
};
/// Advantech, ADAM-6224: address 40101 on.
constexpr std::array<StatusBit, 6> kStatusBits{{{3, "heater open"},
                                                {1, "output over range"},
                                                {2, "output under range"},
                                                {7, "converter failed"},
                                                {9, "calibration lost"},
                                                {0, "UART of the converter timed out"}}};

void overrule_identity(const DeviceProfileView& profile, HeaterBoard& board) {
  if (const std::int64_t address = profile.integer("version_register"); address >= 0) {
    board.identity = HeaterBoard::Identity{static_cast<std::uint16_t>(address), false, 1, 65'535};
  }
  if (const std::int64_t version = profile.integer("version"); version >= 0 && board.identity) {
    board.identity->least = board.identity->most = static_cast<std::uint16_t>(version);
  }
  if (!profile.flag("checks_version")) {
    board.identity.reset();
  }
}

}  // namespace

HeaterSource HeaterBoard::source() const {
  constexpr double kEnough = 1e6;  // the other limit decides
  return drives_current ? HeaterSource{kEnough, full_scale} : HeaterSource{full_scale, kEnough};
}

std::uint16_t HeaterBoard::counts_of(double volts, double ohm) const {
  return static_cast<std::uint16_t>(std::clamp<std::int64_t>(std::llround((drives_current ? volts / ohm : volts) * scale), 0,
                                                             std::min<std::int64_t>(std::llround(full_scale * scale), 65'535)));
}

double HeaterBoard::volts_of(std::uint16_t counts, double ohm) const { return counts / scale * (drives_current ? ohm : 1.0); }

std::string HeaterBoard::text_of(std::uint16_t counts) const {
  return drives_current ? microampere_text(counts / scale) : millivolt_text(counts / scale);
}

HeaterBoard heater_board_of(const Device& device) {
  const DeviceProfileView profile(kHeaterBoardKeys, device.profile);
  HeaterBoard board = kBoards.at(profile.word("board"));
  if (const std::int64_t base = profile.integer("register_base"); base >= 0) {
    board.base = static_cast<std::uint16_t>(base);
  }
  if (const std::size_t unit = profile.word("unit"); unit > 0) {
    board.drives_current = kHeaterUnits.at(unit) == "ampere";
  }
  if (const double scale = profile.real("scale"); scale > 0) {
    board.scale = scale;
  }
  if (const double full_scale = profile.real("full_scale"); full_scale > 0) {
    board.full_scale = full_scale;
  }
  if (const std::int64_t status = profile.integer("status_register"); status >= 0) {
    board.status = static_cast<std::uint16_t>(status);
  }
  board.block_writes = profile.flag("block_writes");
  overrule_identity(profile, board);
  return board;
}

std::string refuse_board(const Fabric& fabric, const Device& device) {
  const HeaterBoard board = heater_board_of(device);
  const std::size_t rings = device.elements.size();
  if (!(board.scale > 0)) {
    return format_text("board {} has no scale of its own: expected scale (counts a volt, or an ampere) in its profile",
                       board.name);
  }
  if (board.full_scale * board.scale > 65'535) {
    return format_text("its full_scale is {} counts of its scale, limit 65535", std::llround(board.full_scale * board.scale));
  }
  if (board.outputs > 0 && rings > board.outputs) {
    return format_text("it has {} rings, and a board {} has {} outputs", rings, board.name, board.outputs);
  }
  if (board.base + rings > 65'536) {
    return format_text("{} rings from register {} on end beyond 65535", rings, board.base);
  }
  return refuse_weak_source(fabric, device, board.source());
}

std::string status_trouble(std::span<const std::uint16_t> words) {
  std::uint16_t bits = 0;
  for (const std::uint16_t word : words) {  // in which of the two the bits are, no public page says
    bits = static_cast<std::uint16_t>(bits | word);
  }
  const auto set = std::ranges::find_if(kStatusBits, [&](const StatusBit& each) { return (bits >> each.bit & 1) != 0; });
  return set == kStatusBits.end() ? std::string{} : std::string(set->trouble);
}

}  // namespace loom
