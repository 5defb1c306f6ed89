// SPDX-License-Identifier: Apache-2.0
// Waiting for the announcement, then one task a fault.
#include "sim_backend/announced_faults.hpp"

#include <algorithm>
#include <utility>

#include "sim_backend/world/fault_model.hpp"

namespace loom {

AnnouncedFaults::AnnouncedFaults(TimeSeam& time, std::vector<ScenarioFault> faults, ReadStart read_start, Inject inject)
    : time_(time), faults_(std::move(faults)), read_start_(std::move(read_start)), inject_(std::move(inject)) {
  await_start();
}

void AnnouncedFaults::await_start() {
  if (faults_.empty()) {
    return;
  }
  if (const auto start = read_start_()) {
    schedule(*start);
    return;
  }
  time_.call_at(time_.now() + std::chrono::milliseconds{20}, Precision::ordinary, [this] { await_start(); });
}

void AnnouncedFaults::schedule(Instant start) {
  for (const ScenarioFault& fault : faults_) {
    const DeviceFault model = model_fault(fault, start);
    if (model.until > time_.now()) {
      time_.call_at(std::max(time_.now(), start + fault.at), Precision::ordinary,
                    [this, device = fault.device, model] { inject_(device, model); });
    }
  }
}

}  // namespace loom
