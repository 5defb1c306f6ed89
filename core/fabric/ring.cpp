// P = V^2 / R, and a comb of resonances.
#include "core/fabric/ring.hpp"

#include <cmath>

namespace loom {

Frequency resonance_at(const RingFilter& ring, std::int32_t millivolts) {
  const double volts = millivolts / 1000.0;
  const double milliwatts = volts * volts / ring.heater_ohm * 1000;
  return {ring.cold_resonance.mhz - std::llround(milliwatts * ring.mhz_per_milliwatt)};
}

FrequencyOffset resonance_distance(const RingFilter& ring, Frequency resonance, Frequency wanted) {
  const std::int64_t spacing = ring.free_spectral_range.mhz;
  const std::int64_t off = (resonance - wanted).mhz;
  return magnitude({spacing <= 0 ? off : off - spacing * ((2 * off + (off < 0 ? -spacing : spacing)) / (2 * spacing))});
}

bool resonates(const RingFilter& ring, Frequency resonance, Frequency light) {
  return resonance_distance(ring, light, resonance).mhz <= ring.fwhm.mhz / 2;
}

}  // namespace loom
