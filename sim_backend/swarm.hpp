// Swarm: from one seed a whole run under faults: the fabric, the work, which classes of faults are on and how hard they hit.
// Two phases: safety while faults last, then they stop and it must converge (liveness). The same seed is the same run; a seed
// that found something finds it again.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim_backend/world.hpp"

namespace loom {

enum class FaultClass : std::uint8_t { network, partition, controller_crash, agent_crash, device, disk };
inline constexpr std::size_t kFaultClasses = 6;
std::string_view to_string(FaultClass fault);

struct SwarmOptions {
  std::uint64_t seed = 1;
  /// Classes that may be on; whether each is, the seed says. All off: the work alone.
  std::array<bool, kFaultClasses> allowed{true, true, true, true, true, true};
};

struct SwarmResult {
  std::uint64_t seed = 0;
  std::uint64_t digest = 0;
  std::uint64_t events = 0;
  Duration virtual_time{};
  Duration settled_after{};                           ///< from the end of all faults; kForever: never
  std::array<std::uint32_t, kFaultClasses> faults{};  ///< injected, by class (network: messages lost, doubled or reordered)
  std::uint64_t committed = 0;
  std::uint64_t returned = 0;
  std::vector<std::string> work;  ///< what was asked for
  std::vector<Violation> violations;
};

/// Errors: storage of the simulated disks, which is a bug.
Result<SwarmResult> run_swarm(const SwarmOptions& options);

}  // namespace loom
