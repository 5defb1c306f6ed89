// SPDX-License-Identifier: Apache-2.0
// SCPI of optical circuit switches, Polatis class (TCP 5025), as values and pure functions: cross-connects are two channel
// lists, `:oxc:swit:conn:add (@1,2),(@17,18)`, ports 1..N ingress and N+1..N+M egress, the smaller number first. Commands are
// silent; `;*opc?` makes a line answer, the error queue and `:oxc:swit:conn:stat?` say what became of it.
//
// The words are values because the DiCon GP750 has the same `:OXC:SWITch:CONNect` tree. Ours, because nothing public says it:
// the error queue is answered as SCPI-99 volume 2 chapter 21.8 has it, `-222,"Data out of range"` a pair an error.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan.hpp"
#include "drivers/ocs/port_rectangle.hpp"

namespace loom::scpi {

struct Dialect {
  std::string vendor = "Polatis";  ///< first field of *idn?, whatever its case
  std::string size_query = ":oxc:swit:size?";
  std::string map_query = ":oxc:swit:conn:stat?";
  std::string connect = ":oxc:swit:conn:add";
  std::string disconnect = ":oxc:swit:conn:sub";
  std::string port_states_query = ":oxc:swit:port:stat?";
  std::string errors_query = ":syst:err:all?";
  std::string terminator = "\n";  ///< of requests and replies; a reply may have \r before it. Serial replies end in \r
};

/// Ports of a switch: `inputs` ingress, then `outputs` egress.
using Size = SwitchSize;

enum class PortState : std::uint8_t { enabled, disabled, failed };

/// One entry of the error queue.
struct QueuedError {
  std::int32_t number = 0;
  std::string text;
  bool operator==(const QueuedError&) const = default;
};

/// `verb` is Dialect::connect or ::disconnect: "verb (@1,2),(@17,18);*opc?".
std::string write_connects(std::string_view verb, Size size, std::span<const CrossConnect> connects);
/// "(@1,2,17)"
std::string write_channels(std::span<const std::uint32_t> ports);
/// "(@1,2),(@17,18)", the form in which a map is answered too.
std::string write_map(Size size, std::span<const CrossConnect> connects);

// Answers, without their terminator. Strict: nothing unless every character is accounted for.

/// "16,16"
std::optional<Size> read_size(std::string_view text);
/// "(@1,3),(@19,18)" or "(@),(@)", ascending input. Nothing too if a port is not on the switch or comes twice.
std::optional<std::vector<CrossConnect>> read_map(Size size, std::string_view text);
/// `-222,"Data out of range",-113,"Undefined header"`; empty for `0,"No error"`.
std::optional<std::vector<QueuedError>> read_errors(std::string_view text);
/// "(D,E,F)", a letter a port asked for.
std::optional<std::vector<PortState>> read_port_states(std::string_view text);
bool same_word(std::string_view a, std::string_view b);

/// The channel list at the front of `text`, which is left behind it; "(@)" is empty. Ranges are not taken.
std::optional<std::vector<std::uint32_t>> eat_channels(std::string_view& text);

/// The text of a reply line, nothing if it has no terminator, more than one, or none of it is printable.
std::optional<std::string_view> unframe(const Dialect& dialect, std::string_view line);

}  // namespace loom::scpi
