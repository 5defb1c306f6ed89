// SPDX-License-Identifier: Apache-2.0
// Ranks of one trace against each other: the k-th collective of a group must be the same on every rank that is there.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "controller/workload/import/flows.hpp"
#include "controller/workload/import/trace_pytorch.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::size_t kWarningsMax = 64;

/// Digits at the end of "dlrm_eg_3.json": 3.
std::optional<std::uint32_t> number_in_name(const std::string& member) {
  std::string stem = std::filesystem::path{member}.filename().string();
  stem = stem.substr(0, stem.find('.'));
  const std::size_t last = stem.find_last_not_of("0123456789");
  const std::string digits = last == std::string::npos ? stem : stem.substr(last + 1);
  if (digits.empty() || digits.size() > 6) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(std::stoul(digits));
}

struct Occurrence {
  std::uint32_t rank = 0;
  const RankCollective* collective = nullptr;
};

/// The k-th collective of a group, as each rank has it.
struct Slot {
  std::string group;
  std::vector<Occurrence> seen;
};

class Merger {
 public:
  Merger(std::vector<RankTrace> ranks, const std::string& path, const ImportLimits& limits)
      : ranks_(std::move(ranks)), path_(path), limits_(limits) {}

  Result<TraceSummary> run() {
    LOOM_TRY(number_ranks());
    count_world();
    collect_groups();
    collect_slots();
    for (const Slot& slot : slots_) {
      if (job_collectives_.size() >= limits_.collectives) {
        return fail(ErrorCode::out_of_range,
                    format_text("{}: more than {} collectives in all ranks (kCollectivesPerJob)", path_, limits_.collectives));
      }
      take(slot);
    }
    finish();
    return std::move(summary_);
  }

 private:
  void warn(std::string sentence) {
    ++warned_;
    if (summary_.warnings.size() < kWarningsMax) {
      summary_.warnings.push_back(std::move(sentence));
    }
  }

  Result<void> number_ranks() {
    if (ranks_.empty()) {
      return fail(ErrorCode::malformed, path_ + ": empty, no trace in it");
    }
    std::set<std::uint32_t> taken;
    for (RankTrace& trace : ranks_) {
      const auto named = number_in_name(trace.member);
      if (trace.rank && taken.contains(*trace.rank) && named) {
        trace.rank = named;  // ranks within a subgroup only: the file name knows better
      }
      trace.rank = trace.rank ? trace.rank : named.value_or(static_cast<std::uint32_t>(taken.size()));
      if (!taken.insert(*trace.rank).second) {
        return fail(ErrorCode::malformed, format_text("{} ({}): a second file of rank {}", path_, trace.member, *trace.rank));
      }
      for (const std::string& sentence : trace.warnings) {
        warn(format_text("rank {}: {}", *trace.rank, sentence));
      }
    }
    std::sort(ranks_.begin(), ranks_.end(), [](const RankTrace& a, const RankTrace& b) { return *a.rank < *b.rank; });
    return {};
  }

  void count_world() {
    auto world = static_cast<std::uint32_t>(ranks_.size());
    std::set<std::string> schemas;
    for (const RankTrace& trace : ranks_) {
      schemas.insert(trace.schema);
      world = std::max(world, *trace.rank + 1);
      for (const TraceGroup& group : trace.groups) {
        world = std::max(world, group.size);
        for (const std::uint32_t rank : group.ranks) {
          world = std::max(world, rank + 1);
        }
      }
      for (const RankCollective& collective : trace.collectives) {
        world = std::max(world, collective.group_size);
        for (const std::uint32_t rank : collective.group_ranks) {
          world = std::max(world, rank + 1);
        }
      }
      summary_.nodes += trace.nodes;
      summary_.iterations = std::max(summary_.iterations, trace.iterations);
    }
    if (schemas.size() > 1) {
      warn("files of different schemas");
    }
    summary_.format = "pytorch-et " + (schemas.begin()->empty() ? std::string{"(no schema)"} : *schemas.begin());
    summary_.ranks = world;
    summary_.ranks_present = static_cast<std::uint32_t>(ranks_.size());
    if (world > ranks_.size()) {
      warn(format_text("{} of {} ranks are in the file; the others are taken to do the same", ranks_.size(), world));
    }
  }

  void collect_groups() {
    for (const RankTrace& trace : ranks_) {
      for (const TraceGroup& group : trace.groups) {
        groups_.emplace(group.name, group.ranks);
      }
      for (const RankCollective& collective : trace.collectives) {
        if (!collective.group_ranks.empty()) {
          groups_.emplace(collective.group, collective.group_ranks);
        }
      }
    }
  }

  /// Old traces name a group by its address in the rank's own process: only the order of appearance can be compared.
  std::string shared_name(const RankCollective& collective, std::map<std::string, std::size_t>& addresses) {
    if (!collective.group.starts_with('#')) {
      return collective.group;
    }
    const std::size_t index = addresses.emplace(collective.group, addresses.size()).first->second;
    if (index > 0 && !several_addresses_) {
      several_addresses_ = true;
      warn("several process groups, named by address only: matched by order of appearance, each taken to be all ranks");
    }
    return index == 0 ? std::string{} : format_text("group {}", index);
  }

  void collect_slots() {
    std::map<std::string, std::size_t> slot_of;  // group and place in it
    for (const RankTrace& trace : ranks_) {
      std::map<std::string, std::size_t> addresses;
      std::map<std::string, std::size_t> next;
      for (const RankCollective& collective : trace.collectives) {
        const std::string group = shared_name(collective, addresses);
        const bool pair = collective.kind == CollectiveKind::point_to_point;
        const std::string lane = pair ? format_text("{}/from {}", group, *trace.rank) : group;
        const std::string key = format_text("{}/{}", lane, next[lane]++);
        const auto [found, fresh] = slot_of.emplace(key, slots_.size());
        if (fresh) {
          slots_.push_back({group, {}});
        }
        slots_[found->second].seen.push_back({*trace.rank, &collective});
      }
    }
  }

  /// Ranks of the group, in its order; all of them when nothing else is known.
  std::vector<std::uint32_t> members(const std::string& group) const {
    const auto found = groups_.find(group);
    return ranks_of({.ranks = found == groups_.end() ? std::vector<std::uint32_t>{} : found->second}, summary_.ranks);
  }

  static std::string described(const Slot& slot, const Occurrence& first) {
    return format_text("{} (node {} of rank {}{})", first.collective->name, first.collective->node, first.rank,
                       slot.group.empty() ? "" : ", group " + slot.group);
  }

  void cross_check(const Slot& slot, const std::vector<std::uint32_t>& group) {
    const Occurrence& first = slot.seen.front();
    std::vector<std::uint32_t> missing;
    for (const RankTrace& trace : ranks_) {
      const bool member = std::find(group.begin(), group.end(), *trace.rank) != group.end();
      const bool there =
          std::any_of(slot.seen.begin(), slot.seen.end(), [&](const Occurrence& o) { return o.rank == *trace.rank; });
      if (member && !there) {
        missing.push_back(*trace.rank);
      }
    }
    if (!missing.empty()) {
      warn(format_text("{}: not in rank {}{}", described(slot, first), missing.front(),
                       missing.size() > 1 ? format_text(" and {} more", missing.size() - 1) : ""));
    }
    for (const Occurrence& other : slot.seen) {
      if (other.collective->name != first.collective->name) {
        warn(format_text("{}: rank {} has {} instead", described(slot, first), other.rank, other.collective->name));
      } else if (first.collective->kind != CollectiveKind::all_to_all && other.collective->bytes != first.collective->bytes) {
        warn(format_text("{}: rank {} has another size", described(slot, first), other.rank));
      }
    }
  }

  /// Bytes from every member to every other: sent splits where the sender is there, received splits where only the receiver
  /// is, even shares otherwise. Empty when all shares are even.
  std::vector<Bytes> splits_of(const Slot& slot, const std::vector<std::uint32_t>& group, std::int64_t even_bytes) {
    const std::size_t size = group.size();
    std::vector<const RankCollective*> row(size, nullptr);
    for (const Occurrence& each : slot.seen) {
      const auto place = std::find(group.begin(), group.end(), each.rank);
      if (place != group.end()) {
        row[static_cast<std::size_t>(place - group.begin())] = each.collective;
      }
    }
    const bool uneven = std::any_of(row.begin(), row.end(), [&](const RankCollective* r) {
      return r != nullptr && (!is_even(r->sent_splits) || !is_even(r->received_splits) || r->bytes != even_bytes);
    });
    if (!uneven) {
      return {};
    }
    std::vector<Bytes> splits(size * size);
    std::size_t contradictions = 0;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        const auto sent = share(row[i], j, size, true);
        const auto received = share(row[j], i, size, false);
        contradictions += sent && received && *sent != *received ? 1 : 0;
        splits[i * size + j] =
            Bytes{sent       ? *sent
                  : received ? *received
                             : part_of(even_bytes, static_cast<std::int64_t>(size), static_cast<std::int64_t>(j))};
      }
    }
    if (contradictions > 0) {
      warn(format_text("{}: sent and received splits differ for {} pairs; what is sent counts",
                       described(slot, slot.seen.front()), contradictions));
    }
    return splits;
  }

  static bool is_even(const std::vector<std::int64_t>& splits) {
    return std::adjacent_find(splits.begin(), splits.end(), std::not_equal_to<>{}) == splits.end();
  }

  static std::optional<std::int64_t> share(const RankCollective* collective, std::size_t other, std::size_t size, bool sent) {
    if (collective == nullptr) {
      return std::nullopt;
    }
    const auto& splits = sent ? collective->sent_splits : collective->received_splits;
    if (splits.size() == size) {
      return splits[other];
    }
    if (!splits.empty() || !sent || !collective->bytes) {
      return std::nullopt;
    }
    return part_of(*collective->bytes, static_cast<std::int64_t>(size), static_cast<std::int64_t>(other));
  }

  void refuse_size(const Slot& slot, const char* why) {
    ++summary_.unsized;
    if (summary_.unsized_names.size() < kWarningsMax) {
      summary_.unsized_names.push_back(format_text("{}: {}", described(slot, slot.seen.front()), why));
    }
  }

  void take(const Slot& slot) {
    std::vector<std::uint32_t> group = members(slot.group);
    const Occurrence& first = slot.seen.front();
    const bool pair = first.collective->kind == CollectiveKind::point_to_point;
    if (!pair) {
      cross_check(slot, group);
    }
    if (!first.collective->kind) {
      return refuse_size(slot, "not a collective that we know");
    }
    std::optional<std::int64_t> bytes;
    for (const Occurrence& each : slot.seen) {
      bytes = each.collective->bytes ? std::max(bytes.value_or(0), *each.collective->bytes) : bytes;
    }
    if (!bytes) {
      return refuse_size(slot, "no element count, element size or tensor");
    }
    Collective collective{.kind = *first.collective->kind, .bytes = Bytes{*bytes}};
    if (pair) {
      const std::uint32_t peer = first.collective->root_or_peer.value_or(0);
      if (peer >= group.size() || group[peer] == first.rank) {
        return refuse_size(slot, "its destination is not given");
      }
      collective.ranks = {first.rank, group[peer]};
    } else {
      if (collective.kind == CollectiveKind::all_to_all) {
        collective.splits = splits_of(slot, group, *bytes);
      }
      rotate_to_root(*first.collective, group);
      collective.ranks = group == members("\n") ? std::vector<std::uint32_t>{} : group;
    }
    count(slot, collective, first.collective->name);
    job_collectives_.push_back(std::move(collective));
  }

  static void rotate_to_root(const RankCollective& collective, std::vector<std::uint32_t>& group) {
    const bool rooted = collective.kind == CollectiveKind::broadcast || collective.kind == CollectiveKind::reduce;
    if (rooted && collective.root_or_peer && *collective.root_or_peer < group.size()) {
      std::rotate(group.begin(), group.begin() + *collective.root_or_peer, group.end());
    }
  }

  void count(const Slot& slot, const Collective& collective, const std::string& name) {
    const auto ranks = static_cast<std::uint32_t>(collective.ranks.empty() ? summary_.ranks : collective.ranks.size());
    for (TraceCollective& row : summary_.collectives) {
      if (row.name == name && row.group == slot.group && row.bytes == collective.bytes && row.ranks == ranks) {
        ++row.count;
        return;
      }
    }
    summary_.collectives.push_back({collective.kind, name, slot.group, ranks, collective.bytes, 1});
  }

  /// A trace of several profiler steps whose collectives repeat is that many iterations of one job.
  void one_iteration() {
    const std::uint32_t iterations = summary_.iterations;
    if (iterations < 2) {
      return;
    }
    const std::size_t period = job_collectives_.size() / iterations;
    bool repeats = job_collectives_.size() % iterations == 0;
    for (std::size_t i = period; repeats && i < job_collectives_.size(); ++i) {
      repeats = job_collectives_[i] == job_collectives_[i - period];
    }
    if (!repeats) {
      warn(format_text("{} profiler steps whose collectives differ: all of them are taken as one iteration", iterations));
      summary_.iterations = 1;
      return;
    }
    job_collectives_.resize(period);
  }

  void finish() {
    one_iteration();
    JobSpec& job = summary_.job;
    std::string stem = std::filesystem::path{path_}.filename().string();
    job.name = stem.substr(0, stem.find('.'));
    job.workload = stem;
    job.node_count = summary_.ranks;
    job.collectives = std::move(job_collectives_);
    job.compute = summary_.compute;
    warn("the trace carries no durations: compute time is 0 (set compute_ms)");
    job.assumptions = {format_text("a trace ({}), {} ranks, one node each", summary_.format, summary_.ranks),
                       "compute_ms = 0 (the trace carries no durations; set compute_ms)",
                       "collectives one after the other in issue order, after all compute"};
    if (summary_.unsized > 0) {
      job.assumptions.push_back(format_text("{} collectives of unknown size are left out", summary_.unsized));
    }
    if (warned_ > summary_.warnings.size()) {
      summary_.warnings.push_back(format_text("and {} warnings more", warned_ - summary_.warnings.size()));
    }
  }

  std::vector<RankTrace> ranks_;
  const std::string& path_;
  const ImportLimits& limits_;
  std::map<std::string, std::vector<std::uint32_t>> groups_;
  std::vector<Slot> slots_;
  std::vector<Collective> job_collectives_;
  TraceSummary summary_;
  std::size_t warned_ = 0;
  bool several_addresses_ = false;
};

}  // namespace

Result<TraceSummary> merge_ranks(std::vector<RankTrace> ranks, const std::string& path, const ImportLimits& limits) {
  return Merger{std::move(ranks), path, limits}.run();
}

}  // namespace loom
