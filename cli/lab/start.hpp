// SPDX-License-Identifier: Apache-2.0
// Starting a lab's processes, one by one or all of them, and waiting until they are what they shall be. Each is noted in the
// folder's manifest before its program runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/lab/session.hpp"

namespace loom::cli {

/// The scenario in the mode of its processes: its own, or soft where that is the simulation. Errors: invalid_argument (it runs
/// in simulation only), invalid_config (its errors were said).
Result<Scenario> load_for_lab(const std::string& path);

/// What a lab of this scenario is, before anything runs: scenario, fabric, the files that it will make.
LabManifest manifest_of(const LabRecord& lab);

/// Names of all processes of the scenario, in the order of their start: emulators, "lightloomd", "relay-0", "agents-0" and so
/// on.
Result<std::vector<std::string>> processes_of(const LabRecord& lab);

/// Starts one and waits until it can be asked; agents join later. Errors: not_found (no such process), unreachable (it ended,
/// or did not start in time), timed_out (interrupted), storage.
Result<void> start_by_name(LabRecord& lab, const std::string& name);

/// Errors: unreachable (it ended, or did not start in time). A second start is at the address of the first.
Result<void> start_controller(LabRecord& lab);
Result<void> start_relay(LabRecord& lab, std::uint32_t relay);
Result<void> start_agent_process(LabRecord& lab, std::uint32_t process);

/// Makes the keys, starts everything and returns when every agent has joined. On an error the caller ends what was started.
Result<void> start_everything(LabRecord& lab, const Globals& globals);

/// Until each daemon of these processes says where its metrics are, which the manifest then has, if the lab has metrics at all.
/// Errors: unreachable (one ended, or did not say so in time), timed_out, storage.
Result<void> note_metrics(LabRecord& lab, const std::vector<std::string>& names);

constexpr Duration kJoinPatience = std::chrono::seconds{60};

struct Joining {
  std::uint64_t nodes = 0;  ///< how many agents shall join
  std::string label = "agents joined";
  Duration patience = kJoinPatience;
};

/// Until so many agents are live; measures lab.join_time. Errors: unreachable (an agent process ended), timed_out.
Result<void> wait_for_agents(LabRecord& lab, const Joining& joining);

}  // namespace loom::cli
