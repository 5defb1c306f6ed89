// SPDX-License-Identifier: Apache-2.0
// loom device discover: who answers on the buses of this host, by the drivers' own reading, and which device of a scenario that
// is by its serial number.
#pragma once

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

/// Below the noun `device`.
void add_discover(CLI::App& device, CommandLine& line);

}  // namespace loom::cli
