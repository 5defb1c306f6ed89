// SPDX-License-Identifier: Apache-2.0
// RetryState: what every driver keeps of its exchanges with a device: one transaction outstanding at most, failed exchanges
// retried after a pause, and given up aloud. It never decides what is said.
#pragma once

#include <string>
#include <utility>

#include "core/observation.hpp"
#include "core/time.hpp"
#include "core/transaction.hpp"

namespace loom {

class RetryState {
 public:
  static constexpr unsigned kTries = 4;                             ///< of one transaction, the first included
  static constexpr Duration kPause = std::chrono::milliseconds{5};  ///< CMIS 5.4 tNACK: up to 10 ms, so tries span 35 ms

  bool is_waiting() const { return waiting_; }
  Instant resume_at() const { return resume_at_; }
  void sent() { waiting_ = true; }
  /// The outstanding transaction was answered. False: nothing was outstanding, and the reply means nothing.
  bool received() { return std::exchange(waiting_, false); }
  void understood() { tries_ = allowed_ = 0; }
  /// The exchange failed on the wire: pauses, doubling at first. False: all tries are spent, `tries` of what failed now or the
  /// most that an earlier failure in this row allows.
  bool may_retry(Instant now, unsigned tries = kTries);
  unsigned allowed() const { return allowed_; }
  /// ", try 2 of 4": for the sentence of a driver that goes on trying.
  std::string attempt() const;
  void pause_until(Instant instant) { resume_at_ = instant; }
  /// A new procedure begins; an outstanding transaction stays outstanding.
  void start_over();

 private:
  bool waiting_ = false;
  unsigned tries_ = 0;
  unsigned allowed_ = 0;  ///< in this row of failures
  Instant resume_at_{};
};

/// What is wrong, for whoever waits: its kind, and a sentence that need not name the device.
struct Complaint {
  Trouble trouble = Trouble::none;
  std::string words;  ///< empty: nothing is wrong

  bool empty() const { return words.empty(); }
};

/// The kind of what went wrong on the wire; an answer of status ok was none to what was asked.
Trouble trouble_of(const BusReply& reply);
/// What went wrong on the wire, for a sentence: "no answer within 100 ms", "exception 4 (device failure)", "the bus is gone:
/// /dev/ttyUSB0: Permission denied (errno 13)".
std::string describe(const BusReply& reply, Duration deadline);
/// Milliseconds with three decimals: "12.500 ms".
std::string describe(Duration duration);

}  // namespace loom
