// SPDX-License-Identifier: Apache-2.0
// The four seams: time, messages, registers, storage. Each has a real implementation here and a simulated one in
// sim_backend/; faults are decorators on them. Everything above is values, pure functions and step machines.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "core/message.hpp"
#include "core/planning.hpp"
#include "core/result.hpp"
#include "core/step.hpp"
#include "core/time.hpp"
#include "core/transaction.hpp"

namespace loom {

/// TIME. All calls and all tasks on the loop's own thread. Tasks with equal instants run in the order of their arrival.
class TimeSeam {
 public:
  virtual ~TimeSeam() = default;
  virtual Instant now() const = 0;
  /// The clock that now() reads.
  virtual ClockId clock() const = 0;
  /// Wall-clock time minus now(): for people's eyes, taken once at the start of an incarnation.
  virtual Duration wall_offset() const = 0;
  /// Runs `task` at or after `at` (in the past: as soon as possible, never from inside this call). No cancelling: callers
  /// ignore what they no longer want.
  virtual void call_at(Instant at, Precision precision, std::function<void()> task) = 0;
};

/// MESSAGES. Carries encoded envelopes; may lose, delay, double or reorder them, never damages one silently.
class MessageSeam {
 public:
  virtual ~MessageSeam() = default;
  using Receive = std::function<void(Peer from, std::string_view principal, Role role, std::string_view envelope)>;
  /// Called on the loop's thread. `principal` and `role` are what the peer's key proves.
  virtual void on_receive(Receive receive) = 0;
  using Refuse = std::function<void(const MessageRefused& refused)>;
  /// Messages were turned away (wrong key, not its node, second claimant, beyond a quota), some of one sender and kind.
  virtual void on_refuse(Refuse refuse) = 0;
  /// `bytes` are copied. An unknown or gone peer: dropped and counted.
  virtual void send(Peer to, std::string_view bytes) = 0;
};

/// REGISTERS. One lane a bus executes its transactions one after the other, in the order of their submission.
class RegisterSeam {
 public:
  virtual ~RegisterSeam() = default;
  using Done = std::function<void(BusReply reply)>;
  /// `done` is called once, on the loop's thread, never from inside this call.
  virtual void submit(BusId bus, const Transaction& transaction, Done done) = 0;
};

/// STORAGE. A journal of opaque rows, numbered from 1; rows carry CRC and hash chain below this line. Nothing is changed in it
/// but by rows that are added behind the last one, and by snapshots.
class StorageSeam {
 public:
  virtual ~StorageSeam() = default;
  /// Called for one row after the other, oldest first; `row` is valid during the call. An error: the row is sound and yet of no
  /// use to its reader. Then it is damage as any other: nothing behind it is read, and nothing is written behind it.
  using TakeRow = std::function<Result<void>(std::uint64_t number, std::string_view row)>;
  struct Loaded {
    std::uint64_t rows = 0;  ///< taken
    std::string damage;      ///< empty: that was all. Else: which row of which journal, why, and the command that restores it
  };
  /// Reads the verified prefix, one row in memory at a time. A damaged journal is a sentence, never a crash; until it is
  /// restored it takes no rows. Errors: storage (it cannot be read at all).
  virtual Result<Loaded> load(const TakeRow& take) = 0;

  enum class RowKind : std::uint8_t {
    addition,
    snapshot,  ///< says all that the rows before it say: they are dropped as it is written, in one transaction
  };
  /// `done` is called once when every row up to this one is durable (group commit), on the loop's thread, never from inside.
  /// A row that is refused ends what this stream takes until load(); a refused snapshot does not, as nothing is lost with it.
  virtual void append(std::string row, RowKind kind, std::function<void(Result<void>)> done) = 0;
};

/// Carries out planning orders off the step; `done` is called once, on the loop's thread, never from inside.
using PlanWorker = std::function<void(std::shared_ptr<const PlanRequest> request, std::function<void(PlanOutcome)> done)>;

}  // namespace loom
