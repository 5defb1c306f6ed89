// What the controller of a lab wrote into its journal, read beside it: a copy is verified and decoded, the controller's own file
// is not touched. For accounts and judges of a run.
#pragma once

#include <vector>

#include "cli/lab_files.hpp"
#include "core/journal.hpp"
#include "core/result.hpp"

namespace loom::cli {

/// The sound prefix of the rows, oldest first. Errors: storage, malformed.
Result<std::vector<Record>> read_journal(const LabFiles& files);

}  // namespace loom::cli
