// SPDX-License-Identifier: Apache-2.0
// `circuit explain`: the way of a circuit element by element, what holds it, and the first thing that is wrong on it.
#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "controller/control/requests/reports.hpp"
#include "controller/plan/explain.hpp"
#include "core/fabric/occupied_ports.hpp"
#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// As far as it is about this circuit.
std::string text_of(const Setpoint& setpoint, const Hop& hop, FrequencySlot slot, std::uint16_t channel) {
  if (const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint)) {
    return format_text("{}, {}{}", to_string(centre_of(laser->slot)), to_string(laser->power), laser->emit ? "" : ", dark");
  }
  if (const auto* heater = std::get_if<FilterSetpoint>(&setpoint)) {
    for (const RingResonance& ring : heater->rings) {
      if (ring.channel == channel) {
        return format_text("ring {} at {}", channel, to_string(ring.resonance));
      }
    }
    return format_text("ring {} parked", channel);
  }
  if (std::holds_alternative<MonitorSetpoint>(setpoint)) {
    return "light";
  }
  if (const auto* stage = std::get_if<GainSetpoint>(&setpoint)) {
    return to_string(stage->gain);
  }
  const std::string way = format_text("{} -> {}", hop.input, hop.output);
  return std::holds_alternative<WavelengthSwitchSetpoint>(setpoint) ? format_text("{}: {}", to_string(centre_of(slot)), way)
                                                                    : way;
}

std::string text_of(const Reading& reading, const Hop& hop, FrequencySlot slot, std::uint16_t channel) {
  if (const auto* laser = std::get_if<TransmitterObservation>(&reading)) {
    return format_text("{}, {}", to_string(laser->frequency), laser->emitting ? to_string(laser->power) : std::string("dark"));
  }
  if (const auto* heater = std::get_if<FilterObservation>(&reading)) {
    return channel < heater->millivolts.size() ? format_text("{} mV", heater->millivolts[channel]) : "not read";
  }
  if (const auto* monitor = std::get_if<MonitorObservation>(&reading)) {
    std::string text;
    for (const LightReading& light : monitor->lights) {
      if (light.channel == channel) {
        text +=
            format_text("{}{}{}", text.empty() ? "" : ", ",
                        light.frequency.mhz == 0 ? std::string() : to_string(light.frequency) + " at ", to_string(light.power));
      }
    }
    return text.empty() ? "dark" : text;
  }
  if (const auto* stage = std::get_if<GainObservation>(&reading)) {
    return to_string(stage->gain);
  }
  const std::string way = format_text("{} -> {}", hop.input, hop.output);
  if (const auto* wss = std::get_if<WavelengthSwitchObservation>(&reading)) {
    const bool is_there = std::any_of(wss->routes.begin(), wss->routes.end(), [&](const WssRoute& route) {
      return route.slot == slot && route.input == hop.input && route.output == hop.output;
    });
    return is_there ? format_text("{}: {}", to_string(centre_of(slot)), way) : to_string(centre_of(slot)) + " BLOCKED";
  }
  if (const auto* ocs = std::get_if<CircuitSwitchObservation>(&reading)) {
    return is_connected(*ocs, {hop.input, hop.output}) ? way : format_text("{} OPEN", hop.input);
  }
  return "never read";
}

}  // namespace

HopReport Reports::describe(const Circuit& circuit, const LitHop& lit) const {
  const Fabric& fabric = *from_.facts.fabric;
  const Element& element = fabric.element(lit.hop.element);
  HopReport row;
  row.element = element.id;
  row.name = element.name;
  row.kind = kind_of(element);
  row.input = lit.hop.input;
  row.output = lit.hop.output;
  row.loss = lit.loss;
  row.power_out = lit.power_out;
  row.device = fabric.device_of_element[element.id.value];
  if (!row.device) {
    return row;
  }
  const Device& device = fabric.device(*row.device);
  const std::uint16_t channel = fabric.index_in_device[element.id.value];
  if (const DevicePlan* plan = from_.confirmed.desired_of(fabric, device.id)) {
    row.desired = text_of(plan->timeline.front().setpoint, lit.hop, circuit.slot, channel);
  }
  const AgentSession& session = from_.sessions[device.agent];
  row.applied = session.applied;
  const Observation* seen = from_.sessions.observed(device.id);
  row.observed = seen != nullptr ? text_of(seen->reading, lit.hop, circuit.slot, channel) : "never read";
  row.drift = from_.reconciler.drift_of(device.id);
  if (!session.is_present()) {
    row.problem = format_text("node {} is {}", device.agent.value, to_string(session.state()));
  } else if (session.is_latched_off() && device.role == DeviceRole::transmitter) {
    row.problem = format_text("lasers of node {} are latched off", device.agent.value);
  } else if (seen != nullptr && seen->health == DeviceHealth::failed) {
    row.problem = seen->fault.empty() ? "the device failed" : seen->fault;
  } else if (row.drift != Drift::none && row.drift != Drift::stale) {
    row.problem = std::string(to_string(row.drift));
  }
  return row;
}

/// Pairs of the job whose traffic others send over this circuit (or over one parallel to it).
void Reports::add_forwarded(CircuitExplanation& it) const {
  const Circuit& circuit = it.circuit.circuit;
  const JobSchedule* schedule = from_.confirmed.schedule_of(circuit.job);
  if (schedule == nullptr) {
    return;
  }
  const std::vector<NodeId>& nodes = schedule->forwarding.nodes;
  schedule->forwarding.for_each([&](std::uint32_t source, std::uint32_t destination, std::span<const std::uint32_t> through) {
    std::uint32_t at = source;
    bool is_passed = false;
    for (const std::uint32_t next : through) {
      is_passed = is_passed || (nodes[at] == circuit.source && nodes[next] == circuit.destination);
      at = next;
    }
    if (!is_passed && (nodes[at] != circuit.source || nodes[destination] != circuit.destination)) {
      return;
    }
    ++it.forwarded_pairs;
    if (it.forwarded.size() < limits::kRoutesPerExplanation) {
      ForwardedPair pair{nodes[source], nodes[destination], {}};
      std::ranges::transform(through, std::back_inserter(pair.through), [&](std::uint32_t rank) { return nodes[rank]; });
      it.forwarded.push_back(std::move(pair));
    }
  });
}

/// The first thing that is wrong, or the margin.
void Reports::conclude(CircuitExplanation& it, Dbm sensitivity) const {
  const auto wrong = std::find_if(it.hops.begin(), it.hops.end(), [](const HopReport& hop) { return !hop.problem.empty(); });
  const Dbm received = it.hops.back().power_out;
  if (from_.desired.intent().lasers_off) {
    it.verdict = "dark: the lasers are ordered off";
    it.next_command = "loom lasers rearm";
  } else if (wrong != it.hops.end()) {
    it.verdict = format_text("first thing wrong: {}: {}", wrong->name, wrong->problem);
    it.next_command = format_text("loom device show {}", wrong->device->value);
  } else if (it.circuit.light != LightState::lit) {
    it.verdict = format_text("{}: {}", to_string(it.circuit.light), it.circuit.why);
    it.next_command = format_text("loom job show {}", it.circuit.circuit.job.value);
  } else {
    it.verdict = format_text(
        "nothing on its way is wrong (proof: {}): {} expected at the receiver, which needs {} (margin {} dB)",
        to_string(it.circuit.proof), to_string(received), to_string(sensitivity), (received - sensitivity).centi / 100);
    it.next_command = format_text("loom job show {}", it.circuit.circuit.job.value);
  }
}

OperatorReply Reports::explain(const Query& query) const {
  OperatorReply answered;
  const auto refuse_with = [&](Error error) {
    error.next_command = error.next_command.empty() ? "loom circuit list" : error.next_command;
    answered.outcome.error = std::move(error);
    return answered;
  };
  const std::vector<CircuitReport> rows = circuit_rows(Query{Noun::circuits, query.id.value_or(0)}).rows;
  if (rows.empty()) {
    return refuse_with({ErrorCode::not_found, format_text("there is no circuit {} in revision {}", query.id.value_or(0),
                                                          from_.confirmed.revision().value)});
  }
  CircuitExplanation it;
  it.circuit = rows.front();
  it.revision = from_.confirmed.revision();
  const Circuit& circuit = it.circuit.circuit;
  it.job_name = from_.jobs.facts_of(circuit.job).name;
  const auto& receiver = std::get<Receiver>(from_.facts.fabric->element(circuit.receiver).kind);
  it.sensitivity = receiver.sensitivity;
  const auto path = trace_circuit(*from_.facts.fabric, from_.confirmed.plan(), circuit);
  if (!path) {
    return refuse_with(path.error());
  }
  for (const LitHop& lit : *path) {
    it.hops.push_back(describe(circuit, lit));
  }
  add_forwarded(it);
  conclude(it, receiver.sensitivity);
  answered.rows = std::move(it);
  answered.total_rows = 1;
  return answered;
}

}  // namespace loom
