// SPDX-License-Identifier: Apache-2.0
// Communicators become groups of ranks.
#include "controller/control/jobs/measured_demand.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// A period that goes into the longest fewer times than this must do so nearly exactly; beyond, rounding is below `tolerance`.
constexpr double kFewTimes = 5;
constexpr double kNearly = 0.25;

std::string printed(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string name_of(std::uint64_t communicator) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(communicator));
  return format_text("communicator {}", text.data());
}

/// One communicator, as all of its ranks see it.
struct Group {
  std::vector<std::uint32_t> members{};  ///< by rank of the communicator: rank of the job, or kAbsent
  std::vector<RepeatedCollective> period{};
  Duration length{};  ///< the longest that a member measured
};
constexpr std::uint32_t kAbsent = ~0U;

class Reader {
 public:
  explicit Reader(const Job& job) : job_(job) {}

  /// False: why_not() says it.
  bool add(std::uint32_t rank, const CommunicatorTraffic& seen) {
    Group& group = groups_[seen.communicator];
    if (group.members.empty()) {
      group = {std::vector<std::uint32_t>(seen.ranks, kAbsent), seen.period, {}};
    }
    if (group.members.size() != seen.ranks || group.members[seen.rank] != kAbsent) {
      return refuse(format_text("{}: node {} says that it is rank {} of {}, another node says otherwise",
                                name_of(seen.communicator), job_.nodes[rank].value, seen.rank, seen.ranks));
    }
    if (std::find(group.members.begin(), group.members.end(), rank) != group.members.end()) {
      return refuse(
          format_text("{} has two ranks on node {}; one a node is read", name_of(seen.communicator), job_.nodes[rank].value));
    }
    if (group.period != seen.period) {
      return refuse(format_text("{}: its ranks do not repeat the same; node {} differs", name_of(seen.communicator),
                                job_.nodes[rank].value));
    }
    group.members[seen.rank] = rank;
    group.length = std::max(group.length, seen.length);
    return true;
  }

  DemandReading finish() {
    DemandReading reading;
    for (const auto& [id, group] : groups_) {
      reading.iteration = std::max(reading.iteration, group.length);
    }
    for (const auto& [id, group] : groups_) {
      if (!add_group(id, group, reading)) {
        break;
      }
    }
    if (why_not_.empty() && reading.collectives.empty()) {
      refuse("no node reports a collective");
    }
    if (!why_not_.empty()) {
      return {{}, {}, why_not_};
    }
    std::sort(reading.collectives.begin(), reading.collectives.end(), [](const Collective& a, const Collective& b) {
      return std::tie(a.ranks, a.kind, a.bytes) < std::tie(b.ranks, b.kind, b.bytes);
    });
    return reading;
  }

  const std::string& why_not() const { return why_not_; }

 private:
  bool refuse(std::string why_not) {
    why_not_ = std::move(why_not);
    return false;
  }

  bool add_group(std::uint64_t id, const Group& group, DemandReading& reading) {
    const auto absent = std::find(group.members.begin(), group.members.end(), kAbsent);
    if (absent != group.members.end()) {
      const auto known = std::count_if(group.members.begin(), group.members.end(), [](auto rank) { return rank != kAbsent; });
      return refuse(format_text("{}: {} of its {} ranks are reported; rank {} is not", name_of(id),
                                static_cast<std::uint64_t>(known), group.members.size(),
                                static_cast<std::uint64_t>(absent - group.members.begin())));
    }
    if (group.members.size() < 2) {
      return true;
    }
    const double times =
        static_cast<double>(reading.iteration.count()) / static_cast<double>(std::max<std::int64_t>(1, group.length.count()));
    const double whole = std::round(times);
    if (times < kFewTimes && std::abs(times - whole) > kNearly) {
      return refuse(format_text("{} repeats every {} s, another every {} s: no common iteration", name_of(id),
                                printed("%.4g", seconds_of(group.length)), printed("%.4g", seconds_of(reading.iteration))));
    }
    for (const RepeatedCollective& each : group.period) {
      const double count = whole * each.count;
      if (count > limits::kCollectiveRepeats || reading.collectives.size() >= limits::kCollectivesPerJob) {
        return refuse(format_text("{}: more than {} repetitions in an iteration", name_of(id), limits::kCollectiveRepeats));
      }
      reading.collectives.push_back({each.kind, ranks_of(group), each.bytes, static_cast<std::uint32_t>(count)});
    }
    return true;
  }

  /// Empty where all ranks of the job take part in their order.
  std::vector<std::uint32_t> ranks_of(const Group& group) const {
    const bool is_all = group.members.size() == job_.nodes.size() && std::is_sorted(group.members.begin(), group.members.end());
    return is_all ? std::vector<std::uint32_t>{} : group.members;
  }

  const Job& job_;
  std::map<std::uint64_t, Group> groups_;
  std::string why_not_;
};

using GroupKey = std::pair<CollectiveKind, std::vector<std::uint32_t>>;

std::map<GroupKey, double> bytes_by_group(const std::vector<Collective>& collectives, std::uint32_t ranks) {
  std::map<GroupKey, double> sums;
  for (const Collective& each : collectives) {
    std::vector<std::uint32_t> members = each.ranks;
    if (members.empty()) {
      members.resize(ranks);
      std::iota(members.begin(), members.end(), 0U);
    }
    if (members.size() < 2 || each.bytes.count == 0) {
      continue;
    }
    std::rotate(members.begin(), std::min_element(members.begin(), members.end()), members.end());
    sums[{each.kind, std::move(members)}] += static_cast<double>(each.bytes.count) * each.count;
  }
  return sums;
}

double sum_of(const std::map<GroupKey, double>& sums) {
  return std::accumulate(sums.begin(), sums.end(), 0.0, [](double sum, const auto& each) { return sum + each.second; });
}

}  // namespace

DemandReading read_demand(const Job& job, const std::map<NodeId, NodeTraffic>& traffic, Instant now,
                          const AdaptPolicy& policy) {
  Reader reader(job);
  for (std::uint32_t rank = 0; rank < job.nodes.size(); ++rank) {
    const std::string node = format_text("node {}", job.nodes[rank].value);
    const auto found = traffic.find(job.nodes[rank]);
    if (found == traffic.end()) {
      return {{}, {}, node + " reports no traffic (see lightloom-agent --inspector-dir)"};
    }
    if (now - found->second.received > policy.fresh) {
      return {
          {},
          {},
          format_text("{} has not reported its traffic for {} s or longer", node, printed("%.2g", seconds_of(policy.fresh)))};
    }
    if (!found->second.report.trouble.empty()) {
      return {{}, {}, format_text("{}: {}", node, found->second.report.trouble)};
    }
    for (const CommunicatorTraffic& seen : found->second.report.communicators) {
      if (!reader.add(rank, seen)) {
        return {{}, {}, reader.why_not()};
      }
    }
  }
  return reader.finish();
}

double demand_distance(const std::vector<Collective>& a, const std::vector<Collective>& b, std::uint32_t ranks) {
  const auto of_a = bytes_by_group(a, ranks);
  const auto of_b = bytes_by_group(b, ranks);
  double apart = 0;
  for (const auto& [group, bytes] : of_a) {
    const auto same = of_b.find(group);
    apart += same == of_b.end() ? bytes : std::abs(bytes - same->second);
  }
  for (const auto& [group, bytes] : of_b) {
    apart += of_a.contains(group) ? 0 : bytes;
  }
  const double larger = std::max(sum_of(of_a), sum_of(of_b));
  return larger > 0 ? apart / larger : 0;
}

std::string describe_demand(const std::vector<Collective>& collectives, std::uint32_t ranks) {
  struct Kind {
    std::uint32_t groups = 0;
    double bytes = 0;
  };
  std::map<std::pair<CollectiveKind, std::size_t>, Kind> kinds;
  for (const auto& [group, bytes] : bytes_by_group(collectives, ranks)) {
    Kind& kind = kinds[{group.first, group.second.size()}];
    kind.groups += 1;
    kind.bytes = std::max(kind.bytes, bytes);
  }
  std::string text;
  for (const auto& [kind, sum] : kinds) {
    text += format_text("{}{} of {} ranks{}, {} MB an iteration", text.empty() ? "" : "; ", to_string(kind.first), kind.second,
                        sum.groups > 1 ? format_text(" ({} groups)", sum.groups) : "", printed("%.3g", sum.bytes / 1e6));
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace loom
