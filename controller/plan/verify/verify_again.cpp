// SPDX-License-Identifier: Apache-2.0
// Only what is clean is told from differences: whatever else comes of them, the whole plan is judged.
#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "controller/plan/again.hpp"
#include "controller/plan/verify/standing_light.hpp"
#include "controller/plan/verify/verify_memory.hpp"
#include "controller/plan/verify/verify_parts.hpp"

namespace loom::verifying {
namespace {

/// Nothing but jobs, and all of what they ask can be told slice by slice.
bool is_plain(const Fabric& fabric, const Intent& intent, const std::vector<ObservedLight>& occupied) {
  return fabric.return_path != ReturnPath::optical && occupied.empty() && is_jobs_alone(intent);
}

/// Whose signals come to which fibre.
class Passers {
 public:
  Passers(const Fabric& fabric, const Layer& signals) {
    for (const Fibre& fibre : fabric.fibres) {
      begins_.push_back(static_cast<std::uint32_t>(transmitters_.size()));
      for (const Cell& cell : signals.on(fibre.id)) {
        transmitters_.push_back({cell.source});
      }
    }
    begins_.push_back(static_cast<std::uint32_t>(transmitters_.size()));
    transmitters_.shrink_to_fit();
  }
  std::span<const ElementId> on(FibreId fibre) const {
    return {transmitters_.data() + begins_[fibre.value], begins_[fibre.value + 1] - begins_[fibre.value]};
  }

 private:
  std::vector<std::uint32_t> begins_;  ///< by fibre, and one more
  std::vector<ElementId> transmitters_;
};

/// Its lasers stand, and nobody gives the word for them but the controller.
bool is_standing(const NodePlan& slice) { return slice.cycle == Duration{} && !slice.grants && !slice.iterations; }

}  // namespace

class Remembered {
 public:
  Remembered(const Fabric& fabric, const LightOrder& order, const Plan& plan, Judged judged)
      : fabric_(fabric),
        order_(order),
        nodes_(plan.nodes),
        circuits_(plan.circuits),
        settings_(*std::move(judged.settings)),
        walk_(fabric, settings_) {
    for (const NodePlan& slice : nodes_) {
      is_at_rest_.push_back(loom::is_at_rest(slice));
    }
    if (StandingLight::can_hold(fabric)) {
      standing_.emplace(fabric, order, settings_, plan, *judged.light.standing, judged.light.receptions);
    } else {
      passers_.emplace(fabric, judged.light.standing->signals);
    }
  }
  Remembered(const Remembered&) = delete;  // its parts look at each other
  Remembered& operator=(const Remembered&) = delete;

  static bool can(const Fabric& fabric, const Plan& plan, const Intent& intent, const std::vector<ObservedLight>& occupied,
                  const Judged& judged) {
    return judged.verdict.violations.empty() && judged.light.standing && is_plain(fabric, intent, occupied) &&
           std::ranges::all_of(plan.nodes, is_standing);
  }

  /// Nothing: the whole plan has to be judged, and nothing is remembered otherwise than before.
  std::optional<Verdict> examine(const Plan& plan, const Plan* base, const Intent& intent,
                                 const std::vector<ObservedLight>& occupied) {
    if (base == nullptr || !is_plain(fabric_, intent, occupied) || plan.nodes.size() != nodes_.size() ||
        !(stands_on(*base) || (goes_back_to(*base) && stands_on(*base)))) {
      return std::nullopt;
    }
    const auto difference = compare(plan);
    Faults faults;
    if (!difference || !check_structure(fabric_, plan, difference->scope, faults)) {
      return std::nullopt;
    }
    Former former{nodes_, circuits_, base->certificate, std::nullopt};
    Verdict verdict;
    const auto is_clean = [&](const std::vector<Met>& met, const std::vector<ElementId>& other) {
      return judge(plan, *base, intent, *difference, met, other, verdict, former);
    };
    if (!advance(plan, *difference, is_clean)) {
      return std::nullopt;
    }
    former_ = std::move(former);
    return verdict;
  }

 private:
  struct Difference {
    Scope scope;                ///< whose slices are other ones, and circuits that begin
    std::vector<NodeId> nodes;  ///< of those: which say something else, and not only that nothing is asked any more
    std::vector<Circuit> begun;
    std::vector<Circuit> ended;
  };
  /// What is set otherwise, and by which inputs light that feels it comes.
  struct Moved {
    ElementId element;
    std::vector<PortNumber> inputs;
    bool is_circuit_switch = false;
  };
  /// Light that came to it.
  struct Met {
    ElementId transmitter;
    FrequencySlot slot;
    std::vector<std::int64_t> marks;  ///< of its way, before
  };

  /// What was remembered before, for who asks for another plan on the same base.
  struct Former {
    NodePlans nodes;
    std::vector<Circuit> circuits;
    IsolationCertificate certificate;
    std::optional<Passers> passers;
  };

  /// To a plan, if that is fine: `is_fine(met, transmitters)` is asked once it is set. False: nothing has changed.
  template <class IsFine>
  bool advance(const Plan& plan, const Difference& difference, IsFine is_fine) {
    const std::vector<Moved> moved = moved_of(plan, difference.nodes);
    if (standing_ && !std::ranges::all_of(moved, [](const Moved& each) { return each.is_circuit_switch; })) {
      return false;
    }
    const std::vector<Met> met = met_by(moved);
    const std::vector<ElementId> other = transmitters_of(difference.nodes, met);
    if (standing_) {
      standing_->take_away(other);
    }
    take(plan.nodes, difference.scope.nodes);
    if (!is_fine(met, other)) {
      take(nodes_, difference.scope.nodes);
      if (standing_) {
        standing_->undo();
      }
      return false;
    }
    if (standing_) {
      standing_->keep();
    }
    for (const NodeId node : difference.scope.nodes) {
      is_at_rest_[node.value] = loom::is_at_rest(plan.nodes[node.value]);
    }
    nodes_ = plan.nodes;
    circuits_ = plan.circuits;
    return true;
  }

  bool goes_back_to(const Plan& base) {
    if (!former_ || base.circuits != former_->circuits || !holds_the_same(base.nodes, former_->nodes)) {
      return false;
    }
    Plan back;
    back.revision = Revision{std::numeric_limits<std::uint64_t>::max()};  // it has slices of any
    back.nodes = former_->nodes;
    back.circuits = former_->circuits;
    back.certificate = former_->certificate;
    const auto difference = compare(back);
    const auto is_fine = [&](const std::vector<Met>&, const std::vector<ElementId>& other) {
      return !standing_ ||
             (standing_->exchange(difference->ended, difference->begun) && standing_->bring(other, back.certificate));
    };
    if (!difference || !advance(back, *difference, is_fine)) {
      return false;
    }
    if (!standing_) {
      passers_ = std::move(former_->passers);
    }
    former_.reset();
    return true;
  }

  template <class Visit>
  void each_on(FibreId fibre, Visit visit) const {
    if (standing_) {
      std::ranges::for_each(standing_->on(fibre), [&](const Cell& cell) { visit(ElementId{cell.source}); });
    } else {
      std::ranges::for_each(passers_->on(fibre), visit);
    }
  }

  void take(const NodePlans& nodes, const std::vector<NodeId>& which) {
    for (const NodeId node : which) {
      settings_.replace(fabric_, nodes[node.value]);
    }
  }

  /// What is remembered is the base's, but for what was asked of devices for it.
  bool stands_on(const Plan& base) {
    if (base.circuits != circuits_ || !holds_the_same(base.nodes, nodes_)) {
      return false;
    }
    std::vector<NodeId> asked;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (!base.nodes.shares(nodes_, i)) {
        asked.push_back({i});
      }
    }
    take(base.nodes, asked);
    for (const NodeId node : asked) {
      is_at_rest_[node.value] = loom::is_at_rest(base.nodes[node.value]);
    }
    nodes_ = base.nodes;
    return true;
  }

  /// Nothing: so much differs, or in such a way, that it is of no use.
  std::optional<Difference> compare(const Plan& plan) const {
    Difference difference;
    std::vector<bool> differs(nodes_.size());
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (plan.nodes.shares(nodes_, i)) {
        if (!is_at_rest_[i] || plan.nodes[i].revision >= plan.revision) {
          return std::nullopt;
        }
        continue;
      }
      difference.scope.nodes.push_back({i});
      differs[i] = !loom::is_at_rest(plan.nodes[i]) || !holds_the_same(plan.nodes[i], nodes_[i]);
      if (differs[i]) {
        difference.nodes.push_back({i});
      }
    }
    const auto is_in = [&](NodeId node) { return node.value < differs.size() && differs[node.value]; };
    const auto is_driven = [&](DeviceId id) { return id.value < fabric_.devices.size() && is_in(fabric_.device(id).agent); };
    const auto is_standing_in = [&](NodeId node) { return is_standing(plan.nodes[node.value]); };
    if (2 * difference.nodes.size() > nodes_.size() || !std::ranges::all_of(difference.scope.nodes, is_standing_in) ||
        !std::ranges::all_of(plan.changed, is_in) || !std::ranges::all_of(plan.moved_steering, is_driven) ||
        !compare_circuits(plan, difference)) {
      return std::nullopt;
    }
    for (const auto* circuits : {&difference.begun, &difference.ended}) {
      const auto is_within = [&](const Circuit& circuit) {
        const auto laser = circuit.transmitter.value < fabric_.elements.size()
                               ? fabric_.device_of_element[circuit.transmitter.value]
                               : std::nullopt;
        return is_in(circuit.source) && is_in(circuit.destination) && laser && is_driven(*laser);
      };
      if (!std::ranges::all_of(*circuits, is_within)) {
        return std::nullopt;
      }
    }
    return difference;
  }

  /// False: ids are not in order, or one is of another circuit now.
  bool compare_circuits(const Plan& plan, Difference& difference) const {
    auto old = circuits_.begin();
    for (std::uint32_t i = 0; i < plan.circuits.size(); ++i) {
      const Circuit& circuit = plan.circuits[i];
      if (i > 0 && !(plan.circuits[i - 1].id < circuit.id)) {
        return false;
      }
      for (; old != circuits_.end() && old->id < circuit.id; ++old) {
        difference.ended.push_back(*old);
      }
      if (old == circuits_.end() || old->id != circuit.id) {
        difference.scope.circuits.push_back(i);
        difference.begun.push_back(circuit);
      } else if (*old++ != circuit) {
        return false;
      }
    }
    difference.ended.insert(difference.ended.end(), old, circuits_.end());
    return true;
  }

  std::vector<Moved> moved_of(const Plan& plan, const std::vector<NodeId>& nodes) const {
    std::vector<Moved> moved;
    for (const NodeId node : nodes) {
      const NodePlan& slice = plan.nodes[node.value];
      for (std::size_t place = 0; place < slice.devices.size(); ++place) {
        const DevicePlan& device = slice.devices[place];
        const DevicePlan& before = same_device(nodes_[node.value], place, device.device);
        if (fabric_.device(device.device).role != DeviceRole::transmitter && device.timeline != before.timeline) {
          add_moved(before, device, moved);
        }
      }
    }
    return moved;
  }

  void add_moved(const DevicePlan& before, const DevicePlan& after, std::vector<Moved>& moved) const {
    const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&before.timeline.front().setpoint);
    const auto* other = std::get_if<CircuitSwitchSetpoint>(&after.timeline.front().setpoint);
    for (const ElementId element : fabric_.device(before.device).elements) {
      Moved each{element, {}, ocs != nullptr && other != nullptr};
      if (each.is_circuit_switch) {
        std::vector<CrossConnect> changed;  // of either
        std::ranges::set_symmetric_difference(ocs->connects, other->connects, std::back_inserter(changed), by_ports);
        std::ranges::transform(changed, std::back_inserter(each.inputs), &CrossConnect::input);
      } else {
        each.inputs.resize(fabric_.element(element).inputs);
        std::iota(each.inputs.begin(), each.inputs.end(), PortNumber{0});
      }
      moved.push_back(std::move(each));
    }
  }

  static bool by_ports(const CrossConnect& a, const CrossConnect& b) {
    return std::pair{a.input, a.output} < std::pair{b.input, b.output};
  }

  /// Ascending transmitter.
  std::vector<Met> met_by(const std::vector<Moved>& moved) {
    std::vector<ElementId> lasers;
    for (const Moved& each : moved) {
      for (const PortNumber input : each.inputs) {
        const auto fibres = fabric_.fibre_in[each.element.value];
        const auto fibre = input < fibres.size() ? fibres[input] : std::nullopt;
        if (fibre) {
          each_on(*fibre, [&](ElementId laser) { lasers.push_back(laser); });
        }
      }
    }
    std::ranges::sort(lasers);
    lasers.erase(std::unique(lasers.begin(), lasers.end()), lasers.end());
    std::vector<Met> met;
    for (const ElementId laser : lasers) {
      const FrequencySlot slot = settings_.sources[settings_.source_of[laser.value]].emissions.front().laser.slot;
      met.push_back({laser, slot, walk_.marks(laser, slot)});
    }
    return met;
  }

  /// Whose light may be other light now, ascending.
  std::vector<ElementId> transmitters_of(const std::vector<NodeId>& nodes, const std::vector<Met>& met) const {
    std::vector<ElementId> found;
    for (const NodeId node : nodes) {
      for (const DeviceId id : fabric_.devices_of_agent[node.value]) {
        if (fabric_.device(id).role == DeviceRole::transmitter) {
          found.push_back(fabric_.device(id).elements.front());
        }
      }
    }
    std::ranges::transform(met, std::back_inserter(found), &Met::transmitter);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// What stays lit goes as it went.
  bool is_undisturbed(const Met& met) {
    const Source& source = settings_.sources[settings_.source_of[met.transmitter.value]];
    return source.device->touched || source.emissions.empty() ||
           (source.emissions.front().laser.slot == met.slot && walk_.marks(met.transmitter, met.slot) == met.marks);
  }

  /// All is well with it.
  bool judge(const Plan& plan, const Plan& base, const Intent& intent, const Difference& difference,
             const std::vector<Met>& met, const std::vector<ElementId>& other, Verdict& verdict, Former& former) {
    if (!std::ranges::all_of(met, [&](const Met& each) { return is_undisturbed(each); })) {
      return false;
    }
    Faults faults;
    check_setpoints(fabric_, plan, difference.scope, settings_, intent, faults);
    check_change(fabric_, plan, difference.scope, settings_, &base, false, verdict.disturbed, faults);
    LightFound light;
    if (standing_) {
      if (!standing_->exchange(difference.ended, difference.begun) || !standing_->bring(other, plan.certificate)) {
        return false;
      }
      light.receptions = standing_->receptions(plan);
    } else {
      light = check_light(fabric_, order_, plan, settings_, faults);
    }
    check_margins(fabric_, plan, difference.scope, settings_, light.receptions, verdict, faults);
    if (!faults.empty() || !verdict.disturbed.empty() || !(standing_ || light.standing)) {
      return false;
    }
    if (!standing_) {
      former.passers = std::exchange(passers_, Passers(fabric_, light.standing->signals));
    }
    return true;
  }

  const Fabric& fabric_;
  const LightOrder& order_;
  NodePlans nodes_;  ///< of the plan that was accepted; settings_ are its slices'
  std::vector<Circuit> circuits_;
  std::vector<bool> is_at_rest_;  ///< by node
  Settings settings_;
  Walk walk_;
  std::optional<StandingLight> standing_;  ///< where the fabric can hold it
  std::optional<Passers> passers_;         ///< else
  std::optional<Former> former_;
};

}  // namespace loom::verifying

namespace loom {

VerifyMemory::VerifyMemory() = default;
VerifyMemory::VerifyMemory(VerifyMemory&&) noexcept = default;
VerifyMemory& VerifyMemory::operator=(VerifyMemory&&) noexcept = default;
VerifyMemory::~VerifyMemory() = default;

void VerifyMemory::forget() { remembered_.reset(); }

Verdict VerifyMemory::examine(const Fabric& fabric, const LightOrder& order, const Plan& plan, const Plan* base,
                              const Intent& intent, const std::vector<ObservedLight>& occupied) {
  if (remembered_) {
    if (auto verdict = remembered_->examine(plan, base, intent, occupied)) {
      ++told_;
      return *std::move(verdict);
    }
  }
  verifying::Judged judged = verifying::judge(fabric, order, plan, base, intent, occupied);
  Verdict verdict = judged.verdict;
  if (verifying::Remembered::can(fabric, plan, intent, occupied, judged)) {
    remembered_ = std::make_unique<verifying::Remembered>(fabric, order, plan, std::move(judged));
  }
  return verdict;
}

}  // namespace loom
