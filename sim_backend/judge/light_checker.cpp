// SPDX-License-Identifier: Apache-2.0
// The rules of safety, one function a place that light can be at.
#include "sim_backend/judge/light_checker.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/fabric/hazard.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// One bit each in a PlanSet. A controller that has more revisions going without a confirmation is lost anyway.
constexpr std::size_t kActivePlansMax = 64;
/// Powers here are rounded to 0.01 dB at every element.
constexpr Db kPowerRounding{10};
constexpr ElementId kNobody{LightGraph::kNone};

bool is_switch(const Element& element) {
  return std::holds_alternative<WavelengthSelectiveSwitch>(element.kind) ||
         std::holds_alternative<OpticalCircuitSwitch>(element.kind);
}

/// From the contact to darkness: what the device takes to blank, and what its bus adds.
Duration dark_within(const Transmitter& transmitter) { return transmitter.blank_max + transmitter.control_max; }

std::vector<DeviceId> left_alone_in(const Plan& plan) {
  std::vector<DeviceId> devices;
  for (const NodePlan& node : plan.nodes) {
    for (const DevicePlan& device : node.devices) {
      if (device.left_alone) {
        devices.push_back(device.device);
      }
    }
  }
  return devices;
}

const Excuse* holding(const std::vector<Excuse>& excuses, SafetyRule rule, Instant now) {
  const auto found = std::ranges::find_if(
      excuses, [&](const Excuse& excuse) { return now < excuse.until && (excuse.rules & rule_set({rule})) != 0; });
  return found == excuses.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(SafetyRule rule) {
  static constexpr std::array<std::string_view, 9> kWords{"collision", "stray",     "mixed", "moving_port", "lasers_off",
                                                          "crosstalk", "interlock", "power", "unsettled"};
  return kWords[static_cast<std::size_t>(rule)];
}

LightChecker::LightChecker(const LightModel& light, CheckerOptions options) : light_(light), options_(options) {
  plans_.resize(light.fabric().elements.size());
  latched_since_.assign(light.fabric().nodes.size(), kNever);
  latched_by_.resize(light.fabric().nodes.size());
}

void LightChecker::excuse(Excuse excuse) {
  if (excuse.rules != 0) {
    excuses_[excuse.element].push_back(std::move(excuse));
  }
}

void LightChecker::excuse(FibreId fibre, Excuse excuse) { fibre_excuses_[fibre].push_back(std::move(excuse)); }

void LightChecker::withdraw(ElementId element, const std::string& fault) {
  if (const auto found = excuses_.find(element); found != excuses_.end()) {
    std::erase_if(found->second, [&](const Excuse& excuse) { return excuse.fault == fault; });
  }
}

void LightChecker::learn(Instant now, const Record& record) {
  if (const auto* snapshot = std::get_if<SnapshotRecord>(&record)) {
    learn_snapshot(now, *snapshot);
    return;
  }
  read_.note(record);
  if (const auto* row = std::get_if<CommitRecord>(&record)) {
    reported_.clear();
    const CommitRecord commit = read_.with_plan(*row);
    if (commit.decision == CommitDecision::going && commit.plan) {
      activate(commit.plan, false, commit.intent ? commit.intent->probes : probes_);
    } else if (commit.decision == CommitDecision::confirmed) {
      confirm(now, commit.revision);
    }
  } else if (const auto* intent = std::get_if<IntentRecord>(&record)) {
    probes_ = intent->intent.probes;
    if (!intent->intent.lasers_off) {
      lasers_off_since_ = kNever;
      rearms_.insert(intent->laser_request_to_all);
    } else if (lasers_off_since_ == kNever) {
      lasers_off_since_ = now;
    }
  }
}

/// First all plans that may be in light, then which of them is confirmed: nothing is judged by half of them.
void LightChecker::learn_snapshot(Instant now, const SnapshotRecord& snapshot) {
  const auto is_going = [](const Record& record) {
    const auto* commit = std::get_if<CommitRecord>(&record);
    return commit != nullptr && commit->decision == CommitDecision::going;
  };
  std::vector<Record> records = unread_records(snapshot, read_);
  std::ranges::stable_partition(records, is_going);
  for (const Record& record : records) {
    learn(now, record);
  }
}

void LightChecker::learn_latch(Instant now, NodeId node, const LatchRecord& latch) {
  std::optional<std::uint64_t>& by = latched_by_[node.value];
  const bool is_lifted = by && !latch.lasers_off && latch.order > *by;  // else its row was lost, and it begins without it
  by = latch.lasers_off ? std::optional(latch.order) : std::nullopt;
  if (is_lifted && !rearms_.contains(latch.order)) {
    reported_.clear();
    report(now, {SafetyRule::lasers_off, light_.fabric().nodes[node.value].transmitters.front(), kNobody},
           format_text("node {} was latched off and lifts that by order {}, which is no rearm of an operator", node.value,
                       latch.order));
  }
  Instant& since = latched_since_[node.value];
  if (!latch.latched()) {
    since = kNever;
  } else if (since == kNever) {
    since = now;
  }
}

void LightChecker::note_contact(Instant now, NodeId node, ContactState state) {
  Contact& contact = contacts_[node];
  const bool was_open = std::exchange(contact.is_open, state == ContactState::open);
  if (contact.is_open && !was_open) {
    contact.is_first = contact.dark_since == kNever;
  }
  if (state == ContactState::unread) {
    contact.dark_since = contact.is_first ? kNever : contact.dark_since;
  } else if (contact.is_open && contact.dark_since == kNever) {
    contact.dark_since = now;
  }
}

void LightChecker::note_rearm() {
  for (auto& [node, contact] : contacts_) {
    contact.dark_since = contact.is_open ? contact.dark_since : kNever;
  }
}

bool LightChecker::is_interlocked(Instant now, ElementId transmitter, NodeId node) const {
  const auto contact = contacts_.find(node);
  return contact != contacts_.end() && contact->second.dark_since != kNever &&
         now - contact->second.dark_since >= dark_within(std::get<Transmitter>(light_.fabric().element(transmitter).kind));
}

void LightChecker::admit(std::shared_ptr<const Plan> plan) { activate(std::move(plan), true, probes_); }

void LightChecker::admit_all_but(const std::vector<Revision>& known) {
  for (ActivePlan& active : active_) {
    const bool is_known = active.plan == confirmed_ || std::binary_search(known.begin(), known.end(), active.plan->revision);
    active.of_other = active.of_other || !is_known;
  }
}

void LightChecker::dismiss_others(Instant now) {
  std::erase_if(active_, [](const ActivePlan& active) { return active.of_other; });
  classify_all();
  judge_all(now);
}

void LightChecker::activate(std::shared_ptr<const Plan> plan, bool of_other, const std::vector<Probe>& probes) {
  // A number comes twice only if its first `going` was lost with an incarnation of the controller, and so was never acted on;
  // or if another controller gave it.
  std::erase_if(active_, [&](const ActivePlan& active) {
    return active.plan->revision == plan->revision && active.of_other == of_other;
  });
  if (active_.size() == kActivePlansMax) {
    active_.erase(active_.begin() + 1);  // the oldest that was never confirmed
  }
  ActivePlan active{std::move(plan), std::vector<std::vector<PlannedCircuit>>(light_.fabric().elements.size()), of_other};
  for (const Circuit& circuit : active.plan->circuits) {
    active.of_transmitter[circuit.transmitter.value].push_back(
        {lower_edge_of(circuit.slot), upper_edge_of(circuit.slot), circuit.receiver});
  }
  // Light of a laser that can be told nothing is the plan's own where it is an earlier plan's: the plan leaves it where it is,
  // and goes around it. Nothing else excuses it: whom it meets, it meets; and once it is dark it stays so.
  for (const DeviceId id : left_alone_in(*active.plan)) {
    const ElementId element = light_.fabric().device(id).elements.front();
    const std::optional<NodeId> node = light_.fabric().node_of_element[element.value];
    if ((node && latched_since_[node->value] != kNever) || (options_.is_out_of_reach && !options_.is_out_of_reach(element))) {
      continue;
    }
    const LaserEmission& emission = light_.graph().emission(element);
    for (const ActivePlan& earlier : active_) {
      const auto& before = earlier.of_transmitter[element.value];
      for (PlannedCircuit circuit : earlier.of_other ? std::vector<PlannedCircuit>{} : before) {
        circuit.is_left = before.size() == 1;  // one that plays timeslots goes on to play them
        if (!circuit.is_left ||
            (emission.emitting && circuit.lower <= emission.frequency && emission.frequency < circuit.upper)) {
          active.of_transmitter[element.value].push_back(circuit);
        }
      }
    }
  }
  for (const Probe& probe : probes) {
    active.of_transmitter[probe.transmitter.value].push_back({lower_edge_of(probe.slot), upper_edge_of(probe.slot), kNobody});
  }
  active_.push_back(std::move(active));
  classify_all();
}

void LightChecker::confirm(Instant now, Revision revision) {
  const auto found = std::find_if(active_.begin(), active_.end(), [&](const ActivePlan& active) {
    return active.plan->revision == revision && !active.of_other;
  });
  if (found == active_.end()) {
    return;
  }
  confirmed_ = found->plan;
  // What went before it is over; what went later may be in light beside it.
  active_.erase(std::remove_if(active_.begin(), found, [](const ActivePlan& active) { return !active.of_other; }), found);
  classify_all();
  judge_all(now);
}

void LightChecker::classify_all() {
  for (const ElementId transmitter : light_.transmitters()) {
    plans_[transmitter.value] = plans_of(transmitter);
  }
}

LightChecker::PlanSet LightChecker::plans_of(ElementId transmitter) const {
  const LaserEmission& emission = light_.graph().emission(transmitter);
  PlanSet plans = 0;
  for (std::size_t i = 0; emission.emitting && i < active_.size(); ++i) {
    for (const PlannedCircuit& circuit : active_[i].of_transmitter[transmitter.value]) {
      if (circuit.lower <= emission.frequency && emission.frequency < circuit.upper) {
        plans |= PlanSet{1} << i;
      }
    }
  }
  return plans;
}

LightChecker::PlanSet LightChecker::plans_to(ElementId transmitter, Frequency frequency, ElementId receiver) const {
  PlanSet plans = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    for (const PlannedCircuit& circuit : active_[i].of_transmitter[transmitter.value]) {
      if ((circuit.receiver == receiver || circuit.receiver == kNobody) && circuit.lower <= frequency &&
          frequency < circuit.upper) {
        plans |= PlanSet{1} << i;
      }
    }
  }
  return plans;
}

void LightChecker::judge(Instant now, std::span<const ElementId> changed) {
  judge_lights(now, changed);
  for (const ElementId receiver : light_.receivers_changed()) {
    judge_crosstalk(now, receiver);
  }
}

void LightChecker::judge_all(Instant now) {
  judge_lights(now, light_.transmitters());
  for (const ElementId receiver : light_.receivers()) {
    judge_crosstalk(now, receiver);
  }
}

void LightChecker::judge_lights(Instant now, std::span<const ElementId> changed) {
  for (const ElementId transmitter : changed) {
    for (ActivePlan& active : active_) {
      std::erase_if(active.of_transmitter[transmitter.value], [&](const PlannedCircuit& circuit) {
        return circuit.is_left && !light_.graph().emission(transmitter).emitting;
      });
    }
    plans_[transmitter.value] = plans_of(transmitter);
  }
  for (const ElementId transmitter : changed) {
    if (!light_.path_of(transmitter).empty()) {
      judge_order(now, transmitter);
      judge_path(now, transmitter);
    }
  }
}

void LightChecker::judge_order(Instant now, ElementId transmitter) {
  const std::optional<NodeId> node = light_.fabric().node_of_element[transmitter.value];
  const bool ordered = lasers_off_since_ != kNever && now - lasers_off_since_ >= options_.lasers_off_bound;
  const bool latched =
      node && latched_since_[node->value] != kNever && now - latched_since_[node->value] >= options_.latch_bound;
  if (node && is_interlocked(now, transmitter, *node)) {
    report(now, {SafetyRule::interlock, transmitter, kNobody},
           format_text("{} emits although its interlock contact was opened at {} ms and nobody has rearmed it since",
                       light_.fabric().element(transmitter).name,
                       contacts_.find(*node)->second.dark_since.time_since_epoch() / std::chrono::milliseconds{1}));
  }
  if (ordered || latched) {
    report(now, {SafetyRule::lasers_off, transmitter, kNobody},
           format_text("{} emits although lasers are off {} and the bound of {} ms has passed",
                       light_.fabric().element(transmitter).name, latched ? "on its node" : "everywhere",
                       (latched ? options_.latch_bound : options_.lasers_off_bound).count() / 1'000'000));
  }
}

void LightChecker::judge_path(Instant now, ElementId transmitter) {
  for (const FibreId fibre : light_.moving_ports_on_path(transmitter)) {
    const ElementId moving = light_.graph().end_of(fibre).element;
    report(now, {SafetyRule::moving_port, transmitter, moving, fibre},
           format_text("light of {} enters {} at a port that moves", light_.fabric().element(transmitter).name,
                       light_.fabric().element(moving).name));
  }
  if (const std::optional<FibreId> fibre = light_.meets_itself(transmitter)) {
    report(now, {SafetyRule::collision, transmitter, transmitter, fibre},
           format_text("light of {} meets itself on {}", light_.fabric().element(transmitter).name, describe(*fibre)));
  }
  bool judged_stray = false;
  for (const LightHop& hop : light_.path_of(transmitter)) {
    const std::span<const Light> lights = light_.lights_on(hop.fibre);
    const auto own = std::find_if(lights.begin(), lights.end(), [&](const Light& l) { return l.transmitter == transmitter; });
    LOOM_ASSERT(own != lights.end());
    if (plans_[transmitter.value] == 0 && !judged_stray) {
      const Breach breach{SafetyRule::stray, transmitter, kNobody, hop.fibre};
      judged_stray = excuse_of(breach, now) == nullptr;
      report(now, breach, format_text("{} on {} belongs to no circuit of an active plan", describe(*own), describe(hop.fibre)));
    }
    judge_fibre(now, *own, hop.fibre);
    judge_power(now, *own, hop.fibre);
  }
}

/// All light that has come by open ways, at the fibre's beginning, where there is most. What leaks through closed ports lies
/// 20 dB and more below it and is left out.
void LightChecker::judge_power(Instant now, const Light& light, FibreId fibre) {
  const Fabric& fabric = light_.fabric();
  Milliwatt sum;
  for (const Light& each : light_.lights_on(fibre)) {
    sum = sum + to_milliwatt(each.power + fabric.fibres[fibre.value].loss);
  }
  const Dbm limit = power_limit_of(fabric, fibre);
  if (sum.value > to_milliwatt(limit + kPowerRounding).value) {
    report(now, {SafetyRule::power, light.transmitter, fabric.fibres[fibre.value].from.element, fibre},
           format_text("{} carries {}, limit {}", describe(fibre), to_string(to_dbm(sum)), to_string(limit)));
  }
}

void LightChecker::judge_fibre(Instant now, const Light& light, FibreId fibre) {
  const Fabric& fabric = light_.fabric();
  const ElementId from = fabric.fibres[fibre.value].from.element;
  const ElementId end = light_.graph().end_of(fibre).element;
  // A receiver that no node owns is a monitor's: it takes whatever comes to it.
  const bool at_receiver =
      std::holds_alternative<Receiver>(fabric.element(end).kind) && fabric.node_of_element[end.value].has_value();
  const bool at_switch = is_switch(fabric.element(from)) || is_switch(fabric.element(end));
  PlanSet own_plans = plans_[light.transmitter.value];
  if (at_receiver) {
    const PlanSet planned = plans_to(light.transmitter, light.frequency, end);
    if (own_plans != 0 && planned == 0) {
      report(now, {SafetyRule::stray, light.transmitter, end, fibre},
             format_text("{} is at receiver {}, where no circuit of an active plan ends it", describe(light),
                         fabric.element(end).name));
    }
    own_plans = planned;
  }
  for (const Light& other : light_.lights_on(fibre)) {
    if (other.transmitter == light.transmitter) {
      continue;
    }
    const bool in_band = at_receiver || overlap(light, other);
    const PlanSet other_plans =
        at_receiver ? plans_to(other.transmitter, other.frequency, end) : plans_[other.transmitter.value];
    if (in_band) {
      report(now,
             {SafetyRule::collision, std::min(light.transmitter, other.transmitter),
              std::max(light.transmitter, other.transmitter), fibre},
             format_text("{} and {} are in one band on {}", describe(light), describe(other), describe(fibre)));
    }
    if ((in_band || at_switch) && own_plans != 0 && other_plans != 0 && (own_plans & other_plans) == 0) {
      report(now,
             {SafetyRule::mixed, std::min(light.transmitter, other.transmitter), std::max(light.transmitter, other.transmitter),
              fibre},
             format_text("{} and {} on {} belong to different revisions", describe(light), describe(other), describe(fibre)));
    }
  }
}

const Excuse* LightChecker::excuse_at(ElementId element, SafetyRule rule, Instant now) const {
  const auto found = excuses_.find(element);
  if (found == excuses_.end()) {
    return nullptr;
  }
  return holding(found->second, rule, now);
}

const Excuse* LightChecker::excuse_on_path(ElementId transmitter, FibreId fibre, SafetyRule rule, Instant now) const {
  const std::span<const LightHop> path = light_.path_of(transmitter);
  auto hop = std::find_if(path.begin(), path.end(), [&](const LightHop& at) { return at.fibre == fibre; });
  while (hop != path.end()) {
    const auto of_fibre = fibre_excuses_.find(hop->fibre);
    const Excuse* excuse = of_fibre == fibre_excuses_.end() ? nullptr : holding(of_fibre->second, rule, now);
    excuse = excuse != nullptr ? excuse : excuse_at(light_.fabric().fibres[hop->fibre.value].from.element, rule, now);
    if (excuse != nullptr) {
      return excuse;
    }
    hop = hop->from == LightGraph::kNone ? path.end() : path.begin() + hop->from;
  }
  return excuse_at(transmitter, rule, now);
}

/// Has its light, anywhere, a reason to leak more than was planned?
bool LightChecker::is_leak_excused(ElementId transmitter, Instant now) const {
  const std::span<const LightHop> path = light_.path_of(transmitter);
  return std::ranges::any_of(
      path, [&](const LightHop& hop) { return excuse_on_path(transmitter, hop.fibre, SafetyRule::crosstalk, now) != nullptr; });
}

/// Of a receiver that hears one planned signal: what leaks there, beside what a fault explains.
void LightChecker::judge_crosstalk(Instant now, ElementId receiver) {
  const std::span<const Light> lights = light_.lights_at(receiver);
  const std::span<const Leak> leaks = light_.leaks_at(receiver);
  if (leaks.empty() || lights.size() != 1) {
    return;
  }
  const Light& signal = lights.front();
  const Femtowatts borne = femtowatts_of(signal.power + kCrosstalkBorne + kCrosstalkRounding);
  if (light_.leaked(receiver) <= borne || plans_to(signal.transmitter, signal.frequency, receiver) == 0) {
    return;
  }
  Femtowatts sum = 0;
  Leak strongest;
  for (const Leak& leak : leaks) {
    if (!is_leak_excused(leak.transmitter, now)) {
      sum += leak.power;
      strongest = leak.power > strongest.power ? leak : strongest;
    }
  }
  if (sum <= borne) {
    return;
  }
  const double ratio = static_cast<double>(sum) / static_cast<double>(femtowatts_of(signal.power));
  const Db crosstalk{static_cast<std::int32_t>(std::lround(1000 * std::log10(ratio)))};
  const Fabric& fabric = light_.fabric();
  report(now, {SafetyRule::crosstalk, signal.transmitter, receiver, light_.fibre_into(receiver)},
         format_text("{} leaks at {} sum to {} of {}, of which {} are borne; the strongest is of {}", leaks.size(),
                     fabric.element(receiver).name, to_string(crosstalk), describe(signal), to_string(kCrosstalkBorne),
                     fabric.element(strongest.transmitter).name));
}

/// Of the light that breaks the rule: who made it, what it has passed on its way there, or the element that it enters. Of two
/// lights that meet either one's.
const Excuse* LightChecker::excuse_of(const Breach& breach, Instant now) const {
  if (excuses_.empty() && fibre_excuses_.empty()) {
    return nullptr;
  }
  const bool meets = breach.rule == SafetyRule::collision || breach.rule == SafetyRule::mixed;
  const std::array<ElementId, 2> lights{breach.subject, meets ? breach.other : breach.subject};
  for (const ElementId transmitter : lights) {
    const Excuse* excuse =
        breach.fibre ? excuse_on_path(transmitter, *breach.fibre, breach.rule, now) : excuse_at(transmitter, breach.rule, now);
    if (excuse != nullptr) {
      return excuse;
    }
  }
  if (breach.rule == SafetyRule::moving_port) {
    return excuse_at(breach.other, breach.rule, now);
  }
  return breach.fibre ? excuse_at(light_.graph().end_of(*breach.fibre).element, breach.rule, now) : nullptr;
}

void LightChecker::report(Instant now, const Breach& breach, std::string evidence) {
  const Excuse* excuse = excuse_of(breach, now);
  if (!reported_.insert({breach.rule, breach.subject, breach.other, excuse != nullptr}).second) {
    return;
  }
  if (excuse != nullptr) {
    ++excused_count_;
    if (excused_.size() < options_.violations_max) {
      excused_.push_back({{now, breach.rule, std::move(evidence)}, excuse->fault});
    }
    return;
  }
  ++count_;
  if (breach.rule == SafetyRule::mixed) {
    ++mixed_;
  }
  if (violations_.size() < options_.violations_max) {
    violations_.push_back({now, breach.rule, std::move(evidence)});
  }
}

Instant LightChecker::next_bound(Instant now) const {
  Instant next = kNever;
  const auto consider = [&](Instant since, Duration bound) {
    if (since != kNever && since + bound > now) {
      next = std::min(next, since + bound);
    }
  };
  consider(lasers_off_since_, options_.lasers_off_bound);
  for (const Instant since : latched_since_) {
    consider(since, options_.latch_bound);
  }
  for (const auto& [node, contact] : contacts_) {
    for (const ElementId transmitter : light_.fabric().nodes[node.value].transmitters) {
      consider(contact.dark_since, dark_within(std::get<Transmitter>(light_.fabric().element(transmitter).kind)));
    }
  }
  return next;
}

std::string LightChecker::describe(const Light& light) const {
  return format_text("{} at {} ({})", light_.fabric().element(light.transmitter).name, to_string(light.frequency),
                     to_string(light.power));
}

std::string LightChecker::describe(FibreId fibre) const {
  const Fibre& segment = light_.fabric().fibres[fibre.value];
  return format_text("fibre {} from {} to {}", fibre.value, light_.fabric().element(segment.from.element).name,
                     light_.fabric().element(light_.graph().end_of(fibre).element).name);
}

std::vector<std::string> differences(const LightModel& light, const Plan* plan, const LinkPredicate& is_excused) {
  const Fabric& fabric = light.fabric();
  std::vector<std::string> found;
  std::set<std::pair<ElementId, ElementId>> planned;
  bool plays_timeslots = false;
  const auto excused = [&](ElementId transmitter, ElementId receiver) {
    return is_excused && is_excused(transmitter, receiver);
  };
  if (plan != nullptr) {
    for (const Circuit& circuit : plan->circuits) {
      planned.insert({circuit.transmitter, circuit.receiver});
    }
    for (const NodePlan& node : plan->nodes) {
      plays_timeslots = plays_timeslots || node.cycle > Duration{} || node.grants;
    }
  }
  for (const NodePlan& node : plan != nullptr ? plan->nodes : std::vector<NodePlan>{}) {
    for (const DevicePlan& device : node.devices) {
      const ElementId element = fabric.device(device.device).elements.front();
      const bool is_planned =
          std::ranges::any_of(device.timeline, [](const TimedSetpoint& each) { return emits(each.setpoint); });
      const bool is_laser = fabric.device(device.device).role == DeviceRole::transmitter;
      if (is_laser && !is_planned && light.graph().emission(element).emitting && !excused(element, element)) {
        found.push_back(format_text("{} emits, and the confirmed plan has it dark", fabric.element(element).name));
      }
    }
  }
  std::set<std::pair<ElementId, ElementId>> lit;
  for (const Reach& reach : light.reached()) {
    lit.insert({reach.transmitter, reach.receiver});
    if (!planned.contains({reach.transmitter, reach.receiver}) && !excused(reach.transmitter, reach.receiver)) {
      found.push_back(format_text("{} reaches {}, which the confirmed plan does not have",
                                  fabric.element(reach.transmitter).name, fabric.element(reach.receiver).name));
    }
  }
  for (const auto& [transmitter, receiver] : planned) {
    if (!plays_timeslots && !lit.contains({transmitter, receiver}) && !excused(transmitter, receiver)) {
      found.push_back(format_text("{} does not reach {}, which the confirmed plan says", fabric.element(transmitter).name,
                                  fabric.element(receiver).name));
    }
  }
  return found;
}

}  // namespace loom
