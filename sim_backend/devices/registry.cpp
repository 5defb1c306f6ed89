// SPDX-License-Identifier: Apache-2.0
// The list.
#include "sim_backend/devices/registry.hpp"

#include <algorithm>
#include <array>

#include "core/result.hpp"
#include "drivers/ocs/tl1_ocs.hpp"
#include "drivers/registry.hpp"
#include "sim_backend/devices/gain/gain_models.hpp"
#include "sim_backend/devices/heater/heater_model.hpp"
#include "sim_backend/devices/heater/line_heater_models.hpp"
#include "sim_backend/devices/itla_model.hpp"
#include "sim_backend/devices/ocs/ocs_model.hpp"
#include "sim_backend/devices/ocs/tl1_ocs_model.hpp"
#include "sim_backend/devices/photodiode_model.hpp"
#include "sim_backend/devices/pluggable/cmis_model.hpp"
#include "sim_backend/devices/pluggable/sff_model.hpp"
#include "sim_backend/devices/scpi_meter_model.hpp"
#include "sim_backend/devices/table_laser_model.hpp"
#include "sim_backend/devices/wss/waveshaper_model.hpp"
#include "sim_backend/devices/wss_model.hpp"

namespace loom {
namespace {

constexpr std::array kSimulated{&kSimulatedItla,           &kSimulatedTableLaser, &kSimulatedCmis,       &kSimulatedSff,
                                &kSimulatedHeaterBank,     &kSimulatedQontrol,    &kSimulatedNicslab,    &kSimulatedWss,
                                &kSimulatedWaveShaper,     &kSimulatedOcs,        &kSimulatedPolatisTl1, &kSimulatedCalientTl1,
                                &kSimulatedPhotodiodeBank, &kSimulatedPowerMeter, &kSimulatedOsa,        &kSimulatedScpiVoa,
                                &kSimulatedScpiEdfa,       &kSimulatedModbusVoa,  &kSimulatedModbusEdfa};

const SimulatedModel& simulated_as(const Device& device) {
  const std::string_view model = driver_model_of(device).model.name;
  const auto chosen = std::ranges::find_if(kSimulated, [&](const SimulatedModel* each) { return each->model == model; });
  LOOM_ASSERT(chosen != kSimulated.end());  // tests/drivers/registry_test.cpp holds the two lists against each other
  return **chosen;
}

}  // namespace

std::vector<std::string_view> simulated_models() {
  std::vector<std::string_view> names;
  for (const SimulatedModel* each : kSimulated) {
    names.push_back(each->model);
  }
  return names;
}

bool measures_light(const Device& device) {
  const auto taps = std::ranges::find(device.profile, "monitors_ports", &DeviceSetting::key);
  const bool are_read = taps != device.profile.end() && taps->value == ProfileValue{std::int64_t{1}};
  return device.role == DeviceRole::monitor || device.role == DeviceRole::gain_stage || are_read ||
         device.model == kCalientTl1.model.name;  // it lists them with its map
}

std::string_view emulator_of(const Device& device) { return simulated_as(device).emulator; }

std::unique_ptr<SimulatedDevice> make_simulated_device(const Fabric& fabric, DeviceId device, const SimDeviceOptions& options) {
  const Device& row = fabric.device(device);
  LOOM_ASSERT(!row.elements.empty());
  return simulated_as(row).make(fabric, row, options);
}

}  // namespace loom
