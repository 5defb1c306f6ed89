// SPDX-License-Identifier: Apache-2.0
// OpticalState: what a device does to light at an instant of ground truth. Made by device models, read by the simulated
// world, which propagates it over the Fabric. No controller, agent or driver ever sees it.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/ids.hpp"
#include "core/plan.hpp"
#include "core/time.hpp"
#include "core/units.hpp"

namespace loom {

/// Light at the transmitter's output. Dark: `power` is kNoLight or less and `frequency` means nothing.
struct LaserLight {
  bool emitting = false;
  Frequency frequency;  ///< true frequency: mid-tune, detuned and drifting light included
  Dbm power{kNoLight};
  bool operator==(const LaserLight&) const = default;
};

/// As a laser that takes a neighbour's channel for its own: the next above, at the end of the plan the next below.
inline void tune_beside(LaserLight& light, const ChannelPlan& channels) {
  const FrequencyOffset step{channels.step_n * kGridStep.mhz};
  const Frequency last = centre_of(channels.slot(channels.count - 1));
  if (light.emitting) {
    light.frequency = light.frequency + step <= last ? light.frequency + step : light.frequency - step;
  }
}

/// Index = place in Device::elements. One resonance is given; with a free spectral range there are more at its multiples.
struct RingLight {
  std::vector<Frequency> resonances;
  bool operator==(const RingLight&) const = default;
};

/// `routes` pass light now, with the attenuation that they have now (an untouched one dips while a hologram reloads).
/// `moving` are routes, old and new, of channels under way: they pass nothing usable, and no light should enter them.
struct WssLight {
  std::vector<WssRoute> routes;  ///< ascending (slot.n, input)
  std::vector<WssRoute> moving;  ///< ascending (slot.n, input, output); empty: at rest
  bool operator==(const WssLight&) const = default;
};

/// As WssLight, for whole ports.
struct OcsLight {
  std::vector<CrossConnect> connects;
  std::vector<CrossConnect> moving;
  bool operator==(const OcsLight&) const = default;
};

/// A monitor takes light in, and does nothing to any other.
struct MonitorLight {
  bool operator==(const MonitorLight&) const = default;
};

/// An amplifier (0 or above) or attenuator, beside its insertion loss.
struct GainLight {
  Db gain{0};
  bool operator==(const GainLight&) const = default;
};

using OpticalState = std::variant<LaserLight, RingLight, WssLight, OcsLight, MonitorLight, GainLight>;

/// From `at` on the device's light is `state`. `at` may lie ahead of the instant at which the change was decided; a change is
/// void as soon as one of a higher generation of the same device has been taken from its model (something overtook it).
struct OpticalChange {
  Instant at{};
  DeviceId device;
  std::uint32_t generation = 0;
  OpticalState state;
};

}  // namespace loom
