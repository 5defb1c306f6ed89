// SPDX-License-Identifier: Apache-2.0
// What a gain stage says and measures, held against what it shall have.
#pragma once

#include <string>

#include "core/fabric/fabric.hpp"
#include "core/observation.hpp"
#include "core/units.hpp"

namespace loom {

/// An amplifier or an attenuator, driven or not.
bool is_gain_stage(const Element& element);
/// "3.25 dB", or "off".
std::string gain_text(Db gain);

/// By which what a stage says may differ from what it was told: steps of its converter [K].
inline constexpr Db kGainTolerance{30};
/// By which its light may, both sensors' errors and a tilt over the band included [K].
inline constexpr Db kShownGainTolerance{150};
/// Weaker light is not measured well enough to judge by [K].
inline constexpr Dbm kWeakestJudged{-3'000};
/// Of what comes to an amplifier: with weaker light its own noise is a part of what leaves it that a sensor of all light takes
/// for gain. F h v B is -25.5 dBm over the C band's 4.4 THz with a noise figure of 7 dB, which is 1.5 dB of -21.7 dBm.
inline constexpr Dbm kWeakestAmplified{-2'000};

/// How far the gain of `element` is from `wanted`: what its own sensors show, where both see enough light and it is more than
/// they may be wrong; else what it says.
Db gain_error(const Element& element, const GainObservation& seen, Db wanted);
/// Do its own sensors see enough light to judge its gain by, if it were `wanted`?
bool is_seen(const Element& element, const GainObservation& seen, Db wanted);
/// Within kGainTolerance, as far as it can be told.
bool is_gain(const Element& element, const GainObservation& seen, Db wanted);

}  // namespace loom
