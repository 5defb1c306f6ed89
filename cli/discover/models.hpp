// SPDX-License-Identifier: Apache-2.0
// loom device models: every model that there is a driver for, and the keys of each one's profile.
#pragma once

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

/// Below the noun `device`.
void add_models(CLI::App& device, CommandLine& line);

}  // namespace loom::cli
