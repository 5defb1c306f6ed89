// SPDX-License-Identifier: Apache-2.0
// Random fabrics, job sets and sequences of revisions for the properties of planning.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "controller/plan/pipeline.hpp"

namespace loom::testing {

/// One draw a call, the same on every platform.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

/// A plan that was accepted, with everything that it was judged against.
struct Accepted {
  std::shared_ptr<const Fabric> fabric;
  std::shared_ptr<const PlanResult> base;  ///< null = dark
  std::shared_ptr<const PlanResult> result;
};

struct Walk {
  std::vector<Accepted> accepted;
  std::uint32_t refused = 0;  ///< requests that named a reason and were dropped
};

/// Several revisions on one fabric: jobs come, go and advance a stage, nodes drain, lasers go off and on. A refusal other than
/// infeasible ends the walk and is returned in `fault`. `memory`: the planner's; null: it has none.
Walk walk(std::uint64_t seed, std::uint32_t revisions, std::string& fault, PlanMemory* memory = nullptr);
/// The same on a random SiP-Ring or SiP-OCS, planned by its own scheduler.
Walk walk_sip(std::uint64_t seed, std::uint32_t revisions, std::string& fault, PlanMemory* memory = nullptr);

}  // namespace loom::testing
