// SPDX-License-Identifier: Apache-2.0
// What a scenario does to devices and machines, and what of the light that follows is excused: where, by which rule, how long.
#include <algorithm>
#include <utility>

#include "sim_backend/judge/planned_light.hpp"
#include "sim_backend/world/fault_model.hpp"
#include "sim_backend/world/world.hpp"

namespace loom {
namespace {

/// What a service manager needs to start a process again.
constexpr Duration kRestart = std::chrono::milliseconds{100};
/// Commands that were on their way when a device fell silent have taken effect by then.
constexpr Duration kCommandsLanded = std::chrono::milliseconds{200};
constexpr RuleSet kTampered =
    rule_set({SafetyRule::stray, SafetyRule::collision, SafetyRule::crosstalk, SafetyRule::lasers_off, SafetyRule::interlock});

/// Nobody mends what is under a fault himself: by when it is to be mended that has `until` without the controller's own.
template <class Troubles>
Instant mended_by(Instant until, const Troubles& machines, Duration bound) {
  for (const auto& each : machines) {  // in the order in which they began
    until = !each.node && each.from < until && each.to != kNever ? std::max(until, each.to + bound) : until;
  }
  return until;
}

NetworkOptions faultless(NetworkOptions options) {
  options.loss_per_million = 0;
  options.duplication_per_million = 0;
  options.reorder_per_million = 0;
  return options;
}

}  // namespace

void World::schedule_faults(const Scenario& scenario) {
  for (const ScenarioFault& fault : scenario.device_faults) {
    loop_.call_at(Instant{fault.at}, Precision::ordinary, [this, fault] { begin_fault(fault); });
  }
  for (const MachineFault& fault : scenario.machine_faults) {
    history_.note_fault({Instant{fault.at}, Instant{fault.at + fault.lasts}, text_of(fault)});
    loop_.call_at(Instant{fault.at}, Precision::ordinary, [this, fault] { inject_fault(fault); });
  }
  for (const FibreFault& fault : scenario.fibre_faults) {
    loop_.call_at(Instant{fault.at}, Precision::ordinary, [this, fault] { begin_fibre_fault(fault); });
  }
  if (scenario.network.until != kForever) {
    loop_.call_at(Instant{scenario.network.until}, Precision::ordinary, [this] { still_network(); });
  }
}

void World::still_network() { network_->set_options(faultless(network_->options())); }

void World::begin_fault(const ScenarioFault& fault) {
  const Device& device = fabric_->device(fault.device);
  DeviceTrouble trouble{device.elements, text_of(fault, *fabric_), loop_.now(), kNever, excuse_for(fault.kind, device.role)};
  trouble.to = fault.lasts == kForever ? kNever : loop_.now() + fault.lasts;
  ScenarioFault now = fault;
  now.at = loop_.now().time_since_epoch();
  for (Excuse& excuse : excuses_of(now, *fabric_, mend_bound(timings_))) {
    if (trouble.excuse.must_be_mended) {
      excuse.until = mended_by(excuse.until, machine_troubles_, mend_bound(timings_));
    }
    if (excuse.until != kNever) {  // what it excused is judged anew
      loop_.call_at(excuse.until, Precision::ordinary, [this] { checker_->judge_all(loop_.now()); });
    }
    checker_->excuse(std::move(excuse));
  }
  history_.note_fault({trouble.from, trouble.to, trouble.text});
  notices_.begin(trouble.from, trouble.text, trouble.elements);
  troubles_.push_back(std::move(trouble));
  if (bus_->has_model(fault.device)) {
    bus_->inject(fault.device, model_fault(fault, Instant{}));
  }
}

/// A device that obeys nobody keeps its light as it is. One whose light changes explains nothing, unless another fault that
/// moves light by itself begins or ends just now.
void World::note_change(DeviceId device) {
  const auto is_by_fault = [&](const DeviceTrouble& trouble) {
    const bool moves_light = !trouble.excuse.as_it_was && trouble.excuse.rules != kUntrueLight;
    return moves_light && trouble.elements == fabric_->device(device).elements &&
           (trouble.from == loop_.now() || trouble.to == loop_.now());
  };
  if (std::ranges::any_of(troubles_, is_by_fault)) {
    return;
  }
  for (const DeviceTrouble& trouble : troubles_) {
    const bool is_late = loop_.now() > trouble.from + kCommandsLanded && loop_.now() < trouble.to;
    if (trouble.excuse.as_it_was && is_late && trouble.elements == fabric_->device(device).elements) {
      for (const ElementId element : trouble.elements) {
        checker_->withdraw(element, trouble.text);
      }
    }
  }
}

void World::excuse(const Device& device) {
  const std::string text = device.name + ": tampered with";
  for (const ElementId element : device.elements) {
    checker_->excuse({element, kTampered, kNever, text});
  }
  troubles_.push_back({device.elements, text, loop_.now(), kNever, {kTampered, false, false}});
}

/// Whether this link may be dark, or lit, because its light passes a device under a fault now, or should pass it.
bool World::is_excused(ElementId transmitter, ElementId receiver) const {
  const auto is_on = [&](const DeviceTrouble& trouble) { return loop_.now() < trouble.to; };
  if (std::none_of(troubles_.begin(), troubles_.end(), is_on)) {
    return false;
  }
  const std::shared_ptr<const Plan> plan = checker_->confirmed_plan();
  if (plan != nullptr && paths_of_ != plan) {
    paths_ = planned_paths(fabric_, *plan);
    paths_of_ = plan;
  }
  std::set<ElementId> passed{transmitter, receiver};
  if (const auto planned = paths_.find(transmitter); planned != paths_.end()) {
    passed.insert(planned->second.begin(), planned->second.end());
  }
  for (const LightHop& hop : light_->path_of(transmitter)) {
    passed.insert(light_->graph().end_of(hop.fibre).element);
  }
  return std::any_of(troubles_.begin(), troubles_.end(), [&](const DeviceTrouble& trouble) {
    return is_on(trouble) && std::any_of(trouble.elements.begin(), trouble.elements.end(),
                                         [&](ElementId element) { return passed.contains(element); });
  });
}

/// A journal that refused a row takes none until its process starts again, which is what its alarm says.
void World::inject_fault(const MachineFault& fault) {
  const Peer who = fault.node ? agent_peer(*fault.node) : controller_peer();
  const Instant end = loop_.now() + fault.lasts;
  if (fault.kind != MachineFaultKind::interlock_open) {  // which explains no light
    excuse_orders(fault);
    machine_troubles_.push_back({fault.node, loop_.now(), end});
  }
  if (fault.node) {
    notices_.begin(loop_.now(), text_of(fault), *fault.node);
  }
  for (std::size_t i = 0; !fault.node && i < troubles_.size(); ++i) {
    const Duration bound = mend_bound(timings_);
    const DeviceTrouble& device = troubles_[i];
    const bool is_over = !device.excuse.must_be_mended || device.to == kNever;
    const Instant until = is_over ? kNever : mended_by(device.to + bound, machine_troubles_, bound);
    if (!is_over && loop_.now() < until) {
      loop_.call_at(until, Precision::ordinary, [this] { checker_->judge_all(loop_.now()); });
      std::ranges::for_each(device.elements,
                            [&](ElementId element) { checker_->excuse({element, device.excuse.rules, until, device.text}); });
    }
  }
  switch (fault.kind) {
    case MachineFaultKind::crash:
      for (Excuse& excuse : excuses_of(fault, *fabric_, end + timings_.reconcile_interval)) {
        loop_.call_at(excuse.until, Precision::ordinary, [this] { checker_->judge_all(loop_.now()); });
        checker_->excuse(std::move(excuse));
      }
      crash(who, fault.lasts);
      break;
    case MachineFaultKind::partition:
      network_->set_joined(who, false);
      loop_.call_at(end, Precision::ordinary, [this, who] { network_->set_joined(who, true); });
      break;
    case MachineFaultKind::disk_full:
      disk(who).fail_appends("no space left on device");
      loop_.call_at(end, Precision::ordinary, [this, who] {
        disk(who).fail_appends({});
        crash(who, kRestart);
      });
      break;
    case MachineFaultKind::slow:
    case MachineFaultKind::clock_step:
    case MachineFaultKind::clock_drift:
      trouble(fault);
      break;
    case MachineFaultKind::takeover:
      take_over(fault.lasts);
      break;
    case MachineFaultKind::interlock_open:
      open_interlock(fault);
      break;
  }
}

}  // namespace loom
