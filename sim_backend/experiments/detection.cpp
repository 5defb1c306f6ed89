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

/// Enough to matter: beside a channel of 50 GHz, below any receiver, later than any driver waits.
ScenarioFault fault_of(const FaultName& name, DeviceId device) {
  ScenarioFault fault;
  fault.device = device;
  fault.kind = name.kind;
  fault.lasts = kDetectionPatience;
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

Scenario detection_scenario(std::shared_ptr<const Fabric> fabric, std::string algorithm) {
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
    fault.lasts = kDetectionPatience;
    cases.push_back({std::string(name.name), fabric.element(receiver).name, "fibre", fault});
  }
  return cases;
}

Result<Detection> detect(const Scenario& scenario, const DetectionCase& one, std::uint64_t seed) {
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
  world.run_until(world.loop_now() + milliseconds{211} * static_cast<std::int64_t>(seed % 16));
  const std::size_t before = world.alarms().size();
  const std::size_t reached = world.light().reached().size();
  const Instant begin = world.loop_now();
  std::visit(
      [&]<class Fault>(const Fault& fault) {
        if constexpr (std::is_same_v<Fault, ScenarioFault>) {
          world.begin_fault(fault);
        } else {
          world.begin_fibre_fault(fault);
        }
      },
      one.injected);
  Detection found;
  while (world.loop_now() < begin + kDetectionPatience && (!found.alarm_after || !found.unlit_after)) {
    world.run_until(world.loop_now() + kLook);
    found.harms = found.harms || world.light().reached().size() != reached;
    if (!found.alarm_after && world.alarms().size() > before) {
      found.alarm_after = world.loop_now() - begin;
      found.alarm = text_of_alarm(world.alarms()[before]);
    }
    if (!found.unlit_after && !all_lit(world)) {
      found.unlit_after = world.loop_now() - begin;
    }
  }
  return found;
}

}  // namespace loom
