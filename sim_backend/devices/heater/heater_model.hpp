// SPDX-License-Identifier: Apache-2.0
// HeaterModel: holding registers of a heater bank on any board, with the resonances that follow.
#pragma once

#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/heater/heater_board.hpp"
#include "sim_backend/devices/heater/heated_rings.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

/// A bank of ring heaters behind Modbus holding registers. Cold at start; each ring follows its heater with one time constant.
/// A read or a write of which one register is none is refused as a whole. A board with status registers goes on answering when
/// its heaters are broken, and says so there; another one fails.
class HeaterModel final : public SimulatedDevice {
 public:
  HeaterModel(const Device& device, HeaterBoard board, std::vector<RingFilter> rings, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;
  void misroute(OpticalState& state) const override;

 private:
  BusReply read(Instant now, const Registers& registers) const;
  BusReply write(Instant now, Instant at, const Registers& registers);
  Duration service_time(std::size_t request_bytes, std::size_t reply_bytes) const;

  HeaterBoard board_;
  HeatedRings rings_;
  std::vector<std::uint16_t> counts_;  ///< by output
};

extern const SimulatedModel kSimulatedHeaterBank;

}  // namespace loom
