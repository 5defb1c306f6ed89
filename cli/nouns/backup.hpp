// loom backup: consistent copies of a state folder's journals, whether or not their daemons run.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace loom::cli {

struct BackupOrder {
  std::string file;    ///< of the controller's journal; agents' get its name with ".agents-N" behind
  bool force = false;  ///< although there is something
};

int back_up(const Globals& globals, const BackupOrder& order);

}  // namespace loom::cli
