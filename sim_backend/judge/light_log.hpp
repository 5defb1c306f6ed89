// SPDX-License-Identifier: Apache-2.0
// Light log: the optical changes of simulated devices as lines of text, so that a process that hosts devices can leave behind
// what its light really did. Ground truth: for replay and for judges, never for a controller or an agent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "sim_backend/devices/optical_state.hpp"

namespace loom {

/// Appends one line: at_ns device generation kind values.
void append_line(std::string& text, const OpticalChange& change);

/// Errors: malformed (what the line says where).
Result<OpticalChange> read_line(std::string_view line);

/// Every change of a file, as written; a last line without an end (the writer is alive) is left out. Errors: not_found,
/// malformed (file:line).
Result<std::vector<OpticalChange>> read_light_log(const std::string& path);

/// Before a log is gone on with: a last line without an end was its writer's last. No log: nothing.
void drop_partial_line(const std::string& path);

/// A writer that gathers its changes says beside its log up to when the file is whole, so that whoever reads need not guess.
void write_light_log_whole(const std::string& path, Instant through);
/// What the writer said last; the beginning of time where it has said nothing yet.
Instant light_log_whole_through(const std::string& path);

}  // namespace loom
