// SPDX-License-Identifier: Apache-2.0
// A driver of one's own, as short as one can be: a power meter that answers the line "P?" with a number of dBm
// (docs/tutorials/add_a_driver.md). It only reads, so nothing of it can move light.
#pragma once

#include "drivers/monitor/monitor_driver.hpp"
#include "drivers/registry.hpp"

namespace loom::examples {

/// Rest and decide are every driver's; this one has one exchange.
enum class LineMeterState : std::uint8_t { rest, decide, asking };

class LineMeterDriver final : public MonitorDriver<DeviceProfile, LineMeterState> {
 public:
  explicit LineMeterDriver(DeviceProfile profile);
  Duration lead(const Setpoint&) const override { return profile_.exchange; }

 private:
  void begin() override { is_read_ = false; }
  LineMeterState resolve(LineMeterState state, Instant now) override;
  void conclude() override { finish(); }
  decltype(Transaction::order) order() const override;
  std::string question() const override { return "P?"; }
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant, const BusReply&) override {}

  bool is_read_ = false;
};

/// Its line in drivers/registry.cpp, were it there.
extern const DriverModel kLineMeter;

}  // namespace loom::examples
