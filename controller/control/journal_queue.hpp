// SPDX-License-Identifier: Apache-2.0
// JournalQueue: what is durable before what. A row goes out as an Append effect together with the act that waits for it; acts
// become due in order, once the journal says that their row is durable. It also knows what the journal says with all these
// rows, which is what a snapshot of it has to say, and whether the journal takes rows at all. It does not know what an act
// means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/control/requests/requester.hpp"
#include "core/step.hpp"

namespace loom {

/// Answers an operator.
struct ReplyAct {
  Requester to;
  OperatorReply reply;
  bool submits = false;        ///< the job of the reply is new with it
  std::string already_done{};  ///< what did not wait for the journal, for the answer if that takes no row
};
/// Lets the commit of this revision go.
struct GoAct {
  Revision revision;
};
/// The commit of this revision is confirmed.
struct ConfirmAct {
  Revision revision;
};
struct WelcomeAct {
  NodeId node;
};
/// Planning may go on.
struct PlanAct {};
using JournalAct = std::variant<ReplyAct, GoAct, ConfirmAct, WelcomeAct, PlanAct>;

/// How many bytes a record's row has. Empty: rows may have any length.
using RecordBytes = std::function<std::size_t(const Record&)>;

class JournalQueue {
 public:
  explicit JournalQueue(RecordBytes bytes) : bytes_(std::move(bytes)) {}

  /// What an earlier incarnation left.
  void restore(const std::vector<Record>& records);
  /// What the journal says, with the rows that are under way.
  const SnapshotRecord& state() const { return state_; }

  void append(Record record, JournalAct act, EffectSink& sink);
  /// A row that nothing waits for but what the next row lets happen.
  void append(Record record, EffectSink& sink);
  /// Its request is so old that nobody repeats it any more.
  using IsForgotten = std::function<bool(const IntentCause&)>;
  /// Of a commit that has not gone: its plan stands in the journal.
  bool has_planned(Revision revision) const { return state_.planned != nullptr && state_.planned->revision == revision; }
  /// The plan of a commit that is being prepared, unless it is there: `going` then is a short row.
  void append_planned(const std::shared_ptr<const PlanResult>& plan, CircuitId next_circuit, EffectSink& sink);
  /// One row that stands for all before it. Earlier revisions are dropped from it, oldest first, until it fits into a row.
  void append_snapshot(const IsForgotten& is_forgotten, EffectSink& sink);
  /// The oldest act whose row is among the first `durable` ones; empty: none is due.
  std::optional<JournalAct> take_due(std::uint64_t durable);
  bool is_empty() const { return acts_.empty(); }

  /// The journal takes no more rows: the acts that wait for one will never be due.
  std::vector<JournalAct> fail(Error why);
  /// Since when the journal takes no rows: why, and what brings it back.
  const std::optional<Error>& failure() const { return failure_; }
  /// Why this intent cannot be recorded: the journal takes no rows, or not one of this length.
  std::optional<Error> refusal_of(const IntentRecord& record) const;
  /// Why no row of a plan may have so many bytes.
  static std::optional<Error> refusal_of_plan(std::size_t row_bytes);

 private:
  struct PendingAct {
    std::uint64_t row;
    JournalAct act;
  };
  RecordBytes bytes_;
  SnapshotRecord state_;
  std::uint64_t appended_ = 0;  ///< Append effects of this incarnation
  std::deque<PendingAct> acts_;
  std::optional<Error> failure_;
};

}  // namespace loom
