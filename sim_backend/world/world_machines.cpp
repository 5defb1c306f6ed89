// SPDX-License-Identifier: Apache-2.0
// Faults of hosts, fibres and controllers: who is slow, whose clock is wrong, what was plugged wrongly, and a controller that
// does not know that it was replaced. Those of devices and processes are in world_faults.cpp.
#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"
#include "sim_backend/world/world.hpp"

namespace loom {
namespace {

/// What an older controller had lit after it was replaced, and the new one does not know, is found as drift: poll bound 3 s,
/// reconcile interval 1 s, repair.
constexpr Duration kOthersLightBound = std::chrono::seconds{6};
/// Timeslots and windows that began by the wrong clock are over by then.
constexpr Duration kWindowsOver = std::chrono::milliseconds{500};
/// A process that starts again, registers and hears its orders.
constexpr Duration kRestartAndRetry = std::chrono::seconds{1};
constexpr RuleSet kAtWrongTimes = rule_set({SafetyRule::collision, SafetyRule::crosstalk});

bool troubles_a_host(const MachineFault& fault) {
  return fault.kind == MachineFaultKind::slow || fault.kind == MachineFaultKind::clock_step ||
         fault.kind == MachineFaultKind::clock_drift;
}

/// A contact is the agent's own: only an agent that is dead or slow itself darkens late for it, whoever else is cut off.
bool delays_an_interlock(const MachineFault& fault) {
  return fault.node && (fault.kind == MachineFaultKind::crash || fault.kind == MachineFaultKind::disk_full ||
                        fault.kind == MachineFaultKind::slow);
}

}  // namespace

void World::make_troubled_hosts(const Scenario& scenario) {
  for (const MachineFault& fault : scenario.machine_faults) {
    if (troubles_a_host(fault) && fault.node) {
      agents_[fault.node->value].place.trouble = std::make_unique<TroubledHost>(loop_);
    }
  }
}

void World::trouble(const MachineFault& fault) {
  if (!fault.node) {
    return;
  }
  const NodeId node = *fault.node;
  TroubledHost& host = *agents_[node.value].place.trouble;
  const Instant end = loop_.now() + fault.lasts;
  if (fault.kind == MachineFaultKind::slow) {
    host.set_delay(fault.delay);
    loop_.call_at(end, Precision::ordinary, [&host] { host.set_delay({}); });
    return;
  }
  host.set_clock(fault.offset, fault.drift_ppm);
  for (const ElementId transmitter : fabric_->nodes[node.value].transmitters) {  // timeslots and windows go by its own clock
    checker_->excuse({transmitter, kAtWrongTimes, end + kWindowsOver, text_of(fault)});
  }
  loop_.call_at(end, Precision::ordinary, [&host] { host.set_clock({}, 0); });
}

/// An order about lasers does not reach who is cut off, dead or slow, and not before it is told again afterwards; of a
/// controller in such a state it reaches nobody.
void World::excuse_orders(const MachineFault& fault) {
  const Instant until = loop_.now() + fault.lasts + kRestartAndRetry + options_.checker.lasers_off_bound;
  const RuleSet rules = delays_an_interlock(fault) ? rule_set({SafetyRule::lasers_off, SafetyRule::interlock})
                                                   : rule_set({SafetyRule::lasers_off});
  for (const Node& node : fabric_->nodes) {
    for (std::size_t i = 0; i < node.transmitters.size() && (!fault.node || *fault.node == node.id); ++i) {
      checker_->excuse({node.transmitters[i], rules, until, text_of(fault)});
    }
  }
  loop_.call_at(until, Precision::ordinary, [this] { checker_->judge_all(loop_.now()); });
}

void World::begin_fibre_fault(const FibreFault& fault) {
  const bool is_swap = fault.kind == FibreFaultKind::swap;
  const Instant end = fault.lasts == kForever ? kNever : loop_.now() + fault.lasts;
  std::vector<FibreId> fibres{fault.first};
  if (is_swap) {
    fibres.push_back(fault.second);
  }
  std::vector<ElementId> elements;
  std::string text;
  for (const FibreId fibre : fibres) {
    elements.push_back(fabric_->fibres[fibre.value].to.element);
    text += (text.empty() ? "" : ", ") + fabric_->element(elements.back()).name;
  }
  text += format_text(": {}", to_string(fault.kind));
  // Light that is weaker, or gone, is nowhere that it should not be: only what leaks beside it is more than it bears.
  const RuleSet excused = is_swap ? kUntrueLight : rule_set({SafetyRule::crosstalk});
  for (const FibreId fibre : fibres) {
    checker_->excuse(fibre, {{}, excused, end, text});
  }
  history_.note_fault({loop_.now(), end, text});
  notices_.begin(loop_.now(), text, elements);
  troubles_.push_back({elements, text, loop_.now(), end, {excused, false, false}});
  fibre_faults_.push_back(fault);
  apply_fibre_faults();
  if (end != kNever) {
    loop_.call_at(end, Precision::ordinary, [this, fault] {
      fibre_faults_.erase(std::find(fibre_faults_.begin(), fibre_faults_.end(), fault));
      apply_fibre_faults();
    });
  }
}

void World::apply_fibre_faults() {
  std::vector<std::pair<FibreId, FibreId>> exchanged;
  std::vector<std::pair<FibreId, Db>> losses;
  for (const FibreFault& fault : fibre_faults_) {
    if (fault.kind == FibreFaultKind::swap) {
      exchanged.emplace_back(fault.first, fault.second);
    } else {
      losses.emplace_back(fault.first, fault.kind == FibreFaultKind::cut ? kCut : fault.loss);
    }
  }
  checker_->judge(loop_.now(), light_->set_fibres(loop_.now(), exchanged, losses));
}

/// The journal is copied, a new controller starts from the copy, agents move over to it one by one, and only then the old one
/// is stopped. Nobody tells it anything.
void World::take_over(Duration first_goes_on) {
  if (!is_up(controller_peer()) || first_controller_) {
    return;
  }
  first_controller_ = std::move(controller_);
  first_controller_machine_ = std::move(controller_machine_);
  first_controller_rows_ = rows_;
  controller_machine_ = Place{};
  controller_machine_.disk = first_controller_machine_.disk->copy(options_.seed ^ crashes_ ^ 0x636f7079);
  controller_machine_.messages = &network_->take_over(controller_peer(), first_goes_on);
  make_controller();
  const std::uint64_t boot = boot_random_.next();
  LOOM_ASSERT(controller_machine_.host->start(boot).has_value());  // a simulated disk can always be read
  loop_.call_at(loop_.now() + first_goes_on, Precision::ordinary, [this] {
    add_counters(buried_, first_controller_machine_.host->counters());
    first_controller_machine_.host.reset();
    first_controller_.reset();
    network_->end_first(controller_peer());
    loop_.call_at(loop_.now() + kOthersLightBound, Precision::ordinary, [this] { checker_->dismiss_others(loop_.now()); });
  });
}

void World::watch_first_controller(EffectSink& sink) {
  for (const Effect& effect : sink.effects()) {
    const auto* append = std::get_if<Append>(&effect);
    const auto* commit = append == nullptr ? nullptr : std::get_if<CommitRecord>(&append->record);
    if (commit == nullptr) {
      continue;
    }
    first_controller_rows_.note(append->record);
    if (const CommitRecord going = first_controller_rows_.with_plan(*commit);
        going.decision == CommitDecision::going && going.plan) {
      checker_->admit(going.plan);
    }
  }
}

}  // namespace loom
