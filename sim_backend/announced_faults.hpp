// SPDX-License-Identifier: Apache-2.0
// AnnouncedFaults: a scenario's faults of the simulated devices of one process in real time, from the start of the run on,
// which whoever runs the lab announces. The same for an agent's devices and for emulated ones, which are processes apart.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "runtime/seams.hpp"
#include "sim_backend/devices/simulated_device.hpp"

namespace loom {

class AnnouncedFaults {
 public:
  /// Nothing: the run has not begun. Asked every 20 ms until it has.
  using ReadStart = std::function<std::optional<Instant>()>;
  using Inject = std::function<void(DeviceId device, const DeviceFault& fault)>;

  /// `time` and this must outlive what they schedule; `time`'s clock is that of the announcement. What was over before the
  /// process began has happened to an earlier incarnation and is not done again.
  AnnouncedFaults(TimeSeam& time, std::vector<ScenarioFault> faults, ReadStart read_start, Inject inject);
  AnnouncedFaults(const AnnouncedFaults&) = delete;
  AnnouncedFaults& operator=(const AnnouncedFaults&) = delete;

 private:
  void await_start();
  void schedule(Instant start);

  TimeSeam& time_;
  std::vector<ScenarioFault> faults_;
  ReadStart read_start_;
  Inject inject_;
};

}  // namespace loom
