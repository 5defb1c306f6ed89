// SPDX-License-Identifier: Apache-2.0
// The plainest run of a world: one ring job on a fabric, half a second after the start; and what shall be so when it is over.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "sim_backend/simulation.hpp"

namespace loom::test {

inline Scenario one_ring(std::shared_ptr<const Fabric> fabric, std::uint32_t nodes = 4) {
  Scenario scenario;
  scenario.name = "one-ring";
  scenario.fabric = std::move(fabric);
  scenario.algorithm = scenario.fabric->architecture;
  JobSubmission job;
  job.name = "ring";
  job.workload = "vgg19";
  job.nodes = nodes;
  job.at = std::chrono::milliseconds{500};
  scenario.jobs = {job};
  return scenario;
}

/// No violation that is not excused, and everything is as it shall be.
inline void check_at_rest(const World& world) {
  for (const Violation& violation : world.checker().violations()) {
    FAIL_CHECK(to_string(violation.rule) << ": " << violation.evidence);
  }
  for (const std::string& sentence : world.unsettled()) {
    FAIL_CHECK(sentence);
  }
}

}  // namespace loom::test
