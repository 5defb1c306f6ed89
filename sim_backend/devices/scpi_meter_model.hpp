// SPDX-License-Identifier: Apache-2.0
// ScpiMeterModel: a power meter, wavemeter or spectrum analyser that answers lines of SCPI. What it does not know it answers
// with silence and an entry of its error queue.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/monitor/scpi_meter.hpp"
#include "sim_backend/devices/monitor_model.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

class ScpiMeterModel final : public MonitorModel {
 public:
  ScpiMeterModel(const Device& device, MeterProfile profile, const SimDeviceOptions& options);

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;

 private:
  std::string answer(Instant at, std::string_view line);
  std::string power_text(double milliwatt) const;
  std::string array_text(bool frequencies) const;
  std::string trace_text(bool wavelengths);
  void measure(Instant at);
  std::string take_error();

  MeterProfile profile_;
  std::string serial_;
  std::vector<ArrivingLight> measured_;  ///< by the last READ, ascending frequency
  std::deque<std::string> errors_;
};

extern const SimulatedModel kSimulatedPowerMeter;
extern const SimulatedModel kSimulatedOsa;

}  // namespace loom
