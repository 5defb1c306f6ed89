// SPDX-License-Identifier: Apache-2.0
// ModbusGainDriver: an amplifier or attenuator behind words (registers: gain_registers.hpp), read and written as blocks.
#pragma once

#include <string>

#include "drivers/gain/gain_driver.hpp"
#include "drivers/registry.hpp"

namespace loom {

struct ModbusGainProfile : GainProfile {
  std::uint16_t base = 0;
  bool tells_powers = true;
};

class ModbusGainDriver final : public GainDriver {
 public:
  explicit ModbusGainDriver(const ModbusGainProfile& profile);

 private:
  std::size_t questions() const override { return 1; }
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;

  std::uint16_t base_ = 0;
  std::uint16_t count_ = 0;  ///< words of a reading
};

ModbusGainProfile modbus_gain_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kModbusVoa;
extern const DriverModel kModbusEdfa;

}  // namespace loom
