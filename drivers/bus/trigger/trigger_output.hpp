// SPDX-License-Identifier: Apache-2.0
// TriggerOutput: a line of this host that gives an edge at an instant. Whoever asks says the instant ahead; the edge itself
// needs nobody. Opened at the start, so that a line that is not there is known before anybody rests on it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/result.hpp"
#include "core/time.hpp"
#include "core/transaction.hpp"
#include "core/trigger/trigger_line.hpp"

namespace loom {

class TriggerOutput {
 public:
  virtual ~TriggerOutput() = default;
  /// Takes the line, inactive; what an earlier process asked of it is taken back. Errors: unreachable, unsupported (it cannot
  /// give such an edge), each naming the path and what the kernel says.
  virtual Result<void> open() = 0;
  /// One edge at `at`, in the place of one that was asked for. Errors: timed_out (it has passed, or is too near), device_error.
  virtual Result<void> arm(Instant at) = 0;
  /// No edge that was not given yet. Errors: device_error.
  virtual Result<void> disarm() = 0;
};

/// The clock of the instants, which the caller's loop reads.
struct TriggerClock {
  std::function<Instant()> now;
  bool is_tai = false;
};

/// Errors: unsupported: a PHC whose instants are not TAI; a simulated edge, which is no line of a host.
Result<std::unique_ptr<TriggerOutput>> make_trigger_output(const TriggerPlace& place, TriggerClock clock);

/// Carries out edge_order(). Whatever else: an exception of Modbus (illegal function). A refusal is one too, and says why.
BusReply execute(TriggerOutput& output, const Transaction& transaction);

}  // namespace loom
