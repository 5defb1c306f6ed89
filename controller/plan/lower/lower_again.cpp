// SPDX-License-Identifier: Apache-2.0
// Standing light whose every circuit is laid once: circuits that end give their ways back, those that begin look for one, and
// the slices of nodes where that changes nothing are those of the base.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "controller/plan/again.hpp"
#include "controller/plan/lower/level.hpp"
#include "controller/plan/lower/lower_memory.hpp"
#include "controller/plan/lower/measured.hpp"
#include "controller/plan/lower/shared_light.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

bool is_same_but_for_id(Circuit a, const Circuit& b) {
  a.id = b.id;
  return a == b;
}

const Stage* desired_stage(const Intent& intent, const JobSchedule& schedule) {
  const auto job = std::ranges::find(intent.jobs, schedule.job, &Job::id);
  const bool is_last = job != intent.jobs.end() && job->stage + 1 == schedule.stages.size();
  return job == intent.jobs.end() || job->stage >= schedule.stages.size() || (is_last && schedule.stages.size() > 1)
             ? nullptr
             : &schedule.stages[job->stage];
}

/// Nothing but jobs whose light stands, and nothing in its way.
bool is_plain(const LowerRequest& request) {
  const Intent& intent = request.intent;
  const auto stands = [&](const JobSchedule& schedule) {
    const Stage* stage = desired_stage(intent, schedule);
    return stage != nullptr && is_standing(*stage) && stage->transmit == Transmit::slots;
  };
  return request.frozen.empty() && request.lingering.empty() && request.lost.empty() && request.darken.empty() &&
         request.occupied.empty() && request.others.empty() && request.schedule.wires.empty() && is_jobs_alone(intent) &&
         std::ranges::all_of(request.schedule.jobs, stands);
}

/// Light has a choice of ways at circuit switches only, where it takes the one that it has.
bool has_one_way(const Fabric& fabric) {
  return std::ranges::all_of(fabric.elements, [&](const Element& element) {
    const auto& dropped = element.outputs > 1 ? fabric.fibre_out[element.id.value][1] : std::nullopt;
    const bool is_receiver =
        dropped && std::holds_alternative<Receiver>(fabric.element(fabric.fibres[dropped->value].to.element).kind);
    return !(std::holds_alternative<Coupler>(element.kind) && element.outputs > 1) &&
           !(std::holds_alternative<RingFilter>(element.kind) && dropped && !is_receiver);
  });
}

bool is_left_alone(const NodePlan& slice) { return std::ranges::any_of(slice.devices, &DevicePlan::left_alone); }

}  // namespace

class Laid {
 public:
  /// Nothing: the plan is of another kind.
  static std::unique_ptr<Laid> of(const LowerRequest& request, Lowered& lowered) {
    if (!is_plain(request) || !has_one_way(request.fabric) || Leveller::can_level(request.fabric)) {
      return nullptr;
    }
    auto laid = std::make_unique<Laid>(request.fabric, request.ways, lowered.plan);
    for (std::size_t i = 0; i < lowered.circuits.size(); ++i) {
      laid->lay(lowered.circuits[i], std::move(lowered.paths[i]));
    }
    laid->sort();
    return laid->is_once_each_ ? std::move(laid) : nullptr;
  }

  Laid(const Fabric& fabric, std::shared_ptr<const WayIndex> ways, const Plan& plan)
      : fabric_(fabric),
        nodes_(plan.nodes),
        at_(fabric.elements.size(), kNone),
        preferred_(fabric),
        finder_(fabric, preferred_, {}, std::move(ways)),
        shared_(fabric) {}
  Laid(const Laid&) = delete;  // its parts look at each other
  Laid& operator=(const Laid&) = delete;

  /// Nothing: it is to be lowered as a whole, and what is remembered is of no use any more.
  std::optional<Lowered> lower(const LowerRequest& request) {
    if (request.base == nullptr || !is_plain(request)) {
      return std::nullopt;
    }
    if (!stands_on(*request.base) && !(goes_back_to(*request.base) && stands_on(*request.base))) {
      return std::nullopt;
    }
    Former former{nodes_, {}, {}};
    auto match = match_circuits(request);
    if (!match || !lay(*match)) {
      return std::nullopt;
    }
    Lowered lowered = write(request, *match);
    nodes_ = lowered.plan.nodes;
    former.ended = std::move(match->ended);
    former.begun = std::move(match->begun);
    former_ = std::move(former);
    return lowered;
  }

 private:
  struct Laying {
    Circuit circuit;
    Path path;
  };
  /// The schedule's circuits beside those that are laid.
  struct Match {
    std::vector<std::uint32_t> scheduled;  ///< by circuit of the schedule: of which that is laid, or kNone: it begins
    std::vector<bool> is_kept;             ///< by circuit that is laid
    std::vector<Laying> begun;             ///< in the order of the schedule
    std::vector<Laying> ended;             ///< ascending id
  };

  /// What was remembered before, for who asks for another plan on the same base.
  struct Former {
    NodePlans nodes;
    std::vector<Laying> ended;  ///< since then
    std::vector<Laying> begun;
  };

  /// Whether the base is that, stands_on() tells.
  bool goes_back_to(const Plan& base) {
    if (!former_ || !holds_the_same(base.nodes, former_->nodes)) {
      return false;
    }
    Match match{{}, std::vector<bool>(circuits_.size(), true), std::move(former_->ended), std::move(former_->begun)};
    for (const Laying& each : match.ended) {
      match.is_kept[at_[each.circuit.transmitter.value]] = false;
      finder_.release(each.path, each.circuit.slot);
      shared_.remove(each.path, each.circuit.job);
    }
    for (const Laying& each : match.begun) {
      finder_.claim(each.path, each.circuit.slot);
      shared_.add(each.path, each.circuit.job);
    }
    take_over(match);
    std::ranges::sort(circuits_, {}, [](const Laying& each) { return each.circuit.id; });
    index();
    nodes_ = std::move(former_->nodes);
    former_.reset();
    return true;
  }

  void lay(const Circuit& circuit, Path path) {
    is_once_each_ =
        is_once_each_ && at_[circuit.transmitter.value] == kNone && fabric_.device_of_element[circuit.transmitter.value];
    at_[circuit.transmitter.value] = 0;
    finder_.claim(path, circuit.slot);
    shared_.add(path, circuit.job);
    circuits_.push_back({circuit, std::move(path)});
  }

  /// By id.
  void sort() {
    std::ranges::sort(circuits_, {}, [](const Laying& each) { return each.circuit.id; });
    index();
    preferred_ = finder_.positions();
  }

  void index() {
    for (std::uint32_t i = 0; i < circuits_.size(); ++i) {
      at_[circuits_[i].circuit.transmitter.value] = i;
    }
  }

  bool stands_on(const Plan& base) {
    const auto is_same = [](const Circuit& circuit, const Laying& laid) { return circuit == laid.circuit; };
    if (!std::ranges::equal(base.circuits, circuits_, is_same) || !holds_the_same(base.nodes, nodes_)) {
      return false;
    }
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (!base.nodes.shares(nodes_, i) && is_left_alone(base.nodes[i])) {
        return false;
      }
    }
    return true;
  }

  std::optional<Match> match_circuits(const LowerRequest& request) const {
    Match match;
    match.is_kept.resize(circuits_.size());
    for (const JobSchedule& schedule : request.schedule.jobs) {
      for (const Circuit& circuit : desired_stage(request.intent, schedule)->timeslots.front().circuits) {
        if (circuit.transmitter.value >= at_.size() || !fabric_.device_of_element[circuit.transmitter.value]) {
          return std::nullopt;
        }
        const std::uint32_t laid = at_[circuit.transmitter.value];
        const bool is_same = laid != kNone && !match.is_kept[laid] && is_same_but_for_id(circuit, circuits_[laid].circuit);
        match.scheduled.push_back(is_same ? laid : kNone);
        if (is_same) {
          match.is_kept[laid] = true;
        } else {
          match.begun.push_back({circuit, {}});
        }
      }
    }
    for (std::size_t i = 0; i < circuits_.size(); ++i) {
      if (!match.is_kept[i]) {
        match.ended.push_back(circuits_[i]);
      }
    }
    const bool is_little = 2 * (match.begun.size() + match.ended.size()) < circuits_.size();
    return is_little && is_each_once(match) ? std::optional(std::move(match)) : std::nullopt;
  }

  /// No transmitter has two circuits.
  bool is_each_once(const Match& match) const {
    std::vector<ElementId> lasers;
    for (const Laying& each : match.begun) {
      const std::uint32_t laid = at_[each.circuit.transmitter.value];
      if (laid != kNone && match.is_kept[laid]) {
        return false;
      }
      lasers.push_back(each.circuit.transmitter);
    }
    std::ranges::sort(lasers);
    return std::ranges::adjacent_find(lasers) == lasers.end();
  }

  /// False: there is no way for one.
  bool lay(Match& match) {
    for (const Laying& each : match.ended) {
      finder_.release(each.path, each.circuit.slot);
      shared_.remove(each.path, each.circuit.job);
    }
    for (Laying& each : match.begun) {
      auto path = finder_.route_light(each.circuit);
      if (!path) {
        return false;
      }
      shared_.add(*path, each.circuit.job);
      each.path = *std::move(path);
    }
    return true;
  }

  Lowered write(const LowerRequest& request, Match& match) {
    Lowered lowered;
    Plan& plan = lowered.plan;
    plan.revision = request.revision;
    plan.base = request.base->revision;
    lowered.next_circuit = request.next_circuit;
    for (Laying& each : match.begun) {
      each.circuit.id = CircuitId{lowered.next_circuit.value++};
    }
    auto begun = match.begun.begin();
    for (const std::uint32_t laid : match.scheduled) {
      lowered.ids.push_back(laid == kNone ? begun++->circuit.id : circuits_[laid].circuit.id);
    }
    write_nodes(request, match, plan);
    shared_.certify(plan.certificate);
    take_over(match);
    for (const Laying& each : circuits_) {
      plan.circuits.push_back(each.circuit);
    }
    write_ends(plan);
    return lowered;
  }

  /// Devices on the ways of what ends and begins, ascending.
  std::vector<DeviceId> devices_met(const Match& match) const {
    std::vector<DeviceId> devices;
    for (const auto* lights : {&match.ended, &match.begun}) {
      for (const Laying& each : *lights) {
        for (const Hop& hop : each.path) {
          if (const auto device = fabric_.device_of_element[hop.element.value]) {
            devices.push_back(*device);
          }
        }
      }
    }
    std::ranges::sort(devices);
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    return devices;
  }

  /// Setpoints of switches and filters; of a laser, light that begins at it, or its last colour in the dark.
  std::vector<TimedSetpoint> timeline_of(const Device& device, const DevicePlan& before, const Circuit* begins) const {
    TimedSetpoint still;
    const std::size_t first = device.elements.front().value;
    switch (device.role) {
      case DeviceRole::transmitter:
        still.setpoint = darkened(before.timeline.back().setpoint);
        if (begins != nullptr) {
          const auto& transmitter = std::get<Transmitter>(fabric_.element(begins->transmitter).kind);
          still.setpoint = TransmitterSetpoint{begins->slot, transmitter.launch_power, true};
        }
        break;
      case DeviceRole::filter:
        still.setpoint = heater_of(fabric_, finder_.positions(), device);
        break;
      case DeviceRole::circuit_switch:
        still.setpoint = CircuitSwitchSetpoint{finder_.positions().connects[first]};
        break;
      case DeviceRole::wavelength_switch:
      case DeviceRole::gain_stage:
      case DeviceRole::monitor:
        return before.timeline;
    }
    return {still};
  }

  void write_nodes(const LowerRequest& request, const Match& match, Plan& plan) {
    has_other_ends_.assign(fabric_.nodes.size(), false);
    std::vector<std::pair<ElementId, const Circuit*>> begins;
    for (const auto* lights : {&match.ended, &match.begun}) {
      for (const Laying& each : *lights) {
        has_other_ends_[each.circuit.source.value] = has_other_ends_[each.circuit.destination.value] = true;
        plan.touched.push_back(each.circuit.id);
      }
    }
    for (const Laying& each : match.begun) {
      begins.emplace_back(each.circuit.transmitter, &each.circuit);
    }
    std::ranges::sort(begins);
    std::vector<std::pair<NodeId, DevicePlan>> moved;
    for (const DeviceId id : devices_met(match)) {
      const Device& device = fabric_.device(id);
      const auto& devices = request.base->nodes[device.agent.value].devices;
      const DevicePlan& before = *std::ranges::lower_bound(devices, id, {}, &DevicePlan::device);
      const auto begin =
          std::ranges::lower_bound(begins, device.elements.front(), {}, [](const auto& each) { return each.first; });
      const bool is_lit = begin != begins.end() && begin->first == device.elements.front();
      DevicePlan after{id, true, timeline_of(device, before, is_lit ? begin->second : nullptr)};
      if (!is_lit && after.timeline == before.timeline) {
        continue;
      }
      if (device.role != DeviceRole::transmitter) {
        after.may_hold = {before.timeline.front().setpoint};
      }
      if (fabric_.steers_others[id.value]) {
        plan.moved_steering.push_back(id);
      }
      moved.emplace_back(device.agent, std::move(after));
    }
    std::ranges::stable_sort(moved, {}, [](const auto& each) { return each.first; });
    auto next = moved.begin();
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      const bool moves = next != moved.end() && next->first == NodeId{i};
      add_at_rest(request.base->nodes, i, plan);
      if (!moves && !has_other_ends_[i]) {
        continue;
      }
      has_other_ends_[i] = true;
      NodePlan& slice = plan.nodes.edit(i);
      slice.revision = plan.revision;
      slice.base = plan.base;
      slice.ends.clear();
      for (; next != moved.end() && next->first == NodeId{i}; ++next) {
        *std::ranges::lower_bound(slice.devices, next->second.device, {}, &DevicePlan::device) = std::move(next->second);
      }
      if (moves) {
        plan.changed.push_back({i});
      }
    }
  }

  void write_ends(Plan& plan) const {
    for (const Circuit& circuit : plan.circuits) {
      for (const bool transmits : {true, false}) {
        const NodeId node = transmits ? circuit.source : circuit.destination;
        if (has_other_ends_[node.value]) {
          plan.nodes.edit(node.value).ends.push_back({circuit.id, circuit.job, transmits});
        }
      }
    }
  }

  /// What is laid is the plan's from now on.
  void take_over(Match& match) {
    for (const Laying& each : match.ended) {
      at_[each.circuit.transmitter.value] = kNone;
    }
    for (const auto* lights : {&match.ended, &match.begun}) {
      for (const Laying& each : *lights) {
        for (const Hop& hop : each.path) {
          if (std::holds_alternative<OpticalCircuitSwitch>(fabric_.element(hop.element).kind)) {
            preferred_.connects[hop.element.value] = finder_.positions().connects[hop.element.value];
          }
          preferred_.resonances[hop.element.value] = finder_.positions().resonances[hop.element.value];
        }
      }
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < circuits_.size(); ++i) {
      if (match.is_kept[i]) {
        if (kept != i) {
          circuits_[kept] = std::move(circuits_[i]);
        }
        ++kept;
      }
    }
    circuits_.resize(kept);
    std::ranges::copy(match.begun, std::back_inserter(circuits_));  // their ids are above all others
    index();
  }

  const Fabric& fabric_;
  NodePlans nodes_;                ///< of the plan
  std::vector<Laying> circuits_;   ///< ascending id
  std::vector<std::uint32_t> at_;  ///< by transmitter element: index into circuits_, or kNone
  Positions preferred_;            ///< as the plan has them
  PathFinder finder_;
  SharedLight shared_;
  std::optional<Former> former_;
  bool is_once_each_ = true;          ///< no transmitter has two circuits, and each has a laser that is driven
  std::vector<bool> has_other_ends_;  ///< by node: than in the base; or they are still to be written
};

LowerMemory::LowerMemory() = default;
LowerMemory::LowerMemory(LowerMemory&&) noexcept = default;
LowerMemory& LowerMemory::operator=(LowerMemory&&) noexcept = default;
LowerMemory::~LowerMemory() = default;

void LowerMemory::forget() { laid_.reset(); }

Result<Lowered> LowerMemory::lower(const LowerRequest& request) {
  if (laid_) {
    if (auto lowered = laid_->lower(request)) {
      ++told_;
      return *std::move(lowered);
    }
  }
  laid_.reset();
  auto lowered = loom::lower(request);
  if (lowered) {
    laid_ = Laid::of(request, *lowered);
  }
  return lowered;
}

}  // namespace loom
