// SPDX-License-Identifier: Apache-2.0
// The order in which rules are asked.
#include "controller/plan/verify/verify.hpp"

#include <algorithm>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Light that nobody takes away is judged like light that an operator set by hand: it serves no circuit, and meets none.
void add_occupied(const Fabric& fabric, const std::vector<ObservedLight>& occupied, verifying::Settings& settings) {
  for (const ObservedLight& each : occupied) {
    const ElementId transmitter = fabric.device(each.laser).elements[0];
    for (verifying::Source& source : settings.sources) {
      if (source.transmitter == transmitter && !source.device->touched && source.emissions.empty()) {
        source.emissions.push_back({each.light, Duration{}, kForever});
        settings.by_hand[transmitter.value] = true;
      }
    }
  }
}

/// A ring that is being measured may stand anywhere, and whatever comes to it may leave by either way: no light of a job does.
void check_measured(const Fabric& fabric, const Plan& plan, const verifying::Settings& settings, const Intent& intent,
                    verifying::Faults& faults) {
  if (intent.drives.empty()) {
    return;
  }
  verifying::Walk walk(fabric, settings);
  for (const Circuit& circuit : plan.circuits) {
    for (const ElementId element : walk.elements(circuit.transmitter, circuit.slot)) {
      if (std::ranges::binary_search(intent.drives, element, {}, &RingDrive::ring)) {
        faults.add(rules::kMeasured, [&] {
          return format_text("light of circuit {} of job {} comes to {}, which is being measured", circuit.id.value,
                             circuit.job.value, fabric.element(element).name);
        });
      }
    }
  }
}

}  // namespace

namespace verifying {

Judged judge(const Fabric& fabric, const LightOrder& order, const Plan& plan, const Plan* base, const Intent& intent,
             const std::vector<ObservedLight>& occupied) {
  Judged judged;
  Faults faults;
  const Scope scope = whole_of(plan);
  if (!check_structure(fabric, plan, scope, faults)) {
    judged.verdict.violations = faults.take();
    return judged;
  }
  Settings& settings = judged.settings.emplace(fabric, plan);
  settings.by_hand.resize(fabric.elements.size());
  settings.measure(fabric, intent);
  for (const DeviceOverride& override : intent.overrides) {
    // One that is dark by hand lights nothing, and one that was adopted dark serves circuits: only its power was adopted.
    if (override.device.value < fabric.devices.size() && emits(override.setpoint)) {
      settings.by_hand[fabric.device(override.device).elements[0].value] = true;
    }
  }
  for (const Probe& probe : intent.probes) {
    if (probe.emit && probe.transmitter.value < fabric.elements.size()) {
      settings.by_hand[probe.transmitter.value] = true;
    }
  }
  check_measured(fabric, plan, settings, intent, faults);
  check_setpoints(fabric, plan, scope, settings, intent, faults);
  check_grants(fabric, plan, settings, faults);
  check_iterations(fabric, plan, settings, faults);
  add_occupied(fabric, occupied, settings);
  judged.light = check_light(fabric, order, plan, settings, faults);
  check_change(fabric, plan, scope, settings, base, true, judged.verdict.disturbed, faults);
  check_margins(fabric, plan, scope, settings, judged.light.receptions, judged.verdict, faults);
  judged.verdict.violations = faults.take();
  return judged;
}

}  // namespace verifying

Verdict examine(const Fabric& fabric, const LightOrder& order, const Plan& plan, const Plan* base, const Intent& intent,
                const std::vector<ObservedLight>& occupied) {
  return verifying::judge(fabric, order, plan, base, intent, occupied).verdict;
}

Verdict examine(const Fabric& fabric, const Plan& plan, const Plan* base, const Intent& intent,
                const std::vector<ObservedLight>& occupied) {
  return examine(fabric, LightOrder(fabric), plan, base, intent, occupied);
}

std::vector<PlanViolation> verify(const Fabric& fabric, const Plan& plan, const Plan* base, const Intent& intent) {
  return examine(fabric, plan, base, intent).violations;
}

}  // namespace loom
