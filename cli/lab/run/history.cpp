// SPDX-License-Identifier: Apache-2.0
// Rows of the journal have no time of their own: commits have that of their history, orders about lasers that of their order.
#include "cli/lab/run/history.hpp"

#include <algorithm>

#include "cli/journal.hpp"
#include "runtime/clock.hpp"
#include "sim_backend/judge/fault_excuse.hpp"
#include "sim_backend/light/light_model.hpp"

namespace loom::cli {
namespace {

/// Rows are read before a snapshot takes their place. It does so after so many bytes of journal, and plans are as large as the
/// fabric: after a hundred commits of 3,000 devices at the earliest, after one or two of SiP-Ring's 92,160.
std::size_t commits_unread(const Fabric& fabric) {
  constexpr std::size_t kDevicesUnread = 100'000;
  return std::clamp<std::size_t>(kDevicesUnread / std::max<std::size_t>(fabric.devices.size(), 1), 1, 32);
}

}  // namespace

Result<void> LabHistory::note_commits(Connection& connection) {
  auto reply = connection.ask(Query{Noun::history, {}});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  for (CommitReport& row : std::get<std::vector<CommitReport>>(reply->rows)) {
    row.started = in_run(row.started);
    const auto [place, is_new] = commits_.insert_or_assign(row.revision, row);
    if (is_new && row.outcome == CommitOutcome::committed) {
      LOOM_TRY(light_.read_banks(of_host(row.started)));
    }
  }
  return commits_.size() < learned_at_ + commits_unread(*lab_.scenario.fabric) ? Result<void>{} : learn_rows();
}

/// Rows that are new since. A snapshot that took the place of rows which nobody has read tells of them what it knows.
Result<void> LabHistory::learn_rows() {
  auto rows = read_journal(lab_.files);
  if (!rows) {
    return std::unexpected(rows.error());
  }
  for (const JournalRow& row : *rows) {
    if (row.number <= learned_) {
      continue;
    }
    if (const auto* snapshot = std::get_if<SnapshotRecord>(&row.record)) {
      for (const Record& record : unread_records(*snapshot, read_)) {
        learn(record);
      }
    } else {
      learn(row.record);
    }
    learned_ = row.number;
  }
  learned_at_ = commits_.size();
  return {};
}

void LabHistory::learn(const Record& record) {
  read_.note(record);
  const Instant at = std::max(last(), time_of(record));
  decisions_.emplace_back(at, record);
  run_.learn(at, record);
}

Result<void> LabHistory::read() {
  LOOM_TRY(learn_rows());
  auto changes = light_.changes();
  if (!changes) {
    return std::unexpected(changes.error());
  }
  changes_ = std::move(*changes);
  windows_ = windows_of(lab_.scenario.fabric, changes_, zero_);
  return {};
}

SafetyVerdict LabHistory::judge() const {
  LightModel light(lab_.scenario.fabric);
  LightChecker checker(light, CheckerOptions{});
  auto decision = decisions_.begin();
  auto fault = lab_.scenario.device_faults.begin();
  const auto advance = [&](Instant to) {
    for (; fault != lab_.scenario.device_faults.end() && Instant{fault->at} <= to; ++fault) {
      for (Excuse& excuse : excuses_of(*fault, *lab_.scenario.fabric, mend_bound(lab_.scenario.controller))) {
        checker.excuse(std::move(excuse));
      }
    }
    for (; decision != decisions_.end() && decision->first <= to; ++decision) {
      checker.learn(decision->first, decision->second);
    }
  };
  for (OpticalChange change : changes_) {
    change.at = in_run(change.at);
    advance(change.at);
    const auto changed = light.apply(change);
    checker.judge(change.at, changed);
  }
  advance(kNever);
  return {checker.violations(), checker.excused(), checker.excused_count()};
}

Instant LabHistory::time_of(const Record& record) {
  if (const auto* commit = std::get_if<CommitRecord>(&record)) {
    return time_of(*commit);
  }
  const auto* intent = std::get_if<IntentRecord>(&record);
  return intent == nullptr ? last() : time_of(*intent);
}

/// From its beginning: nothing is dark before it fires.
Instant LabHistory::time_of(const CommitRecord& record) {
  const auto found = commits_.find(record.revision);
  const bool is_end = record.decision == CommitDecision::confirmed || record.decision == CommitDecision::returned;
  if (found == commits_.end()) {  // of a controller that was killed before anybody asked it
    return is_end ? std::max(last(), in_run(monotonic_now())) : last();
  }
  const CommitReport& report = found->second;
  return is_end ? report.started + report.total : report.started;
}

Instant LabHistory::time_of(const IntentRecord& record) {
  if (record.intent.lasers_off == lasers_off_) {
    return last();
  }
  lasers_off_ = record.intent.lasers_off;
  const auto order = std::ranges::find(laser_requests_seen_, !lasers_off_, &LaserCommand::on);
  if (order == laser_requests_seen_.end()) {
    return last();
  }
  const Instant at = order->at;
  laser_requests_seen_.erase(laser_requests_seen_.begin(), order + 1);
  return at;
}

}  // namespace loom::cli
