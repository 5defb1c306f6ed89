// SPDX-License-Identifier: Apache-2.0
// What is wanted, which of it needs what follows no order, and what the plan says instead.
#include "controller/plan/unusable.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

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
  bool is_kept = false;           ///< it is in the base
  std::vector<DeviceId> needs{};  ///< devices that follow no order
};

namespace {

bool is_same_light(const Circuit& a, const Circuit& b) {
  return a.job == b.job && a.source == b.source && a.destination == b.destination && a.transmitter == b.transmitter &&
         a.receiver == b.receiver && a.slot == b.slot && a.rate == b.rate;
}

const Job* find_job(const Intent& intent, JobId id) {
  const auto job = std::find_if(intent.jobs.begin(), intent.jobs.end(), [&](const Job& each) { return each.id == id; });
  return job == intent.jobs.end() ? nullptr : &*job;
}

/// Null: lowering will say what is wrong with it.
const Stage* desired_stage(const Intent& intent, const JobSchedule& schedule) {
  const Job* job = find_job(intent, schedule.job);
  return job == nullptr || job->stage >= schedule.stages.size() ? nullptr : &schedule.stages[job->stage];
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

UnusableDevices::UnusableDevices(const Fabric& fabric, const Plan* base, const std::vector<UnusableDevice>& devices)
    : fabric_(fabric), base_(base), devices_(devices), before_(devices.empty() ? 0 : fabric.elements.size()) {
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

/// By transmitter: what is wanted of it is what the base has it do already.
std::vector<bool> UnusableDevices::keep_their_light(const std::vector<Wanted>& wanted) const {
  std::vector<std::size_t> kept(before_.size());
  std::vector<bool> keeps(before_.size());
  for (const Wanted& each : wanted) {
    kept[each.circuit.transmitter.value] += each.is_kept ? 1 : 0;
    keeps[each.circuit.transmitter.value] = true;
  }
  for (std::size_t i = 0; i < keeps.size(); ++i) {
    keeps[i] = keeps[i] && kept[i] == before_[i].size();
  }
  for (const Wanted& each : wanted) {
    keeps[each.circuit.transmitter.value] = keeps[each.circuit.transmitter.value] && each.is_kept;
  }
  return keeps;
}

std::vector<UnusableDevices::Wanted> UnusableDevices::wanted_of(const Intent& intent, const Schedule& schedule) const {
  std::vector<Wanted> wanted;
  for (std::size_t j = 0; j < schedule.jobs.size(); ++j) {
    const Stage* stage = desired_stage(intent, schedule.jobs[j]);
    for (std::size_t k = 0; stage != nullptr && k < stage->timeslots.size(); ++k) {
      for (const Circuit& circuit : stage->timeslots[k].circuits) {
        wanted.push_back({j, k, circuit, is_in_base(circuit)});
      }
    }
  }
  return wanted;
}

std::vector<Circuit> UnusableDevices::lingering(const Intent& intent, const Schedule& schedule) const {
  std::vector<Circuit> circuits;
  if (empty() || base_ == nullptr || intent.lasers_off) {
    return circuits;
  }
  const std::vector<bool> kept = keep_their_light(wanted_of(intent, schedule));
  for (const UnusableDevice& each : devices_) {
    const ElementId transmitter = fabric_.device(each.device).elements[0];
    const bool is_laser = fabric_.device(each.device).role == DeviceRole::transmitter;
    for (const Circuit* circuit : is_laser ? before_[transmitter.value] : std::vector<const Circuit*>{}) {
      const bool needs_peers = whole_job_of(base_->nodes[circuit->source.value]).has_value();  // without them it stays dark
      if (each.holds && !needs_peers && !kept[transmitter.value]) {
        circuits.push_back(*circuit);
      }
    }
  }
  return circuits;
}

void UnusableDevices::find_needs(const Intent& intent, const Schedule& schedule, std::vector<Wanted>& wanted) const {
  const std::vector<Circuit> stays = lingering(intent, schedule);
  std::vector<RogueLight> rogues;
  for (const UnusableDevice& each : devices_) {
    RogueLight rogue{each.device, fabric_.device(each.device).elements[0], each.may_emit, {}, {}};
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
  const std::vector<bool> keeps = keep_their_light(wanted);
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
  std::vector<Wanted> wanted = wanted_of(intent, schedule);
  find_needs(intent, schedule, wanted);
  add_returns(wanted);
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
