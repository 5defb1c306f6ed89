// SPDX-License-Identifier: Apache-2.0
// Records, rations, sums.
#include "controller/control/audit_trail.hpp"

#include <algorithm>

#include "controller/control/requests/audit_text.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Records at once and from then on: kAuditKept of them shall reach back for days, whatever one key does.
struct RationOf {
  std::uint32_t most;
  Duration refill;
};
constexpr RationOf kOperators{60, std::chrono::seconds{6}};
constexpr RationOf kOthers{8, std::chrono::minutes{10}};
constexpr Duration kSumEvery = std::chrono::hours{1};
constexpr std::size_t kRationsKept = 4'096;
constexpr std::size_t kPromisesKept = 1'024;
constexpr std::size_t kKeysNamed = 24;  ///< one by one, of those that changed at once

constexpr RationOf ration_for(Role role) { return role == Role::operator_ || role == Role::admin ? kOperators : kOthers; }

std::string cut(std::string text) {
  if (text.size() > limits::kTextBytes) {
    text.resize(limits::kTextBytes - 3);
    text += "...";
  }
  return text;
}

}  // namespace

// --- records -------------------------------------------------------------------------------------------------------------

AuditRecord AuditTrail::draft(const std::string& principal, Role role, std::string asked) const {
  AuditRecord record;
  record.at = facts_.wall(facts_.now);
  record.principal = principal;
  record.role = role;
  record.asked = cut(std::move(asked));
  return record;
}

void AuditTrail::append(AuditRecord record, EffectSink& sink) {
  record.number = rows().empty() ? 1 : rows().back().number + 1;
  if (record.outcome.error) {
    record.outcome.error->message = cut(std::move(record.outcome.error->message));
    record.outcome.error->next_command.clear();  // was for whoever asked
  }
  journal_.append(std::move(record), sink);
}

std::string AuditTrail::key_text(const std::string& principal, Role role) const {
  const auto known = keys_.find({principal, role});
  if (known == keys_.end()) {
    return {};
  }
  std::string text;
  for (const std::string& fingerprint : known->second) {
    text += (text.empty() ? " (key " : " or ") + fingerprint;
  }
  return text + ")";
}

void AuditTrail::begin(const Requester& requester, Role role, const OperatorAsk& ask) {
  AuditRecord record = draft(requester.principal, role, sentence_of(ask) + key_text(requester.principal, role));
  record.request = requester.request;
  open_.insert_or_assign({requester.principal, requester.request}, Open{std::move(record)});
}

void AuditTrail::record(const Requester& requester, const OperatorReply& reply, EffectSink& sink) {
  const auto open = open_.find({requester.principal, requester.request});
  if (open == open_.end()) {
    return;
  }
  AuditRecord& record = open->second.record;
  record.outcome = reply.outcome;
  record.job = reply.job;
  record.revision = reply.revision;
  open->second.is_recorded = true;
  append(record, sink);
  if (reply.outcome.ok() && reply.revision != Revision{}) {
    promises_.push_back({reply.revision, record});
    if (promises_.size() > kPromisesKept) {
      promises_.pop_front();
    }
  }
}

void AuditTrail::end(const Requester& requester, const OperatorReply& reply, EffectSink& sink) {
  const auto open = open_.find({requester.principal, requester.request});
  if (open == open_.end()) {
    return;
  }
  Open ended = std::move(open->second);
  open_.erase(open);
  if (ended.is_recorded && reply.outcome.ok()) {
    return;
  }
  ended.record.outcome = reply.outcome;
  ended.record.job = reply.job;
  ended.record.revision = reply.revision;
  if (ended.is_recorded) {
    append(std::move(ended.record), sink);  // it was to be done, and was not
  } else {
    append_rationed(std::move(ended.record), sink);
  }
}

void AuditTrail::note(const std::string& principal, Role role, std::string what, Outcome outcome, EffectSink& sink) {
  AuditRecord record = draft(principal, role, std::move(what));
  record.outcome = std::move(outcome);
  append_rationed(std::move(record), sink);
}

void AuditTrail::note_own(std::string what, EffectSink& sink) {
  append(draft("controller", Role::controller, std::move(what)), sink);
}

void AuditTrail::on_refused(const MessageRefused& refused, EffectSink& sink) {
  const std::string whose = refused.principal.empty() ? "?" : refused.principal;
  const Role role = refused.from.kind == Peer::Kind::agent ? Role::agent : Role::viewer;
  if (refused.kind == RefusalKind::over_quota) {
    Ration& ration = ration_of(whose, role);
    ration.untold += refused.count;
    ration.last_untold = refused.error.message;
    return;
  }
  const std::string times = refused.count > 1 ? format_text("{} messages", refused.count) : "a message";
  note(whose, role, format_text("{} refused ({})", times, to_string(refused.kind)), Outcome{refused.error}, sink);
}

// --- keys ----------------------------------------------------------------------------------------------------------------

void AuditTrail::keep_key(const KeysChanged::Change& change) {
  for (auto it = keys_.begin(); it != keys_.end();) {
    std::erase(it->second, change.fingerprint);
    it = it->second.empty() ? keys_.erase(it) : std::next(it);
  }
  if (change.kind != KeysChanged::Change::Kind::removed) {
    keys_[{change.principal, change.role}].push_back(change.fingerprint);
  }
}

void AuditTrail::on_keys(const KeysChanged& changed, EffectSink& sink) {
  using Kind = KeysChanged::Change::Kind;
  if (changed.problem) {
    return note("controller", Role::controller, "keyring changed", Outcome{changed.problem}, sink);
  }
  const bool is_first = !std::exchange(has_keys_, true);
  std::string all;
  for (std::size_t i = 0; i < changed.changes.size(); ++i) {
    const KeysChanged::Change& change = changed.changes[i];
    keep_key(change);
    const std::string key = "key " + change.fingerprint;
    if (is_first && i < kKeysNamed) {
      all += format_text(", {} ({}, {})", change.principal, to_string(change.role), key);
    } else if (!is_first && i < kKeysNamed) {
      const char* what = change.kind == Kind::added ? " granted" : change.kind == Kind::removed ? " revoked" : " altered";
      append(draft(change.principal, change.role, key + what), sink);
    }
    if (change.kind == Kind::removed) {
      const std::pair whose(change.principal, change.role);
      if (const auto ration = rations_.find(whose); ration != rations_.end()) {
        report_sum(whose, ration->second, sink);
      }
    }
  }
  if (is_first) {
    note_own(format_text("keys in force: {}{}", changed.changes.size(), all), sink);
  } else if (changed.changes.size() > kKeysNamed) {
    note_own(format_text("{} more keys changed", changed.changes.size() - kKeysNamed), sink);
  }
}

// --- what became of it ---------------------------------------------------------------------------------------------------

/// One record each; a revision that was never begun, as a later one took its place, ends with that one.
void AuditTrail::follow(const std::deque<CommitReport>& history, EffectSink& sink) {
  while (!promises_.empty()) {
    const auto ended = std::find_if(history.begin(), history.end(), [&](const CommitReport& report) {
      return report.revision >= promises_.front().revision && report.outcome != CommitOutcome::under_way;
    });
    if (ended == history.end()) {
      return;
    }
    AuditRecord record = std::move(promises_.front().record);
    promises_.pop_front();
    record.at = facts_.wall(facts_.now);
    record.asked = cut(format_text("revision {} {}: {}", ended->revision.value, to_string(ended->outcome), record.asked));
    record.revision = ended->revision;
    if (ended->outcome != CommitOutcome::committed) {
      record.outcome.error = Error{ErrorCode::refused, ended->reason};
    }
    append(std::move(record), sink);
  }
}

// --- rations -------------------------------------------------------------------------------------------------------------

AuditTrail::Ration& AuditTrail::ration_of(const std::string& principal, Role role) {
  const RationOf rule = ration_for(role);
  // More principals than a keyring of people has: they share one ration.
  std::pair<std::string, Role> whose(rations_.size() < kRationsKept || rations_.contains({principal, role}) ? principal : "?",
                                     role);
  const auto [at, is_new] = rations_.try_emplace(std::move(whose));
  Ration& ration = at->second;
  if (is_new) {
    ration.left = rule.most;
    ration.refilled = facts_.now;
  }
  const auto earned = (facts_.now - ration.refilled) / rule.refill;
  if (earned > 0) {
    ration.left = static_cast<std::uint32_t>(std::min<std::int64_t>(rule.most, ration.left + earned));
    ration.refilled += earned * rule.refill;
  }
  if (!ration.since) {
    ration.since = facts_.now;
  }
  return ration;
}

void AuditTrail::append_rationed(AuditRecord record, EffectSink& sink) {
  Ration& ration = ration_of(record.principal, record.role);
  if (ration.left == 0) {
    ++ration.untold;
    ration.last_untold = record.asked;
    return;
  }
  --ration.left;
  append(std::move(record), sink);
}

void AuditTrail::count_question(const std::string& principal, Role role) { ++ration_of(principal, role).questions; }

void AuditTrail::report_sum(const std::pair<std::string, Role>& whose, Ration& ration, EffectSink& sink) {
  ration.since.reset();
  const std::uint64_t questions = std::exchange(ration.questions, 0);
  const std::uint64_t untold = std::exchange(ration.untold, 0);
  const std::string last = std::exchange(ration.last_untold, {});
  if (questions == 0 && untold == 0) {
    return;
  }
  std::string text = questions > 0 ? format_text("{} questions", questions) : "";
  if (untold > 0) {
    text +=
        format_text("{}{} requests that were not recorded one by one, the last: {}", text.empty() ? "" : ", ", untold, last);
  }
  append(draft(whose.first, whose.second, text + key_text(whose.first, whose.second)), sink);
}

void AuditTrail::sweep(EffectSink& sink) {
  for (auto it = rations_.begin(); it != rations_.end();) {
    Ration& ration = it->second;
    if (ration.since && facts_.now - *ration.since >= kSumEvery) {
      report_sum(it->first, ration, sink);
    }
    const bool is_forgotten = !ration.since && facts_.now - ration.refilled >= kSumEvery + kSumEvery;
    it = is_forgotten ? rations_.erase(it) : std::next(it);
  }
}

}  // namespace loom
