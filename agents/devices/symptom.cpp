// SPDX-License-Identifier: Apache-2.0
// One row a status.
#include "agents/devices/symptom.hpp"

#include "core/fault_catalogue.hpp"

namespace loom {

std::string_view looks_like(const BusReply& last, DeviceRole role) {
  constexpr std::uint8_t kDeviceFailure = 4;  // Modbus application protocol V1.1b3, section 7
  switch (last.status) {
    case BusStatus::timeout:
      return name_of(DeviceFaultKind::silence, role);
    case BusStatus::malformed:
      return name_of(DeviceFaultKind::garbage, role);
    case BusStatus::nack:
      return name_of(DeviceFaultKind::nack, role);
    case BusStatus::exception:
      return name_of(last.exception == kDeviceFailure ? DeviceFaultKind::fail : DeviceFaultKind::nack, role);
    case BusStatus::lost:
      return {};
    case BusStatus::ok:
      break;
  }
  const FaultName* stuck = fault_of(DeviceFaultKind::stick, role);  // it answers, and does not follow
  return stuck == nullptr ? std::string_view{} : stuck->name;
}

}  // namespace loom
