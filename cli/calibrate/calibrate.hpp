// SPDX-License-Identifier: Apache-2.0
// loom device calibrate, loom calibration list|show|diff, loom fibre check: what is found out by light.
#pragma once

#include <string>
#include <vector>

#include "core/messages/report.hpp"

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

std::string text_of(const std::vector<CalibrationReport>& rows);
std::string text_of(const std::vector<RingReport>& rows);
std::string text_of(const std::vector<WayReport>& rows);
void add_calibration(CLI::App& app, CommandLine& line);
void add_fibre(CLI::App& app, CommandLine& line);
/// The verb of `loom device`.
void add_calibrate(CLI::App& device, CommandLine& line);

}  // namespace loom::cli
