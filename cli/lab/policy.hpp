// SPDX-License-Identifier: Apache-2.0
// What a new lab may do with what an earlier one left in its state folder: go on from its journals, forget them, or neither
// unasked. A pure decision, so that every case has a test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/lab/manifest.hpp"
#include "core/result.hpp"

namespace loom::cli {

struct LabClaim {
  LabUse use = LabUse::up;  ///< up, run or run_kept
  LabManifest asked;        ///< scenario, fabric, agent processes
  std::string folder;       ///< for sentences
  bool replace = false;     ///< a lab that runs may be stopped
  bool fresh = false;       ///< journals may be forgotten
};

struct LabBeginning {
  bool stops_what_runs = false;
  bool keeps_journals = false;  ///< else: everything that the manifest names is forgotten
  std::string sentence;         ///< for the user; empty: nothing was there
};

/// `earlier`: nothing: no lab was here. `running`: names and numbers of its processes that live. Errors: refused (a lab runs;
/// an operator's journals would be lost; they are of another scenario or fabric), each with the command that goes on.
Result<LabBeginning> decide_beginning(const std::optional<LabManifest>& earlier, const std::vector<std::string>& running,
                                      const LabClaim& claim);

/// "a, b and c".
std::string listing(const std::vector<std::string>& words);

}  // namespace loom::cli
