// SPDX-License-Identifier: Apache-2.0
// loom fabric cabling: the cables that a fabric is plugged with, as CSV.
#pragma once

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

/// Below the noun `fabric`.
void add_cabling(CLI::App& fabric, CommandLine& line);

}  // namespace loom::cli
