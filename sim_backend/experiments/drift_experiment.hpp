// SPDX-License-Identifier: Apache-2.0
// Drift experiment: a small fabric in light, one thing changed behind the controller's back, and the times until it was named
// and until ground truth is again what the plan says. For the tests and for `drift_table`; all times are virtual.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/observation.hpp"
#include "core/result.hpp"
#include "sim_backend/world/outsider.hpp"
#include "sim_backend/world/world.hpp"

namespace loom {

/// One thing that somebody does.
struct Plant {
  std::string name;  ///< "laser switched off"
  DeviceRole kind = DeviceRole::transmitter;
  Drift expected = Drift::none;
  std::uint32_t circuits = 0;  ///< whose light a repair has to take away; it may interrupt no other
  std::function<DeviceId(const Plan& plan, const Fabric& fabric)> device;
  std::function<void(Outsider& outsider, World& world, DeviceId device)> act;
};

/// ODDL with 16 nodes in groups of 4, 8 of them in a ring of light; with 1024 in groups of 32, 992 of them; SiP-OCS with 16
/// nodes and 4 switches, 8 of them in a ring.
enum class DriftFabric : std::uint8_t { nodes_16, nodes_1024, ocs_16 };

/// Every way of drift of every kind of device that the fabric has.
std::vector<Plant> drift_plants(DriftFabric fabric = DriftFabric::nodes_16);

struct DriftResult {
  DeviceId device;
  std::string device_name;
  Duration phase{};                 ///< of the plant, after the start of an audit round
  Duration named_after = kForever;  ///< until status says the expected word of that device
  Duration sound_after = kForever;  ///< until nothing drifts and light is as planned; kForever: not within the bound
  std::uint32_t commits = 0;
  std::uint32_t touched = 0;      ///< circuits that the repair took dark
  std::uint32_t by_outsider = 0;  ///< circuits of ground truth that he interrupted (a lit laser tunes through others' colours)
  std::uint32_t by_repair = 0;    ///< and that the repair did
  std::size_t violations = 0;     ///< of the safety judge, after the outsider's own
  std::vector<Alarm> alarms;      ///< of the device: that it drifts, or follows no order
};

Scenario drift_scenario(DriftFabric fabric = DriftFabric::nodes_16);

/// Until the confirmed plan is in light, at rest, and every device has been read since. Errors: internal (not in time).
Result<void> come_into_light(World& world);

/// Errors: those of World::start and of the workload; internal (the fabric did not come into light).
Result<DriftResult> run_drift(const Scenario& scenario, const Plant& plant, std::uint64_t seed, Duration phase);

}  // namespace loom
