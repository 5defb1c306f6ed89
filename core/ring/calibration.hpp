// SPDX-License-Identifier: Apache-2.0
// Calibration of a bank of micro-rings: where each stood when light told, and the arithmetic that makes heater voltages of it.
// A ring's resonance lies where the bank is off, less what its own heater and those of its neighbours take it down by:
// f_i = cold_i - sum_j a_ij V_j^2. What a fabric file says of rings is of their kind, or their maker's; this was measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// One ring of a bank, by light that was seen behind it.
struct RingLaw {
  std::uint16_t channel = 0;
  Frequency cold_resonance;         ///< the whole bank off
  std::vector<std::int64_t> shift;  ///< kHz a V^2 of each heater of the bank, by channel; its own at `channel`, above 0
  FrequencyOffset residual{0};      ///< the furthest that a peak lay from this law, or from it before it was fitted to that one
  std::uint32_t points = 0;         ///< peaks that it was fitted to
  bool operator==(const RingLaw&) const = default;
};

/// What light of a laser brought on one channel, beside what the fabric's figures say of its way.
struct ChannelLight {
  FrequencySlot slot;
  Db offset{0};                               ///< above 0: more
  ElementId receiver;                         ///< where it was measured
  std::optional<FrequencyOffset> detuning{};  ///< by which it stands above its channel; none: no wavemeter sees it there
  bool operator==(const ChannelLight&) const = default;
};

/// What is known of a bank or of a laser since it was last measured. Rings and channels that it does not name are as the fabric
/// says.
struct DeviceCalibration {
  DeviceId device;
  std::uint32_t version = 0;  ///< counted by the controller, from 1
  WallTime measured_at{};
  std::string serial{};                ///< that the bank's electronics said; empty: they say none
  std::vector<RingLaw> rings;          ///< of a bank: ascending channel
  std::vector<ChannelLight> lights{};  ///< of a laser: ascending slot
  bool is_empty() const { return rings.empty() && lights.empty(); }
  bool operator==(const DeviceCalibration&) const = default;
};

/// A heater at a voltage while its ring is being measured, whatever any law makes of it.
struct RingDrive {
  ElementId ring;
  std::int32_t millivolts = 0;
  bool operator==(const RingDrive&) const = default;
};

/// Light that is sent to be measured, for no job: the way to `receiver` is kept for it whether it shines or not.
struct Probe {
  ElementId transmitter;
  ElementId receiver;
  FrequencySlot slot;
  bool emit = true;
  bool operator==(const Probe&) const = default;
};

/// Of its worst ring.
FrequencyOffset residual_of(const DeviceCalibration& bank);
/// The law of the ring of this channel; null: it was not measured.
const RingLaw* law_of(const DeviceCalibration& bank, std::size_t channel);
/// As the fabric has it, the bank's other heaters without effect.
RingLaw nominal_law(const RingFilter& ring, std::size_t channel, std::size_t channels);

/// Where the ring stands with these voltages, by channel of the bank.
Frequency resonance_by(const RingLaw& law, std::span<const std::int32_t> millivolts);

/// Gives every ring of the setpoint that was measured its heater's voltage, so that all of them stand where they shall although
/// each warms the others; rings that were not measured are driven by the fabric's law and warm the others by it. `rings`: of
/// the bank, by channel. A ring that has a drive already keeps it. out_of_range, with the ring and both numbers: it lies above
/// its cold resonance, or needs more than heater_volt_max.
Result<void> drive_by(const DeviceCalibration& bank, std::span<const RingFilter> rings, FilterSetpoint& setpoint);

/// Kelvin by which the chip may warm or cool until a ring's heater has nothing left to hold `resonance`, at kRingMhzPerKelvin.
struct Headroom {
  double warmer_kelvin = 0;
  double cooler_kelvin = 0;
};
/// 87.5 pm/K, air-clad silicon ring (Ptasinski 2014), at 1550 nm: of the kind, not of any one ring.
inline constexpr double kRingMhzPerKelvin = 10'920;
/// `trim`: by which it is moved up already (RingLock::trim).
Headroom headroom_of(const RingLaw& law, const RingFilter& ring, Frequency resonance, FrequencyOffset trim);

}  // namespace loom
