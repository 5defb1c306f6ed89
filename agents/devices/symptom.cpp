// SPDX-License-Identifier: Apache-2.0
// One row a trouble.
#include "agents/devices/symptom.hpp"

#include <array>
#include <initializer_list>

#include "core/fault_catalogue.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// The first that a device of this role can have.
std::string_view first_of(std::initializer_list<DeviceFaultKind> kinds, DeviceRole role) {
  for (const DeviceFaultKind kind : kinds) {
    if (const FaultName* fault = fault_of(kind, role)) {
      return fault->name;
    }
  }
  return {};
}

}  // namespace

std::string_view looks_like(Trouble trouble, DeviceRole role) {
  using Kind = DeviceFaultKind;
  switch (trouble) {
    case Trouble::none:
    case Trouble::bus_lost:
    case Trouble::misfit:
      return {};
    case Trouble::silent:
      return first_of({Kind::silence}, role);
    case Trouble::refusing:
      return first_of({Kind::nack}, role);
    case Trouble::garbage:
      return first_of({Kind::garbage}, role);
    case Trouble::bad_check:
      return first_of({Kind::bus_crc, Kind::garbage}, role);
    case Trouble::unheeded:
      return first_of({Kind::stick}, role);
    case Trouble::unsettled:
      return first_of({Kind::stuck_pending, Kind::slow_settle}, role);
    case Trouble::unlocked:
      return first_of({Kind::mode_hop}, role);
    case Trouble::open:
      return first_of({Kind::open}, role);
    case Trouble::broken:
      return first_of({Kind::fail}, role);
  }
  return {};
}

std::string sentence_of(const Device& device, const Observation& seen) {
  const std::string_view name = looks_like(seen.trouble, device.role);
  const std::string what = !seen.fault.empty() ? seen.fault : device.name + ": its driver gave up";
  return name.empty() ? what : format_text("{} (looks like {})", what, name);
}

}  // namespace loom
