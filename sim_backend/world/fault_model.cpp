// Words of a scenario to words of a device model.
#include "sim_backend/world/fault_model.hpp"

#include <array>

namespace loom {

DeviceFault model_fault(const ScenarioFault& fault, Instant zero) {
  static constexpr std::array<DeviceFaultKind, kScenarioFaultKinds> kKinds{
      DeviceFaultKind::detune,   DeviceFaultKind::dim,           DeviceFaultKind::fail, DeviceFaultKind::stick,
      DeviceFaultKind::silence,  DeviceFaultKind::nack,          DeviceFaultKind::late, DeviceFaultKind::reboot,
      DeviceFaultKind::misroute, DeviceFaultKind::false_readback};
  DeviceFault model;
  model.kind = kKinds[static_cast<std::size_t>(fault.kind)];
  model.until = fault.lasts == kForever ? kNever : zero + fault.at + fault.lasts;
  model.offset = fault.offset;
  model.loss = fault.loss;
  model.delay = fault.delay;
  model.hidden = fault.kind == ScenarioFaultKind::detune;  // "beside what the registers say"
  return model;
}

}  // namespace loom
