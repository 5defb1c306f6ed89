// SPDX-License-Identifier: Apache-2.0
// What iterations take on one fabric of the arena while a set of jobs runs there. Jobs that share a network (Architecture::
// is_shared) are played together, as one task graph on the cluster's servers; elsewhere each has a shard of its own, and takes
// what the arena says of it alone.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "controller/arena/cluster/cluster_play.hpp"
#include "controller/arena/cluster/cluster_spec.hpp"
#include "controller/workload/settings.hpp"
#include "core/result.hpp"

namespace loom {

struct ClusterFabricTerms {
  std::string fabric;
  BitRate rate{};         ///< a server's total
  Settings settings;      ///< settings_for(fabric, ...)
  bool is_exact = false;  ///< every round of every collective, however long it takes
};

class ClusterFabric {
 public:
  /// Plays every kind alone. `spec` must live as long. Errors: those of make_entry() and play(), naming fabric and kind.
  static Result<ClusterFabric> make(const ClusterSpec& spec, const ClusterFabricTerms& terms);

  /// As IterationTimes. Sets that were played are remembered. Errors: timed_out (a set takes long: use_fluids() and begin
  /// anew), and those of make_entry() and of the engine.
  Result<std::vector<double>> iteration_ns(std::span<const RunningJob> running);
  /// From now on collectives are fluids (RoundOrder::fluid), in every set.
  void use_fluids();
  bool is_fluid() const { return is_fluid_; }
  /// Of jobs alone or of sets.
  bool is_approximate() const { return is_fluid_ || is_alone_approximate_; }
  /// Another seed of what the fabric leaves to chance (settings' `seed`); nothing changes where it has none.
  void use_seed(std::uint64_t seed);

  bool is_shared() const { return is_shared_; }
  /// The fabric's qualifier ("reconstruction"), or empty.
  const std::string& qualifier() const { return qualifier_; }
  const std::vector<Duration>& lighting() const { return lighting_; }
  /// By kind: the arena's iteration, alone; of a fabric that is shared, behind an ideal switch.
  const std::vector<double>& alone_ns() const { return alone_ns_; }
  const std::vector<std::string>& assumptions() const { return assumptions_; }

 private:
  ClusterFabric(const ClusterSpec& spec, ClusterFabricTerms terms) : spec_(&spec), terms_(std::move(terms)) {}
  Result<void> play_alone();
  Result<std::vector<double>> play_set(std::span<const RunningJob> running);
  void assume(const std::vector<std::string>& sentences);

  const ClusterSpec* spec_;
  ClusterFabricTerms terms_;
  std::string qualifier_;
  bool is_shared_ = false;
  bool is_fluid_ = false;
  bool is_alone_approximate_ = false;
  bool has_assumed_ = false;  ///< what the network of a set assumes
  std::vector<double> alone_ns_;
  std::vector<Duration> lighting_;
  std::vector<std::string> assumptions_;
  std::map<std::vector<std::uint32_t>, std::vector<double>> played_;  ///< by kinds and servers
  std::size_t remembered_ = 0;                                        ///< numbers in its keys
};

}  // namespace loom
