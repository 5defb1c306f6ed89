// HeaterModel: holding registers of a heater bank, with the resonances that follow.
#pragma once

#include <vector>

#include "core/fabric/fabric.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

/// A bank of ring heaters behind Modbus holding registers. Cold at start; each ring follows its heater with one time constant.
class HeaterModel final : public SimulatedDevice {
 public:
  HeaterModel(const Device& device, std::vector<RingFilter> rings, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;
  void misroute(OpticalState& state) const override;

 private:
  struct Ring {
    RingFilter filter;
    std::uint16_t millivolts = 0;
    Frequency from;
    Frequency to;
    Instant begin{};
    Duration time_constant{};
  };
  BusReply write(Instant now, Instant at, const Registers& registers);
  Frequency resonance_at(const Ring& ring, Instant at) const;
  bool warms(const Ring& ring, Instant at) const;
  Duration service_time(std::size_t request_bytes, std::size_t reply_bytes) const;

  std::vector<Ring> rings_;
};

extern const SimulatedModel kSimulatedHeaterBank;

}  // namespace loom
