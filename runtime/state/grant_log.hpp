// SPDX-License-Identifier: Apache-2.0
// Grant log: what became of each grant, as the agents of one process measured it, one line each. For whoever runs a lab; no
// agent ever reads it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "agents/grant/plane.hpp"
#include "core/result.hpp"

namespace loom {

/// Appends one line: collective source destination asked heard granted lit_from dark_from sent.
void append_line(std::string& text, const GrantTimes& times);

/// Every grant of a file; a last line without an end (the writer is alive) is left out. Errors: not_found, malformed
/// (file:line).
Result<std::vector<GrantTimes>> read_grant_log(const std::string& path);

/// Control time of a lab's fast plane, measured.
struct ControlTimes {
  std::size_t grants = 0;
  std::size_t dark = 0;   ///< of them, that never lit
  Duration answer_p50{};  ///< from the request to the arbiter's first word: a round trip between two agents
  Duration answer_p99{};
  std::size_t answers_across = 0;  ///< of those: from an agent of another process
  Duration across_p50{};
  Duration across_p99{};
  Duration grant_p50{};  ///< from the request to the grant that was accepted: the round trip, and the wait for others
  Duration grant_p99{};
  Bytes sent;         ///< of all
  Bytes stream_mean;  ///< of one grant that lit
  double used = 0;    ///< the wire time of what was sent, over the time from request to darkness
};

/// Are these two nodes hosted by two processes?
using IsAcross = std::function<bool(NodeId, NodeId)>;

/// `rate`: of a transmitter.
ControlTimes control_times_of(const std::vector<GrantTimes>& grants, BitRate rate, const IsAcross& is_across);

}  // namespace loom
