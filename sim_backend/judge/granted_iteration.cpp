// SPDX-License-Identifier: Apache-2.0
// Collectives to streams, makespans to an iteration.
#include "sim_backend/judge/granted_iteration.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "controller/predict/collective_time.hpp"
#include "controller/predict/iteration_clock.hpp"
#include "controller/workload/import/flows.hpp"
#include "core/digest.hpp"
#include "core/text/format_text.hpp"
#include "sim_backend/experiments/grant_lab.hpp"

namespace loom {
namespace {

/// The job's streams of one repetition, on nodes 0 .. ranks-1: groups that run side by side share no receiver.
std::vector<LabStream> streams_of(Collective collective, std::uint32_t size) {
  collective.ranks.clear();
  std::vector<LabStream> streams;
  for (const Flow& flow : flows_of(collective, size)) {
    streams.push_back({NodeId{flow.source}, NodeId{flow.destination}, Bytes{flow.bytes}});
  }
  return streams;
}

class GrantedPlay {
 public:
  explicit GrantedPlay(const GrantedOptions& options) : options_(options) {}

  /// ns of one repetition.
  Result<double> time_of(const Collective& collective, std::uint32_t node_count);
  GrantedIteration account() {
    account_.digest = digest_.value();
    return account_;
  }

 private:
  struct Known {
    Collective collective;  ///< without its ranks, its count and its place in the iteration
    std::uint32_t size = 0;
    double ns = 0;
  };

  Result<double> play(const Collective& collective, const CollectivePlan& plan);

  GrantedOptions options_;
  std::vector<Known> known_;
  GrantedIteration account_;
  Digest digest_;
};

Result<double> GrantedPlay::time_of(const Collective& collective, std::uint32_t node_count) {
  const CollectivePlan plan = plan_of(collective, node_count);
  if (plan.movement == Movement::nothing) {
    return 0.0;
  }
  if (plan.movement == Movement::chain) {
    return fail(ErrorCode::unsupported,
                format_text("granted iteration: a {} of {} ranks is a pipeline of pieces, and no stream that is granted whole",
                            to_string(collective.kind), plan.size));
  }
  const Collective shape{.kind = collective.kind, .bytes = collective.bytes, .splits = collective.splits};
  for (const Known& each : known_) {
    if (each.size == plan.size && each.collective == shape) {
      return each.ns;
    }
  }
  const auto ns = play(shape, plan);
  if (ns) {
    known_.push_back({shape, plan.size, *ns});
  }
  return ns;
}

Result<double> GrantedPlay::play(const Collective& collective, const CollectivePlan& plan) {
  GrantLabOptions lab = lab_options(options_.timings);
  lab.seed = options_.seed;
  lab.nodes = plan.size;
  lab.traffic = GrantTraffic::listed;
  lab.streams = streams_of(collective, plan.size);
  lab.loss_per_million = options_.loss_per_million;
  lab.sender.transmitters = options_.transmitters;
  lab.arbiter.quantum = options_.quantum;
  lab.sender.stagger = options_.is_staggered ? lab.sender.stagger : Duration{};
  lab.apart = options_.apart;
  const auto result = run_grant_lab(lab);
  if (!result) {
    return std::unexpected(result.error());
  }
  for (const LabStream& stream : lab.streams) {
    account_.stream_least = account_.streams == 0 ? stream.bytes : std::min(account_.stream_least, stream.bytes);
    account_.stream_most = std::max(account_.stream_most, stream.bytes);
    ++account_.streams;
  }
  account_.messages += result->messages;
  account_.unreachable += result->unreachable;
  account_.collisions += result->collisions;
  digest_.add(result->digest);
  // The last bytes' flight is in the makespan; every other step of a ring waits for one more.
  const Duration steps = options_.timings.flight * static_cast<std::int64_t>(std::max(plan.steps, 1U) - 1);
  return static_cast<double>((result->makespan + steps).count());
}

}  // namespace

double GrantedIteration::slower() const {
  return static_cast<double>(granted.count()) / static_cast<double>(ideal.count()) - 1;
}

Result<GrantedIteration> play_granted(const JobSpec& job, const GrantedOptions& options) {
  GrantedPlay play{options};
  const LinkTerms link = link_terms(options.timings.rate, options.timings.flight);
  IterationClock ideal{job.compute, job.node_count};  // a switch that never stands in anybody's way
  IterationClock clock{job.compute, job.node_count};
  for (const Collective& collective : job.collectives) {
    if (const std::string fault = fault_of(collective, job.node_count); !fault.empty()) {
      return fail(ErrorCode::invalid_argument, format_text("{}: {}", job.name, fault));
    }
    ideal.finish(collective, ideal.start_of(collective) + uniform_ns(collective, job.node_count, link) * collective.count);
    const auto wire = play.time_of(collective, job.node_count);
    if (!wire) {
      return std::unexpected(wire.error());
    }
    clock.finish(collective, clock.start_of(collective) + *wire * collective.count);
  }
  GrantedIteration iteration = play.account();
  iteration.ideal = Duration{std::llround(ideal.end())};
  iteration.granted = Duration{std::llround(clock.end())};
  return iteration;
}

}  // namespace loom
