// SPDX-License-Identifier: Apache-2.0
// AuditTrail: who asked what, when, and what was answered, as records of the journal. An order's record goes into the journal
// before what it changes and so is durable when it is answered; what changes nothing (a dry run, a refusal) is recorded without
// anybody waiting for it. Questions are summed. No key can fill the trail: records that nothing durable goes with are rationed
// a key, and what was not recorded is counted and told. It judges nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/control/facts.hpp"
#include "controller/control/journal_queue.hpp"

namespace loom {

class AuditTrail {
 public:
  AuditTrail(const ControllerFacts& facts, JournalQueue& journal) : facts_(facts), journal_(journal) {}

  /// An order came in. It is recorded when it is answered.
  void begin(const Requester& requester, Role role, const OperatorAsk& ask);
  /// The order will be answered with this, once the row behind this record is durable.
  void record(const Requester& requester, const OperatorReply& reply, EffectSink& sink);
  /// The order is answered. Records it if that has not been done, or if the answer is another one now.
  void end(const Requester& requester, const OperatorReply& reply, EffectSink& sink);
  /// A question was answered.
  void count_question(const std::string& principal, Role role);

  /// What somebody did who asked nothing of us: an interlock, a refused message. Rationed.
  void note(const std::string& principal, Role role, std::string what, Outcome outcome, EffectSink& sink);
  /// What the controller did by itself.
  void note_own(std::string what, EffectSink& sink);
  void on_refused(const MessageRefused& refused, EffectSink& sink);
  void on_keys(const KeysChanged& changed, EffectSink& sink);
  /// Revisions that were promised in answers have ended.
  void follow(const std::deque<CommitReport>& history, EffectSink& sink);
  /// Sums that are due.
  void sweep(EffectSink& sink);

  /// Oldest first.
  const std::vector<AuditRecord>& rows() const { return journal_.state().audit; }

 private:
  using Key = std::pair<std::string, RequestId>;  ///< principal
  struct Open {
    AuditRecord record;
    bool is_recorded = false;
  };
  /// Of one principal in one role.
  struct Ration {
    std::uint32_t left = 0;          ///< records
    Instant refilled{};              ///< last
    std::uint64_t untold = 0;        ///< not recorded since the last sum
    std::uint64_t questions = 0;     ///< since the last sum
    std::optional<Instant> since{};  ///< of what is to be summed
    std::string last_untold{};
  };
  struct Promise {
    Revision revision;
    AuditRecord record;
  };

  AuditRecord draft(const std::string& principal, Role role, std::string asked) const;
  void append(AuditRecord record, EffectSink& sink);
  void append_rationed(AuditRecord record, EffectSink& sink);
  Ration& ration_of(const std::string& principal, Role role);
  void report_sum(const std::pair<std::string, Role>& whose, Ration& ration, EffectSink& sink);
  /// " (key 0123456789abcdef)", or nothing where no key is known.
  std::string key_text(const std::string& principal, Role role) const;
  void keep_key(const KeysChanged::Change& change);

  const ControllerFacts& facts_;
  JournalQueue& journal_;
  std::map<Key, Open> open_;
  std::map<std::pair<std::string, Role>, Ration> rations_;
  std::map<std::pair<std::string, Role>, std::vector<std::string>> keys_;  ///< fingerprints in force
  std::deque<Promise> promises_;                                           ///< by revision, ascending
  bool has_keys_ = false;
};

}  // namespace loom
