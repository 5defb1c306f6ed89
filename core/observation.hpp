// SPDX-License-Identifier: Apache-2.0
// Observation: what a device was last seen to be, and how old that truth is. Made by drivers, reported by agents, compared
// with desired and applied by controller/plan/reconcile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/ids.hpp"
#include "core/messages/one_of.hpp"
#include "core/plan.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

enum class DeviceHealth : std::uint8_t { unknown, ready, moving, failed };

struct TransmitterObservation {
  Frequency frequency;
  Dbm power{kNoLight};
  bool emitting = false;
  bool locked = false;
  std::uint16_t status_fatal = 0;    ///< what its model says is broken, in bits of its own; 0: nothing
  std::uint16_t status_warning = 0;  ///< what it says is not as it should be, likewise
  std::optional<Dbm> received{};     ///< by the receiver in the same module, where it tells
  std::optional<Db> osnr{};          ///< of what that receives, in 0.1 nm, likewise
  /// Bit errors before correction that it counts of 10^15 bits, likewise: 10^12 is a ratio of 0.001.
  std::optional<std::int64_t> pre_fec_errors{};
  bool operator==(const TransmitterObservation&) const = default;
};

/// How the light of a ring that is held is found.
enum class LockState : std::uint8_t {
  waiting,   ///< not looked at yet
  seeking,   ///< under way to its place
  locked,    ///< within an eighth of its width of where most of its light drops
  no_light,  ///< none is seen, or what is seen is no ring's: it stays where it was last found
  at_limit   ///< its place lies beyond what its heater can do
};
std::string_view to_string(LockState state);

/// A ring that its agent holds on its light.
struct RingLock {
  std::uint16_t channel = 0;
  LockState state = LockState::waiting;
  FrequencyOffset trim{0};  ///< by which it was moved from where its setpoint puts it, by the fabric's figures; above 0: up
  bool operator==(const RingLock&) const = default;
};

struct FilterObservation {
  std::vector<std::int32_t> millivolts;  ///< by channel
  std::vector<RingLock> locks{};         ///< ascending channel; rings that are not held, and never were, are not named
  bool operator==(const FilterObservation&) const = default;
};

struct WavelengthSwitchObservation {
  std::vector<WssRoute> routes;
  bool settled = false;
  bool operator==(const WavelengthSwitchObservation&) const = default;
};

/// Light at a port of a switch, by a tap of its own.
struct PortPower {
  std::uint16_t port = 0;
  bool is_input = true;
  Dbm power{kNoLight};
  bool operator==(const PortPower&) const = default;
};

struct CircuitSwitchObservation {
  std::vector<CrossConnect> connects;
  bool settled = false;
  /// Connections that somebody else made on ports of ours, ascending input: reported, and never removed.
  std::vector<CrossConnect> occupied{};
  std::vector<PortPower> powers{};  ///< ascending (input before output, port); empty: it has no taps
  bool operator==(const CircuitSwitchObservation&) const = default;
};

/// Light at one channel of a monitor.
struct LightReading {
  std::uint16_t channel = 0;  ///< place in Device::elements
  Dbm power{kNoLight};
  Frequency frequency{};  ///< 0: it measures power only
  bool operator==(const LightReading&) const = default;
};

struct MonitorObservation {
  std::vector<LightReading> lights;  ///< ascending (channel, frequency); a channel without one is dark
  bool is_wavemeter = false;         ///< it tells frequencies: a wavemeter or a spectrum analyser
  bool operator==(const MonitorObservation&) const = default;
};

/// An amplifier or attenuator. Powers are of all light together, by sensors of its own.
struct GainObservation {
  Db gain{0};                   ///< that it says it has; an attenuator's is 0 or below; kGainOff: it is off
  bool settled = false;         ///< it does not move
  std::optional<Dbm> input{};   ///< kNoLight or less: dark; none: it does not tell
  std::optional<Dbm> output{};  ///< likewise
  bool operator==(const GainObservation&) const = default;
};

using Reading = OneOf<std::monostate, TransmitterObservation, FilterObservation, WavelengthSwitchObservation,
                      CircuitSwitchObservation, MonitorObservation, GainObservation>;

/// Who says that a device is as it reads.
enum class Proof : std::uint8_t {
  assumed,  ///< it repeats what it was told: nothing has looked at the light
  device,   ///< a sensor of its own: a locker, a tap, a converter that measures
  monitor   ///< something else that measures the light itself
};
std::string_view to_string(Proof proof);

/// What is wrong with a device, as far as its driver can tell: the kind of `Observation::fault`.
enum class Trouble : std::uint8_t {
  none,
  silent,     ///< no answer within its deadline
  refusing,   ///< it says no, or "not now"
  garbage,    ///< answers that are none
  bad_check,  ///< frames that fail their check, on the way there or back
  bus_lost,   ///< the bus itself is gone: nothing is known of the device
  unheeded,   ///< it does not read back as it was told, or lost what it held
  unsettled,  ///< under way for longer than it may be
  unlocked,   ///< its locker does not see the light where it should be
  open,       ///< a heater that is not connected
  broken,     ///< it says so itself
  misfit      ///< another device, or another make of it, than the fabric says
};
std::string_view to_string(Trouble trouble);

/// Who a device says that it is; empty where it does not say.
struct DeviceIdentity {
  std::string serial;       ///< its serial number
  std::string description;  ///< maker, model, releases, as one line
  bool operator==(const DeviceIdentity&) const = default;
};

struct Observation {
  DeviceId device;
  DeviceHealth health = DeviceHealth::unknown;
  Instant read_at{};
  Reading reading;
  std::string fault;                ///< empty, or one sentence
  Trouble trouble = Trouble::none;  ///< of `fault`
  Proof proof = Proof::assumed;
  DeviceIdentity identity{};
  bool operator==(const Observation&) const = default;
};

/// In which way a reading differs from what is desired. The word decides the answer, so it names what was seen, not its cause.
enum class Drift : std::uint8_t {
  none,
  missing,  ///< light, heat or a connection that is desired is not there
  foreign,  ///< there is one that nobody asked for
  detuned,  ///< light or a resonance beside its place
  dim,      ///< weaker than asked for
  stale,    ///< nothing is known, or nothing new
};
std::string_view to_string(Drift drift);

}  // namespace loom
