// SPDX-License-Identifier: Apache-2.0
// Keeping, folding, forgetting.
#include "agents/traffic/traffic_folder.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "agents/traffic/period.hpp"
#include "core/digest.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// So long after the last transfer between two ranks nothing is concluded: they are traffic too.
constexpr Duration kUnfoldedLasts = std::chrono::seconds{60};

std::string name_of(std::uint64_t communicator) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(communicator));
  return format_text("communicator {}", text.data());
}

std::uint64_t word_of(const TrafficRecord& record, std::uint64_t step) {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(record.kind));
  digest.add(static_cast<std::uint64_t>(record.bytes.count));
  digest.add(step);
  return digest.value();
}

/// The newest whole period, equal ones counted together; empty: more different ones than one report carries.
template <class Received>
std::vector<RepeatedCollective> summed(const std::deque<Received>& received, std::size_t length) {
  std::vector<RepeatedCollective> all;
  for (std::size_t i = received.size() - length; i < received.size(); ++i) {
    all.push_back(received[i].what);
  }
  std::sort(all.begin(), all.end());
  std::vector<RepeatedCollective> sum;
  for (const RepeatedCollective& each : all) {
    if (!sum.empty() && sum.back().kind == each.kind && sum.back().bytes == each.bytes) {
      ++sum.back().count;
    } else {
      sum.push_back(each);
    }
  }
  return sum.size() > limits::kCollectivesPerPeriod ? std::vector<RepeatedCollective>{} : sum;
}

}  // namespace

void TrafficFolder::receive(Instant now, const TrafficReported& reported) {
  is_fed_ = true;
  counters_.unfolded += reported.unfolded;
  counters_.refused += reported.refused;
  unfolded_at_ = reported.unfolded > 0 ? now : unfolded_at_;
  fault_ = reported.fault.empty() ? fault_ : reported.fault;
  for (const TrafficRecord& record : reported.records) {
    receive(now, record);
  }
}

/// Null: there is no room, and nobody is silent enough to make some.
TrafficFolder::Communicator* TrafficFolder::entry_of(Instant now, const TrafficRecord& record) {
  const auto known = communicators_.find(record.communicator);
  if (known != communicators_.end()) {
    return &known->second;
  }
  if (communicators_.size() >= limits::kCommunicatorsPerNode) {
    forget(now);
  }
  if (communicators_.size() >= limits::kCommunicatorsPerNode) {
    ++counters_.crowded_out;
    unfolded_at_ = now;  // it is traffic that no report stands for
    fault_ = format_text("more than {} communicators at once", limits::kCommunicatorsPerNode);
    return nullptr;
  }
  Communicator& added = communicators_[record.communicator];
  added.first_received = now;
  added.rank = record.rank;
  added.ranks = record.ranks;
  return &added;
}

void TrafficFolder::receive(Instant now, const TrafficRecord& record) {
  ++counters_.received;
  Communicator* entry = entry_of(now, record);
  if (entry == nullptr) {
    return;
  }
  if (entry->rank != record.rank || entry->ranks != record.ranks) {
    *entry = Communicator{};  // another one under the same number
    entry->first_received = now;
    entry->rank = record.rank;
    entry->ranks = record.ranks;
  }
  const auto last = entry->last_sequence.find(record.kind);
  if (last != entry->last_sequence.end() && record.sequence == last->second) {
    ++counters_.repeated;
    return;
  }
  if (last != entry->last_sequence.end() && record.sequence < last->second) {
    entry->received.clear();  // it counts anew: what was before says nothing of how it goes on
    entry->last_sequence.clear();
  }
  const bool is_first = !entry->last_sequence.contains(record.kind);
  const std::uint64_t step = is_first ? 0 : record.sequence - entry->last_sequence[record.kind];
  entry->last_sequence[record.kind] = record.sequence;
  entry->received.push_back({word_of(record, step), {record.kind, record.bytes, 1}, record.at});
  if (entry->received.size() > limits::kCollectivesRemembered) {
    entry->received.pop_front();
  }
  entry->last_received = now;
  entry->folded.reset();
  entry->trouble.clear();
}

void TrafficFolder::fold(std::uint64_t id, Communicator& communicator) const {
  std::vector<std::uint64_t> words;
  for (const Received& received : communicator.received) {
    words.push_back(received.word);
  }
  const auto period = period_of(words);
  if (!period) {
    communicator.trouble = format_text("{}: no two whole periods in what is remembered of it (at most {} collectives)",
                                       name_of(id), limits::kCollectivesRemembered);
    return;
  }
  // Between two places of equal phase, so that batches do not matter.
  const std::size_t periods = (period->covered - 1) / period->length;
  const Received& newest = communicator.received.back();
  const Received& older = communicator.received[communicator.received.size() - 1 - periods * period->length];
  const Duration length = (newest.at - older.at) / static_cast<std::int64_t>(periods);
  CommunicatorTraffic folded{id, communicator.rank, communicator.ranks, summed(communicator.received, period->length), length};
  if (folded.period.empty()) {
    communicator.trouble =
        format_text("{}: more than {} different collectives in a period", name_of(id), limits::kCollectivesPerPeriod);
  } else if (length <= Duration{} || length > Duration{limits::kDurationNs}) {
    communicator.trouble = name_of(id) + ": its period has no length yet";
  } else {
    communicator.folded = std::move(folded);
  }
}

bool TrafficFolder::is_silent(Instant now, const Communicator& communicator, std::int64_t periods) const {
  const Duration silence = now - communicator.last_received;
  return communicator.folded ? silence > periods * communicator.folded->length + patience_.slack
                             : silence > patience_.unperiodic;
}

void TrafficFolder::forget(Instant now) {
  std::erase_if(communicators_, [&](const auto& each) { return is_silent(now, each.second, patience_.forgotten_periods); });
}

/// Why nothing may be concluded while it is as it is; empty: something may.
std::string TrafficFolder::trouble_of(Instant now, std::uint64_t id, const Communicator& communicator, Duration longest) const {
  if (!communicator.folded) {
    return communicator.trouble;
  }
  if (is_silent(now, communicator, patience_.late_periods)) {
    return name_of(id) + " has fallen silent";
  }
  const bool is_new = now - communicator.first_received < patience_.forgotten_periods * longest + patience_.slack;
  return is_new ? name_of(id) + " is new" : std::string();
}

TrafficReport TrafficFolder::report(Instant now) {
  TrafficReport report;
  report.number = ++number_;
  report.refused = counters_.refused;
  for (auto& [id, communicator] : communicators_) {
    if (!communicator.folded && communicator.trouble.empty()) {
      fold(id, communicator);
    }
  }
  forget(now);
  if (unfolded_at_ != Instant{} && now - unfolded_at_ < kUnfoldedLasts) {
    report.trouble =
        counters_.crowded_out > 0 ? fault_ : "transfers between two ranks (Send, Recv) are reported, which nothing is made of";
  }
  Duration longest{};
  for (const auto& [id, communicator] : communicators_) {
    longest = std::max(longest, communicator.folded ? communicator.folded->length : Duration{});
  }
  for (const auto& [id, communicator] : communicators_) {
    if (communicator.folded) {
      report.communicators.push_back(*communicator.folded);
    }
    const std::string trouble = trouble_of(now, id, communicator, longest);
    report.trouble = report.trouble.empty() ? trouble : report.trouble;
  }
  return report;
}

}  // namespace loom
