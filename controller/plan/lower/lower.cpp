// SPDX-License-Identifier: Apache-2.0
// Timelines of transmitters, paths, then every device of every node, and what differs from the base.
#include "controller/plan/lower/lower.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "controller/plan/grants.hpp"
#include "controller/plan/light/paths.hpp"
#include "controller/plan/lower/base_plan.hpp"
#include "controller/plan/lower/kept.hpp"
#include "controller/plan/lower/level.hpp"
#include "controller/plan/lower/measured.hpp"
#include "controller/plan/lower/shared_light.hpp"
#include "core/limits.hpp"
#include "core/ring/calibration.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// What one transmitter does in the desired stage of its job.
struct TransmitterTimeline {
  ElementId transmitter;
  std::vector<TimedSetpoint> timeline;
  std::vector<std::size_t> circuits;  ///< indices of the lowering's circuits, in the order of their timeslots
  Duration cycle{};
  std::uint32_t cycles = 1;
  Transmit transmit = Transmit::slots;
  bool kept = false;     ///< timeline, circuits and path are as in the base
  bool lingers = false;  ///< its laser goes on as it is, whatever anybody wants
};

class Lowering {
 public:
  explicit Lowering(const LowerRequest& request)
      : request_(request),
        fabric_(request.fabric),
        base_(fabric_, request.base, request.lost),
        finder_(fabric_, base_.positions(), request.frozen, request.ways),
        timeline_of_(fabric_.elements.size()),
        computes_after_(fabric_.nodes.size()),
        has_other_ends_(fabric_.nodes.size()),
        shared_(fabric_) {
    finder_.leave_to_others(request.others);
  }

  Result<Lowered> run() {
    for (const JobSchedule& job : request_.schedule.jobs) {
      LOOM_TRY(add_job(job));
    }
    for (const Circuit& circuit : request_.lingering) {
      add_lingering(circuit);
    }
    for (TransmitterTimeline& transmitter_timeline : timelines_) {
      transmitter_timeline.kept =
          is_in_base(transmitter_timeline) &&
          !std::binary_search(request_.darken.begin(), request_.darken.end(), transmitter_timeline.transmitter);
    }
    for (const ObservedLight& light : request_.occupied) {
      (void)finder_.hold(fabric_.device(light.laser).elements[0], light.light.slot, base_.resonances());
    }
    LOOM_TRY(hold_wires());
    make_maps();
    paths_.resize(circuits_.size());
    keep_jobs_whole();
    for (const bool kept : {true, false}) {  // light that stays has its way before anybody looks for one
      for (TransmitterTimeline& transmitter_timeline : timelines_) {
        if (transmitter_timeline.kept == kept) {
          LOOM_TRY(route_light(transmitter_timeline));
        }
      }
    }
    for (const std::size_t moved : moved_) {
      timelines_[moved].kept = false;
    }
    keep_jobs_whole();
    level();
    LOOM_TRY(add_measured());
    name_circuits();
    for (const Node& node : fabric_.nodes) {
      add_node(node);
    }
    add_ends();
    shared_.certify(result_.plan.certificate);
    std::sort(result_.plan.moved_steering.begin(), result_.plan.moved_steering.end());
    result_.circuits = std::move(circuits_);
    result_.paths = std::move(paths_);
    return std::move(result_);
  }

 private:
  Result<void> hold_wires() {
    for (const SwitchWire& wire : request_.schedule.wires) {
      const bool is_switch =
          wire.device.value < fabric_.devices.size() && fabric_.device(wire.device).role == DeviceRole::circuit_switch;
      const ElementId element = is_switch ? fabric_.device(wire.device).elements[0] : ElementId{};
      if (!is_switch || wire.input >= fabric_.element(element).inputs || wire.output >= fabric_.element(element).outputs) {
        return fail(ErrorCode::out_of_range, format_text("device {} is no circuit switch with input {} and output {}",
                                                         wire.device.value, wire.input, wire.output));
      }
      if (!finder_.wire(element, {wire.input, wire.output})) {
        return fail(ErrorCode::infeasible, format_text("infeasible: {}: input {} or output {} is wired to another",
                                                       fabric_.device(wire.device).name, wire.input, wire.output));
      }
    }
    return {};
  }

  Result<void> add_job(const JobSchedule& schedule) {
    const auto job = std::find_if(request_.intent.jobs.begin(), request_.intent.jobs.end(),
                                  [&](const Job& candidate) { return candidate.id == schedule.job; });
    if (job == request_.intent.jobs.end() || job->stage >= schedule.stages.size()) {
      return fail(ErrorCode::out_of_range,
                  format_text("job {}: stage {} is not below its {} stages", schedule.job.value,
                              job == request_.intent.jobs.end() ? 0 : job->stage, schedule.stages.size()));
    }
    const Stage& stage = schedule.stages[job->stage];
    if (stage.timeslots.size() > limits::kTimelineEntries) {
      return fail(ErrorCode::out_of_range, format_text("job {}: {} timeslots, above limits::kTimelineEntries {}",
                                                       schedule.job.value, stage.timeslots.size(), limits::kTimelineEntries));
    }
    for (std::size_t k = 0; k < stage.timeslots.size(); ++k) {
      for (const Circuit& circuit : stage.timeslots[k].circuits) {
        stage.transmit == Transmit::grants ? add_granted(stage, circuit) : add_circuit(stage, k, circuit);
      }
    }
    if (request_.intent.lasers_off) {
      return {};
    }
    const bool ends_iteration = schedule.stages.size() > 1 && job->stage + 1 == schedule.stages.size();
    for (const NodeId node : ends_iteration ? job->nodes : std::vector<NodeId>{}) {
      computes_after_[node.value] = job->spec.compute;
    }
    if (stage.transmit == Transmit::grants || !is_standing(stage)) {
      whole_.push_back({&*job, &stage, iteration_plans(fabric_, *job, schedule), {}, false});
    }
    return {};
  }

  /// Its laser goes on as it is, whatever anybody wants.
  void add_lingering(const Circuit& circuit) {
    auto& number = timeline_of_[circuit.transmitter.value];
    if (!number) {
      number = timelines_.size();
      timelines_.push_back({});
      const NodePlan& node = *base_.node(circuit.source);
      timelines_.back().transmitter = circuit.transmitter;
      timelines_.back().timeline = base_.device(*fabric_.device_of_element[circuit.transmitter.value])->timeline;
      timelines_.back().cycle = node.cycle;
      timelines_.back().cycles = node.cycles;
      timelines_.back().lingers = true;
    }
    add_light(circuit, timelines_[*number]);
  }

  /// One more wavelength of the laser's set.
  void add_granted(const Stage& stage, const Circuit& circuit) {
    auto& number = timeline_of_[circuit.transmitter.value];
    if (!number) {
      number = timelines_.size();
      timelines_.push_back(dark_timeline(stage, circuit));
      timelines_.back().transmit = Transmit::grants;
      if (!request_.intent.lasers_off) {
        timelines_.back().timeline.clear();
        timelines_.back().cycle = Duration{};
      }
    }
    TransmitterTimeline& transmitter_timeline = timelines_[*number];
    if (add_light(circuit, transmitter_timeline) && !request_.intent.lasers_off) {
      const Transmitter& transmitter = std::get<Transmitter>(fabric_.element(circuit.transmitter).kind);
      const TransmitterSetpoint light{circuit.slot, power_of(circuit.transmitter, transmitter), true};
      const TimedSetpoint colour = wavelength_entry(fabric_, circuit, light, transmitter_timeline.cycle);
      transmitter_timeline.timeline.push_back(colour);
      transmitter_timeline.cycle += colour.guard + colour.hold;
    }
  }

  void make_maps() {
    maps_.resize(fabric_.nodes.size());
    iterations_.resize(fabric_.nodes.size());
    for (WholeJob& whole : whole_) {
      std::vector<Circuit> circuits;
      for (const Timeslot& timeslot : whole.stage->timeslots) {
        std::ranges::copy_if(timeslot.circuits, std::back_inserter(circuits), [&](const Circuit& circuit) {
          return std::ranges::none_of(circuits, [&](const Circuit& known) { return is_same_light(known, circuit); });
        });
      }
      if (whole.stage->transmit == Transmit::grants && !circuits.empty()) {  // else all of it was left out
        std::vector<GrantMap> maps = grant_maps(fabric_, *whole.job, *whole.stage, circuits, request_.fire_skew);
        for (std::size_t rank = 0; rank < maps.size(); ++rank) {
          maps_[whole.job->nodes[rank].value] = std::move(maps[rank]);
        }
      }
      for (auto& [node, plan] : whole.plans) {
        iterations_[node.value] = std::move(plan);
      }
      whole.members = whole.job->nodes;
    }
  }

  /// Whether the node's part of the job's light is as it was, whoever laid it.
  bool is_as_laid(NodeId node) const {
    const NodePlan* before = base_.node(node);
    const auto& map = maps_[node.value];
    const auto& iterations = iterations_[node.value];
    return before != nullptr && before->grants.has_value() == map.has_value() &&
           before->iterations.has_value() == iterations.has_value() && (!map || is_same_but_routed_by(*before->grants, *map)) &&
           (!iterations || is_same_but_routed_by(*before->iterations, *iterations));
  }

  /// An arbiter may forget its former grants only if everybody who had one went dark for it, and a laser that began its
  /// timeslots at another instant than the others would meet their light. So the light of such a job is laid as a whole, or
  /// left alone as a whole.
  void keep_jobs_whole() {
    for (WholeJob& whole : whole_) {
      const auto is_ours = [&](const TransmitterTimeline& transmitter_timeline) {
        return !transmitter_timeline.lingers && circuits_[transmitter_timeline.circuits[0]].job == whole.job->id;
      };
      whole.kept = std::all_of(whole.members.begin(), whole.members.end(), [&](NodeId node) { return is_as_laid(node); });
      for (const TransmitterTimeline& transmitter_timeline : timelines_) {
        whole.kept = whole.kept && (transmitter_timeline.kept || !is_ours(transmitter_timeline));
      }
      for (TransmitterTimeline& transmitter_timeline : timelines_) {
        transmitter_timeline.kept = is_ours(transmitter_timeline) ? whole.kept : transmitter_timeline.kept;
      }
      for (const NodeId node : whole.members) {
        if (auto& map = maps_[node.value]) {
          map->routed_by = whole.kept ? base_.node(node)->grants->routed_by : request_.revision;
        }
        if (auto& iterations = iterations_[node.value]) {
          iterations->routed_by = whole.kept ? base_.node(node)->iterations->routed_by : request_.revision;
        }
      }
    }
  }

  /// False: another timeslot has it already, and it is the same circuit.
  bool add_light(const Circuit& circuit, TransmitterTimeline& transmitter_timeline) {
    const auto known = std::ranges::find_if(transmitter_timeline.circuits,
                                            [&](std::size_t index) { return is_same_light(circuits_[index], circuit); });
    if (known != transmitter_timeline.circuits.end()) {
      scheduled_.push_back(*known);
      return false;
    }
    transmitter_timeline.circuits.push_back(circuits_.size());
    scheduled_.push_back(circuits_.size());
    circuits_.push_back(circuit);
    return true;
  }

  void add_circuit(const Stage& stage, std::size_t timeslot, const Circuit& circuit) {
    auto& number = timeline_of_[circuit.transmitter.value];
    if (!number) {
      number = timelines_.size();
      timelines_.push_back(dark_timeline(stage, circuit));
    }
    TransmitterTimeline& transmitter_timeline = timelines_[*number];
    add_light(circuit, transmitter_timeline);
    for (std::size_t k = timeslot; k < transmitter_timeline.timeline.size();
         ++k) {  // tuned from here on; it waits in the dark at its last colour
      auto& laser = std::get<TransmitterSetpoint>(transmitter_timeline.timeline[k].setpoint);
      laser.slot = circuit.slot;
      laser.emit = k == timeslot && !request_.intent.lasers_off;
    }
  }

  /// The launch power, or what was adopted instead of it.
  Dbm power_of(ElementId element, const Transmitter& transmitter) const {
    for (const DeviceOverride& override : request_.intent.overrides) {
      const auto* laser = std::get_if<TransmitterSetpoint>(&override.setpoint);
      if (laser != nullptr && override.is_adopted() && !laser->emit &&
          fabric_.device_of_element[element.value] == override.device) {
        return laser->power;
      }
    }
    return transmitter.launch_power;
  }

  /// A timeline with the stage's timeslots, all dark; with lasers off one static dark entry.
  TransmitterTimeline dark_timeline(const Stage& stage, const Circuit& first) const {
    const Transmitter& transmitter = std::get<Transmitter>(fabric_.element(first.transmitter).kind);
    const TransmitterSetpoint dark{first.slot, power_of(first.transmitter, transmitter), false};
    TransmitterTimeline transmitter_timeline;
    transmitter_timeline.transmitter = first.transmitter;
    if (is_standing(stage) || request_.intent.lasers_off) {
      transmitter_timeline.timeline.push_back({Duration{}, Duration{}, kForever, dark});
      return transmitter_timeline;
    }
    for (const Timeslot& timeslot : stage.timeslots) {
      transmitter_timeline.timeline.push_back({transmitter_timeline.cycle, timeslot.guard, timeslot.hold, dark});
      transmitter_timeline.cycle += timeslot.guard + timeslot.hold;
    }
    transmitter_timeline.cycles = stage.cycles;
    return transmitter_timeline;
  }

  bool is_in_base(const TransmitterTimeline& transmitter_timeline) const {
    const auto device = fabric_.device_of_element[transmitter_timeline.transmitter.value];
    const auto& before = base_.circuits(transmitter_timeline.transmitter);
    if (!device || before.size() != transmitter_timeline.circuits.size() || base_.device(*device) == nullptr ||
        base_.device(*device)->timeline != transmitter_timeline.timeline) {
      return false;
    }
    const NodePlan& node = *base_.node(circuits_[transmitter_timeline.circuits[0]].source);
    if (node.cycle != transmitter_timeline.cycle || node.cycles != transmitter_timeline.cycles) {
      return false;
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!is_same_light(*before[i], circuits_[transmitter_timeline.circuits[i]])) {
        return false;
      }
    }
    return true;
  }

  Result<void> route_light(TransmitterTimeline& transmitter_timeline) {
    if (request_.stop.stop_requested()) {
      return fail(ErrorCode::timed_out, format_text("planning was stopped while {} circuits were routed", circuits_.size()));
    }
    for (const std::size_t index : transmitter_timeline.circuits) {
      const Circuit& circuit = circuits_[index];
      auto path = finder_.route_light(circuit);
      if (!path) {
        return fail(
            ErrorCode::infeasible,
            format_text("infeasible: job {}: no free path at {} from node {} to node {} through {}", circuit.job.value,
                        to_string(centre_of(circuit.slot)), circuit.source.value, circuit.destination.value, fabric_.name));
      }
      LOOM_TRY(check_measured(fabric_, request_.intent, *path, circuit.job));
      if (transmitter_timeline.kept && !is_set(fabric_, base_.positions(), base_.resonances(), *path, circuit.slot)) {
        moved_.push_back(*timeline_of_[transmitter_timeline.transmitter.value]);
      }
      if (!request_.intent.lasers_off) {
        shared_.add(*path, circuit.job);
      }
      paths_[index] = *std::move(path);
    }
    return {};
  }

  /// Light that stays comes first: what it passes remains as it is.
  void level() {
    if (!Leveller::can_level(fabric_)) {
      return;
    }
    Leveller leveller(fabric_, base_.positions());
    for (const ElementId element : request_.frozen) {
      leveller.freeze(element);
    }
    for (const DeviceOverride& each : request_.intent.overrides) {
      const auto* stage = std::get_if<GainSetpoint>(&each.setpoint);
      if (stage != nullptr && each.device.value < fabric_.devices.size()) {
        leveller.hold(fabric_.device(each.device).elements.front(), stage->gain);
      }
    }
    for (const bool kept : {true, false}) {
      for (const TransmitterTimeline& timeline : timelines_) {
        for (const std::size_t index : timeline.kept == kept ? timeline.circuits : std::vector<std::size_t>{}) {
          const auto& laser = std::get<TransmitterSetpoint>(timeline.timeline.front().setpoint);
          const Circuit& circuit = circuits_[index];
          const Db offset = power_offset(fabric_, request_.intent, circuit.transmitter, circuit.slot);
          leveller.add(paths_[index], circuit.slot, laser.power + offset, kept && !request_.intent.lasers_off);
        }
      }
    }
    Levels levels = leveller.solve();
    gains_ = std::move(levels.gains);
    for (const RouteLevel& level : levels.routes) {
      finder_.attenuate(level.wss, level.route);
    }
  }

  Result<void> add_measured() {
    const auto job_of = [this](ElementId transmitter) -> std::optional<JobId> {
      const auto number = timeline_of_[transmitter.value];
      return number ? std::optional(circuits_[timelines_[*number].circuits[0]].job) : std::nullopt;
    };
    const auto launch = [this](ElementId transmitter) {
      return power_of(transmitter, std::get<Transmitter>(fabric_.element(transmitter).kind));
    };
    auto probes = route_probes(fabric_, request_.intent, finder_, {job_of, launch});
    auto banks = probes ? drive_banks(fabric_, request_.intent, finder_.positions()) : std::unexpected(probes.error());
    if (!banks) {
      return std::unexpected(banks.error());
    }
    probes_ = std::move(*probes);
    banks_ = std::move(*banks);
    return {};
  }

  void name_circuits() {
    result_.next_circuit = request_.next_circuit;
    for (const TransmitterTimeline& transmitter_timeline : timelines_) {
      for (std::size_t i = 0; transmitter_timeline.kept && i < transmitter_timeline.circuits.size(); ++i) {
        circuits_[transmitter_timeline.circuits[i]].id = base_.circuits(transmitter_timeline.transmitter)[i]->id;
      }
    }
    for (Circuit& circuit : circuits_) {
      if (!request_.intent.lasers_off && !timelines_[*timeline_of_[circuit.transmitter.value]].kept) {
        circuit.id = CircuitId{result_.next_circuit.value++};
      }
    }
    for (const std::size_t index : scheduled_) {
      result_.ids.push_back(circuits_[index].id);
    }
    Plan& plan = result_.plan;
    plan.revision = request_.revision;
    plan.base = request_.base == nullptr ? Revision{} : request_.base->revision;
    if (!request_.intent.lasers_off) {
      plan.circuits = circuits_;
    }
    const auto by_id = [](const Circuit& a, const Circuit& b) { return a.id < b.id; };
    std::sort(plan.circuits.begin(), plan.circuits.end(), by_id);
    std::vector<Circuit> gone;
    if (request_.base != nullptr) {
      const auto& before = request_.base->circuits;
      std::set_symmetric_difference(before.begin(), before.end(), plan.circuits.begin(), plan.circuits.end(),
                                    std::back_inserter(gone), by_id);
    } else {
      gone = plan.circuits;
    }
    for (const Circuit& circuit : gone) {
      plan.touched.push_back(circuit.id);
      has_other_ends_[circuit.source.value] = has_other_ends_[circuit.destination.value] = true;
    }
  }

  void add_node(const Node& node) {
    NodePlan slice;
    slice.revision = request_.revision;
    slice.base = result_.plan.base;
    slice.node = node.id;
    bool lingers = true;  // the cycle of what nobody plays any more, unless others of the node play
    for (const ElementId transmitter : node.transmitters) {
      const auto number = timeline_of_[transmitter.value];
      const TransmitterTimeline* timeline = number ? &timelines_[*number] : nullptr;
      if (timeline != nullptr && timeline->cycle > Duration{} &&
          (lingers != timeline->lingers ? lingers : timeline->cycle > slice.cycle)) {
        slice.cycle = timeline->cycle;
        slice.cycles = timeline->cycles;
        lingers = timeline->lingers;
      }
    }
    slice.compute_after = computes_after_[node.id.value];
    slice.grants = std::move(maps_[node.id.value]);
    slice.iterations = std::move(iterations_[node.id.value]);
    const NodePlan* before = base_.node(node.id);
    bool changed = !is_paced_alike(before, slice);
    if (before != nullptr && !changed && !has_other_ends_[node.id.value] && keeps_all_setpoints(node.id)) {
      add_at_rest(request_.base->nodes, node.id.value, result_.plan);
      return;
    }
    has_other_ends_[node.id.value] = true;
    for (const DeviceId id : fabric_.devices_of_agent[node.id.value]) {
      slice.devices.push_back(plan_device(fabric_.device(id)));
      changed = changed || slice.devices.back().touched;
    }
    if (changed) {
      result_.plan.changed.push_back(node.id);
    }
    result_.plan.nodes.push_back(std::move(slice));
  }

  /// Every device of it does what it did.
  bool keeps_all_setpoints(NodeId node) const {
    return std::ranges::all_of(base_.node(node)->devices, [&](const DevicePlan& before) {
      if (before.left_alone || banks_.contains(before.device)) {
        return false;
      }
      const Device& device = fabric_.device(before.device);
      if (device.role != DeviceRole::transmitter) {
        return keeps_setpoint(fabric_, before, finder_.positions(), gains_);
      }
      const ElementId laser = device.elements.front();
      const auto number = timeline_of_[laser.value];
      return number ? timelines_[*number].kept : !probes_.contains(laser.value) && keeps_dark(before);
    });
  }

  DevicePlan plan_device(const Device& device) {
    DevicePlan plan{device.id, false, {}};
    const DevicePlan* before = base_.device(device.id);
    const ElementId first = device.elements[0];
    TimedSetpoint still;
    TimedSetpoint idle;  // what a device does that nobody ever told anything
    idle.setpoint = still.setpoint = idle_setpoint(fabric_, device);
    switch (device.role) {
      case DeviceRole::transmitter:
        if (before != nullptr) {
          still.setpoint = darkened(before->timeline.back().setpoint);
        }
        break;
      case DeviceRole::filter: {
        const auto driven = banks_.find(device.id);
        still.setpoint = driven != banks_.end() ? driven->second : heater_of(fabric_, finder_.positions(), device);
        break;
      }
      case DeviceRole::wavelength_switch:
        still.setpoint = WavelengthSwitchSetpoint{finder_.positions().routes[first.value]};
        break;
      case DeviceRole::circuit_switch:
        still.setpoint = CircuitSwitchSetpoint{finder_.positions().connects[first.value]};
        break;
      case DeviceRole::gain_stage:
        still.setpoint = GainSetpoint{gains_[first.value]};
        break;
      case DeviceRole::monitor:
        break;
    }
    const auto transmitter_timeline = device.role == DeviceRole::transmitter ? timeline_of_[first.value] : std::nullopt;
    const auto probe = device.role == DeviceRole::transmitter ? probes_.find(first.value) : probes_.end();
    if (probe != probes_.end()) {
      still.setpoint = probe->second;
    }
    plan.timeline = transmitter_timeline ? timelines_[*transmitter_timeline].timeline : std::vector{still};
    plan.touched = before == nullptr ? plan.timeline != std::vector{idle} : plan.timeline != before->timeline;
    if (transmitter_timeline && !timelines_[*transmitter_timeline].kept && !request_.intent.lasers_off) {
      plan.touched = true;  // the same colour to another place
    }
    if (probe != probes_.end() && probe->second.emit) {
      plan.touched = true;  // what it shines on is set anew
    }
    if (device.role == DeviceRole::transmitter && before != nullptr && before->left_alone && is_dark(*before)) {
      plan.touched = true;  // it followed no order, and nobody has seen it dark since
    }
    if (plan.touched && device.role != DeviceRole::transmitter) {
      plan.may_hold = {before == nullptr ? idle.setpoint : before->timeline.front().setpoint};
    }
    if (plan.touched && fabric_.steers_others[device.id.value]) {
      result_.plan.moved_steering.push_back(device.id);
    }
    return plan;
  }

  void add_ends() {
    for (const Circuit& circuit : result_.plan.circuits) {
      for (const bool transmits : {true, false}) {
        const NodeId node = transmits ? circuit.source : circuit.destination;
        if (has_other_ends_[node.value]) {
          result_.plan.nodes.edit(node.value).ends.push_back({circuit.id, circuit.job, transmits});
        }
      }
    }
  }

  /// A job whose light is laid as a whole.
  struct WholeJob {
    const Job* job = nullptr;
    const Stage* stage = nullptr;
    std::map<NodeId, IterationPlan> plans;  ///< until they are in iterations_
    std::vector<NodeId> members;            ///< as in job->nodes
    bool kept = false;
  };

  const LowerRequest& request_;
  const Fabric& fabric_;
  BasePlan base_;
  PathFinder finder_;
  std::vector<Circuit> circuits_;
  std::vector<std::size_t> scheduled_;  ///< by circuit of the schedule, in its order: which of circuits_ it is
  std::vector<Path> paths_;             ///< by circuit of circuits_
  std::vector<Db> gains_;               ///< by element: of gain stages, levelled
  std::vector<TransmitterTimeline> timelines_;
  std::vector<std::optional<std::size_t>> timeline_of_;  ///< by transmitter element
  std::vector<Duration> computes_after_;                 ///< by node; zero: no iteration ends with its stage
  std::vector<bool> has_other_ends_;                     ///< by node: than in the base; or they are still to be written
  std::vector<WholeJob> whole_;
  std::vector<std::optional<GrantMap>> maps_;             ///< by node
  std::vector<std::optional<IterationPlan>> iterations_;  ///< by node
  std::vector<std::size_t> moved_;                        ///< beams whose path is not that of the base
  std::map<std::uint32_t, TransmitterSetpoint> probes_;   ///< by transmitter element
  std::map<DeviceId, FilterSetpoint> banks_;              ///< that were measured, or are
  SharedLight shared_;
  Lowered result_;
};

}  // namespace

bool is_dark(const DevicePlan& plan) {
  return std::ranges::none_of(plan.timeline, [](const TimedSetpoint& entry) { return emits(entry.setpoint); });
}

const DevicePlan* device_of(const Fabric& fabric, const Plan& plan, DeviceId id) {
  const auto& devices = plan.nodes[fabric.device(id).agent.value].devices;
  const auto found = std::ranges::lower_bound(devices, id, {}, &DevicePlan::device);
  return found == devices.end() || found->device != id ? nullptr : &*found;
}

bool is_standing(const Stage& stage) { return stage.timeslots.size() == 1 && stage.timeslots.front().hold == kForever; }

Result<Lowered> lower(const LowerRequest& request) { return Lowering(request).run(); }

}  // namespace loom
