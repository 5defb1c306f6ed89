// SPDX-License-Identifier: Apache-2.0
// One sum in decibels.
#include "core/fabric/gain_stage.hpp"

namespace loom {
namespace {

bool is_within(Db error, Db tolerance) { return error <= tolerance && -error <= tolerance; }

Dbm expected(const Element& element, Dbm input, Db gain) { return input + gain - element.insertion_loss; }

}  // namespace

bool is_gain_stage(const Element& element) {
  return std::holds_alternative<Amplifier>(element.kind) || std::holds_alternative<Attenuator>(element.kind);
}

std::string gain_text(Db gain) { return gain == kGainOff ? std::string("off") : to_string(gain); }

bool is_seen(const Element& element, const GainObservation& seen, Db wanted) {
  const Dbm weakest = std::holds_alternative<Amplifier>(element.kind) ? kWeakestAmplified : kWeakestJudged;
  return seen.input && seen.output && *seen.input >= weakest && expected(element, *seen.input, wanted) >= kWeakestJudged;
}

Db gain_error(const Element& element, const GainObservation& seen, Db wanted) {
  const Db said = seen.gain - wanted;
  if (!is_within(said, kGainTolerance) || !is_seen(element, seen, wanted)) {
    return said;
  }
  const Db shown = *seen.output - expected(element, *seen.input, wanted);
  return is_within(shown, kShownGainTolerance) ? said : shown;
}

bool is_gain(const Element& element, const GainObservation& seen, Db wanted) {
  return is_within(gain_error(element, seen, wanted), kGainTolerance);
}

}  // namespace loom
