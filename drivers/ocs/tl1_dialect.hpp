// SPDX-License-Identifier: Apache-2.0
// TL1 of optical circuit switches (Polatis on TCP 3082, Calient), as values and pure functions. A command is
// `VERB:target:access id:ctag::parameters;`; its reply names the ctag, `M  17 COMPLD` or `M  17 DENY`, has its rows in quotes,
// and ends with `;`. Autonomous messages (`A  3 REPT ...`) come whenever they like and end so, too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"
#include "drivers/ocs/port_rectangle.hpp"

namespace loom::tl1 {

struct Reply {
  bool completed = false;         ///< else denied
  std::vector<std::string> rows;  ///< without their quotes
  std::string code;               ///< of a denial: "IITA"
  std::string comment;            ///< of a denial: what stands in /* */
  bool operator==(const Reply&) const = default;
};

/// Ports of the device's own numbering.
struct Numbers {
  std::uint32_t first_input = 1;
  std::uint32_t first_output = 1;
};

/// The reply to `ctag` in what came; what is for nobody, or for another ctag, is skipped. Nothing unless every line of the
/// reply itself is accounted for: a row that is damaged must not be missing.
std::optional<Reply> read_reply(std::string_view text, std::string_view ctag);
/// "denies it: IITA, no such port"
std::string describe_denial(const Reply& reply);

/// "1&2&17"
std::string write_ports(std::span<const std::uint32_t> ports);
/// "1&2,17&18"
std::string write_patches(Numbers numbers, std::span<const CrossConnect> connects);
/// May it stand in a command? Letters, digits and what separates nothing.
bool is_word(std::string_view text);

// Rows. Nothing unless every character is accounted for.

/// "1,17": both ends of a connection, whichever comes first; nothing too if a port is not on the switch or comes twice.
std::optional<std::vector<CrossConnect>> read_patches(Numbers numbers, SwitchSize size, const std::vector<std::string>& rows);
/// "SYSTEM:SIZE=16x16", "LicensedPortMatrix=320x320,...": the value of `key` in the first row that has it.
std::optional<std::string> value_of(const std::vector<std::string>& rows, std::string_view key);
/// "3:OPEN", "12:-7.31": a port and a word each.
std::optional<std::vector<std::pair<std::uint32_t, std::string>>> read_port_words(const std::vector<std::string>& rows);
/// "-49.162", dBm
std::optional<Dbm> read_power(std::string_view text);

/// One row of Calient's cross-connects: "GGN:IPORTID=10001,...,OPORTID=20004,...,INPWR=-49.162,OUTPWR=0.000,...".
struct FiberConnect {
  std::uint32_t input = 0;   ///< 0: none
  std::uint32_t output = 0;  ///< 0: none
  std::optional<Dbm> input_power{};
  std::optional<Dbm> output_power{};
  bool operator==(const FiberConnect&) const = default;
};
std::optional<FiberConnect> read_fiber_connect(std::string_view row);

}  // namespace loom::tl1
