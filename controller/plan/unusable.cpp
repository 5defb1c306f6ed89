// SPDX-License-Identifier: Apache-2.0
// What is wanted, which of it needs what follows no order, and what the plan says instead.
#include "controller/plan/unusable.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "controller/plan/grants.hpp"
#include "controller/plan/lower/lower.hpp"
#include "controller/plan/needed_devices.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {

/// One circuit of a desired stage.
struct UnusableDevices::Wanted {
  std::size_t job = 0;  ///< index in the schedule
  std::size_t timeslot = 0;
  Circuit circuit;
  bool is_kept = false;           ///< it is in the base, at that time of the cycle
  bool is_first = false;          ///< no timeslot before this one has the same light
  std::vector<DeviceId> needs{};  ///< devices that follow no order
};

namespace {

const Job* find_job(const Intent& intent, JobId id) {
  const auto job = std::find_if(intent.jobs.begin(), intent.jobs.end(), [&](const Job& each) { return each.id == id; });
  return job == intent.jobs.end() ? nullptr : &*job;
}

/// Null: lowering will say what is wrong with it.
const Stage* desired_stage(const Intent& intent, const JobSchedule& schedule) {
  const Job* job = find_job(intent, schedule.job);
  return job == nullptr || job->stage >= schedule.stages.size() ? nullptr : &schedule.stages[job->stage];
}

/// In this timeslot the laser is to do what `before`, its timeline, has it do already. Under grants nobody knows when.
bool is_at_its_time(const Stage& stage, std::size_t timeslot, const Circuit& circuit, const DevicePlan& before) {
  if (stage.transmit == Transmit::grants) {
    return true;
  }
  const bool stands = is_standing(stage);
  if (before.timeline.size() != (stands ? 1 : stage.timeslots.size())) {
    return false;
  }
  const TimedSetpoint& entry = before.timeline[stands ? 0 : timeslot];
  const auto* light = std::get_if<TransmitterSetpoint>(&entry.setpoint);
  const bool is_as_long = stands
                              ? entry.hold == kForever
                              : entry.hold == stage.timeslots[timeslot].hold && entry.guard == stage.timeslots[timeslot].guard;
  return is_as_long && light != nullptr && light->emit && light->slot == circuit.slot;
}

/// With which a laser that is planned dark may go on.
std::vector<Setpoint> possible_light(const UnusableDevice& unusable, const DevicePlan& planned, const DevicePlan* held) {
  std::vector<Setpoint> lights;
  const auto add = [&](FrequencySlot slot) {
    const Setpoint light = TransmitterSetpoint{slot, Dbm{}, true};
    const bool is_light = std::abs(slot.n) <= limits::kSlotN && slot.m <= limits::kSlotM;  // else a reading said nonsense
    if (is_light && lights.size() < limits::kSetpointsHeld && std::ranges::find(lights, light) == lights.end()) {
      lights.push_back(light);
    }
  };
  if (!is_dark(planned)) {
    return lights;
  }
  std::ranges::for_each(unusable.may_emit, add);
  if (unusable.holds && held != nullptr) {
    for (const TimedSetpoint& entry : held->timeline) {
      if (emits(entry.setpoint)) {
        add(std::get<TransmitterSetpoint>(entry.setpoint).slot);
      }
    }
  }
  return lights;
}

}  // namespace

UnusableDevices::UnusableDevices(const Fabric& fabric, const Plan* base, const std::vector<UnusableDevice>& devices,
                                 Duration fire_skew)
    : fabric_(fabric),
      base_(base),
      devices_(devices),
      fire_skew_(fire_skew),
      before_(devices.empty() ? 0 : fabric.elements.size()) {
  for (const UnusableDevice& each : devices_) {
    for (const ElementId element : fabric.device(each.device).elements) {
      if (!each.occupied.empty()) {
        occupied_.push_back({element, each.occupied});
        continue;
      }
      frozen_.push_back(element);
      if (!each.holds) {
        lost_.push_back(element);
      }
    }
  }
  std::sort(frozen_.begin(), frozen_.end());
  std::sort(lost_.begin(), lost_.end());
  for (std::size_t i = 0; !empty() && base != nullptr && i < base->circuits.size(); ++i) {
    before_[base->circuits[i].transmitter.value].push_back(&base->circuits[i]);
  }
}

const UnusableDevice* UnusableDevices::find(DeviceId id) const {
  const auto found = std::lower_bound(devices_.begin(), devices_.end(), id,
                                      [](const UnusableDevice& each, DeviceId wanted) { return each.device < wanted; });
  return found == devices_.end() || found->device != id ? nullptr : &*found;
}

bool UnusableDevices::is_in_base(const Circuit& circuit) const {
  const auto& before = before_[circuit.transmitter.value];
  return std::any_of(before.begin(), before.end(), [&](const Circuit* each) { return is_same_light(*each, circuit); });
}

/// Of a laser. Null: nothing is known of it.
const DevicePlan* UnusableDevices::base_of(ElementId transmitter) const {
  const auto id = fabric_.device_of_element[transmitter.value];
  return base_ == nullptr || !id ? nullptr : device_of(fabric_, *base_, *id);
}

/// By transmitter: what is wanted of it is what the base has it do already. `anew`: by job of the schedule, its light is laid
/// anew, so that whoever does not go along has another beginning.
std::vector<bool> UnusableDevices::keep_their_light(const std::vector<Wanted>& wanted, const std::vector<bool>& anew) const {
  std::vector<std::size_t> kept(before_.size());
  std::vector<bool> keeps(before_.size());
  for (const Wanted& each : wanted) {
    kept[each.circuit.transmitter.value] += each.is_kept && each.is_first ? 1 : 0;
    keeps[each.circuit.transmitter.value] = true;
  }
  for (std::size_t i = 0; i < keeps.size(); ++i) {
    keeps[i] = keeps[i] && kept[i] == before_[i].size();
  }
  for (const Wanted& each : wanted) {
    const bool goes_on = each.is_kept && !anew[each.job];
    keeps[each.circuit.transmitter.value] = keeps[each.circuit.transmitter.value] && goes_on;
  }
  return keeps;
}

std::vector<UnusableDevices::Wanted> UnusableDevices::wanted_of(const Intent& intent, const Schedule& schedule) const {
  std::vector<Wanted> wanted;
  std::vector<std::vector<std::size_t>> of_transmitter(before_.size());
  for (std::size_t j = 0; j < schedule.jobs.size(); ++j) {
    const Stage* stage = desired_stage(intent, schedule.jobs[j]);
    for (std::size_t k = 0; stage != nullptr && k < stage->timeslots.size(); ++k) {
      for (const Circuit& circuit : stage->timeslots[k].circuits) {
        const DevicePlan* before = base_of(circuit.transmitter);
        const bool is_kept = before != nullptr && is_in_base(circuit) && is_at_its_time(*stage, k, circuit, *before);
        auto& others = of_transmitter[circuit.transmitter.value];
        const bool is_first =
            std::ranges::none_of(others, [&](std::size_t index) { return is_same_light(wanted[index].circuit, circuit); });
        others.push_back(wanted.size());
        wanted.push_back({j, k, circuit, is_kept, is_first});
      }
    }
  }
  return wanted;
}

/// Light that is laid as a whole (timeslots, grants) goes on as a whole, or not at all.
bool UnusableDevices::is_laid_anew(const Intent& intent, const JobSchedule& schedule, std::size_t number,
                                   const std::vector<Wanted>& wanted) const {
  const Stage* stage = desired_stage(intent, schedule);
  if (stage == nullptr || base_ == nullptr || (stage->transmit != Transmit::grants && is_standing(*stage))) {
    return false;
  }
  const Job& job = *find_job(intent, schedule.job);
  std::vector<Circuit> circuits;
  for (const Wanted& each : wanted) {
    if (each.job == number && (!each.is_kept || !each.needs.empty())) {
      return true;
    }
    if (each.job == number && each.is_first) {
      circuits.push_back(each.circuit);
    }
  }
  const auto before = std::ranges::count_if(base_->circuits, [&](const Circuit& circuit) { return circuit.job == job.id; });
  if (static_cast<std::size_t>(before) != circuits.size()) {
    return true;
  }
  const bool by_grants = stage->transmit == Transmit::grants && !circuits.empty();
  const std::vector<GrantMap> maps =
      by_grants ? grant_maps(fabric_, job, *stage, circuits, fire_skew_) : std::vector<GrantMap>{};
  const std::map<NodeId, IterationPlan> plans = iteration_plans(fabric_, job, schedule);
  for (std::size_t rank = 0; rank < job.nodes.size(); ++rank) {
    const NodePlan& base = base_->nodes[job.nodes[rank].value];
    const auto plan = plans.find(job.nodes[rank]);
    const bool repeats = plan != plans.end();
    if (base.grants.has_value() != by_grants || (by_grants && !is_same_but_routed_by(*base.grants, maps[rank])) ||
        base.iterations.has_value() != repeats || (repeats && !is_same_but_routed_by(*base.iterations, plan->second))) {
      return true;
    }
  }
  return std::ranges::any_of(circuits, [&](const Circuit& circuit) {
    return !by_grants && base_->nodes[circuit.source.value].cycles != stage->cycles;
  });
}

/// Nothing of this node follows any order: its agent is gone, or might as well be.
bool UnusableDevices::is_away(NodeId node) const {
  return std::ranges::all_of(fabric_.devices_of_agent[node.value], [this](DeviceId id) {
    const UnusableDevice* device = find(id);
    return device != nullptr && device->occupied.empty();
  });
}

std::vector<Circuit> UnusableDevices::lingering_beside(const std::vector<bool>& kept) const {
  std::vector<Circuit> circuits;
  for (const UnusableDevice& each : devices_) {
    const ElementId transmitter = fabric_.device(each.device).elements[0];
    const bool is_laser = fabric_.device(each.device).role == DeviceRole::transmitter;
    for (const Circuit* circuit : is_laser ? before_[transmitter.value] : std::vector<const Circuit*>{}) {
      // A grant is given for each window; a pass that has begun is played to its end, whoever is there.
      const bool needs_peers = base_->nodes[circuit->source.value].grants.has_value();
      if (each.holds && !needs_peers && !kept[transmitter.value]) {
        circuits.push_back(*circuit);
      }
    }
  }
  return circuits;
}

std::vector<Circuit> UnusableDevices::lingering(const Intent& intent, const Schedule& schedule) const {
  if (empty() || base_ == nullptr || intent.lasers_off) {
    return {};
  }
  return lingering_beside(keep_their_light(wanted_of(intent, schedule), std::vector<bool>(schedule.jobs.size())));
}

void UnusableDevices::find_needs(const Intent& intent, const std::vector<bool>& anew, std::vector<Wanted>& wanted) const {
  const std::vector<bool> keeps = keep_their_light(wanted, anew);
  const bool may_linger = base_ != nullptr && !intent.lasers_off;
  const std::vector<Circuit> stays = may_linger ? lingering_beside(keeps) : std::vector<Circuit>{};
  std::vector<RogueLight> rogues;
  for (const UnusableDevice& each : devices_) {
    RogueLight rogue{each.device, fabric_.device(each.device).elements[0], each.may_emit, {}, {}};
    const bool may_be_granted = each.holds && may_linger && !keeps[rogue.transmitter.value];
    for (const Circuit* circuit : may_be_granted ? before_[rogue.transmitter.value] : std::vector<const Circuit*>{}) {
      const bool is_granted = base_ != nullptr && base_->nodes[circuit->source.value].grants.has_value();
      if (is_granted && is_away(circuit->destination)) {  // the two may hear each other
        rogue.slots.push_back(circuit->slot);
        rogue.receivers.push_back(circuit->receiver);
      }
    }
    for (const Circuit& circuit : stays) {
      if (circuit.transmitter == rogue.transmitter) {
        rogue.slots.push_back(circuit.slot);
        rogue.receivers.push_back(circuit.receiver);
      }
    }
    if (!rogue.slots.empty()) {
      rogue.fibres = fibres_of(fabric_, rogue.transmitter);
      rogues.push_back(std::move(rogue));
    }
  }
  NeededDevices needed(fabric_, *this, base_ == nullptr ? Positions(fabric_) : positions_of(fabric_, *base_),
                       std::move(rogues));
  for (const Circuit& circuit : stays) {
    needed.keep(circuit);
  }
  for (const bool kept : {true, false}) {  // light that stays has its way before anybody looks for one, as in lowering
    for (Wanted& each : wanted) {
      if (each.is_kept != kept) {
        continue;
      }
      const auto laser = fabric_.device_of_element[each.circuit.transmitter.value];
      const UnusableDevice* unusable = laser ? find(*laser) : nullptr;
      if (unusable != nullptr && !(unusable->holds && keeps[each.circuit.transmitter.value])) {
        each.needs = {unusable->device};
      } else {
        each.needs = needed.needed_by(each.circuit, !kept);
      }
    }
  }
}

/// Where acknowledgements come back over light, a circuit without the one back is of no use.
void UnusableDevices::add_returns(std::vector<Wanted>& wanted) const {
  if (fabric_.return_path != ReturnPath::optical) {
    return;
  }
  std::vector<Wanted> needy;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(needy), [](const Wanted& each) { return !each.needs.empty(); });
  for (Wanted& each : wanted) {
    const auto back = std::find_if(needy.begin(), needy.end(), [&](const Wanted& other) {
      return other.job == each.job && other.timeslot == each.timeslot && other.circuit.source == each.circuit.destination &&
             other.circuit.destination == each.circuit.source;
    });
    if (each.needs.empty() && back != needy.end()) {
      each.needs = back->needs;
    }
  }
}

LeftOut UnusableDevices::take_out(const Intent& intent, Schedule& schedule, const std::vector<Wanted>& wanted,
                                  JobId job) const {
  const Job& row = *find_job(intent, job);
  const auto scheduled =
      std::find_if(schedule.jobs.begin(), schedule.jobs.end(), [&](const JobSchedule& each) { return each.job == job; });
  const bool has_light = std::any_of(before_.begin(), before_.end(), [&](const std::vector<const Circuit*>& circuits) {
    return std::any_of(circuits.begin(), circuits.end(), [&](const Circuit* circuit) { return circuit->job == job; });
  });
  Stage& stage = scheduled->stages[row.stage];
  const bool is_whole = !has_light || stage.transmit == Transmit::grants;
  LeftOut left_out{job, {ErrorCode::infeasible, {}, {}}, has_light, {}, {}};
  for (const Wanted& each : wanted) {
    if (each.circuit.job != job) {
      continue;
    }
    left_out.devices.insert(left_out.devices.end(), each.needs.begin(), each.needs.end());
    if (is_whole || !each.needs.empty()) {
      left_out.circuits.push_back({each.circuit, static_cast<std::uint32_t>(each.timeslot)});
      if (!is_whole) {
        std::erase(stage.timeslots[each.timeslot].circuits, each.circuit);
      }
    }
  }
  for (std::size_t k = 0; is_whole && k < stage.timeslots.size(); ++k) {
    stage.timeslots[k].circuits.clear();
  }
  if (is_whole) {
    stage.streams.clear();  // nobody offers what no light carries
  }
  std::sort(left_out.devices.begin(), left_out.devices.end());
  left_out.devices.erase(std::unique(left_out.devices.begin(), left_out.devices.end()), left_out.devices.end());
  const Device& first = fabric_.device(left_out.devices.front());
  const std::string& why = find(first.id)->why;
  const bool follows = !find(first.id)->occupied.empty();
  left_out.why.message = format_text(
      "job {}{} needs {} (device {}, node {}){}{}", job.value, row.spec.name.empty() ? "" : format_text(" ({})", row.spec.name),
      first.name, first.id.value, first.agent.value, follows ? "" : ", which follows no order", why.empty() ? "" : ": " + why);
  left_out.why.next_command = format_text("loom device show {}", first.id.value);
  return left_out;
}

std::vector<LeftOut> UnusableDevices::leave_out(const Intent& intent, Schedule& schedule) const {
  std::vector<LeftOut> left_out;
  if (empty()) {
    return left_out;
  }
  const std::vector<Wanted> asked = wanted_of(intent, schedule);
  std::vector<Wanted> wanted;
  std::vector<bool> anew(schedule.jobs.size());
  std::vector<bool> has_unusable_laser(schedule.jobs.size());
  for (const Wanted& each : asked) {
    const auto laser = fabric_.device_of_element[each.circuit.transmitter.value];
    has_unusable_laser[each.job] = has_unusable_laser[each.job] || (laser && find(*laser) != nullptr);
  }
  for (bool is_more = true; is_more;) {  // what one job needs may be what lays another's light anew
    wanted = asked;
    find_needs(intent, anew, wanted);
    add_returns(wanted);
    is_more = false;
    for (std::size_t j = 0; j < anew.size(); ++j) {
      if (has_unusable_laser[j] && !anew[j] && is_laid_anew(intent, schedule.jobs[j], j, wanted)) {
        anew[j] = is_more = true;
      }
    }
  }
  std::set<JobId> jobs;
  for (const Wanted& each : wanted) {
    if (!each.needs.empty()) {
      jobs.insert(each.circuit.job);
    }
  }
  for (const JobId job : jobs) {
    left_out.push_back(take_out(intent, schedule, wanted, job));
  }
  return left_out;
}

void UnusableDevices::leave_alone(Plan& plan) const {
  for (const UnusableDevice& each : devices_) {
    if (!each.occupied.empty()) {
      continue;
    }
    const Device& device = fabric_.device(each.device);
    NodePlan& node = plan.nodes.edit(device.agent.value);
    node.revision = plan.revision;
    node.base = plan.base;
    const auto is_it = [&](const DevicePlan& row) { return row.device == each.device; };
    DevicePlan& planned = *std::find_if(node.devices.begin(), node.devices.end(), is_it);
    const NodePlan* before = base_ == nullptr ? nullptr : &base_->nodes[device.agent.value];
    const DevicePlan* held =
        before == nullptr ? nullptr : &*std::find_if(before->devices.begin(), before->devices.end(), is_it);
    if (device.role != DeviceRole::transmitter) {
      planned.timeline =
          held == nullptr ? std::vector{TimedSetpoint{{}, {}, kForever, idle_setpoint(fabric_, device)}} : held->timeline;
      std::erase(plan.moved_steering, device.id);
    } else if (!is_dark(planned) && (held == nullptr || planned.timeline != held->timeline)) {
      continue;  // an operator's own setpoint, which was refused or will fail aloud
    }
    planned.touched = false;
    planned.may_hold = device.role == DeviceRole::transmitter ? possible_light(each, planned, held) : std::vector<Setpoint>{};
    planned.left_alone = true;
    const bool is_touched =
        std::any_of(node.devices.begin(), node.devices.end(), [](const DevicePlan& row) { return row.touched; });
    if (is_touched || !is_paced_alike(before, node)) {
      take_part(node.node, plan);
    } else {
      std::erase(plan.changed, node.node);
    }
  }
}

}  // namespace loom
