// Timelines of transmitters, paths, then every device of every node, and what differs from the base.
#include "controller/plan/lower.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "controller/plan/grants.hpp"
#include "controller/plan/light/paths.hpp"
#include "core/limits.hpp"
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
  bool kept = false;  ///< timeline, circuits and path are as in the base
};

/// What the base plan says, looked up by device, transmitter and element.
class Base {
 public:
  Base(const Fabric& fabric, const Plan* plan, const std::vector<ElementId>& lost)
      : plan_(plan),
        positions(fabric),
        resonances(fabric.elements.size()),
        devices_(fabric.devices.size(), nullptr),
        circuits_(fabric.elements.size()) {
    if (plan == nullptr) {
      return;
    }
    for (const NodePlan& node : plan->nodes) {
      for (const DevicePlan& device : node.devices) {
        devices_[device.device.value] = &device;
        read(fabric.device(device.device), device.timeline.front().setpoint);
      }
    }
    positions = positions_of(fabric, *plan);
    for (const Circuit& circuit : plan->circuits) {
      circuits_[circuit.transmitter.value].push_back(&circuit);
    }
    for (const ElementId element : lost) {
      positions.routes[element.value].clear();
      positions.connects[element.value].clear();
      resonances[element.value].reset();
    }
  }

  const DevicePlan* device(DeviceId id) const { return devices_[id.value]; }
  const NodePlan* node(NodeId id) const { return plan_ == nullptr ? nullptr : &plan_->nodes[id.value]; }
  /// Ascending id, which is the order of their timeslots.
  const std::vector<const Circuit*>& circuits(ElementId transmitter) const { return circuits_[transmitter.value]; }

 private:
  void read(const Device& device, const Setpoint& setpoint) {
    if (const auto* heater = std::get_if<FilterSetpoint>(&setpoint)) {
      for (const RingResonance& ring : heater->rings) {
        resonances[device.elements[ring.channel].value] = ring.resonance;
      }
    }
  }

  const Plan* plan_;

 public:
  Positions positions;
  std::vector<std::optional<Frequency>> resonances;

 private:
  std::vector<const DevicePlan*> devices_;
  std::vector<std::vector<const Circuit*>> circuits_;
};

bool same_light(const Circuit& a, const Circuit& b) {
  return a.job == b.job && a.source == b.source && a.destination == b.destination && a.transmitter == b.transmitter &&
         a.receiver == b.receiver && a.slot == b.slot && a.rate == b.rate;
}

class Lowering {
 public:
  explicit Lowering(const LowerRequest& request)
      : request_(request),
        fabric_(request.fabric),
        base_(fabric_, request.base, request.lost),
        finder_(fabric_, base_.positions, request.frozen),
        timeline_of_(fabric_.elements.size()),
        fibre_job_(fabric_.fibres.size()),
        amplifier_job_(fabric_.elements.size()),
        amplifier_shared_(fabric_.elements.size()) {}

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
      finder_.hold(fabric_.device(light.laser).elements[0], light.light.slot, base_.resonances);
    }
    LOOM_TRY(hold_wires());
    make_maps();
    keep_granted_jobs_whole();
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
    keep_granted_jobs_whole();
    name_circuits();
    for (const Node& node : fabric_.nodes) {
      add_node(node);
    }
    add_ends();
    certify();
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
    if (stage.transmit == Transmit::grants && !request_.intent.lasers_off) {
      granted_.push_back({&*job, &stage, {}, false});
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
    }
    timelines_[*number].circuits.push_back(circuits_.size());
    circuits_.push_back(circuit);
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
    transmitter_timeline.circuits.push_back(circuits_.size());
    circuits_.push_back(circuit);
    if (!request_.intent.lasers_off) {
      const Transmitter& transmitter = std::get<Transmitter>(fabric_.element(circuit.transmitter).kind);
      const TransmitterSetpoint light{circuit.slot, power_of(circuit.transmitter, transmitter), true};
      const TimedSetpoint colour = wavelength_entry(fabric_, circuit, light, transmitter_timeline.cycle);
      transmitter_timeline.timeline.push_back(colour);
      transmitter_timeline.cycle += colour.guard + colour.hold;
    }
  }

  void make_maps() {
    maps_.resize(fabric_.nodes.size());
    for (GrantedJob& granted : granted_) {
      std::vector<Circuit> circuits;
      for (const Timeslot& timeslot : granted.stage->timeslots) {
        circuits.insert(circuits.end(), timeslot.circuits.begin(), timeslot.circuits.end());
      }
      for (GrantMap& map : grant_maps(fabric_, *granted.job, *granted.stage, circuits)) {
        const NodeId node = granted.job->nodes[granted.members.size()];
        map.routed_by = request_.revision;
        granted.members.push_back(node);
        maps_[node.value] = std::move(map);
      }
    }
  }

  /// An arbiter may forget its former grants only if everybody who had one went dark for it. So the light of such a job is laid
  /// as a whole, or left alone as a whole.
  void keep_granted_jobs_whole() {
    for (GrantedJob& granted : granted_) {
      granted.kept = std::all_of(granted.members.begin(), granted.members.end(), [&](NodeId node) {
        const NodePlan* before = base_.node(node);
        return before != nullptr && before->grants && is_same_but_routed_by(*before->grants, *maps_[node.value]);
      });
      for (const TransmitterTimeline& transmitter_timeline : timelines_) {
        const bool is_ours = transmitter_timeline.transmit == Transmit::grants &&
                             circuits_[transmitter_timeline.circuits[0]].job == granted.job->id;
        granted.kept = granted.kept && (transmitter_timeline.kept || !is_ours);
      }
      for (TransmitterTimeline& transmitter_timeline : timelines_) {
        const bool is_ours = transmitter_timeline.transmit == Transmit::grants &&
                             circuits_[transmitter_timeline.circuits[0]].job == granted.job->id;
        transmitter_timeline.kept = is_ours ? granted.kept : transmitter_timeline.kept;
      }
      for (const NodeId node : granted.members) {
        maps_[node.value]->routed_by = granted.kept ? base_.node(node)->grants->routed_by : request_.revision;
      }
    }
  }

  void add_circuit(const Stage& stage, std::size_t timeslot, const Circuit& circuit) {
    auto& number = timeline_of_[circuit.transmitter.value];
    if (!number) {
      number = timelines_.size();
      timelines_.push_back(dark_timeline(stage, circuit));
    }
    TransmitterTimeline& transmitter_timeline = timelines_[*number];
    transmitter_timeline.circuits.push_back(circuits_.size());
    circuits_.push_back(circuit);
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
    const bool is_static = stage.timeslots.size() == 1 && stage.timeslots[0].hold == kForever;
    if (is_static || request_.intent.lasers_off) {
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
      if (!same_light(*before[i], circuits_[transmitter_timeline.circuits[i]])) {
        return false;
      }
    }
    return true;
  }

  Result<void> route_light(TransmitterTimeline& transmitter_timeline) {
    for (const std::size_t index : transmitter_timeline.circuits) {
      const Circuit& circuit = circuits_[index];
      const auto path = finder_.route_light(circuit);
      if (!path) {
        return fail(
            ErrorCode::infeasible,
            format_text("infeasible: job {}: no free path at {} from node {} to node {} through {}", circuit.job.value,
                        to_string(centre_of(circuit.slot)), circuit.source.value, circuit.destination.value, fabric_.name));
      }
      if (transmitter_timeline.kept && !is_path_of_base(*path, circuit.slot)) {
        moved_.push_back(*timeline_of_[transmitter_timeline.transmitter.value]);
      }
      if (!request_.intent.lasers_off) {
        mark_shared(*path, circuit.job);
      }
    }
    return {};
  }

  bool is_path_of_base(const Path& path, FrequencySlot slot) const {
    return std::all_of(path.begin(), path.end(), [&](const Hop& hop) {
      const auto& routes = base_.positions.routes[hop.element.value];
      const auto& connects = base_.positions.connects[hop.element.value];
      const Element& element = fabric_.element(hop.element);
      if (std::holds_alternative<WavelengthSelectiveSwitch>(element.kind)) {
        return std::find(routes.begin(), routes.end(), WssRoute{slot, hop.input, hop.output, Db{0}}) != routes.end();
      }
      if (std::holds_alternative<OpticalCircuitSwitch>(element.kind)) {
        return std::find(connects.begin(), connects.end(), CrossConnect{hop.input, hop.output}) != connects.end();
      }
      return !std::holds_alternative<RingFilter>(element.kind) || (hop.input == 0 && hop.output == 0) ||
             base_.resonances[hop.element.value] == centre_of(slot);
    });
  }

  void mark_shared(const Path& path, JobId job) {
    const auto mark = [&](std::optional<JobId>& owner) {
      const bool shared = owner && *owner != job;
      owner = owner ? owner : std::optional{job};
      return shared;
    };
    for (const Hop& hop : path) {
      const Element& element = fabric_.element(hop.element);
      if (std::holds_alternative<Amplifier>(element.kind) && mark(amplifier_job_[hop.element.value])) {
        amplifier_shared_[hop.element.value] = true;
      }
      if (hop.output < element.outputs && fabric_.fibre_out[hop.element.value][hop.output]) {
        shares_fibre_ = mark(fibre_job_[fabric_.fibre_out[hop.element.value][hop.output]->value]) || shares_fibre_;
      }
    }
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
      result_.ids.push_back(circuit.id);
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
    }
  }

  void add_node(const Node& node) {
    NodePlan slice;
    slice.revision = request_.revision;
    slice.base = result_.plan.base;
    slice.node = node.id;
    for (const ElementId transmitter : node.transmitters) {
      if (const auto transmitter_timeline = timeline_of_[transmitter.value];
          transmitter_timeline && timelines_[*transmitter_timeline].cycle > slice.cycle) {
        slice.cycle = timelines_[*transmitter_timeline].cycle;
        slice.cycles = timelines_[*transmitter_timeline].cycles;
      }
    }
    if (!maps_.empty()) {
      slice.grants = maps_[node.id.value];
    }
    const NodePlan* before = base_.node(node.id);
    bool changed = before == nullptr
                       ? slice.cycle > Duration{} || slice.grants
                       : slice.cycle != before->cycle || slice.cycles != before->cycles || slice.grants != before->grants;
    for (const DeviceId id : fabric_.devices_of_agent[node.id.value]) {
      slice.devices.push_back(plan_device(fabric_.device(id)));
      changed = changed || slice.devices.back().touched;
    }
    if (changed) {
      result_.plan.changed.push_back(node.id);
    }
    result_.plan.nodes.push_back(std::move(slice));
  }

  DevicePlan plan_device(const Device& device) {
    DevicePlan plan{device.id, false, {}};
    const DevicePlan* before = base_.device(device.id);
    const ElementId first = device.elements[0];
    TimedSetpoint still;
    TimedSetpoint idle;  // what a device does that nobody ever told anything
    switch (device.role) {
      case DeviceRole::transmitter: {
        const auto& transmitter = std::get<Transmitter>(fabric_.element(first).kind);
        idle.setpoint = TransmitterSetpoint{transmitter.channels.slot(0), transmitter.launch_power, false};
        still = idle;
        if (before != nullptr) {
          still.setpoint = darkened(before->timeline.back().setpoint);
        }
        break;
      }
      case DeviceRole::filter: {
        still.setpoint = heater_of(device);
        idle.setpoint = FilterSetpoint{};
        break;
      }
      case DeviceRole::wavelength_switch:
        still.setpoint = WavelengthSwitchSetpoint{finder_.positions().routes[first.value]};
        idle.setpoint = WavelengthSwitchSetpoint{};
        break;
      case DeviceRole::circuit_switch:
        still.setpoint = CircuitSwitchSetpoint{finder_.positions().connects[first.value]};
        idle.setpoint = CircuitSwitchSetpoint{};
        break;
    }
    const auto transmitter_timeline = device.role == DeviceRole::transmitter ? timeline_of_[first.value] : std::nullopt;
    plan.timeline = transmitter_timeline ? timelines_[*transmitter_timeline].timeline : std::vector{still};
    plan.touched = before == nullptr ? plan.timeline != std::vector{idle} : plan.timeline != before->timeline;
    if (transmitter_timeline && !timelines_[*transmitter_timeline].kept && !request_.intent.lasers_off) {
      plan.touched = true;  // the same colour to another place
    }
    if (plan.touched && device.role != DeviceRole::transmitter) {
      plan.may_hold = {before == nullptr ? idle.setpoint : before->timeline.front().setpoint};
    }
    if (plan.touched && fabric_.steers_others[device.id.value]) {
      result_.plan.moved_steering.push_back(device.id);
    }
    return plan;
  }

  FilterSetpoint heater_of(const Device& device) const {
    FilterSetpoint heater;
    for (std::size_t i = 0; i < device.elements.size(); ++i) {
      if (const auto slot = finder_.positions().resonances[device.elements[i].value]) {
        heater.rings.push_back({static_cast<std::uint16_t>(i), centre_of(*slot)});
      }
    }
    return heater;
  }

  void add_ends() {
    for (const Circuit& circuit : result_.plan.circuits) {
      result_.plan.nodes[circuit.source.value].ends.push_back({circuit.id, circuit.job, true});
      result_.plan.nodes[circuit.destination.value].ends.push_back({circuit.id, circuit.job, false});
    }
  }

  void certify() {
    IsolationCertificate& certificate = result_.plan.certificate;
    for (const Element& element : fabric_.elements) {
      if (amplifier_shared_[element.id.value]) {
        certificate.shared_amplifiers.push_back(element.id);
      }
    }
    certificate.physically_isolated = certificate.shared_amplifiers.empty() && !shares_fibre_;
    std::sort(result_.plan.moved_steering.begin(), result_.plan.moved_steering.end());
  }

  struct GrantedJob {
    const Job* job = nullptr;
    const Stage* stage = nullptr;
    std::vector<NodeId> members;  ///< as in job->nodes
    bool kept = false;
  };

  const LowerRequest& request_;
  const Fabric& fabric_;
  Base base_;
  PathFinder finder_;
  std::vector<Circuit> circuits_;
  std::vector<TransmitterTimeline> timelines_;
  std::vector<std::optional<std::size_t>> timeline_of_;  ///< by transmitter element
  std::vector<GrantedJob> granted_;
  std::vector<std::optional<GrantMap>> maps_;  ///< by node; empty: nobody is under grants
  std::vector<std::size_t> moved_;             ///< beams whose path is not that of the base
  std::vector<std::optional<JobId>> fibre_job_;
  std::vector<std::optional<JobId>> amplifier_job_;
  std::vector<bool> amplifier_shared_;
  bool shares_fibre_ = false;
  Lowered result_;
};

}  // namespace

Result<Lowered> lower(const LowerRequest& request) { return Lowering(request).run(); }

}  // namespace loom
