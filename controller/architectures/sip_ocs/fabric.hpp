// SPDX-License-Identifier: Apache-2.0
// The fabric of SiP-OCS: its parameters, what is made of them, and its template for fabric files.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/config/fabric_template.hpp"
#include "core/fabric/fabric.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// Parameters of SiP-OCS (docs/systems/sipml.md#constants): every node has a transmitter and a receiver on each of Q circuit
/// switches.
struct SipOcsParameters {
  std::uint32_t nodes = 16;
  std::uint32_t switches = 4;  ///< Q
  BitRate rate = gigabits(100);
  std::int32_t channel_n = 0;  ///< all transmitters', 193.1 THz
  std::int32_t channel_width_m = 8;
  FrequencyOffset signal_width{75'000};
  std::int64_t fibre_length_mm = 20'000;
  Duration ocs_settle_max = std::chrono::milliseconds{30};
  Duration laser_retune_max = std::chrono::milliseconds{10};
  Duration laser_blank_max = std::chrono::microseconds{100};
  Duration laser_control_max = std::chrono::milliseconds{20};
  Duration receiver_acquisition_max = std::chrono::microseconds{1};
};

/// Transmitter q of node i is at input i of switch q, receiver q of node j at its output j. Switch q is driven by the agent of
/// node q mod nodes.
Fabric make_sip_ocs(const SipOcsParameters& parameters);

extern const FabricTemplate kSipOcsTemplate;

}  // namespace loom
