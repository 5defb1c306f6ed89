// SPDX-License-Identifier: Apache-2.0
// Published figures, recomputed: docs/reproduction.md. Each comes with the tolerance that was written down before it was ever
// run, and with what kind of check it is: a regression (the input is the authors' own), a consistency check (knobs were
// fitted), a validation (nothing was fitted), or a comparison that nobody judges.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace loom {

/// Both ends included.
struct Accepted {
  double least = 0;
  double most = 0;
};

struct Figure {
  std::string target;               ///< "T4"
  std::string label;                ///< regression, consistency, validation, fitted, held out, exact, for comparison
  std::string what;                 ///< "VGG16, ideal switch, 100 Gb/s: iteration ms"
  std::optional<double> published;  ///< or the middle of the published range
  double ours = 0;
  std::optional<Accepted> accepted;  ///< none: nobody judges this row, it stands for comparison
  /// Sets and sequences instead of numbers: they must be equal. Empty otherwise.
  std::string published_words{};
  std::string our_words{};
  /// What it rests on, one sentence each; of a target's rows together, with the first that they belong to.
  std::vector<std::string> assumptions{};

  bool is_judged() const { return accepted.has_value() || !published_words.empty(); }
  /// Of judged rows.
  bool is_within() const {
    return published_words == our_words && (!accepted || (ours >= accepted->least && ours <= accepted->most));
  }
};

/// Names that reproduce() knows, in order.
std::vector<std::string_view> reproducible_targets();

/// `data`: the folder with traces/topoopt and measures; empty: none. Errors: invalid_argument (no such target, with the known
/// ones), not_found (a file that the target needs is absent, by path, or no folder was given), and those of import and
/// prediction.
Result<std::vector<Figure>> reproduce(std::string_view target, const std::string& data);

}  // namespace loom
