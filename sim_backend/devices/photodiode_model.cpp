// SPDX-License-Identifier: Apache-2.0
// Registers that only answer.
#include "sim_backend/devices/photodiode_model.hpp"

#include <algorithm>
#include <cmath>

#include "sim_backend/devices/wire.hpp"

namespace loom {
namespace {

constexpr std::uint8_t kIllegalFunction = 1;  // Modbus application protocol V1.1b3 section 7
constexpr std::uint8_t kIllegalAddress = 2;
constexpr std::uint8_t kBusy = 6;
constexpr double kNoiseCounts = 1.5;  ///< at most, of a 12-bit converter that does not average [K]

}  // namespace

PhotodiodeModel::PhotodiodeModel(const Device& device, PhotodiodeProfile profile, const SimDeviceOptions& options)
    : MonitorModel(device, options), profile_(std::move(profile)) {}

ModelReply PhotodiodeModel::respond(Instant now, const Transaction& transaction) {
  const auto* registers = std::get_if<Registers>(&transaction.order);
  if (registers == nullptr) {
    return {{BusStatus::timeout, 0, {}, {}}, transaction.deadline};
  }
  const Duration request = wire_time(8 + 7, options().modbus_baud) + options().device_time;
  BusReply reply;
  if (registers->count == 0 || registers->is_input != profile_.is_input) {
    reply = {BusStatus::exception, kIllegalFunction, {}, {}};
  } else if (registers->address < profile_.base || registers->address + registers->count > profile_.base + channels()) {
    reply = {BusStatus::exception, kIllegalAddress, {}, {}};
  } else {
    for (std::size_t i = 0; i < registers->count; ++i) {
      const double light = milliwatt_at(now, registers->address - profile_.base + i);
      const auto shaken = static_cast<double>(profile_.scale.count_of(light)) + std::round(kNoiseCounts * noise());
      const bool is_dead = has_fault(DeviceFaultKind::fail, now);
      const double top = static_cast<double>(profile_.scale.full_scale);
      reply.words.push_back(static_cast<std::uint16_t>(is_dead ? 0 : std::clamp(shaken, 0.0, top)));
    }
  }
  return {std::move(reply), request + wire_time(5 + 2 * registers->count, options().modbus_baud)};
}

ModelReply PhotodiodeModel::refuse(Instant, const Transaction&) {
  return {{BusStatus::nack, kBusy, {}, {}}, wire_time(8 + 5 + 7, options().modbus_baud) + options().device_time};
}

constinit const SimulatedModel kSimulatedPhotodiodeBank{
    "photodiode_bank",
    [](const Fabric& fabric, const Device& device, const SimDeviceOptions& options) -> std::unique_ptr<SimulatedDevice> {
      return std::make_unique<PhotodiodeModel>(device, photodiode_profile(fabric, device), options);
    },
    "photodiode"};

}  // namespace loom
