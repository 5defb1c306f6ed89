// SPDX-License-Identifier: Apache-2.0
// Step machines: step(Instant now, const Event&, EffectSink&). Controller and agents never see a loop, a socket, a bus or a
// disk; they hear events and ask for effects. One Host (runtime/host.hpp) interprets the effects over the four seams.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/alarm.hpp"
#include "core/ids.hpp"
#include "core/journal/journal.hpp"
#include "core/message.hpp"
#include "core/messages/one_of.hpp"
#include "core/messages/training.hpp"
#include "core/planning.hpp"
#include "core/time.hpp"
#include "core/traffic.hpp"
#include "core/transaction.hpp"

namespace loom {

// --- events --------------------------------------------------------------------------------------------------------------

/// The first event of an incarnation, with what the journal kept, oldest first. The Host folds it into one SnapshotRecord while
/// it reads (core/journal/journal_state.hpp), or none where there is nothing.
struct Started {
  std::uint64_t boot_id = 0;
  ClockId clock;
  std::vector<Record> records;
  Duration wall_offset{};  ///< wall-clock time minus the clock's, as the host found them: for people's eyes only
};
struct MessageArrived {
  Peer from;
  Envelope envelope;
};
/// A message was dropped before it reached the machine (malformed, unauthorised, second claimant of a name).
struct MessageRefused {
  Peer from;
  Error error;
  RefusalKind kind = RefusalKind::malformed;
  std::uint64_t count = 1;  ///< refused since this was last said of this sender and kind: a flood is told in sums
  std::string principal{};  ///< of the key; empty: no key that is known
};
/// The keys that the transport lets in are others now. Also the first event after Started, with all keys as added.
struct KeysChanged {
  std::uint64_t digest = 0;  ///< of the keyring in force
  struct Change {
    std::string principal;
    Role role = Role::viewer;
    std::string fingerprint;  ///< of the public key
    enum class Kind : std::uint8_t { added, removed, altered } kind = Kind::added;
  };
  std::vector<Change> changes;
  std::optional<Error> problem;  ///< the keyring could not be read and the old one stays in force
};
struct TimerFired {
  TimerId timer;
};
struct BusReplied {
  BusId bus;
  TransactionId transaction;
  BusReply reply;
};
/// Every Append effect up to and including number `count` of this incarnation is durable.
struct Appended {
  std::uint64_t count = 0;
  bool snapshot_due = false;  ///< the journal has grown long behind its last snapshot: append a SnapshotRecord
};
/// No Append effect that was not yet answered is durable, and none will be until the process is started again. The error names
/// the journal and the cause, and its next command what brings the journal back.
struct AppendFailed {
  Error error;
};
struct Planned {
  PlanOutcome outcome;
};
/// A hard-wired interlock contact of this agent's host.
struct InterlockChanged {
  bool open = false;
  std::string contact{};  ///< its name
  std::string problem{};  ///< not empty: it cannot be read, which counts as open
};
/// Training processes of this agent's node have told of collectives.
struct TrafficReceived {
  TrafficReported reported;
};
/// What this host's clock is good for is another than before, as it was found when it was looked at. Said of a clock that hosts
/// share; one that a single kernel has is always good.
struct ClockJudged {
  std::optional<Error> problem{};  ///< none: instants of this host are as good as those of any other
};
/// Where agents of other hosts find this agent's process, from now on.
struct PeersListen {
  std::string endpoint;
};

/// This agent shall say for its process that these nodes live: all that have joined the controller, itself among them.
struct PulseDue {
  std::vector<NodeId> nodes;  ///< ascending
};

using Event = OneOf<Started, MessageArrived, MessageRefused, TimerFired, BusReplied, Appended, AppendFailed, Planned,
                    InterlockChanged, TrafficReceived, KeysChanged, TrainingReady, ClockJudged, PeersListen, PulseDue>;

// --- effects -------------------------------------------------------------------------------------------------------------

struct Send {
  Peer to;
  Envelope envelope;
};
struct SetTimer {
  TimerId timer;  ///< setting it again moves it
  Instant at{};
  Precision precision = Precision::ordinary;
};
struct CancelTimer {
  TimerId timer;
};
struct Transact {
  BusId bus;
  TransactionId transaction;
  Transaction order;
};
/// A SnapshotRecord takes the place of all rows before it. One that cannot be written is no failure: those rows stay.
struct Append {
  Record record;
};
struct MakePlan {
  std::shared_ptr<const PlanRequest> request;
};
struct RaiseAlarm {
  Alarm alarm;
};
/// To the training process of this agent's node.
struct TellTraining {
  TrainingWord word;
};
/// Where the processes of other hosts listen, for whoever keeps links to them.
struct LearnPeers {
  std::vector<PeerAddress> peers;
};

using Effect = OneOf<Send, SetTimer, CancelTimer, Transact, Append, MakePlan, RaiseAlarm, TellTraining, LearnPeers>;

/// Collects the effects of one step in order. The host clears and re-uses it, so a warm sink does not allocate.
class EffectSink {
 public:
  template <class E>
  void emit(E effect) {
    effects_.emplace_back(std::move(effect));
  }
  std::vector<Effect>& effects() { return effects_; }
  void clear() { effects_.clear(); }

 private:
  std::vector<Effect> effects_;
};

}  // namespace loom
