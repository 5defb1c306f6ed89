// SPDX-License-Identifier: Apache-2.0
// What a fault of a device explains about light, by kind of fault and of device: one literal table. Whatever it does not name
// is the control plane's to answer for.
#pragma once

#include <string>
#include <vector>

#include "core/config/scenario/scenario.hpp"
#include "core/fabric/fabric.hpp"
#include "core/timings.hpp"
#include "sim_backend/judge/light_checker.hpp"

namespace loom {

/// What light may do that is not what the registers say: nobody could know.
inline constexpr RuleSet kUntrueLight =
    rule_set({SafetyRule::stray, SafetyRule::collision, SafetyRule::crosstalk, SafetyRule::lasers_off, SafetyRule::mixed,
              SafetyRule::moving_port, SafetyRule::interlock, SafetyRule::power});

struct FaultExcuse {
  RuleSet rules = 0;
  /// It explains light that stays as it was when the fault began; a device whose light changes meanwhile is obeying somebody.
  bool as_it_was = false;
  /// Its light is wrong until somebody mends it: it is excused beyond the end of the fault for mend_bound().
  bool must_be_mended = false;
};
FaultExcuse excuse_for(DeviceFaultKind fault, DeviceRole device);

/// How long what a fault leaves behind may take to be put right: it is seen in a poll, reconciled, and repaired.
constexpr Duration mend_bound(const ControllerTimings& timings) {
  return poll_bound(timings) + timings.reconcile_interval + std::chrono::seconds{2};
}
/// The same at each element of its device; `mend_bound` as above.
std::vector<Excuse> excuses_of(const ScenarioFault& fault, const Fabric& fabric, Duration mend_bound);

/// A host that dies in a timeslot leaves its lasers as they are, and the next timeslot meets them: no software that is left
/// prevents it. Nothing where no host crashes.
std::vector<Excuse> excuses_of(const MachineFault& fault, const Fabric& fabric, Instant until);

/// `wss-in-0: fail`.
std::string text_of(const ScenarioFault& fault, const Fabric& fabric);
std::string text_of(const MachineFault& fault);

}  // namespace loom
