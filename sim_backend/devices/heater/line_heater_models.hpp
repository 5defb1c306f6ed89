// SPDX-License-Identifier: Apache-2.0
// Simulated electronics of heaters that are spoken to in lines (Qontrol, Nicslab), with the resonances that follow. What they
// share is a source of voltage a ring, that measures with noise, bounds what it is told, and loses all with its power.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/heater/heater_law.hpp"
#include "sim_backend/devices/heater/heated_rings.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

/// Broken (`fail`): its heaters are open, so that it has voltages and no current.
class LineHeaterModel : public SimulatedDevice {
 public:
  LineHeaterModel(const Device& device, const std::vector<RingFilter>& rings, HeaterSource source,
                  const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;
  void misroute(OpticalState& state) const override;

  /// What it says to a line, each line of it with its end; empty: nothing.
  virtual std::string answer(Instant now, Instant at, std::string_view line) = 0;
  /// What it says before its next answer, unasked.
  virtual std::string unasked() { return {}; }

  enum class Set : std::uint8_t { taken, over_voltage, over_current };
  Set set_volts(Instant now, Instant at, std::size_t ring, double volts);
  /// As its converters see them, with noise.
  double measured_volts(std::size_t ring);
  double measured_amperes(Instant at, std::size_t ring);
  std::size_t channels() const { return volts_.size(); }
  void bound(std::size_t ring, double volts) { bounds_[ring] = volts; }

 private:
  HeatedRings rings_;
  HeaterSource source_;
  std::vector<double> volts_;
  std::vector<double> bounds_;
};

extern const SimulatedModel kSimulatedQontrol;
extern const SimulatedModel kSimulatedNicslab;

}  // namespace loom
