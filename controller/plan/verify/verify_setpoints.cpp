// SPDX-License-Identifier: Apache-2.0
// Rules that need no light: are the slices whole and lawful, do lasers and heaters stay within their limits, is there time to
// move in the dark.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "controller/plan/verify/verify_parts.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom::verifying {
namespace {

/// A laser may be driven this far below its rated launch power, never above (ITLA: power set range of about 6 dB).
constexpr Db kLaserPowerRange{600};
/// How far a ring may be set from its light: a twentieth of a 100 GHz channel.
constexpr FrequencyOffset kRingTuning{5'000};

class Structure {
 public:
  Structure(const Fabric& fabric, const Plan& plan, const Scope& scope, Faults& faults)
      : fabric_(fabric), plan_(plan), scope_(scope), faults_(faults) {}

  bool check() {
    if (plan_.nodes.size() != fabric_.nodes.size()) {
      refuse(format_text("the plan has {} node plans, the fabric {} nodes", plan_.nodes.size(), fabric_.nodes.size()));
      return false;
    }
    for (const NodeId node : scope_.nodes) {
      check_node(plan_.nodes[node.value], fabric_.nodes[node.value]);
    }
    check_circuits();
    check_ends();
    return sound_;
  }

 private:
  void refuse(std::string evidence) {
    sound_ = false;
    faults_.add(rules::kNodePlanComplete, [&] { return std::move(evidence); });
  }

  void check_node(const NodePlan& slice, const Node& node) {
    const bool is_of_plan = slice.revision == plan_.revision && slice.base == plan_.base;
    const bool may_be_older = slice.revision < plan_.revision && !std::ranges::binary_search(plan_.changed, slice.node);
    if (slice.node != node.id || !(is_of_plan || may_be_older)) {
      refuse(format_text("{}: its slice is of node {}, revision {} on base {}; the plan is revision {} on base {}", node.name,
                         slice.node.value, slice.revision.value, slice.base.value, plan_.revision.value, plan_.base.value));
    }
    const auto& expected = fabric_.devices_of_agent[node.id.value];
    const bool whole = std::equal(slice.devices.begin(), slice.devices.end(), expected.begin(), expected.end(),
                                  [](const DevicePlan& plan, DeviceId id) { return plan.device == id; });
    if (!whole) {
      refuse(format_text("{}: its slice has {} devices, which are not its agent's {} in ascending order", node.name,
                         slice.devices.size(), expected.size()));
      return;
    }
    for (const DevicePlan& plan : slice.devices) {
      check_device(plan, fabric_.device(plan.device), slice);
    }
  }

  void check_device(const DevicePlan& plan, const Device& device, const NodePlan& slice) {
    if (plan.timeline.empty() || plan.timeline.size() > limits::kTimelineEntries) {
      refuse(
          format_text("{}: {} timeline entries, allowed 1 to {}", device.name, plan.timeline.size(), limits::kTimelineEntries));
      return;
    }
    for (const TimedSetpoint& entry : plan.timeline) {
      static constexpr std::array<std::size_t, kDeviceRoles.size()> kSetpointOfKind{0, 1, 2, 3, 4, 5};
      if (entry.setpoint.index() != kSetpointOfKind[static_cast<std::size_t>(device.role)]) {
        refuse(device.name + ": the setpoint is one of another kind of device");
      } else {
        check_setpoint(entry.setpoint, device);
      }
    }
    const TimedSetpoint& last = plan.timeline.back();
    if (last.hold != kForever && !plan.left_alone && last.offset + last.guard + last.hold > slice.cycle) {
      refuse(format_text("{}: its timeline is longer than the node's cycle of {} ns", device.name, slice.cycle.count()));
    }
  }

  void check_setpoint(const Setpoint& setpoint, const Device& device) {
    const Element& element = fabric_.element(device.elements[0]);
    if (const auto* heater = std::get_if<FilterSetpoint>(&setpoint)) {
      std::int32_t previous = -1;
      for (const RingResonance& ring : heater->rings) {
        if (ring.channel >= device.elements.size() || ring.channel <= previous) {
          refuse(format_text("{}: ring channel {} is out of order or not below {}", device.name, ring.channel,
                             device.elements.size()));
          return;
        }
        previous = ring.channel;
      }
    } else if (const auto* wss = std::get_if<WavelengthSwitchSetpoint>(&setpoint)) {
      check_routes(wss->routes, device, element);
    } else if (const auto* ocs = std::get_if<CircuitSwitchSetpoint>(&setpoint)) {
      std::int32_t previous = -1;
      std::vector<bool> used(element.outputs);
      for (const CrossConnect& connect : ocs->connects) {
        if (connect.input >= element.inputs || connect.output >= element.outputs || connect.input <= previous ||
            used[connect.output]) {
          refuse(format_text("{}: cross-connect {} to {} is out of order, out of range or takes an output twice", device.name,
                             connect.input, connect.output));
          return;
        }
        used[connect.output] = true;
        previous = connect.input;
      }
    }
  }

  void check_routes(const std::vector<WssRoute>& routes, const Device& device, const Element& element) {
    if (routes.size() > limits::kWssRoutes) {
      refuse(format_text("{}: {} routes, above limits::kWssRoutes {}", device.name, routes.size(), limits::kWssRoutes));
      return;
    }
    std::vector<Frequency> taken(element.inputs);  // by input: up to where
    for (std::size_t i = 0; i < routes.size(); ++i) {
      const WssRoute& route = routes[i];
      const bool ascending =
          i == 0 || std::pair{routes[i - 1].slot.n, routes[i - 1].input} < std::pair{route.slot.n, route.input};
      if (route.input >= element.inputs || route.output >= element.outputs || route.slot.m < 1 || route.slot.m > kWidestSlot ||
          route.attenuation < Db{0} || !ascending) {
        refuse(format_text("{}: route of {} from input {} to output {} is out of order or out of range", device.name,
                           to_string(centre_of(route.slot)), route.input, route.output));
        return;
      }
      if (lower_edge_of(route.slot) < taken[route.input]) {
        refuse(format_text("{}: route of {} from input {} overlaps another one of that input", device.name,
                           to_string(centre_of(route.slot)), route.input));
        return;
      }
      taken[route.input] = upper_edge_of(route.slot);
    }
  }

  void check_circuits() {
    for (const std::uint32_t i : scope_.circuits) {
      const Circuit& circuit = plan_.circuits[i];
      const bool ascending = i == 0 || plan_.circuits[i - 1].id < circuit.id;
      if (!ascending || !owns(circuit.source, circuit.transmitter, true) ||
          !owns(circuit.destination, circuit.receiver, false)) {
        refuse(format_text("circuit {} is out of order, or its ends are not those of nodes {} and {}", circuit.id.value,
                           circuit.source.value, circuit.destination.value));
        return;
      }
    }
  }

  bool owns(NodeId node, ElementId element, bool transmits) const {
    if (node.value >= fabric_.nodes.size()) {
      return false;
    }
    const auto& list = transmits ? fabric_.nodes[node.value].transmitters : fabric_.nodes[node.value].receivers;
    return std::find(list.begin(), list.end(), element) != list.end();
  }

  void check_ends() {
    if (!sound_) {
      return;
    }
    std::vector<std::vector<CircuitEnd>> expected(plan_.nodes.size());
    std::vector<bool> is_judged(plan_.nodes.size());
    for (const NodeId node : scope_.nodes) {
      is_judged[node.value] = true;
    }
    for (const Circuit& circuit : plan_.circuits) {
      for (const bool transmits : {true, false}) {
        const NodeId node = transmits ? circuit.source : circuit.destination;
        if (is_judged[node.value]) {
          expected[node.value].push_back({circuit.id, circuit.job, transmits});
        }
      }
    }
    for (const NodeId node : scope_.nodes) {
      const NodePlan& slice = plan_.nodes[node.value];
      if (slice.ends != expected[slice.node.value]) {
        refuse(format_text("{}: its slice names {} circuit ends, which are not those of the plan's circuits",
                           fabric_.nodes[slice.node.value].name, slice.ends.size()));
      }
    }
  }

  const Fabric& fabric_;
  const Plan& plan_;
  const Scope& scope_;
  Faults& faults_;
  bool sound_ = true;
};

void check_laser(const Device& device, const Transmitter& transmitter, const DevicePlan& plan, const Intent& intent,
                 Faults& faults) {
  for (const TimedSetpoint& entry : plan.timeline) {
    const auto& laser = std::get<TransmitterSetpoint>(entry.setpoint);
    if (transmitter.channels.channel_of(laser.slot) < 0 || laser.slot.m != transmitter.channels.first.m) {
      faults.add(rules::kLaserRange, [&] {
        return format_text("{}: {} is none of its {} channels", device.name, to_string(centre_of(laser.slot)),
                           transmitter.channels.count);
      });
    }
    if (laser.power > transmitter.launch_power || laser.power < transmitter.launch_power + (-kLaserPowerRange)) {
      faults.add(rules::kLaserRange, [&] {
        return format_text("{}: {}, allowed {} to {}", device.name, to_string(laser.power),
                           to_string(transmitter.launch_power + (-kLaserPowerRange)), to_string(transmitter.launch_power));
      });
    }
    if (laser.emit && intent.lasers_off) {
      faults.add(rules::kLasersOff, [&] { return device.name + " emits while lasers are ordered off"; });
    }
  }
}

void check_bank(const Fabric& fabric, const Device& device, const FilterSetpoint& heater, Faults& faults) {
  for (const RingResonance& wanted : heater.rings) {
    const auto& ring = std::get<RingFilter>(fabric.element(device.elements[wanted.channel]).kind);
    if (wanted.drive) {
      if (*wanted.drive < 0 || *wanted.drive > ring.heater_volt_max * 1000) {
        faults.add(rules::kHeaterCeiling, [&] {
          return format_text("{} ring {}: {} mV, allowed 0 to {} mV", device.name, wanted.channel, *wanted.drive,
                             std::lround(ring.heater_volt_max * 1000));
        });
      }
      continue;
    }
    const double power = static_cast<double>((ring.cold_resonance - wanted.resonance).mhz) / ring.mhz_per_milliwatt;
    const double ceiling = 1000 * ring.heater_volt_max * ring.heater_volt_max / ring.heater_ohm;
    if (power < 0 || power > ceiling) {
      faults.add(rules::kHeaterCeiling, [&] {
        return format_text("{} ring {}: {} needs {} mW, allowed 0 to {} mW", device.name, wanted.channel,
                           to_string(wanted.resonance), std::lround(power), std::lround(ceiling));
      });
    }
  }
}

void check_gain(const Fabric& fabric, const Device& device, const GainSetpoint& stage, Faults& faults) {
  const GainRange range = gain_range(fabric.element(device.elements[0]).kind);
  if (stage.gain != kGainOff && (stage.gain < range.least || stage.gain > range.most)) {
    faults.add(rules::kGainRange, [&] {
      return format_text("{}: a gain of {}, allowed {} to {}", device.name, to_string(stage.gain), to_string(range.least),
                         to_string(range.most));
    });
  }
}

void check_tuned(const Element& ring, const Circuit& circuit, const Settings& settings, Faults& faults) {
  const auto resonance = settings.resonances[ring.id.value];
  if (!resonance || magnitude(*resonance - centre_of(circuit.slot)) > kRingTuning) {
    faults.add(rules::kRingTuned, [&] {
      return format_text("{} is {}, circuit {} comes at {}, tolerance {} MHz", ring.name,
                         resonance ? "at " + to_string(*resonance) : std::string("parked"), circuit.id.value,
                         to_string(centre_of(circuit.slot)), kRingTuning.mhz);
    });
  }
}

/// The filter that drops a circuit to its receiver, and the one that adds it behind its transmitter, stand where its light is.
void check_rings(const Fabric& fabric, const Plan& plan, const Settings& settings, Faults& faults) {
  const auto ring_at = [&](PortRef port, PortNumber wanted) -> const Element* {
    const Element& element = fabric.element(port.element);
    return port.port == wanted && std::holds_alternative<RingFilter>(element.kind) ? &element : nullptr;
  };
  for (const Circuit& circuit : plan.circuits) {
    const auto& in = fabric.fibre_in[circuit.receiver.value][0];
    const auto& out = fabric.fibre_out[circuit.transmitter.value][0];
    if (const Element* ring = in ? ring_at(fabric.fibres[in->value].from, 1) : nullptr) {
      check_tuned(*ring, circuit, settings, faults);
    }
    if (const Element* ring = out ? ring_at(fabric.fibres[out->value].to, 1) : nullptr) {
      check_tuned(*ring, circuit, settings, faults);
    }
  }
}

/// When a circuit is lit: its job, ends and instants.
using Lighting = std::tuple<JobId, NodeId, NodeId, Duration, Duration>;

/// Where acknowledgements return over light, every circuit has one back for just as long.
void check_return_path(const Fabric& fabric, const Plan& plan, const Settings& settings, Faults& faults) {
  if (fabric.return_path != ReturnPath::optical) {
    return;
  }
  std::vector<const Source*> source_of(fabric.elements.size(), nullptr);
  for (const Source& source : settings.sources) {
    source_of[source.transmitter.value] = &source;
  }
  std::map<Lighting, std::int64_t> lit;
  for (const Circuit& circuit : plan.circuits) {
    const Source* source = source_of[circuit.transmitter.value];
    if (source == nullptr) {
      continue;
    }
    for (const Emission& emission : source->emissions) {
      if (emission.laser.slot == circuit.slot) {
        ++lit[{circuit.job, circuit.source, circuit.destination, emission.begin, emission.end}];
      }
    }
  }
  for (const auto& [key, count] : lit) {
    const auto& [job, source, destination, begin, end] = key;
    const auto back = lit.find({job, destination, source, begin, end});
    const std::int64_t returns = back != lit.end() ? back->second : 0;
    if (returns < count) {
      faults.add(rules::kReturnPath, [&, job = job, source = source, destination = destination, count = count] {
        return format_text("job {}: {} circuits from node {} to node {} have {} back at the same time; {} returns over light",
                           job.value, count, source.value, destination.value, returns, fabric.name);
      });
    }
  }
}

/// Dark time before light: blank, retune, the commands for it, and the slowest acquisition among the receivers that this laser
/// serves.
Duration need_of(const Transmitter& transmitter, Duration acquisition) {
  return transmitter.blank_max + transmitter.retune_max + transmitter.control_max + acquisition;
}

void check_timeline(const Device& device, const DevicePlan& plan, Duration need, Faults& faults) {
  Duration end{};
  for (std::size_t i = 0; i < plan.timeline.size(); ++i) {
    const TimedSetpoint& entry = plan.timeline[i];
    if (entry.offset < end || entry.guard < Duration{} || entry.hold < Duration{} ||
        (entry.hold == kForever && i + 1 < plan.timeline.size())) {
      faults.add(rules::kGuardTime, [&] {
        return format_text("{}: timeslot {} begins at {} ns, before the one before it ends at {} ns", device.name, i,
                           entry.offset.count(), end.count());
      });
    }
    if (plan.timeline.size() > 1 && !std::holds_alternative<TransmitterSetpoint>(entry.setpoint)) {
      faults.add(rules::kGuardTime, [&] { return device.name + " moves inside a stage; only lasers may"; });
    }
    if (entry.hold != kForever && emits(entry.setpoint) && entry.guard < need) {
      faults.add(rules::kGuardTime, [&] {
        return format_text("{}: guard of {} ns in timeslot {}, needs {} ns to blank, retune and be acquired", device.name,
                           entry.guard.count(), i, need.count());
      });
    }
    end = entry.hold == kForever ? kForever : entry.offset + entry.guard + entry.hold;
  }
}

}  // namespace

Scope whole_of(const Plan& plan) {
  Scope scope;
  for (std::uint32_t i = 0; i < plan.nodes.size(); ++i) {
    scope.nodes.push_back({i});
  }
  scope.circuits.resize(plan.circuits.size());
  std::iota(scope.circuits.begin(), scope.circuits.end(), 0U);
  return scope;
}

bool check_structure(const Fabric& fabric, const Plan& plan, const Scope& scope, Faults& faults) {
  return Structure(fabric, plan, scope, faults).check();
}

namespace {

void check_device(const Fabric& fabric, const DevicePlan& plan, Duration acquisition, const Intent& intent, Faults& faults) {
  const Device& device = fabric.device(plan.device);
  const ElementId first = device.elements[0];
  Duration need{};
  if (device.role == DeviceRole::transmitter) {
    const auto& transmitter = std::get<Transmitter>(fabric.element(first).kind);
    need = need_of(transmitter, acquisition);
    check_laser(device, transmitter, plan, intent, faults);
  } else if (const auto* heater = std::get_if<FilterSetpoint>(&plan.timeline.front().setpoint)) {
    check_bank(fabric, device, *heater, faults);
  } else if (const auto* stage = std::get_if<GainSetpoint>(&plan.timeline.front().setpoint)) {
    check_gain(fabric, device, *stage, faults);
  }
  check_timeline(device, plan, need, faults);
}

}  // namespace

void check_setpoints(const Fabric& fabric, const Plan& plan, const Scope& scope, const Settings& settings, const Intent& intent,
                     Faults& faults) {
  std::vector<Duration> acquisition(fabric.elements.size());
  for (const Circuit& circuit : plan.circuits) {
    const auto& receiver = std::get<Receiver>(fabric.element(circuit.receiver).kind);
    acquisition[circuit.transmitter.value] = std::max(acquisition[circuit.transmitter.value], receiver.acquisition_max);
  }
  for (const NodeId node : scope.nodes) {
    for (const DevicePlan& device : plan.nodes[node.value].devices) {
      check_device(fabric, device, acquisition[fabric.device(device.device).elements[0].value], intent, faults);
    }
  }
  check_rings(fabric, plan, settings, faults);
  check_return_path(fabric, plan, settings, faults);
}

}  // namespace loom::verifying
