// SPDX-License-Identifier: Apache-2.0
// One row a key, one alarm a row.
#include "controller/control/requests/refusals.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr Duration kReported{limits::kRefusalReportedNs};
constexpr Duration kQuiet{limits::kRefusalQuietNs};

/// "3900 over_quota, 2 foreign": what there is.
std::string text_of(const RefusalCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      text += format_text("{}{} {}", text.empty() ? "" : ", ", counts[i], to_string(static_cast<RefusalKind>(i)));
    }
  }
  return text;
}

}  // namespace

std::uint64_t Refusals::dishonest() const {
  const std::uint64_t all = std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  return all - counts_[static_cast<std::size_t>(RefusalKind::over_quota)] -
         counts_[static_cast<std::size_t>(RefusalKind::role)];
}

/// Principals come from the keyring, so there are few; whoever fills the table all the same shares a row.
Refusals::Offender& Refusals::offender(const Key& key) {
  if (const auto known = offenders_.find(key); known != offenders_.end()) {
    return known->second;
  }
  return offenders_.size() < limits::kOffenders ? offenders_[key] : offenders_[{std::string{}, key.second}];
}

void Refusals::note(const Offence& offence, EffectSink& sink) {
  counts_[static_cast<std::size_t>(offence.kind)] += offence.count;
  const AlarmCode code = offence.kind == RefusalKind::conflict ? AlarmCode::agent_duplicate : AlarmCode::malformed_message;
  Offender& row = offender({offence.principal, code});
  row.counts[static_cast<std::size_t>(offence.kind)] += offence.count;
  row.last = facts_.now;
  if (!row.alarm || facts_.now - row.reported >= kReported) {
    report(row, offence, code, sink);
  }
}

void Refusals::report(Offender& row, const Offence& offence, AlarmCode code, EffectSink& sink) {
  Alarm alarm;
  alarm.code = code;
  alarm.node = offence.node;
  alarm.evidence = format_text("{} ({}; refused so far: {})", offence.what,
                               offence.principal.empty() ? std::string("no key that is known") : "key of " + offence.principal,
                               text_of(row.counts));
  alarm.next_command = offence.node ? format_text("loom node show {}", offence.node->value) : "loom status";
  row.reported = facts_.now;
  row.alarm = alarms_.raise_apart(row.alarm, std::move(alarm), facts_.now, sink);
}

void Refusals::sweep() {
  for (auto it = offenders_.begin(); it != offenders_.end();) {
    if (facts_.now - it->second.last < kQuiet) {
      ++it;
      continue;
    }
    if (it->second.alarm) {
      alarms_.clear(*it->second.alarm);
    }
    it = offenders_.erase(it);
  }
}

}  // namespace loom
