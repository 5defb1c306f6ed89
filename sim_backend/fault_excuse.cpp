// The table, and a scenario's faults as device models take them.
#include "sim_backend/fault_excuse.hpp"

#include <array>
#include <string>

namespace loom {
namespace {

constexpr RuleSet kAstray = rule_set({SafetyRule::stray, SafetyRule::collision});
constexpr RuleSet kUnruly = rule_set({SafetyRule::stray, SafetyRule::collision, SafetyRule::lasers_off});

constexpr FaultExcuse kNothing{};
/// Light beside its place; it is back with the end of the fault.
constexpr FaultExcuse kBeside{kAstray, false, false};
/// It does not follow: what it does was right once.
constexpr FaultExcuse kDeaf{kUnruly, true, true};
/// A ring that has cooled drops other light than its own until it is heated again.
constexpr FaultExcuse kCold{kAstray, false, true};

struct Row {
  ScenarioFaultKind fault;
  FaultExcuse laser;
  FaultExcuse heater;
  FaultExcuse wavelength_switch;  ///< WSS and OCS
};
constexpr std::array<Row, 8> kTable{{
    {ScenarioFaultKind::detune, kBeside, kBeside, kNothing},
    {ScenarioFaultKind::dim, kNothing, kNothing, kNothing},
    {ScenarioFaultKind::fail, kNothing, kBeside, kNothing},
    {ScenarioFaultKind::stick, kDeaf, kDeaf, kDeaf},
    {ScenarioFaultKind::silence, kDeaf, kDeaf, kDeaf},
    {ScenarioFaultKind::refuse, kDeaf, kDeaf, kDeaf},
    {ScenarioFaultKind::late, kNothing, kNothing, kNothing},
    {ScenarioFaultKind::reboot, kNothing, kCold, kNothing},
}};

}  // namespace

FaultExcuse excuse_for(ScenarioFaultKind fault, DeviceKind device) {
  for (const Row& row : kTable) {
    if (row.fault == fault) {
      return device == DeviceKind::itla_laser    ? row.laser
             : device == DeviceKind::heater_bank ? row.heater
                                                 : row.wavelength_switch;
    }
  }
  return {};
}

std::string text_of(const ScenarioFault& fault, const Fabric& fabric) {
  return fabric.device(fault.device).name + ": " + std::string(to_string(fault.kind));
}

std::string text_of(const MachineFault& fault) {
  return (fault.node ? "node " + std::to_string(fault.node->value) : std::string("controller")) + ": " +
         std::string(to_string(fault.kind));
}

DeviceFault model_fault(const ScenarioFault& fault, Instant zero) {
  static constexpr std::array<DeviceFaultKind, 8> kKinds{
      DeviceFaultKind::detune,  DeviceFaultKind::dim,  DeviceFaultKind::fail, DeviceFaultKind::stick,
      DeviceFaultKind::silence, DeviceFaultKind::nack, DeviceFaultKind::late, DeviceFaultKind::reboot};
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
