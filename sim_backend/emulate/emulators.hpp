// SPDX-License-Identifier: Apache-2.0
// The emulators of lightloom-emulate. Adding one: a file with its EmulatorProgram, its source in CMakeLists.txt and its line in
// main.cpp.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace loom {

struct EmulatorProgram {
  const char* name;
  const char* summary;
  /// Adds its options and help to its subcommand. What it returns runs it, after the command line was read: the exit code.
  std::function<int()> (*add)(CLI::App& app);
};

extern const EmulatorProgram kCmisEmulator;
extern const EmulatorProgram kGainLinesEmulator;
extern const EmulatorProgram kGainRegistersEmulator;
extern const EmulatorProgram kHeaterEmulator;
extern const EmulatorProgram kItlaEmulator;
extern const EmulatorProgram kOcsEmulator;
extern const EmulatorProgram kPhotodiodeEmulator;
extern const EmulatorProgram kPowerMeterEmulator;
extern const EmulatorProgram kWaveShaperEmulator;
extern const EmulatorProgram kSffEmulator;
extern const EmulatorProgram kTableLaserEmulator;
extern const EmulatorProgram kWssEmulator;

}  // namespace loom
