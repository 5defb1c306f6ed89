// The order in which rules are asked.
#include "controller/plan/verify.hpp"

#include "controller/plan/verify_parts.hpp"

namespace loom {

Verdict examine(const Fabric& fabric, const Plan& plan, const Plan* base, const Intent& intent) {
  Verdict verdict;
  verifying::Faults faults;
  if (!verifying::check_structure(fabric, plan, faults)) {
    verdict.violations = faults.take();
    return verdict;
  }
  verifying::Settings settings(fabric, plan);
  settings.by_hand.resize(fabric.elements.size());
  for (const DeviceOverride& override : intent.overrides) {
    // One that is dark by hand lights nothing, and one that was adopted dark serves circuits: only its power was adopted.
    if (override.device.value < fabric.devices.size() && emits(override.setpoint)) {
      settings.by_hand[fabric.device(override.device).elements[0].value] = true;
    }
  }
  verifying::check_setpoints(fabric, plan, settings, intent, faults);
  verifying::check_grants(fabric, plan, settings, faults);
  const std::vector<verifying::Reception> receptions = verifying::check_light(fabric, plan, settings, faults);
  verifying::check_change(fabric, plan, settings, base, faults);
  verifying::check_margins(fabric, plan, settings, receptions, verdict, faults);
  verdict.violations = faults.take();
  return verdict;
}

std::vector<PlanViolation> verify(const Fabric& fabric, const Plan& plan, const Plan* base, const Intent& intent) {
  return examine(fabric, plan, base, intent).violations;
}

}  // namespace loom
