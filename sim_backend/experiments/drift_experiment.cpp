// SPDX-License-Identifier: Apache-2.0
// Light first, then the plant, then a look every few milliseconds.
#include "sim_backend/experiments/drift_experiment.hpp"

#include <algorithm>
#include <utility>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/architectures/sip_ocs/fabric.hpp"
#include "sim_backend/simulation.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLook = milliseconds{5};
constexpr Duration kLightBound = seconds{10};
constexpr Duration kRepairBound = seconds{20};
constexpr Duration kTuned = milliseconds{50};          ///< a module refuses to emit while it tunes
constexpr Duration kOutsidersOwn = milliseconds{150};  ///< until what he moved has come to rest

std::vector<NodeId> lit_nodes(const Plan& plan) {
  std::vector<NodeId> nodes;
  for (const Circuit& circuit : plan.circuits) {
    nodes.push_back(circuit.source);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

NodeId idle_node(const Plan& plan, const Fabric& fabric) {
  const auto lit = lit_nodes(plan);
  const auto idle = std::find_if(fabric.nodes.begin(), fabric.nodes.end(),
                                 [&](const Node& node) { return !std::binary_search(lit.begin(), lit.end(), node.id); });
  LOOM_ASSERT(idle != fabric.nodes.end());
  return idle->id;
}

DeviceId laser_of(NodeId node, const Fabric& fabric) {
  return *fabric.device_of_element[fabric.nodes[node.value].transmitters.front().value];
}

DeviceId bank_of(NodeId node, const Fabric& fabric) {
  for (const DeviceId id : fabric.devices_of_agent[node.value]) {
    if (fabric.device(id).role == DeviceRole::filter) {
      return id;
    }
  }
  LOOM_ASSERT(false);
  return {};
}

DeviceId lit_laser(const Plan& plan, const Fabric& fabric) { return laser_of(plan.circuits[1].source, fabric); }
DeviceId idle_laser(const Plan& plan, const Fabric& fabric) { return laser_of(idle_node(plan, fabric), fabric); }
DeviceId warm_bank(const Plan& plan, const Fabric& fabric) { return bank_of(plan.circuits[1].destination, fabric); }
DeviceId cold_bank(const Plan& plan, const Fabric& fabric) { return bank_of(idle_node(plan, fabric), fabric); }

template <class Wanted>
const Wanted& setting_of(const Plan& plan, const Fabric& fabric, DeviceId id) {
  const auto& devices = plan.nodes[fabric.device(id).agent.value].devices;
  const auto device = std::ranges::find(devices, id, &DevicePlan::device);
  LOOM_ASSERT(device != devices.end());
  return std::get<Wanted>(device->timeline.front().setpoint);
}

const std::vector<WssRoute>& routes_of(const Plan& plan, const Fabric& fabric, DeviceId wss) {
  return setting_of<WavelengthSwitchSetpoint>(plan, fabric, wss).routes;
}

const std::vector<CrossConnect>& connects_of(const Plan& plan, const Fabric& fabric, DeviceId ocs) {
  return setting_of<CircuitSwitchSetpoint>(plan, fabric, ocs).connects;
}

/// The switch with the most light, so that there are others to disturb.
DeviceId busy_wss(const Plan& plan, const Fabric& fabric) {
  DeviceId busiest;
  std::size_t most = 0;
  for (const Device& device : fabric.devices) {
    const std::size_t routes = device.role == DeviceRole::wavelength_switch ? routes_of(plan, fabric, device.id).size() : 0;
    if (routes > most) {
      most = routes;
      busiest = device.id;
    }
  }
  return busiest;
}

/// A colour of the comb that no circuit has.
FrequencySlot free_slot(const Plan& plan, const Fabric& fabric) {
  const auto& channels = std::get<Transmitter>(fabric.element(fabric.nodes.front().transmitters.front()).kind).channels;
  for (std::int32_t channel = channels.count - 1; channel > 0; --channel) {
    const bool taken = std::any_of(plan.circuits.begin(), plan.circuits.end(),
                                   [&](const Circuit& circuit) { return circuit.slot == channels.slot(channel); });
    if (!taken) {
      return channels.slot(channel);
    }
  }
  return channels.slot(0);
}

void append_laser_plants(std::vector<Plant>& plants) {
  const auto add = [&](std::string name, Drift drift, std::uint32_t circuits, auto device, auto act) {
    plants.push_back({std::move(name), DeviceRole::transmitter, drift, circuits, device, act});
  };
  add("laser switched off", Drift::missing, 1, lit_laser, [](Outsider& o, World&, DeviceId id) { o.emission(id, false); });
  add("laser power-cycled", Drift::missing, 1, lit_laser, [](Outsider& o, World&, DeviceId id) { o.power_cycle(id); });
  add("idle laser switched on", Drift::foreign, 0, idle_laser, [](Outsider& o, World& world, DeviceId id) {
    const auto& fabric = world.light().fabric();
    const FrequencySlot slot = free_slot(world.controller().confirmed_plan()->plan, fabric);
    const auto& channels = std::get<Transmitter>(fabric.element(fabric.device(id).elements.front()).kind).channels;
    // An idle module has its own 50 GHz grid, from its lowest frequency on.
    o.channel(id, static_cast<std::uint16_t>((centre_of(slot) - centre_of(channels.slot(0))).mhz / 50'000 + 1));
    world.loop().call_at(world.loop_now() + kTuned, Precision::ordinary, [&o, id] { o.emission(id, true); });
  });
  add("laser retuned", Drift::detuned, 1, lit_laser, [](Outsider& o, World& world, DeviceId id) {
    const auto& fabric = world.light().fabric();
    const FrequencySlot slot = free_slot(world.controller().confirmed_plan()->plan, fabric);
    const auto& channels = std::get<Transmitter>(fabric.element(fabric.device(id).elements.front()).kind).channels;
    o.channel(id, static_cast<std::uint16_t>(channels.channel_of(slot) + 1));
  });
  add("laser turned down by 4.5 dB", Drift::dim, 1, lit_laser, [](Outsider& o, World& world, DeviceId id) {
    const auto& fabric = world.light().fabric();
    o.power(id, std::get<Transmitter>(fabric.element(fabric.device(id).elements.front()).kind).launch_power - Db{450});
  });
}

void append_bank_plants(std::vector<Plant>& plants) {
  const auto add = [&](std::string name, Drift drift, std::uint32_t circuits, auto device, std::uint16_t millivolts) {
    plants.push_back({std::move(name), DeviceRole::filter, drift, circuits, device,
                      [millivolts](Outsider& o, World&, DeviceId id) { o.heat(id, 0, millivolts); }});
  };
  add("heater switched off", Drift::missing, 1, warm_bank, 0);
  add("heater set beside its place", Drift::detuned, 1, warm_bank, 700);
  add("idle ring heated", Drift::foreign, 0, cold_bank, 2'000);
}

void append_wss_plants(std::vector<Plant>& plants) {
  plants.push_back(
      {"route closed", DeviceRole::wavelength_switch, Drift::missing, 1, busy_wss, [](Outsider& o, World& world, DeviceId id) {
         const Plan& plan = world.controller().confirmed_plan()->plan;
         o.close_route(id, routes_of(plan, world.light().fabric(), id).front());
       }});
  plants.push_back({"unused route opened", DeviceRole::wavelength_switch, Drift::foreign, 0, busy_wss,
                    [](Outsider& o, World& world, DeviceId id) {
                      const Plan& plan = world.controller().confirmed_plan()->plan;
                      WssRoute route = routes_of(plan, world.light().fabric(), id).front();
                      route.slot = free_slot(plan, world.light().fabric());
                      o.open_route(id, route);
                    }});
}

/// The switch of the job's second circuit.
DeviceId lit_ocs(const Plan& plan, const Fabric& fabric) {
  for (const Device& device : fabric.devices) {
    if (device.role == DeviceRole::circuit_switch && !connects_of(plan, fabric, device.id).empty()) {
      return device.id;
    }
  }
  LOOM_ASSERT(false);
  return {};
}

void append_ocs_plants(std::vector<Plant>& plants) {
  plants.push_back({"connection removed", DeviceRole::circuit_switch, Drift::missing, 1, lit_ocs,
                    [](Outsider& o, World& world, DeviceId id) {
                      const Plan& plan = world.controller().confirmed_plan()->plan;
                      o.disconnect(id, connects_of(plan, world.light().fabric(), id).front());
                    }});
  plants.push_back({"idle ports connected", DeviceRole::circuit_switch, Drift::foreign, 0, lit_ocs,
                    [](Outsider& o, World& world, DeviceId id) {
                      const auto& connects = connects_of(world.controller().confirmed_plan()->plan, world.light().fabric(), id);
                      CrossConnect idle{0, 0};
                      const auto is_taken = [&](auto port) {
                        return std::ranges::any_of(connects, [&](CrossConnect each) { return each.*port == idle.*port; });
                      };
                      for (; is_taken(&CrossConnect::input); ++idle.input) {
                      }
                      for (; is_taken(&CrossConnect::output); ++idle.output) {
                      }
                      o.connect(id, idle);
                    }});
  plants.push_back(
      {"OCS power-cycled", DeviceRole::circuit_switch, Drift::missing, 8, lit_ocs, [](Outsider&, World& world, DeviceId id) {
         DeviceFault fault;
         fault.kind = DeviceFaultKind::reboot;
         fault.until = world.loop_now() + milliseconds{100};
         world.bus().inject(id, fault);
       }});
}

void append_silences(std::vector<Plant>& plants, DriftFabric fabric) {
  const auto silence = [](Outsider&, World& world, DeviceId id) {
    DeviceFault fault;
    fault.kind = DeviceFaultKind::silence;
    fault.until = world.loop_now() + seconds{6};
    world.bus().inject(id, fault);
  };
  if (fabric == DriftFabric::ocs_16) {
    plants.push_back({"OCS silent for 6 s", DeviceRole::circuit_switch, Drift::stale, 0, lit_ocs, silence});
    return;
  }
  plants.push_back({"laser silent for 6 s", DeviceRole::transmitter, Drift::stale, 0, lit_laser, silence});
  plants.push_back({"heater silent for 6 s", DeviceRole::filter, Drift::stale, 0, warm_bank, silence});
  plants.push_back({"WSS silent for 6 s", DeviceRole::wavelength_switch, Drift::stale, 0, busy_wss, silence});
}

bool is_at_rest(const World& world) {
  const DriftCounts& drift = world.controller().drift().counts();
  return world.controller().is_idle() && drift == DriftCounts{} &&
         differences(world.light(), &world.controller().confirmed_plan()->plan).empty();
}

/// Windows that were open at `since` and ended in [begin, end).
std::uint32_t interrupted(const World& world, Instant since, Instant begin, Instant end) {
  const LightTimeline light = world.light().timeline();
  return static_cast<std::uint32_t>(std::count_if(light.begin(), light.end(), [&](const LitWindow& window) {
    return window.begin < since && window.end >= begin && window.end < end;
  }));
}

}  // namespace

Result<void> come_into_light(World& world) {
  while (world.loop_now() < Instant{kLightBound}) {
    world.run_until(world.loop_now() + kLook);
    if (world.controller().confirmed_plan() != nullptr && !world.controller().confirmed_plan()->plan.circuits.empty() &&
        is_at_rest(world)) {
      world.run_until(world.loop_now() + seconds{4});  // every device has been read since
      return {};
    }
  }
  return fail(ErrorCode::internal, "the fabric of the experiment did not come into light");
}

std::vector<Plant> drift_plants(DriftFabric fabric) {
  std::vector<Plant> plants;
  if (fabric == DriftFabric::ocs_16) {
    append_ocs_plants(plants);
  } else {
    append_laser_plants(plants);
    append_bank_plants(plants);
    append_wss_plants(plants);
  }
  append_silences(plants, fabric);
  return plants;
}

Scenario drift_scenario(DriftFabric fabric) {
  Scenario scenario;
  scenario.name = "drift";
  const bool is_small = fabric != DriftFabric::nodes_1024;
  if (fabric == DriftFabric::ocs_16) {
    Fabric fabric_of_switches = make_sip_ocs({});
    for (Device& device : fabric_of_switches.devices) {
      if (device.role == DeviceRole::circuit_switch) {
        device.profile = {{"foreign", std::int64_t{1}}};  // remove: these switches are nobody else's, so that repair is seen
      }
    }
    scenario.fabric = std::make_shared<const Fabric>(std::move(fabric_of_switches));
    scenario.algorithm = "sip-ocs";
  } else {
    OddlParameters parameters;
    if (is_small) {
      parameters.nodes = 16;
      parameters.group_size = 4;
      parameters.channels = 6;
    }
    scenario.fabric = std::make_shared<const Fabric>(make_oddl(parameters));
  }
  JobSubmission job;
  job.name = "ring";
  job.workload = "vgg19";
  job.nodes = is_small ? 8 : 992;
  job.at = milliseconds{500};
  scenario.jobs = {job};
  return scenario;
}

Result<DriftResult> run_drift(const Scenario& scenario, const Plant& plant, std::uint64_t seed, Duration phase) {
  auto jobs = script_of(scenario);
  if (!jobs) {
    return std::unexpected(jobs.error());
  }
  WorldOptions options;
  options.seed = seed;
  World world(scenario, std::move(*jobs), options);
  LOOM_TRY(world.start());
  LOOM_TRY(come_into_light(world));
  const Duration round = scenario.controller.audit_round;
  const Duration into = world.loop_now().time_since_epoch() % round;
  world.run_until(world.loop_now() + (round - into) + phase);

  Outsider outsider(world.bus(), scenario.fabric);
  DriftResult result;
  result.phase = phase;
  result.device = plant.device(world.controller().confirmed_plan()->plan, *scenario.fabric);
  result.device_name = scenario.fabric->device(result.device).name;
  const Instant planted = world.loop_now();
  const std::uint64_t commits = world.confirmed();
  world.excuse(scenario.fabric->device(result.device));
  plant.act(outsider, world, result.device);
  std::uint64_t own_violations = 0;
  while (result.sound_after == kForever && world.loop_now() < planted + kRepairBound) {
    world.run_until(world.loop_now() + kLook);
    own_violations = world.loop_now() <= planted + kOutsidersOwn ? world.checker().count() : own_violations;
    if (result.named_after == kForever && world.controller().drift().drift_of(result.device) == plant.expected) {
      result.named_after = world.loop_now() - planted;
    }
    if (result.named_after != kForever && is_at_rest(world)) {
      result.sound_after = world.loop_now() - planted;
    }
  }
  result.commits = static_cast<std::uint32_t>(world.confirmed() - commits);
  result.touched = result.commits == 0 ? 0 : world.controller().history().back().touched;
  result.by_outsider = interrupted(world, planted, planted, planted + kOutsidersOwn);
  result.by_repair = interrupted(world, planted, planted + kOutsidersOwn, kNever);
  result.violations = world.checker().count() - own_violations;
  for (const Alarm& alarm : world.alarms()) {
    if ((alarm.code == AlarmCode::drift || alarm.code == AlarmCode::device_failed) && alarm.device == result.device) {
      result.alarms.push_back(alarm);
    }
  }
  return result;
}

}  // namespace loom
