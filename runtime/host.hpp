// SPDX-License-Identifier: Apache-2.0
// Host: interprets the effects of one step machine over the four seams; written once, for daemons and for the simulation.
// It decodes what arrives, feeds events one at a time, and never calls the machine from inside the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/digest.hpp"
#include "core/step.hpp"
#include "runtime/seams.hpp"

namespace loom {

/// A journal that is longer than this behind its last snapshot, and has more than twice the snapshot's bytes there, is due for
/// the next one. At 1024 nodes a row has up to 100 kB, and 8 MiB are read in a tenth of a second.
struct JournalTail {
  std::uint64_t rows = 4'096;  ///< small ones
  std::uint64_t bytes = 8u << 20;
};

/// Bytes of the journal row that the host would write of it.
std::size_t row_bytes(const Record& record);

struct HostOptions {
  Peer self;  ///< who this machine is
  Role role = Role::agent;
  std::string principal;  ///< stamped on what it sends; the receiving transport overwrites it with what the key proves
  JournalTail tail{};
};

/// Told of every event once its effects have been carried out. `bytes`: what the event was decoded from (Started: the journal's
/// rows; MessageArrived: the envelope), empty for the others. `digest`: the host's, so far.
using EventRecorder =
    std::function<void(Instant at, const Event& event, const std::vector<std::string>& bytes, std::uint64_t digest)>;

struct HostSeams {
  TimeSeam* time = nullptr;
  MessageSeam* messages = nullptr;
  RegisterSeam* registers = nullptr;  ///< null: a machine without devices (the controller)
  StorageSeam* storage = nullptr;
  PlanWorker plan;  ///< empty: a machine that never plans (an agent)
  std::function<void(const Alarm&)> alarm;
  /// Told what the node's training process shall hear, on the loop's thread; empty: the node has none. May deliver no event
  /// from inside.
  std::function<void(const TrainingWord&)> training;
  /// Told where the processes of other hosts listen; empty: nobody keeps links. May deliver no event from inside.
  std::function<void(const std::vector<PeerAddress>&)> peers;
  Digest* digest = nullptr;  ///< folds in every delivered event, effect and bus transaction; null if nobody compares runs
  EventRecorder record;      ///< empty: nobody keeps a tape. Needs a digest
};

struct HostCounters {
  std::uint64_t events = 0;
  std::uint64_t effects = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t malformed = 0;
  std::uint64_t transactions = 0;
  Duration longest_step{};  ///< by time->now() before and after
};

class Host {
 public:
  using StepFunction = std::function<void(Instant now, const Event& event, EffectSink& sink)>;

  Host(HostOptions options, HostSeams seams, StepFunction step);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// Loads the journal and delivers Started. Errors: storage (the journal cannot be opened).
  Result<void> start(std::uint64_t boot_id);
  /// Delivers one event from outside the seams (an interlock contact).
  void deliver(const Event& event);
  const HostCounters& counters() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;  ///< shared with callbacks under way, which do nothing once the host is gone
};

}  // namespace loom
