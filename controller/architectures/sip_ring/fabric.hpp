// SPDX-License-Identifier: Apache-2.0
// The fabric of SiP-Ring: its parameters, what is made of them, and its template for fabric files.
#pragma once

#include <chrono>
#include <cstdint>

#include "core/config/fabric_template.hpp"
#include "core/fabric/fabric.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// Parameters of SiP-Ring (docs/systems/sipml.md#constants): every node has a fixed transmitter, a receiver and an add/drop
/// ring filter for each wavelength of each (ring, direction).
struct SipRingParameters {
  std::uint32_t nodes = 16;
  std::uint32_t rings = 2;         ///< parallel rings of fibre pairs, R
  std::uint32_t wavelengths = 32;  ///< a node, W, at least 2 R: spread over rings and directions by spread_wavelengths()
  std::int32_t channel_step_n = 16;
  std::int32_t channel_width_m = 8;
  std::int32_t first_channel_n = -272;
  BitRate rate = gigabits(25);
  FrequencyOffset signal_width{35'000};
  FrequencyOffset filter_fwhm{40'000};
  std::uint32_t filters_per_bank = 8;  ///< a heater bank's channels
  std::int64_t hop_length_mm = 2'000;  ///< of fibre between neighbours
  Db hop_loss{20};
  Duration laser_retune_max = std::chrono::milliseconds{10};
  Duration laser_blank_max = std::chrono::microseconds{100};
  Duration laser_control_max = std::chrono::milliseconds{20};
  Duration receiver_acquisition_max = std::chrono::microseconds{1};
};

/// Rings of the arena's fabric: five (docs/systems/sipml.md#constants) where each gets a wavelength either way, else one.
constexpr std::uint32_t sip_rings_of(std::uint32_t wavelengths) {
  constexpr std::uint32_t kMost = 5;
  return wavelengths >= 2 * kMost ? kMost : 1;
}

/// Node i's bus of (ring r, direction d) runs through its filters in channel order and on to node i + 1 (d = 0) or i - 1.
/// A filter that is cold stands half a channel above its own, so that no filter crosses another's wavelength on its way.
/// Within a node transmitters, receivers and filters go bus by bus (2 r + d), in each by wavelength.
Fabric make_sip_ring(const SipRingParameters& parameters);

extern const FabricTemplate kSipRingTemplate;

}  // namespace loom
