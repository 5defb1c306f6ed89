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
  /// Wall-clock time minus now(): for people's eyes, taken once at the start of a life.
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
  /// A peer was turned away (wrong key, not its node, second claimant).
  virtual void on_refuse(std::function<void(Peer from, Error error)> refuse) = 0;
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

/// STORAGE. An append-only journal of opaque rows; rows carry CRC and hash chain below this line.
class StorageSeam {
 public:
  virtual ~StorageSeam() = default;
  /// The verified prefix, oldest first. A damaged tail is an alarm in `damage` (empty: sound), never a crash.
  struct Contents {
    std::vector<std::string> rows;
    std::string damage;
  };
  virtual Result<Contents> load() = 0;
  /// `done` is called once when every row up to this one is durable (group commit), on the loop's thread, never from inside.
  virtual void append(std::string row, std::function<void(Result<void>)> done) = 0;
};

/// Carries out planning orders off the step; `done` is called once, on the loop's thread, never from inside.
using PlanWorker = std::function<void(std::shared_ptr<const PlanRequest> request, std::function<void(PlanOutcome)> done)>;

}  // namespace loom
