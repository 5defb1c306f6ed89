// SPDX-License-Identifier: Apache-2.0
// One world a fault, looked at every ten milliseconds.
#include "sim_backend/experiments/detection.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/fault_catalogue.hpp"
#include "core/text/format_text.hpp"
#include "drivers/registry.hpp"
#include "sim_backend/experiments/drift_experiment.hpp"
#include "sim_backend/simulation.hpp"
#include "sim_backend/world/world.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLook = milliseconds{10};
constexpr Duration kFirstJob = seconds{30};  ///< where another takes its place

/// Enough to matter: beside a channel of 50 GHz, below any receiver, later than any driver waits.
ScenarioFault fault_of(const FaultName& name, DeviceId device) {
  ScenarioFault fault;
  fault.device = device;
  fault.kind = name.kind;
  fault.lasts = 3 * kDetectionPatience;
  fault.offset = FrequencyOffset{60'000};
  fault.loss = Db{2'000};
  fault.delay = seconds{2};
  fault.factor = 100;
  return fault;
}

bool is_lit(LightState state) { return state == LightState::lit; }

std::vector<CircuitReport> circuits_of(const World& world) {
  return std::get<std::vector<CircuitReport>>(world.controller().answer(Query{Noun::circuits, {}}).rows);
}

bool all_lit(const World& world) {
  const auto rows = circuits_of(world);
  return !rows.empty() && std::ranges::all_of(rows, [](const CircuitReport& row) { return is_lit(row.light); });
}

std::string text_of_alarm(const Alarm& alarm) { return format_text("{}: {}", to_string(alarm.code), alarm.evidence); }

}  // namespace

Scenario detection_scenario(std::shared_ptr<const Fabric> fabric, std::string algorithm, DetectionOrder order) {
  Scenario scenario;
  scenario.name = "detection";
  scenario.algorithm = std::move(algorithm);
  JobSubmission job;
  job.name = "ring";
  job.workload = "vgg19";
  job.nodes = static_cast<std::uint32_t>(fabric->nodes.size());
  job.at = milliseconds{500};
  scenario.fabric = std::move(fabric);
  scenario.jobs = {job};
  if (order == DetectionOrder::another_job) {
    scenario.jobs.front().runs_for = kFirstJob;
    job.name = "smaller ring";
    job.after = "ring";
    job.nodes = std::max(2U, job.nodes / 2);
    scenario.jobs.push_back(job);
  }
  return scenario;
}

std::vector<DetectionCase> detection_cases(const Fabric& fabric) {
  std::vector<DetectionCase> cases;
  for (const FaultName& name : fault_catalogue()) {
    std::set<std::string_view> seen;
    for (const Device& device : fabric.devices) {
      const std::string_view model = driver_model_of(device).model.name;
      if (name.is_of(device.role) && seen.insert(model).second) {
        cases.push_back({std::string(name.name), device.name, std::string(model), fault_of(name, device.id)});
      }
    }
  }
  const auto receiver =
      std::ranges::find_if(fabric.nodes, [](const Node& node) { return !node.receivers.empty(); })->receivers.front();
  for (const FibreFaultName& name : fibre_fault_catalogue()) {
    if (name.fibres != 1) {
      continue;  // two fibres exchanged are found by calibration of paths, not by an audit of devices
    }
    FibreFault fault;
    fault.kind = name.kind;
    fault.first = *fabric.fibre_in[receiver.value].front();
    fault.loss = Db{2'000};
    fault.lasts = 3 * kDetectionPatience;
    cases.push_back({std::string(name.name), fabric.element(receiver).name, "fibre", fault});
  }
  return cases;
}

namespace {

/// The first alarm from `from` on that names where the case is.
const Alarm* alarm_of(const World& world, std::size_t from, const DetectionCase& one) {
  const auto& alarms = world.alarms();
  const auto tells = [&](const Alarm& alarm) { return alarm.evidence.find(one.what) != std::string::npos; };
  const auto found = std::find_if(alarms.begin() + static_cast<std::ptrdiff_t>(from), alarms.end(), tells);
  return found == alarms.end() ? nullptr : &*found;
}

void begin(World& world, const DetectionCase& one) {
  std::visit(
      [&]<class Fault>(const Fault& fault) {
        if constexpr (std::is_same_v<Fault, ScenarioFault>) {
          world.begin_fault(fault);
        } else {
          world.begin_fibre_fault(fault);
        }
      },
      one.injected);
}

/// The job that runs; nothing: none does.
std::optional<JobId> job_of(const World& world) {
  const auto& jobs = world.controller().intent().jobs;
  return jobs.empty() ? std::nullopt : std::optional(jobs.front().id);
}

}  // namespace

Result<Detection> detect(const Scenario& scenario, const DetectionCase& one, std::uint64_t seed, DetectionOrder order) {
  auto jobs = script_of(scenario);
  if (!jobs) {
    return std::unexpected(jobs.error());
  }
  WorldOptions options;
  options.seed = seed;
  World world(scenario, std::move(*jobs), options);
  LOOM_TRY(world.start());
  LOOM_TRY(come_into_light(world));
  if (!all_lit(world)) {
    return fail(ErrorCode::internal, format_text("{} is at rest, and not all of it lit", scenario.fabric->name));
  }
  // At another place of the round of audits for each seed.
  const Duration phase = milliseconds{211} * static_cast<std::int64_t>(seed % 16);
  const bool is_ordered = order == DetectionOrder::another_job;
  world.run_until((is_ordered ? std::max(world.loop_now(), Instant{kFirstJob - seconds{4}}) : world.loop_now()) + phase);
  const std::size_t before = world.alarms().size();
  const std::size_t reached = world.light().reached().size();
  const auto first_job = job_of(world);
  std::optional<Instant> since = is_ordered ? std::nullopt : std::optional(world.loop_now());
  Instant end = world.loop_now() + (is_ordered ? kFirstJob : kDetectionPatience);
  std::optional<Instant> told_at;
  std::optional<Instant> named_at;
  begin(world, one);
  Detection found;
  while (world.loop_now() < end && (is_ordered || !named_at || !found.unlit_after)) {
    world.run_until(world.loop_now() + kLook);
    if (!since && job_of(world) != first_job) {
      since = world.loop_now();
      end = *since + kDetectionPatience;
    }
    if (!told_at && world.alarms().size() > before) {
      told_at = world.loop_now();
      found.alarm = text_of_alarm(world.alarms()[before]);
    }
    if (const Alarm* alarm = named_at ? nullptr : alarm_of(world, before, one)) {
      named_at = world.loop_now();
      found.alarm = text_of_alarm(*alarm);
    }
    found.harms = found.harms || (!is_ordered && world.light().reached().size() != reached);
    if (!is_ordered && !found.unlit_after && !all_lit(world)) {
      found.unlit_after = world.loop_now() - *since;
    }
  }
  if (!since) {
    return fail(ErrorCode::internal, "the job did not end in its time");
  }
  const auto after = [&](std::optional<Instant> at) {
    return at ? std::optional(std::max(*at - *since, Duration{})) : std::nullopt;
  };
  found.alarm_after = after(told_at);
  found.named_after = after(named_at);
  found.is_lit_at_end = all_lit(world);
  const auto& confirmed = world.controller().confirmed_plan();
  found.harms = found.harms || (is_ordered && world.light().reached().size() < confirmed->plan.circuits.size());
  return found;
}

}  // namespace loom
