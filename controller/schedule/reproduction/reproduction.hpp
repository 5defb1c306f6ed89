// Published figures, recomputed: SYSTEMS.md part D. Each comes with the tolerance that was written down before it was ever run,
// and with what kind of check it is: a regression (the input is the authors' own), a consistency check (knobs were fitted), or
// a prediction of figures that a knob was not fitted to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace loom {

struct Figure {
  std::string target;    ///< "T4"
  std::string label;     ///< regression, consistency, fitted, held out
  std::string what;      ///< "VGG16, ideal switch, 100 Gb/s: iteration ms"
  double published = 0;  ///< or the middle of the published range
  double ours = 0;
  double least = 0;  ///< accepted, both ends included
  double most = 0;
  bool is_within() const { return ours >= least && ours <= most; }
};

/// Names that reproduce() knows, in order.
std::vector<std::string_view> reproducible_targets();

/// `data`: the folder with traces/topoopt (T4, T5, T6; others need none). Errors: not_found (no such target; a file that is
/// absent, by path), and those of import and prediction.
Result<std::vector<Figure>> reproduce(std::string_view target, const std::string& data);

}  // namespace loom
