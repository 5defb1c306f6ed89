// SPDX-License-Identifier: Apache-2.0
// SimulatedDevice: one simulated device behind the REGISTERS seam. It executes a transaction at an instant and answers as the
// wire would, less obliging than hardware and never more. It never reads a clock; everything follows from its seed and calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/ring/ring_habits.hpp"
#include "core/time.hpp"
#include "core/transaction.hpp"
#include "core/units.hpp"
#include "sim_backend/devices/fault_list.hpp"
#include "sim_backend/devices/late_answers.hpp"
#include "sim_backend/devices/optical_state.hpp"

namespace loom {

/// One register that a command changed or tried to change, in order; tests assert on it ("blanked before retune", "written
/// once").
struct Actuation {
  Instant at{};
  std::uint32_t address = 0;  ///< ITLA register, holding register, WSS channel (0: grid rebuild), OCS input
  std::int32_t value = 0;     ///< WSS: port; OCS: output, -1 = open
  bool operator==(const Actuation&) const = default;
};

/// What is around the fabric's ports of a circuit switch. Ports are counted from 0 on the whole switch, inputs before outputs.
struct CircuitSwitchOptions {
  std::vector<CrossConnect> occupied{};              ///< connections of others, until a power cycle
  std::vector<std::uint32_t> disabled{};             ///< ports
  std::vector<std::uint32_t> failed{};               ///< ports
  std::vector<std::uint32_t> shut{};                 ///< ports whose shutter is closed
  bool shutters_stick = false;                       ///< and stay so
  std::vector<std::pair<std::uint32_t, Dbm>> lit{};  ///< light that comes to inputs, for its power monitors
  std::string user{};                                ///< of a switch that must be logged in to; empty: anybody is let in
  std::string password{};
  bool announces = false;  ///< an autonomous message before every reply (TL1)
};

/// What the receiver in a pluggable module tells, whatever comes to it; nothing: it tells nothing.
struct ModuleSignal {
  std::optional<Dbm> received;
  std::optional<Db> osnr;
  std::optional<double> pre_fec_ber;
};

struct SimDeviceOptions {
  std::uint64_t seed = 1;
  std::uint32_t serial_baud = 115'200;  ///< lasers and WSS. OIF-ITLA-MSA starts at 9600; a testbed raises it through IOCap
  std::uint32_t modbus_baud = 115'200;  ///< heater banks. Waveshare ships 9600; a testbed raises it through register 0x2000
  Duration device_time = std::chrono::microseconds{100};  ///< a device thinks before it answers [K]
  Duration power_up = Duration{};                         ///< a laser refuses (CII) until then
  Duration laser_enable = std::chrono::milliseconds{1};   ///< SENA to full power [K]
  std::string laser_serial{};                             ///< that a laser says; empty: the device's, or one made of its number
  bool laser_tells = true;                ///< a laser says who it is and what it can do; false: it has no such registers
  FrequencyOffset laser_grid{100};        ///< the least step of a laser's grid register [K]
  FrequencyOffset laser_trim_max{6'000};  ///< how far a laser's fine tuning goes, either way [K]
  Duration heater_time_constant = std::chrono::microseconds{14};  ///< separated heater; docs/devices.md: 1..170 us
  RingHabits rings{};
  Duration register_access = std::chrono::nanoseconds{200};  ///< a block of words of a laser with a table [K]
  ModuleSignal signal{};                                     ///< of CMIS modules
  std::uint32_t i2c_hertz = 400'000;                         ///< of a pluggable module's two wires
  bool wss_checksum = false;                                 ///< a WSS frames every reply as ^text$HHHH, asked so or not
  std::int32_t wss_slices = 772;                             ///< of a WSS: 772 of 6.25 GHz or 386 of 12.5 GHz
  CircuitSwitchOptions ocs{};
  bool keep_actuations = false;  ///< for tests; grows without end
};

/// The trigger input of a simulated device that has one.
class EdgeInput {
 public:
  virtual ~EdgeInput() = default;
  /// It takes over what it holds ready.
  virtual void edge(Instant at) = 0;
};

class SimulatedDevice {
 public:
  SimulatedDevice(DeviceId device, const SimDeviceOptions& options);
  virtual ~SimulatedDevice() = default;
  SimulatedDevice(const SimulatedDevice&) = delete;
  SimulatedDevice& operator=(const SimulatedDevice&) = delete;

  /// `now` never decreases; the next call comes no earlier than the previous one's now + service_time. An answer that would
  /// take longer than the deadline is a timeout, though the command may have been carried out.
  ModelReply execute(Instant now, const Transaction& transaction);
  /// What its light does because of execute() and inject() since the last call, ascending `at`.
  std::vector<OpticalChange> take_changes();
  bool has_changes() const { return !changes_.empty(); }
  /// From now to fault.until. Several faults may be active.
  void inject(Instant now, const DeviceFault& fault);
  /// What its registers make of the light, from what was commanded so far; the state at power-up is light(Instant{}).
  virtual OpticalState light(Instant at) const = 0;
  /// Ground truth: the same, unless a fault parts light from registers.
  OpticalState true_light(Instant at) const;
  /// Can this write do nothing but take light away? Such a one is right whatever the device holds.
  virtual bool only_darkens(const Actuation&) const { return false; }

  DeviceId device() const { return device_; }
  const std::vector<Actuation>& actuations() const { return actuations_; }

 protected:
  /// What the device answers when the wire is sound. `service_time` includes the wire.
  virtual ModelReply respond(Instant now, const Transaction& transaction) = 0;
  /// How it says "not now".
  virtual ModelReply refuse(Instant now, const Transaction& transaction) = 0;
  /// What it says to a request whose check fails: most say nothing.
  virtual ModelReply unread(Instant, const Transaction& transaction) {
    return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  }
  /// All that a power cycle at `now` takes away. Ground truth may follow gradually (a ring cools).
  virtual void power_up(Instant now) = 0;
  /// Instants after `from` at which light() may differ from just before; any order, doubles allowed.
  virtual void append_breakpoints(Instant from, std::vector<Instant>& instants) const = 0;

  /// Does to the channel or port beside each what it was told to do to that one.
  virtual void misroute(OpticalState&) const {}
  /// The registers changed so that light differs from `at` on: recomputes the future from there.
  void light_changed(Instant now, Instant at);
  void record(Instant at, std::uint32_t address, std::int32_t value);
  bool has_fault(DeviceFaultKind kind, Instant at) const { return faults_.find(kind, at) != nullptr; }
  const FaultList& faults() const { return faults_; }
  FrequencyOffset detuning(Instant at, std::uint16_t channel, bool visible_only) const {
    return faults_.detuning(at, channel, visible_only);
  }
  Db dimming(Instant at, bool visible_only) const { return faults_.dimming(at, visible_only); }
  /// `settle`, stretched by the faults of `at`.
  Duration stretched(Instant at, Duration settle) const { return faults_.stretched(at, settle); }
  std::uint64_t draw();
  const SimDeviceOptions& options() const { return options_; }

 private:
  void forget_past(Instant now);

  DeviceId device_;
  SimDeviceOptions options_;
  std::uint64_t chance_;
  std::uint32_t generation_ = 0;
  FaultList faults_;
  std::vector<OpticalChange> future_;   ///< [0] is the state now, the rest lies ahead
  std::vector<OpticalChange> changes_;  ///< not yet taken
  std::vector<Actuation> actuations_;
  LateAnswers late_;
  bool has_written_ = false;  ///< the transaction under way changed a register, or tried to
};

}  // namespace loom
