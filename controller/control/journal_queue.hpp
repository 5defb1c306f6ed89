// JournalQueue: what is durable before what. A row goes out as an Append effect together with the act that waits for it; acts
// become due in order, once the journal says that their row is durable. It does not know what an act means.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "controller/control/requester.hpp"
#include "core/step.hpp"

namespace loom {

/// Answers an operator.
struct ReplyAct {
  Requester to;
  OperatorReply reply;
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

class JournalQueue {
 public:
  void append(Record record, JournalAct act, EffectSink& sink) {
    append(std::move(record), sink);
    acts_.push_back({appended_, std::move(act)});
  }
  /// A row that nothing waits for but what the next row lets happen.
  void append(Record record, EffectSink& sink) {
    sink.emit(Append{std::move(record)});
    ++appended_;
  }
  /// The oldest act whose row is among the first `durable` ones; empty: none is due.
  std::optional<JournalAct> take_due(std::uint64_t durable) {
    if (acts_.empty() || acts_.front().row > durable) {
      return std::nullopt;
    }
    JournalAct act = std::move(acts_.front().act);
    acts_.pop_front();
    return act;
  }
  bool is_empty() const { return acts_.empty(); }

 private:
  struct PendingAct {
    std::uint64_t row;
    JournalAct act;
  };
  std::uint64_t appended_ = 0;  ///< Append effects of this incarnation
  std::deque<PendingAct> acts_;
};

}  // namespace loom
