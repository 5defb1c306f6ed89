// SPDX-License-Identifier: Apache-2.0
// Words of a scenario to words of a device model.
#include "sim_backend/world/fault_model.hpp"

namespace loom {

DeviceFault model_fault(const ScenarioFault& fault, Instant zero) {
  DeviceFault model;
  model.kind = fault.kind;
  model.until = fault.lasts == kForever ? kNever : zero + fault.at + fault.lasts;
  model.offset = fault.offset;
  model.loss = fault.loss;
  model.delay = fault.delay;
  model.factor = fault.factor;
  model.percent = fault.percent;
  model.channel = fault.channel;
  model.hidden = fault.kind == DeviceFaultKind::detune;  // "beside what the registers say"
  return model;
}

}  // namespace loom
