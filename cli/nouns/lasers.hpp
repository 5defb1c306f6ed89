// `loom lasers off|rearm|status`: darkness, by the controller or, where none answers, by the agents themselves.
#pragma once

#include "cli/options.hpp"

namespace loom::cli {

/// `direct`: straight to the agents, whether a controller answers or not. Exit codes: 0 ordered by the controller, or every
/// agent has proven its lasers dark; 4 some have not; 5 none has answered.
int lasers_off(const Globals& globals, bool direct, bool wait);
int rearm_lasers(const Globals& globals, bool wait);
/// What the agents themselves say of their latches.
int show_latches(const Globals& globals);

}  // namespace loom::cli
