// Which driver drives which kind of device.
#include "drivers/driver.hpp"

#include "drivers/heater/heater_bank.hpp"
#include "drivers/ocs/scpi_ocs.hpp"
#include "drivers/transceiver/itla.hpp"
#include "drivers/wss/lcos_wss.hpp"

namespace loom {

std::unique_ptr<Driver> make_driver(const Fabric& fabric, DeviceId device) {
  const Device& row = fabric.device(device);
  switch (row.kind) {
    case DeviceKind::itla_laser:
      return std::make_unique<ItlaDriver>(itla_profile(fabric, row));
    case DeviceKind::heater_bank:
      return std::make_unique<HeaterBankDriver>(heater_profile(fabric, row));
    case DeviceKind::wss:
      return std::make_unique<LcosWssDriver>(wss_profile(fabric, row));
    case DeviceKind::ocs:
      return std::make_unique<ScpiOcsDriver>(ocs_profile(fabric, row));
  }
  return nullptr;
}

}  // namespace loom
