// SPDX-License-Identifier: Apache-2.0
// The manual pages of lightloomd and lightloom-agent, as far as their options do not say it: files, signals, exit codes.
#pragma once

#include "runtime/program/program_page.hpp"

namespace loom {

ProgramPage controller_page();
ProgramPage agent_page();

}  // namespace loom
