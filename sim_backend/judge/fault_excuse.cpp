// SPDX-License-Identifier: Apache-2.0
// The table.
#include "sim_backend/judge/fault_excuse.hpp"

#include <array>
#include <string>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr RuleSet kAstray = rule_set({SafetyRule::stray, SafetyRule::collision, SafetyRule::crosstalk, SafetyRule::power});
constexpr RuleSet kUnruly = rule_set({SafetyRule::stray, SafetyRule::collision, SafetyRule::crosstalk, SafetyRule::lasers_off,
                                      SafetyRule::interlock, SafetyRule::power});

constexpr RuleSet kMet = rule_set({SafetyRule::collision, SafetyRule::crosstalk});

constexpr FaultExcuse kNothing{};
/// Light beside its place; it is back with the end of the fault.
constexpr FaultExcuse kBeside{kAstray, false, false};
/// It does not follow: what it does was right once.
constexpr FaultExcuse kDeaf{kUnruly, true, true};
/// A ring that has cooled drops other light than its own until it is heated again.
constexpr FaultExcuse kCold{kAstray, false, true};
/// Less light than it should be, beside which leaks are more.
constexpr FaultExcuse kWeak{rule_set({SafetyRule::crosstalk}), false, false};
/// It goes dark as late as it answers.
constexpr FaultExcuse kSlow{rule_set({SafetyRule::interlock}), false, false};
/// Nobody could know where its light is.
constexpr FaultExcuse kUntrue{kUntrueLight, false, false};

struct Row {
  DeviceFaultKind fault;
  FaultExcuse laser;
  FaultExcuse heater;
  FaultExcuse wavelength_switch;  ///< WSS and OCS
};
constexpr std::array kTable{
    Row{DeviceFaultKind::detune, kBeside, kBeside, kNothing},
    Row{DeviceFaultKind::drift, kBeside, kBeside, kNothing},
    Row{DeviceFaultKind::warm, kNothing, kBeside, kNothing},
    Row{DeviceFaultKind::mode_hop, kBeside, kNothing, kNothing},
    Row{DeviceFaultKind::dim, kWeak, kNothing, kWeak},
    Row{DeviceFaultKind::fail, kNothing, kBeside, kNothing},
    Row{DeviceFaultKind::open, kNothing, kBeside, kNothing},
    Row{DeviceFaultKind::stick, kDeaf, kDeaf, kDeaf},
    Row{DeviceFaultKind::stuck_pending, kDeaf, kDeaf, kDeaf},
    Row{DeviceFaultKind::slow_settle, kDeaf, kDeaf, kDeaf},
    Row{DeviceFaultKind::misroute, kUntrue, kUntrue, kUntrue},
    Row{DeviceFaultKind::false_readback, kUntrue, kUntrue, kUntrue},
    Row{DeviceFaultKind::silence, kDeaf, kDeaf, kDeaf},
    Row{DeviceFaultKind::late, kSlow, kNothing, kNothing},
    Row{DeviceFaultKind::nack, kDeaf, kDeaf, kDeaf},
    Row{DeviceFaultKind::garbage, kDeaf, kDeaf, kDeaf},
    Row{DeviceFaultKind::bus_crc, kDeaf, kDeaf, kDeaf},
    Row{DeviceFaultKind::reboot, kNothing, kCold, kNothing},
    Row{DeviceFaultKind::reboot_mid_command, kNothing, kCold, kNothing},
};

}  // namespace

FaultExcuse excuse_for(DeviceFaultKind fault, DeviceRole device) {
  for (const Row& row : kTable) {
    if (device == DeviceRole::monitor) {
      return kNothing;  // light goes by it whatever it says
    }
    if (row.fault == fault) {
      return device == DeviceRole::transmitter ? row.laser : device == DeviceRole::filter ? row.heater : row.wavelength_switch;
    }
  }
  return {};
}

std::vector<Excuse> excuses_of(const ScenarioFault& fault, const Fabric& fabric, Duration mend_bound) {
  /// What changes back at the very instant of a fault's end may do so in any order.
  constexpr Duration kInstant = std::chrono::microseconds{1};
  const Device& device = fabric.device(fault.device);
  const FaultExcuse excuse = excuse_for(fault.kind, device.role);
  const Duration after = excuse.must_be_mended ? mend_bound : kInstant;
  const bool stays = fault.kind == DeviceFaultKind::warm;
  const Instant until = fault.lasts == kForever || stays ? kNever : Instant{fault.at + fault.lasts} + after;
  std::vector<Excuse> excuses;
  for (const ElementId element : device.elements) {
    excuses.push_back({element, excuse.rules, until, text_of(fault, fabric)});
  }
  return excuses;
}

std::vector<Excuse> excuses_of(const MachineFault& fault, const Fabric& fabric, Instant until) {
  std::vector<Excuse> excuses;
  if (fault.kind != MachineFaultKind::crash || !fault.node) {
    return excuses;
  }
  for (const DeviceId id : fabric.devices_of_agent[fault.node->value]) {
    const Device& device = fabric.device(id);
    if (device.role == DeviceRole::transmitter) {
      excuses.push_back({device.elements.front(), kMet, until, text_of(fault)});
    }
  }
  return excuses;
}

std::string text_of(const ScenarioFault& fault, const Fabric& fabric) {
  const Device& device = fabric.device(fault.device);
  return format_text("{}: {}", device.name, name_of(fault.kind, device.role));
}

std::string text_of(const MachineFault& fault) {
  return format_text("{}: {}", fault.node ? format_text("node {}", fault.node->value) : std::string("controller"),
                     to_string(fault.kind));
}

}  // namespace loom
