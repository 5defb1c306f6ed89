// SPDX-License-Identifier: Apache-2.0
// One sum in decibels.
#include "core/fabric/gain_stage.hpp"

namespace loom {
namespace {

bool is_within(Db error, Db tolerance) { return error <= tolerance && -error <= tolerance; }

}  // namespace

Db gain_error(const Element& element, const GainObservation& seen, Db wanted) {
  const Db said = seen.gain - wanted;
  if (!is_within(said, kGainTolerance) || !seen.input || !seen.output) {
    return said;
  }
  const Dbm expected = *seen.input + wanted - element.insertion_loss;
  if (*seen.input < kWeakestJudged || expected < kWeakestJudged) {
    return said;
  }
  const Db shown = *seen.output - expected;
  return is_within(shown, kShownGainTolerance) ? said : shown;
}

bool is_gain(const Element& element, const GainObservation& seen, Db wanted) {
  return is_within(gain_error(element, seen, wanted), kGainTolerance);
}

}  // namespace loom
