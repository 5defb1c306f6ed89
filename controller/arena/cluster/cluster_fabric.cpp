// SPDX-License-Identifier: Apache-2.0
// Sets of jobs to task graphs, and what became of each.
#include "controller/arena/cluster/cluster_fabric.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "controller/architectures/registry.hpp"
#include "controller/arena/arena.hpp"
#include "controller/arena/seeds.hpp"
#include "controller/predict/engine/predictor.hpp"
#include "controller/workload/cluster_graph.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr std::string_view kNoMeeting = "ideal-switch";
constexpr std::uint64_t kLooksOfASet = kExactLooks / 16;  ///< of one set; a study has some two a job
constexpr std::uint32_t kRepeatsMost = 4;
constexpr std::size_t kRemembered = 8'000'000;

Error of_kind(Error error, std::string_view fabric, const ClusterKind& kind) {
  error.message = format_text("{}: a job of kind '{}': {}", fabric, kind.name, error.message);
  return error;
}

/// Iterations of a job while the longest of the set does one, so that short jobs are there as long as long ones.
std::uint32_t repeats(double own_ns, double longest_ns) {
  return static_cast<std::uint32_t>(std::clamp(std::round(longest_ns / std::max(own_ns, 1.0)), 1.0, double{kRepeatsMost}));
}

}  // namespace

Result<ClusterFabric> ClusterFabric::make(const ClusterSpec& spec, const ClusterFabricTerms& terms) {
  const Architecture* architecture = all_architectures().find(terms.fabric);
  if (architecture == nullptr || architecture->compare == nullptr) {
    return fail(ErrorCode::not_found, format_text("no fabric '{}' in the arena; did you mean '{}'?",
                                                  terms.fabric.substr(0, 128), nearest(terms.fabric, arena_names())));
  }
  ClusterFabric fabric(spec, terms);
  fabric.qualifier_ = architecture->qualifier;
  fabric.is_shared_ = architecture->is_shared;
  LOOM_TRY(fabric.play_alone());
  return fabric;
}

Result<void> ClusterFabric::play_alone() {
  // A network of all servers may join jobs that it could not be made for alone, so those are measured behind a switch.
  const bool is_own = !is_shared_ || terms_.fabric == kNoMeeting;
  const std::string fabric = is_own ? terms_.fabric : std::string(kNoMeeting);
  const Settings none;
  alone_ns_.clear();
  lighting_.clear();
  for (const ClusterKind& kind : spec_->kinds) {
    const auto compute = compute_alone(kind.graph);
    auto entry = make_entry(fabric, kind.graph, terms_.rate, is_own ? terms_.settings : none);
    if (!entry || !compute) {
      return std::unexpected(of_kind(entry ? compute.error() : std::move(entry).error(), terms_.fabric, kind));
    }
    const auto row = play(*entry, *compute, {.exact_looks = terms_.is_exact ? 0 : kExactLooks});
    if (!row) {
      return std::unexpected(of_kind(row.error(), terms_.fabric, kind));
    }
    alone_ns_.push_back(std::max(1.0, static_cast<double>(row->iteration.count())));
    lighting_.push_back(entry->lighting);
    if (is_own) {
      is_alone_approximate_ = is_alone_approximate_ || row->is_approximate;
      assume(row->assumptions);
    }
  }
  return {};
}

void ClusterFabric::assume(const std::vector<std::string>& sentences) {
  for (const std::string& each : sentences) {
    if (std::ranges::find(assumptions_, each) == assumptions_.end()) {
      assumptions_.push_back(each);
    }
  }
}

void ClusterFabric::use_fluids() {
  is_fluid_ = true;
  played_.clear();
  remembered_ = 0;
}

void ClusterFabric::use_seed(std::uint64_t seed) {
  if (has_seed(terms_.fabric)) {
    terms_.settings["seed"] = std::to_string(seed);
    played_.clear();
    remembered_ = 0;
  }
}

Result<std::vector<double>> ClusterFabric::iteration_ns(std::span<const RunningJob> running) {
  if (!is_shared_ || terms_.fabric == kNoMeeting) {  // nothing but its servers' own ports binds a job behind an ideal switch
    std::vector<double> times;
    for (const RunningJob& each : running) {
      times.push_back(alone_ns_[each.kind]);
    }
    return times;
  }
  std::vector<std::uint32_t> key;
  for (const RunningJob& each : running) {
    key.push_back(each.kind);
    key.insert(key.end(), each.servers.begin(), each.servers.end());
  }
  if (const auto found = played_.find(key); found != played_.end()) {
    return found->second;
  }
  auto times = play_set(running);
  if (times) {
    if (remembered_ > kRemembered) {
      played_.clear();
      remembered_ = 0;
    }
    remembered_ += key.size();
    played_.emplace(std::move(key), *times);
  }
  return times;
}

Result<std::vector<double>> ClusterFabric::play_set(std::span<const RunningJob> running) {
  double longest = 0;
  for (const RunningJob& each : running) {
    longest = std::max(longest, alone_ns_[each.kind]);
  }
  std::vector<ClusterJob> jobs;
  for (const RunningJob& each : running) {
    jobs.push_back({&spec_->kinds[each.kind].graph, each.servers, repeats(alone_ns_[each.kind], longest)});
  }
  const auto cluster = graph_of_cluster(jobs, spec_->servers);
  if (!cluster) {
    return std::unexpected(cluster.error());
  }
  auto entry = make_entry(terms_.fabric, cluster->graph, terms_.rate, terms_.settings);
  if (!entry) {
    return std::unexpected(std::move(entry).error());
  }
  PlayOptions options;
  options.rounds = is_fluid_ ? RoundOrder::fluid : options.rounds;
  options.looks_max = terms_.is_exact || is_fluid_ ? 0 : kLooksOfASet;
  auto predictor = Predictor::make(entry->graph, entry->network, options);
  if (!predictor) {
    return std::unexpected(std::move(predictor).error());
  }
  if (const auto played = predictor->run(); !played) {
    return std::unexpected(played.error());
  }
  if (!std::exchange(has_assumed_, true)) {
    assume(entry->network.assumptions);
    assume(entry->assumptions);
  }
  std::vector<double> times;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const auto first = predictor->first_part()[cluster->first_task[job]];
    const auto end = predictor->first_part()[cluster->first_task[job + 1]];
    double finish = 0;
    for (const PartTime& part : predictor->parts().subspan(first, end - first)) {
      finish = std::max(finish, part.finish);
    }
    times.push_back(finish / jobs[job].iterations);
  }
  return times;
}

}  // namespace loom
