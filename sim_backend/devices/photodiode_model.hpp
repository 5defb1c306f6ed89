// SPDX-License-Identifier: Apache-2.0
// PhotodiodeModel: counts of a bank of photodiodes behind Modbus registers: shot by shot with a little noise, no finer than a
// count, and no more than the highest one.
#pragma once

#include "drivers/monitor/photodiode_bank.hpp"
#include "sim_backend/devices/monitor_model.hpp"
#include "sim_backend/devices/registry.hpp"

namespace loom {

class PhotodiodeModel final : public MonitorModel {
 public:
  PhotodiodeModel(const Device& device, PhotodiodeProfile profile, const SimDeviceOptions& options);

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;

 private:
  PhotodiodeProfile profile_;
};

extern const SimulatedModel kSimulatedPhotodiodeBank;

}  // namespace loom
