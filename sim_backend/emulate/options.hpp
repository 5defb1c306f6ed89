// SPDX-License-Identifier: Apache-2.0
// Options that every emulator has: where it is reached, whom it stands for, what is wrong with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace loom {

struct EmulatorOptions {
  std::string bind = "127.0.0.1";
  std::uint16_t port = 0;          ///< 0: any
  bool pty = false;                ///< a pseudo terminal instead of TCP
  std::string link;                ///< a symbolic link to the terminal; empty: none
  std::int64_t boot_ms = 500;      ///< from a power cycle until it can be reached again
  std::uint64_t seed = 1;          ///< of settling times and misbehaviour
  std::string light_log;           ///< a file that is begun anew; empty: none
  std::uint32_t light_id = 0;      ///< the device's id in the light log, where no scenario says it
  std::string serial;              ///< the serial number that it says; empty: one of its model's
  std::string scenario;            ///< stands for devices of this scenario's fabric; empty: for one that options describe
  std::vector<std::string> buses;  ///< of the scenario: these
  std::vector<std::string> faults;
  std::string faults_of;  ///< state folder of a lab, in whose run the scenario's faults happen; empty: they don't
};

/// `usual_port`: of TCP. Fault names are listed in the footer, see fault_words.hpp.
void add_common_options(CLI::App& app, EmulatorOptions& options, std::uint16_t usual_port);

/// The part of add_common_options() that does not depend on how it is reached.
void add_device_options(CLI::App& app, EmulatorOptions& options);

}  // namespace loom
