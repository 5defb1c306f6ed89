// SPDX-License-Identifier: Apache-2.0
// Models in the order of printing, and which of them a device is of.
#include "drivers/registry.hpp"

#include <algorithm>
#include <array>

#include "core/result.hpp"
#include "drivers/gain/modbus_gain.hpp"
#include "drivers/gain/scpi_gain.hpp"
#include "drivers/heater/heater_bank.hpp"
#include "drivers/heater/nicslab.hpp"
#include "drivers/heater/qontrol.hpp"
#include "drivers/identified_driver.hpp"
#include "drivers/monitor/photodiode_bank.hpp"
#include "drivers/monitor/scpi_meter.hpp"
#include "drivers/ocs/scpi_ocs.hpp"
#include "drivers/ocs/tl1_ocs.hpp"
#include "drivers/pluggable/cmis.hpp"
#include "drivers/pluggable/sff8690.hpp"
#include "drivers/transceiver/itla.hpp"
#include "drivers/transceiver/table_laser.hpp"
#include "drivers/wss/lcos_wss.hpp"
#include "drivers/wss/waveshaper.hpp"

namespace loom {
namespace {

constexpr std::array kDrivers{&kItlaLaser, &kTableLaser, &kCmis,     &kSff8690,    &kHeaterBank, &kQontrol,        &kNicslab,
                              &kLcosWss,   &kWaveShaper, &kScpiOcs,  &kPolatisTl1, &kCalientTl1, &kPhotodiodeBank, &kPowerMeter,
                              &kOsa,       &kScpiVoa,    &kScpiEdfa, &kModbusVoa,  &kModbusEdfa};

}  // namespace

DeviceModels all_device_models() {
  static constexpr auto kModels = [] {
    std::array<const DeviceModel*, kDrivers.size()> models{};
    std::ranges::transform(kDrivers, models.begin(), [](const DriverModel* each) { return &each->model; });
    return models;
  }();
  return kModels;
}

std::span<const DriverModel* const> all_driver_models() { return kDrivers; }

const DriverModel& driver_model_of(const Device& device) {
  const auto chosen = std::ranges::find_if(kDrivers, [&](const DriverModel* each) {
    return device.model.empty() ? each->model.role == device.role : each->model.name == device.model;
  });
  LOOM_ASSERT(chosen != kDrivers.end());  // who reads a fabric's file lets no other name pass
  return **chosen;
}

std::unique_ptr<Driver> make_driver(const Fabric& fabric, DeviceId device) {
  const Device& row = fabric.device(device);
  std::unique_ptr<Driver> driver = driver_model_of(row).make(fabric, row);
  return row.serial.empty() ? std::move(driver) : std::make_unique<IdentifiedDriver>(std::move(driver), row.name, row.serial);
}

}  // namespace loom
