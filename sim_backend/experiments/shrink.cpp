// SPDX-License-Identifier: Apache-2.0
// Delta debugging (Zeller, Hildebrandt 2002) over the lists of a scenario, then over the values in it, until nothing more goes.
#include "sim_backend/experiments/shrink.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "core/config/scenario/scenario_text.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

constexpr Duration kShortestRun = milliseconds{500};
constexpr Duration kShortestFault = milliseconds{1};

class Shrinker {
 public:
  Shrinker(SwarmDraw draw, const ShrinkOptions& options) : best_(std::move(draw)), options_(options) {}

  Result<Shrunk> run() {
    auto first = run_draw(best_);
    if (!first) {
      return std::unexpected(std::move(first).error());
    }
    LOOM_ASSERT(!first->violations.empty());
    rule_ = first->violations.front().rule;
    evidence_ = first->violations.front().evidence;
    attempt([](SwarmDraw& draw) { write_churn_out(draw.scenario); });
    for (bool again = true; again;) {
      again = false;
      again |= pass();
    }
    return Shrunk{std::move(best_), rule_, evidence_, runs_};
  }

 private:
  /// Takes the change if what was found is still found.
  template <class Change>
  bool attempt(Change change) {
    if (runs_ >= options_.runs_max) {
      return false;
    }
    SwarmDraw changed = best_;
    change(changed);
    ++runs_;
    const auto result = run_draw(changed);
    if (!result) {
      return false;
    }
    const auto found = std::ranges::find(result->violations, rule_, &Violation::rule);
    if (found == result->violations.end()) {
      return false;
    }
    evidence_ = found->evidence;
    best_ = std::move(changed);
    return true;
  }

  bool pass() {
    bool smaller = shrink_fabric();
    smaller |= shrink_list([](Scenario& scenario) -> auto& { return scenario.machine_faults; });
    smaller |= shrink_list([](Scenario& scenario) -> auto& { return scenario.device_faults; });
    smaller |= shrink_list([](Scenario& scenario) -> auto& { return scenario.fibre_faults; });
    smaller |= shrink_list([](Scenario& scenario) -> auto& { return scenario.actions; });
    smaller |= shrink_list([](Scenario& scenario) -> auto& { return scenario.jobs; });
    smaller |= best_.scenario.network != NetworkFaults{} && attempt([](SwarmDraw& draw) { draw.scenario.network = {}; });
    smaller |= shrink_jobs();
    smaller |= shorten_run();
    smaller |= shorten([](Scenario& scenario) -> auto& { return scenario.machine_faults; });
    smaller |= shorten([](Scenario& scenario) -> auto& { return scenario.device_faults; });
    smaller |= shorten([](Scenario& scenario) -> auto& { return scenario.fibre_faults; });
    return smaller;
  }

  /// Jobs as the churn submits them, each by itself.
  static void write_churn_out(Scenario& scenario) {
    scenario.jobs = submissions_of(scenario);
    scenario.churn = {};
  }

  /// What names a job that is gone goes with it.
  static void keep_orders_of_jobs(Scenario& scenario) {
    const auto is_gone = [&](const std::string& job) {
      return !job.empty() && std::ranges::find(scenario.jobs, job, &JobSubmission::name) == scenario.jobs.end();
    };
    std::erase_if(scenario.actions, [&](const ScenarioAction& action) { return is_gone(action.job); });
    std::vector<JobSubmission> kept;
    std::ranges::copy_if(scenario.jobs, std::back_inserter(kept),
                         [&](const JobSubmission& job) { return !is_gone(job.changes); });
    scenario.jobs = std::move(kept);
  }

  /// Halves, quarters, ... of a list are left out, as long as that finds the same.
  template <class List>
  bool shrink_list(List list) {
    bool smaller = false;
    for (std::size_t part = std::max<std::size_t>(1, list(best_.scenario).size() / 2); part > 0; part /= 2) {
      for (std::size_t begin = 0; begin < list(best_.scenario).size();) {
        const bool gone = attempt([&](SwarmDraw& draw) {
          auto& rows = list(draw.scenario);
          const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
          rows.erase(first, first + static_cast<std::ptrdiff_t>(std::min(part, rows.size() - begin)));
          keep_orders_of_jobs(draw.scenario);
        });
        smaller |= gone;
        begin += gone ? 0 : part;
      }
    }
    return smaller;
  }

  bool shrink_jobs() {
    bool smaller = false;
    for (std::size_t i = 0; i < best_.scenario.jobs.size(); ++i) {
      const JobSubmission job = best_.scenario.jobs[i];
      const auto change = [&](auto edit) { return attempt([&](SwarmDraw& draw) { edit(draw.scenario.jobs[i]); }); };
      const bool is_alone = job.changes.empty() && std::ranges::none_of(best_.scenario.jobs, [&](const JobSubmission& other) {
                              return other.changes == job.name;
                            });
      smaller |= is_alone && job.nodes > 2 && change([](JobSubmission& each) { each.nodes = std::max(2U, each.nodes / 2); });
      smaller |= job.transmit == Transmit::grants && change([](JobSubmission& each) { each.transmit = Transmit::slots; });
      smaller |= job.workload != "vgg19" && change([](JobSubmission& each) { each.workload = "vgg19"; });
      smaller |= job.runs_for != kForever && change([](JobSubmission& each) { each.runs_for = kForever; });
    }
    return smaller;
  }

  bool shorten_run() {
    bool smaller = false;
    while (best_.scenario.duration > 2 * kShortestRun && attempt([](SwarmDraw& draw) {
             draw.scenario.duration = draw.scenario.duration * 3 / 4 / milliseconds{1} * milliseconds{1};
           })) {
      smaller = true;
    }
    return smaller;
  }

  template <class List>
  bool shorten(List list) {
    bool smaller = false;
    for (std::size_t i = 0; i < list(best_.scenario).size(); ++i) {
      while (list(best_.scenario)[i].lasts > 2 * kShortestFault && list(best_.scenario)[i].lasts != kForever &&
             attempt([&](SwarmDraw& draw) {
               auto& lasts = list(draw.scenario)[i].lasts;
               lasts = std::chrono::duration_cast<std::chrono::microseconds>(lasts / 2);
             })) {
        smaller = true;
      }
    }
    return smaller;
  }

  /// The same devices and nodes by name on a smaller one of the family.
  bool shrink_fabric() {
    for (std::uint32_t size = 0; size < best_.fabric.size; ++size) {
      const SwarmFabric smaller{best_.fabric.family, size};
      const auto made = make_fabric(smaller, options_.configs);
      if (!made) {
        return false;
      }
      SwarmDraw moved = best_;
      moved.fabric = smaller;
      if (move_to(*made, moved.scenario) && attempt([&](SwarmDraw& draw) { draw = moved; })) {
        return true;
      }
    }
    return false;
  }

  /// False: the fabric has nothing of such a name.
  static bool move_to(const std::shared_ptr<const Fabric>& fabric, Scenario& scenario) {
    const Fabric& old = *scenario.fabric;
    for (ScenarioFault& fault : scenario.device_faults) {
      const auto same = std::ranges::find(fabric->devices, old.device(fault.device).name, &Device::name);
      if (same == fabric->devices.end()) {
        return false;
      }
      fault.device = same->id;
    }
    for (ScenarioAction& action : scenario.actions) {
      const auto same = std::ranges::find(fabric->devices, old.device(action.device).name, &Device::name);
      if (same == fabric->devices.end() || action.node.value >= fabric->nodes.size()) {
        return false;
      }
      action.device = same->id;
    }
    const auto has = [&](std::optional<NodeId> node) { return !node || node->value < fabric->nodes.size(); };
    const auto fits = [&](const MachineFault& fault) { return has(fault.node); };
    if (!std::ranges::all_of(scenario.machine_faults, fits) || !scenario.fibre_faults.empty()) {
      return false;  // fibres have no names
    }
    for (JobSubmission& job : scenario.jobs) {
      job.nodes = std::min(job.nodes, static_cast<std::uint32_t>(fabric->nodes.size()));
    }
    scenario.fabric = fabric;
    return true;
  }

  SwarmDraw best_;
  ShrinkOptions options_;
  SafetyRule rule_ = SafetyRule::unsettled;
  std::string evidence_;
  std::uint32_t runs_ = 0;
};

Result<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file ? Result<void>{} : fail(ErrorCode::storage, path + " cannot be written");
}

}  // namespace

Result<Shrunk> shrink(const SwarmDraw& draw, const ShrinkOptions& options) { return Shrinker(draw, options).run(); }

Result<DrawFiles> write_draw(const SwarmDraw& draw, const std::string& configs, const std::string& folder) {
  const auto fabric = text_of(draw.fabric, configs);
  if (!fabric) {
    return std::unexpected(fabric.error());
  }
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const std::string& name = draw.scenario.name;
  DrawFiles files{format_text("{}/{}.yaml", folder, name), format_text("{}/{}_faults.yaml", folder, name),
                  format_text("{}/{}_fabric.yaml", folder, name)};
  LOOM_TRY(write_file(files.fabric, *fabric));
  LOOM_TRY(write_file(files.faults, fault_text(draw.scenario)));
  LOOM_TRY(write_file(files.scenario, scenario_text(draw.scenario, name + "_fabric.yaml")));
  return files;
}

}  // namespace loom
