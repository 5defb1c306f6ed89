// SimulatedDevice: one simulated device behind the REGISTERS seam. It executes a transaction at an instant and answers as the
// wire would, less obliging than hardware and never more. It never reads a clock; everything follows from its seed and calls.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/time.hpp"
#include "core/transaction.hpp"
#include "core/units.hpp"
#include "sim_backend/devices/optical_state.hpp"

namespace loom {

struct ModelReply {
  BusReply reply;
  Duration service_time{};  ///< wire (baud, bytes) and device; the lane is busy for it and delivers the reply after it
};

enum class DeviceFaultKind : std::uint8_t {
  detune,          ///< light is `offset` away from where it should be (laser frequency, ring resonance of `channel`)
  drift,           ///< as detune, growing from 0 to `offset` between now and `until`, then back to 0
  dim,             ///< light is `loss` weaker (laser)
  fail,            ///< the light part is dead: a laser is dark, rings are cold, a switch passes nothing; the protocol tells so
  stick,           ///< says OK to every write and ignores it
  silence,         ///< answers nothing (commands do not arrive either)
  late,            ///< answers `delay` late; beyond the deadline the late frame is taken for the answer to the next request
  nack,            ///< "not now"
  garbage,         ///< damaged answers; commands do arrive
  slow_settle,     ///< everything that settles takes `factor` times as long
  reboot,          ///< power is cut for a moment: everything is as at power-up at once, and nothing is answered before `until`
  misroute,        ///< a switch: light leaves by the next port, while the registers name the right one
  false_readback,  ///< registers take and tell what is written, light stays what it was; a reboot ends it
};

struct DeviceFault {
  DeviceFaultKind kind = DeviceFaultKind::silence;
  Instant until = kNever;
  FrequencyOffset offset{0};
  Db loss{0};
  std::int32_t factor = 10;
  Duration delay = kForever;   ///< late: an answer comes so long after its time
  std::uint16_t channel = 0;   ///< ring of a bank
  std::int32_t percent = 100;  ///< nack, garbage, silence: of the transactions
  std::uint32_t times = 0;     ///< late, nack, garbage, silence: so many transactions only; 0: all
  bool hidden = false;         ///< detune, drift, dim: the device's own read-back does not notice
};

/// One register that a command changed or tried to change, in order; tests assert on it ("blanked before retune", "written
/// once").
struct Actuation {
  Instant at{};
  std::uint32_t address = 0;  ///< ITLA register, holding register, WSS channel (0: grid rebuild), OCS input
  std::int32_t value = 0;     ///< WSS: port; OCS: output, -1 = open
  bool operator==(const Actuation&) const = default;
};

struct SimDeviceOptions {
  std::uint64_t seed = 1;
  std::uint32_t serial_baud = 115'200;  ///< lasers and WSS. OIF-ITLA-MSA starts at 9600; a testbed raises it through IOCap
  std::uint32_t modbus_baud = 115'200;  ///< heater banks. Waveshare ships 9600; a testbed raises it through register 0x2000
  Duration device_time = std::chrono::microseconds{100};          ///< a device thinks before it answers [K]
  Duration power_up = Duration{};                                 ///< a laser refuses (CII) until then
  Duration laser_enable = std::chrono::milliseconds{1};           ///< SENA to full power [K]
  Duration heater_time_constant = std::chrono::microseconds{14};  ///< separated heater; docs/devices.md: 1..170 us
  Duration register_access = std::chrono::nanoseconds{200};       ///< a block of words of a laser with a table [K]
  bool wss_checksum = false;                                      ///< a WSS frames every reply as ^text$HHHH, asked so or not
  std::int32_t wss_slices = 772;                                  ///< of a WSS: 772 of 6.25 GHz or 386 of 12.5 GHz
  bool keep_actuations = false;                                   ///< for tests; grows without end
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
  /// All that a power cycle at `now` takes away. Ground truth may follow gradually (a ring cools).
  virtual void power_up(Instant now) = 0;
  /// Instants after `from` at which light() may differ from just before; any order, doubles allowed.
  virtual void append_breakpoints(Instant from, std::vector<Instant>& instants) const = 0;

  /// Sends every route to the next port.
  virtual void misroute(OpticalState&) const {}
  /// The registers changed so that light differs from `at` on: recomputes the future from there.
  void light_changed(Instant now, Instant at);
  void record(Instant at, std::uint32_t address, std::int32_t value);
  bool has_fault(DeviceFaultKind kind, Instant at) const { return active_fault(kind, at) != nullptr; }
  const DeviceFault* active_fault(DeviceFaultKind kind, Instant at) const;  ///< the first; null: none
  /// Sum of detune and drift at `at`; `visible_only`: what the device itself notices.
  FrequencyOffset detuning(Instant at, std::uint16_t channel, bool visible_only) const;
  Db dimming(Instant at, bool visible_only) const;
  /// `settle`, stretched by the faults of `at`.
  Duration stretched(Instant at, Duration settle) const;
  std::uint64_t draw();
  const SimDeviceOptions& options() const { return options_; }

 private:
  struct ActiveFault {
    Instant since{};
    DeviceFault fault;
    OpticalState light{};  ///< of false_readback: what stays
  };
  void forget_past(Instant now);
  bool strikes(DeviceFaultKind kind, Instant now);
  void damage(BusReply& reply);

  DeviceId device_;
  SimDeviceOptions options_;
  std::uint64_t chance_;
  std::uint32_t generation_ = 0;
  std::vector<ActiveFault> faults_;
  std::vector<OpticalChange> future_;   ///< [0] is the state now, the rest lies ahead
  std::vector<OpticalChange> changes_;  ///< not yet taken
  std::vector<Actuation> actuations_;
  BusReply late_reply_;
  bool late_reply_waits_ = false;
};

}  // namespace loom
