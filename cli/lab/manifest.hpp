// SPDX-License-Identifier: Apache-2.0
// The manifest of a lab: what `loom` made in a state folder and which processes it started there. Whatever is not named in it
// is somebody else's: `loom` deletes no other file, and ends no other process. As text it is STATE/lab.json; where that lies
// on disk, and who may change it when, is LabFolder's (lab_folder.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace loom::cli {

/// One process as its start left it. Number, start, boot and program together name it for good: a number alone is given again.
struct LabProcess {
  std::string name;  ///< "lightloomd", "agents-0", "heater-5020", "wss-5100"; of its log, too
  int pid = 0;
  std::uint64_t start_ticks = 0;  ///< proc(5), /proc/PID/stat field 22: clock ticks since the host's boot
  std::string boot_id;            ///< proc(5), /proc/sys/kernel/random/boot_id
  std::string executable;         ///< absolute path of its program
  std::string started;            ///< RFC 3339, for people
  std::string metrics{};          ///< URL that its metrics are at, or were; empty: nowhere
  bool operator==(const LabProcess&) const = default;
};

/// Whose state the journals hold: what a later command may do with it unasked depends on it.
enum class LabUse : std::uint8_t {
  none,      ///< nobody's: keys alone, or a start that was never finished
  up,        ///< an operator's, since `loom lab up`: never forgotten unasked
  run,       ///< of a played scenario, which plays from its beginning again
  run_kept,  ///< of a played scenario that was left running (`loom lab run --keep`)
};

std::string_view to_string(LabUse use);

struct LabManifest {
  LabUse use = LabUse::none;
  std::string scenario;             ///< absolute path; empty: no lab ran here yet
  std::string fabric;               ///< its name
  std::uint64_t fabric_digest = 0;  ///< of fabric and algorithm, see setup_digest()
  std::uint32_t agent_processes = 0;
  bool record = false;                 ///< the controller keeps a tape
  std::string inspector_dir;           ///< handed to the agents
  std::string training_dir;            ///< likewise
  bool emulates = true;                ///< what is_emulated() says are emulators of the lab
  bool metrics = false;                ///< its daemons serve metrics
  std::string connections = "shared";  ///< lightloom-agent --connections
  bool realtime = false;               ///< lightloom-agent --realtime
  std::string address;                 ///< that the controller was last bound to; empty: never was
  std::vector<std::string> files;      ///< bare names of regular files that a lab made, sorted
  std::vector<LabProcess> processes;   ///< in the order of their start
  bool operator==(const LabManifest&) const = default;

  bool names(std::string_view file) const;
  /// Null: no such process.
  const LabProcess* process(std::string_view name) const;
  /// In place of one of the same name.
  void note(LabProcess process);
};

/// A bare name of a file in the folder: no slash, neither `.` nor `..`, no control character, and not the manifest's own.
bool is_bare_name(std::string_view name);

std::string to_text(const LabManifest& manifest);
/// Errors: malformed (no manifest of a lab; which key, what was found), wrong_version (a newer loom wrote it).
Result<LabManifest> parse_manifest(std::string_view text);

}  // namespace loom::cli
