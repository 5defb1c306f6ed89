// SPDX-License-Identifier: Apache-2.0
// Sixteen nodes of ODDL in four groups, a ring of eight of them, whose boosters are driven and whose receivers are all watched.
#pragma once

#include <functional>
#include <memory>

#include "sim_backend/experiments/drift_experiment.hpp"
#include "tests/drivers/monitors/monitored_fabric.hpp"

namespace loom::test {

/// `change`: of its fabric.
inline Scenario watched_scenario(const std::function<void(Fabric&)>& change = {}) {
  Scenario scenario = drift_scenario();
  Fabric fabric = *scenario.fabric;
  drive_boosters(fabric);
  watch_receivers(fabric);
  if (change) {
    change(fabric);
  }
  build_index(fabric);
  scenario.fabric = std::make_shared<const Fabric>(std::move(fabric));
  return scenario;
}

}  // namespace loom::test
