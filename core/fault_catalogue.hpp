// SPDX-License-Identifier: Apache-2.0
// The one list of what can be wrong with a device or a fibre: fault files, the emulators' --fault, the simulated devices and
// alarms have these names and no others. A fault of the wire or of a protocol has one name for all roles; a fault of a part
// begins with the part. Values only; who does what with a fault is its models' business.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/fabric/fabric.hpp"

namespace loom {

enum class DeviceFaultKind : std::uint8_t {
  detune,          ///< light is `offset` away from where it should be (laser frequency, ring resonance of `channel`)
  drift,           ///< as detune, growing from 0 to `offset` while it lasts, then back to 0
  mode_hop,        ///< as detune, at once and for all that the device is told: the chip is on another mode
  dim,             ///< light is `loss` weaker (laser)
  fail,            ///< the light part is dead: a laser is dark, rings are cold, a switch passes nothing; the protocol tells so
  open,            ///< the heater of ring `channel` is not connected: the ring is cold, and its register tells nothing
  stick,           ///< says OK to every write and ignores it
  stuck_pending,   ///< takes a command, says that it is under way, and never ends
  slow_settle,     ///< everything that settles takes `factor` times as long
  misroute,        ///< obeys on the channel beside the one that it was told; registers name the right one
  false_readback,  ///< registers take and tell what is written, light stays what it was; a reboot ends it
  silence,         ///< answers nothing (commands do not arrive either)
  late,            ///< answers `delay` late; beyond the deadline the late frame is taken for the answer to the next request
  nack,            ///< "not now"
  garbage,         ///< damaged answers; commands do arrive
  bus_crc,         ///< frames fail their check in both directions: commands do not arrive, answers are damaged
  reboot,          ///< power is cut for a moment: everything is as at power-up at once, and nothing is answered meanwhile
  reboot_mid_command,  ///< the next write is carried out, then power is cut before it is answered, for `delay`
  warm,  ///< the chip's temperature changes: all rings of a bank go from 0 to `offset` while it lasts, and stay there
};

enum class FibreFaultKind : std::uint8_t {
  swap,   ///< the far ends of two fibres are exchanged
  cut,    ///< light that enters the fibre does not leave it
  dirty,  ///< the fibre's light is `loss` weaker: a plug that nobody wiped, a bend
};

/// The one value that a fault takes beside its times.
enum class FaultValue : std::uint8_t { none, delay, offset, loss, factor, percent, channel };

struct FaultName {
  std::string_view name;  ///< kebab-case
  DeviceFaultKind kind;
  std::uint8_t roles;  ///< a bit a DeviceRole
  FaultValue value;
  bool must_have_value;
  std::string_view meaning;
  std::string_view shows;  ///< how somebody finds out: alarm and sentence, or who else must look

  bool is_of(DeviceRole role) const { return (roles >> static_cast<unsigned>(role) & 1U) != 0; }
};

/// A fault of a fibre: no device has it, and none tells of it.
struct FibreFaultName {
  std::string_view name;
  FibreFaultKind kind;
  std::uint32_t fibres;  ///< that it is of
  FaultValue value;      ///< which it must have
  std::string_view meaning;
  std::string_view shows;
};

/// In the order of printing.
std::span<const FaultName> fault_catalogue();

std::span<const FibreFaultName> fibre_fault_catalogue();
std::string_view to_string(FibreFaultKind kind);

/// Null: no such name.
const FaultName* fault_named(std::string_view name);
/// Null: no device of this role can have it.
const FaultName* fault_of(DeviceFaultKind kind, DeviceRole role);
/// What a device of this role has if it has this; "?" if it cannot.
std::string_view name_of(DeviceFaultKind kind, DeviceRole role);
/// "'ocs-0' is a circuit_switch; expected a device that can have laser-dead: transmitter".
std::string refusal_of(const FaultName& fault, DeviceRole role, std::string_view device);
/// As files have it: "delay", "offset"; empty for none.
std::string_view to_string(FaultValue value);

}  // namespace loom
