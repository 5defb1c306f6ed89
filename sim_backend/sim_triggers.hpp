// SPDX-License-Identifier: Apache-2.0
// SimTriggers: trigger lines before simulated buses. What is submitted to a line's bus is an order for an edge; the edge
// happens by itself at its instant, a little late, and reaches the models of the line's devices. All else goes on to the buses.
#pragma once

#include <memory>
#include <vector>

#include "core/trigger/trigger_line.hpp"
#include "runtime/seams.hpp"
#include "sim_backend/random.hpp"
#include "sim_backend/world/sim_bus.hpp"

namespace loom {

class SimTriggers final : public RegisterSeam {
 public:
  /// Lines whose endpoint is not `sim` answer nothing: they are another's. All four outlive this.
  SimTriggers(TimeSeam& time, SimBus& bus, const Fabric& fabric, const std::vector<TriggerLine>& lines, std::uint64_t seed);

  void submit(BusId bus, const Transaction& transaction, Done done) override;

 private:
  struct Line {
    std::vector<DeviceId> devices;
    Duration skew{};
    bool is_simulated = false;
    std::uint64_t order = 0;  ///< newest: an edge of an older one is not given
  };
  void give(std::size_t line, std::uint64_t order, Instant at);

  TimeSeam& time_;
  SimBus& bus_;
  const Fabric& fabric_;
  std::vector<Line> lines_;
  Random random_;
};

}  // namespace loom
