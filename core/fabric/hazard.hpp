// SPDX-License-Identifier: Apache-2.0
// Hazard levels: how much light a fibre that people can come to may carry, by IEC 60825-2 (Safety of laser products, part 2:
// optical fibre communication systems), for 1550 nm in single-mode fibre, all light together.
//
// Where the numbers are from. Hazard level 1: the accessible emission limit of class 1 above 1400 nm, 10 mW (IEC 60825-1:2014,
// table 3). 3R: five times that. 3B: 500 mW. 1M: 136 mW, what diverges from a single-mode fibre (11 um mode field) to 10 mW in
// the aperture of its measuring condition; IEC 60825-2, table D.1. The standards themselves were not at hand: the 136 mW are
// taken from ADVA, FSP 3000 C Hardware Guide R1.1 (2016), page 347 ("136 mW, or +21.34 dBm for wavelengths > 1400 nm"), the
// others from the ratios that text books give of the classes. A site's laser safety officer decides, not this table.
#pragma once

#include <array>
#include <string_view>

#include "core/fabric/fabric.hpp"
#include "core/units.hpp"

namespace loom {

struct HazardLevel {
  std::string_view word;
  Dbm limit;
};

/// Rounded down to 0.1 dB.
inline constexpr std::array<HazardLevel, 4> kHazardLevels{{
    {"1", Dbm{1'000}},   // 10 mW
    {"1M", Dbm{2'130}},  // 136 mW
    {"3R", Dbm{1'690}},  // 50 mW. Less than 1M at this wavelength: 1M is measured at a distance, without a lens
    {"3B", Dbm{2'690}},  // 500 mW
}};

/// Of a fabric whose file says nothing: what IEC 60825-2 allows in restricted locations, which a laboratory is. Printed as an
/// assumption.
inline constexpr HazardLevel kUsualHazardLevel = kHazardLevels[1];

/// How much light a fibre may carry at its beginning, where there is most: its own limit, else the fabric's, else the usual.
inline Dbm power_limit_of(const Fabric& fabric, FibreId fibre) {
  return fabric.fibres[fibre.value].power_limit.value_or(fabric.power_limit.value_or(kUsualHazardLevel.limit));
}

}  // namespace loom
