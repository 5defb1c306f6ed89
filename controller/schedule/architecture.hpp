// SPDX-License-Identifier: Apache-2.0
// Architecture: all that the house knows of one kind of fabric, as one record. Whoever plans, admits or compares asks the
// record and never a name; the records are in controller/architectures, one folder each, and the mains hand them over.
// A scheduler turns a demand into matchings with hold and guard times; it is a pure function, so the same request gives the
// same schedule on every machine. It never sees a device, a setpoint or a clock.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "controller/workload/settings.hpp"
#include "core/demand.hpp"
#include "core/fabric/fabric.hpp"
#include "core/planning.hpp"
#include "core/result.hpp"
#include "core/schedule.hpp"

namespace loom {

struct ArenaBuilder;
struct FabricTemplate;

/// Every job of the demand is placed. Errors: infeasible (no schedule serves it: who is in the way, and what would fit),
/// unsupported (the fabric is not of the scheduler's kind), timed_out (the budget is used up).
using Scheduler = Result<Schedule>(const Fabric& fabric, const Demand& demand, const Intent& intent, Budget budget);

/// Who has a node. An entry is the first of its job's ranks in its group.
struct NodeUse {
  std::optional<JobId> owner;
  bool is_entry = false;
};

/// The nodes that a job gets, ascending groups, in the order of its ranks. `uses`: by node, of the jobs that are placed.
using RankOrder = std::vector<NodeId>(const Fabric& fabric, const std::vector<NodeId>& chosen,
                                      const std::vector<NodeUse>& uses);

/// What a job is admitted with beside its nodes, where the fabric leaves a choice: fills Job::share of placed jobs that have
/// none yet; `arrived` (ascending) were placed just now. Decided once: a running job keeps what it has.
using ShareOut = void(const Fabric& fabric, const std::vector<JobId>& arrived, Intent& placed);

/// Makes the entry of the comparison that is under way in `builder`; errors are kept there.
using ArenaEntryMaker = void(ArenaBuilder& builder);

/// Who passes on what over the circuits of a schedule that an operator gave (Intent::pinned): its own table where that still
/// serves the job, else one for the circuits as they are. Errors: out_of_range (kRoutesPerJob).
using ForwardOver = Result<ForwardingTable>(const JobDemand& job, const JobSchedule& given);

/// What a job may ask of its architecture: `--set KEY=VALUE`.
struct JobOption {
  std::string_view key;
  std::string_view meaning;
};

/// How strategies are searched for a fabric (`loom plan --search`).
enum class StrategySearch : std::uint8_t {
  none,
  alternating,       ///< TopoOpt's: strategy and topology in turn
  time_to_accuracy,  ///< SiP-ML's: data-parallel groups of partitioned and placed GPUs
};

struct Architecture {
  std::string_view name;                   ///< of fabrics (Fabric::architecture), of its scheduler, and in the arena
  std::string_view summary;                ///< a line
  std::string_view qualifier{};            ///< printed behind the name beside numbers of ours: "reconstruction"
  const FabricTemplate* fabric = nullptr;  ///< none: fabrics of this kind are written out in full, or only compared
  Scheduler* schedule = nullptr;           ///< none: only compared
  /// A wavelength of a stage leads to one place whoever is lit, so who is lit may be left to grants.
  bool leaves_light_to_grants = false;
  RankOrder* order_ranks = nullptr;      ///< none: as they come
  ShareOut* share_out = nullptr;         ///< none: nothing to choose
  std::span<const JobOption> options{};  ///< that a job may be submitted with (JobSpec::options)
  /// Their values. Errors: invalid_argument, by key. None: without options.
  Result<void> (*check_options)(const JobSpec& spec) = nullptr;
  /// Nodes that a fabric of the template has for `needed` nodes of jobs. None: as many.
  std::uint32_t (*whole_nodes)(std::uint32_t needed, const Settings& template_settings) = nullptr;
  Bytes node_memory{};                  ///< that a job's model must fit where nobody says more; 0: not looked at
  ForwardOver* forward_over = nullptr;  ///< none: a given schedule keeps its table
  StrategySearch search = StrategySearch::none;
  bool wires_servers = false;  ///< also plans without a fabric: a topology by itself, servers wired straight to each other
  /// Jobs side by side share one network of all nodes, and feel each other there; false: each has a shard of its own.
  bool is_shared = false;
  ArenaEntryMaker* compare = nullptr;
  std::span<const std::string_view> compare_keys{};  ///< of `--set fabric.KEY=VALUE`, beside those of every link
};

/// The records that a program works with, in the order of printing. A value; the records live as long as the program.
class Architectures {
 public:
  explicit Architectures(std::vector<const Architecture*> all) : all_(std::move(all)) {}

  std::span<const Architecture* const> all() const { return all_; }
  /// Null: nobody is called so.
  const Architecture* find(std::string_view name) const;
  /// Of those that have a scheduler. Errors: not_found, naming the nearest name that exists.
  Result<const Architecture*> find_scheduler(std::string_view name) const;
  /// Ascending.
  std::vector<std::string_view> scheduler_names() const;
  std::vector<const FabricTemplate*> templates() const;
  /// Of all of them, ascending, none twice.
  std::vector<std::string_view> option_keys() const;

 private:
  std::vector<const Architecture*> all_;
};

}  // namespace loom
