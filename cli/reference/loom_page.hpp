// SPDX-License-Identifier: Apache-2.0
// The manual page of loom, as far as its commands and options do not say it: exit codes and variables are those of loom help.
#pragma once

#include "runtime/program/program_page.hpp"

namespace loom::cli {

ProgramPage loom_page();

}  // namespace loom::cli
