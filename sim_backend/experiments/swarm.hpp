// SPDX-License-Identifier: Apache-2.0
// Swarm: from one seed a whole run under faults: the fabric (of every architecture), the work, which classes of faults are on
// and how hard they hit. What is drawn is a scenario, faults included, and nothing else: it is run as any scenario is, and can
// be written down, shrunk (shrink.hpp) and handed on. Two phases: safety while faults last, then they stop and it must
// converge.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "sim_backend/experiments/swarm_fabric.hpp"
#include "sim_backend/judge/light_checker.hpp"
#include "sim_backend/world/fault_notices.hpp"

namespace loom {

enum class FaultClass : std::uint8_t {
  network,  ///< messages lost, doubled, reordered
  partition,
  controller_crash,
  agent_crash,
  device,     ///< detuned, dim, dead, stuck, silent, refusing, late
  disk,       ///< the controller's is full
  power,      ///< a device's power is cut
  untrue,     ///< light is not what registers say: misrouted, false read-back; fibres exchanged, cut, dirty
  slow,       ///< an agent's host
  clock,      ///< an agent's clock steps or drifts
  takeover,   ///< a second controller, while the old one goes on speaking
  interlock,  ///< an agent's contact is opened
};
inline constexpr std::size_t kFaultClasses = 12;
std::string_view to_string(FaultClass fault);

struct SwarmOptions {
  std::uint64_t seed = 1;
  /// Classes that may be on; whether each is, the seed says. All off: the work alone.
  std::array<bool, kFaultClasses> allowed = all_classes();
  std::optional<FabricFamily> family{};  ///< none: the seed draws one
  std::string configs = "configs";       ///< where all_elements.yaml is

  static constexpr std::array<bool, kFaultClasses> all_classes() {
    std::array<bool, kFaultClasses> all{};
    all.fill(true);
    return all;
  }
};

/// A run that was drawn and can be run again.
struct SwarmDraw {
  SwarmFabric fabric;
  Scenario scenario;  ///< with its faults; its seed is the run's
};

struct SwarmResult {
  SwarmDraw draw;
  std::uint64_t digest = 0;
  std::uint64_t events = 0;
  Duration virtual_time{};
  Duration settled_after{};                           ///< from the end of all faults; kForever: never
  std::array<std::uint32_t, kFaultClasses> faults{};  ///< injected, by class (network: messages lost, doubled or reordered)
  std::uint64_t committed = 0;
  std::uint64_t returned = 0;
  std::vector<Violation> violations;
  std::uint64_t excused_count = 0;
  std::vector<ExcusingFault> excusing;
};

/// What a fault of a scenario counts as.
FaultClass class_of(DeviceFaultKind kind);
FaultClass class_of(const MachineFault& fault);

/// Errors: as make_fabric.
Result<SwarmDraw> draw_swarm(const SwarmOptions& options);
/// A random scenario of plain jobs under a random fault file: any kinds of faults, up to six of them.
Result<SwarmDraw> draw_fault_file(const SwarmOptions& options);

/// Errors: those of the workloads; storage of the simulated disks, which is a bug.
/// `pulses`: see WorldOptions.
Result<SwarmResult> run_draw(const SwarmDraw& draw, bool pulses = false);
/// draw_swarm, then run_draw.
Result<SwarmResult> run_swarm(const SwarmOptions& options);

}  // namespace loom
