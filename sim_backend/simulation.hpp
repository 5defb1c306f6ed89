// SPDX-License-Identifier: Apache-2.0
// Simulation: one scenario from start to verdict, for `loom sim run` and the tests: build the world, let the script and the
// faults happen, stop the faults, and demand that the world comes to rest where it should. It reads no clock: how long that
// took is the caller's to measure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fabric/light.hpp"
#include "sim_backend/world/world.hpp"

namespace loom {

struct SimOptions {
  std::uint64_t seed = 1;
  Duration run_for = kForever;  ///< replaces the scenario's duration; kForever: as the scenario says
  std::string trace_path;       ///< where the caller will write the trace; empty: none is made
  bool pulses = false;          ///< see WorldOptions
};

struct RevisionCounts {
  std::uint64_t committed = 0;
  std::uint64_t returned = 0;
  std::uint64_t mixed = 0;
};

struct SimResult {
  std::uint64_t seed = 0;
  std::uint64_t digest = 0;
  std::uint64_t events = 0;
  Duration virtual_time{};
  double wall_s = 0;  ///< the caller's
  RevisionCounts revisions;
  Duration settled_after{};  ///< from the end of all faults until all was at rest; kForever: never
  NetworkCounters network;
  std::vector<Violation> violations;
  std::vector<ExcusedViolation> excused;  ///< what injected faults explain; the first hundred
  std::uint64_t excused_count = 0;
  std::vector<ExcusingFault> excusing;  ///< of the first hundred: by which fault, and when an operator was told of it
  std::uint64_t underflows = 0;
  RunAccount account;                 ///< what became of the jobs, and whether that was expected
  std::vector<std::string> refusals;  ///< jobs that were refused, and why
  HostCounters counters;
  LightTimeline light;
  std::string trace;  ///< see to_trace(); empty: none was asked for
  /// Nothing was unsafe, nothing failed that the scenario does not expect.
  bool is_as_expected() const { return violations.empty() && account.is_as_expected(); }
};

/// Blocks for the whole run, and writes no file. Errors: those of the workloads (not_found, invalid_argument, malformed ...).
/// A violation is no error: it stands in the result.
Result<SimResult> run_simulation(const Scenario& scenario, const SimOptions& options);

/// What the scenario's operator will do. Errors: as load_workload, naming the job.
Result<std::vector<ScriptedJob>> script_of(const Scenario& scenario);

/// The answer of `loom sim run --json`: one object, keys as the operator's reference fixes them.
std::string to_json(const SimResult& result);

/// Commits and lit windows for Perfetto (Chrome trace event format, microseconds).
std::string to_trace(const World& world);

}  // namespace loom
