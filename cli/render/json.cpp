// SPDX-License-Identifier: Apache-2.0
// What has no table, or other words than its table's.
#include "cli/render/json.hpp"

#include <array>
#include <span>
#include <variant>

#include "controller/control/requests/audit_text.hpp"
#include "core/fabric/grid.hpp"
#include "core/fabric/occupied_ports.hpp"

namespace loom::cli {
namespace {

double decibels(Db ratio) { return ratio.centi / 100.0; }

Json list_of(const std::vector<WssRoute>& rows) {
  Json routes = Json::array();
  for (const WssRoute& route : rows) {
    routes.push_back({{"slot_n", route.slot.n},
                      {"slot_m", route.slot.m},
                      {"input", route.input},
                      {"output", route.output},
                      {"attenuation_db", decibels(route.attenuation)}});
  }
  return routes;
}

Json list_of(const std::vector<CrossConnect>& rows) {
  Json connects = Json::array();
  const auto port = [](std::uint16_t number) { return number == kPortElsewhere ? Json(nullptr) : Json(number); };
  for (const CrossConnect& connect : rows) {
    connects.push_back({{"input", port(connect.input)}, {"output", port(connect.output)}});
  }
  return connects;
}

Json gain_json(Db gain) { return gain == kGainOff ? Json(nullptr) : Json(decibels(gain)); }

struct SetpointJson {
  Json operator()(const TransmitterSetpoint& laser) const {
    return {{"frequency_mhz", centre_of(laser.slot).mhz},
            {"slot_n", laser.slot.n},
            {"slot_m", laser.slot.m},
            {"power_dbm", laser.power.centi / 100.0},
            {"emit", laser.emit}};
  }
  Json operator()(const FilterSetpoint& heater) const {
    Json rings = Json::array();
    for (const RingResonance& ring : heater.rings) {
      rings.push_back({{"channel", ring.channel}, {"resonance_mhz", ring.resonance.mhz}});
      if (ring.drive) {
        rings.back()["drive_mv"] = *ring.drive;
      }
    }
    return {{"rings", std::move(rings)}};
  }
  Json operator()(const WavelengthSwitchSetpoint& wss) const { return {{"routes", list_of(wss.routes)}}; }
  Json operator()(const CircuitSwitchSetpoint& ocs) const { return {{"connects", list_of(ocs.connects)}}; }
  Json operator()(const MonitorSetpoint&) const { return Json::object(); }
  Json operator()(const GainSetpoint& stage) const { return {{"gain_db", gain_json(stage.gain)}}; }
};

struct ReadingJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const TransmitterObservation& laser) const {
    Json object{{"frequency_mhz", laser.frequency.mhz}, {"power_dbm", laser.power.centi / 100.0},
                {"emitting", laser.emitting},           {"locked", laser.locked},
                {"status_fatal", laser.status_fatal},   {"status_warning", laser.status_warning}};
    if (laser.received) {
      object["received_dbm"] = laser.received->centi / 100.0;
    }
    if (laser.osnr) {
      object["osnr_db"] = laser.osnr->centi / 100.0;
    }
    if (laser.pre_fec_errors) {
      object["pre_fec_ber"] = static_cast<double>(*laser.pre_fec_errors) * 1e-15;
    }
    return object;
  }
  Json operator()(const FilterObservation& heater) const {
    Json locks = Json::array();
    for (const RingLock& lock : heater.locks) {
      locks.push_back({{"channel", lock.channel},
                       {"state", std::string(to_string(lock.state))},
                       {"trim_ghz", static_cast<double>(lock.trim.mhz) / 1e3}});
    }
    return {{"millivolts", heater.millivolts}, {"locks", std::move(locks)}};
  }
  Json operator()(const WavelengthSwitchObservation& wss) const {
    return {{"settled", wss.settled}, {"routes", list_of(wss.routes)}};
  }
  Json operator()(const CircuitSwitchObservation& ocs) const {
    Json powers = Json::array();
    for (const PortPower& power : ocs.powers) {
      powers.push_back(
          {{"port", power.port}, {"side", power.is_input ? "input" : "output"}, {"dbm", power.power.centi / 100.0}});
    }
    return {{"settled", ocs.settled},
            {"connects", list_of(ocs.connects)},
            {"occupied", list_of(ocs.occupied)},
            {"powers", std::move(powers)}};
  }
  Json operator()(const MonitorObservation& monitor) const {
    Json lights = Json::array();
    for (const LightReading& light : monitor.lights) {
      lights.push_back({{"channel", light.channel}, {"received_dbm", light.power.centi / 100.0}});
      if (light.frequency.mhz != 0) {
        lights.back()["frequency_mhz"] = light.frequency.mhz;
      }
    }
    return {{"lights", std::move(lights)}};
  }
  Json operator()(const GainObservation& stage) const {
    Json object{{"gain_db", gain_json(stage.gain)}, {"settled", stage.settled}};
    if (stage.input) {
      object["input_dbm"] = stage.input->centi / 100.0;
    }
    if (stage.output) {
      object["output_dbm"] = stage.output->centi / 100.0;
    }
    return object;
  }
};

std::string_view health_word(DeviceHealth health) {
  static constexpr std::array<std::string_view, 4> kWords{"unknown", "ready", "moving", "failed"};
  return kWords.at(static_cast<std::size_t>(health));
}

}  // namespace

Json json_of(Duration duration, std::string_view key) {
  if (key.ends_with("_ms")) {
    return duration < Duration{} ? Json(nullptr) : Json(duration / std::chrono::milliseconds{1});
  }
  return key.ends_with("_s") ? Json(std::chrono::duration<double>(duration).count()) : Json(duration.count());
}

Json json_of(const Setpoint& setpoint) { return std::visit(SetpointJson{}, setpoint); }

Json json_of(const Probe& light) {
  return {{"transmitter", light.transmitter.value}, {"frequency_thz", static_cast<double>(centre_of(light.slot).mhz) / 1e6}};
}

/// By kind, those that never happened as well.
Json json_of(const RefusalCounts& counts) {
  Json object = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    object[std::string(to_string(static_cast<RefusalKind>(i)))] = counts[i];
  }
  return object;
}

Json json_of(const ForwardedPair& pair) {
  Json nodes = Json::array({pair.source.value});
  for (const NodeId node : pair.through) {
    nodes.push_back(node.value);
  }
  nodes.push_back(pair.destination.value);
  return nodes;
}

Json json_of(const CertificateReport& certificate) {
  const LightMargins& light = certificate.light;
  Json object{{"wavelength_isolated", certificate.wavelength_isolated},
              {"physically_isolated", certificate.physically_isolated},
              {"shared_amplifiers", certificate.shared_amplifiers},
              {"circuits", light.circuits}};
  if (light.circuits > 0) {
    object["link"] = {{"margin_db", decibels(light.link_margin)}, {"receiver", certificate.weakest}};
    object["crosstalk"] = {{"worst_db", decibels(light.crosstalk)},
                           {"margin_db", decibels(light.crosstalk_margin)},
                           {"receiver", certificate.noisiest}};
    object["reload"] = {{"dipped", light.dipped},
                        {"dip_db", decibels(light.dip)},
                        {"dip_ns", light.dip_time.count()},
                        {"margin_db", light.dipped > 0 ? Json(decibels(light.dip_margin)) : Json(nullptr)}};
  }
  return object;
}

void spread(Json& row, const Circuit& circuit) {
  row.update({{"circuit", circuit.id.value},
              {"job", circuit.job.value},
              {"source", circuit.source.value},
              {"destination", circuit.destination.value},
              {"transmitter", circuit.transmitter.value},
              {"receiver", circuit.receiver.value},
              {"frequency_mhz", centre_of(circuit.slot).mhz},
              {"slot_n", circuit.slot.n},
              {"slot_m", circuit.slot.m},
              {"rate_bps", circuit.rate.bits_per_second}});
}

/// `relays`: how many entries its table has if nodes store and forward. `routes`: the pairs if they cut through, each as the
/// nodes from the source to the destination.
void spread(Json& row, const JobSchedule& schedule) {
  const ForwardingTable& forwarding = schedule.forwarding;
  const bool cuts_through = forwarding.mode == ForwardingMode::cut_through;
  Json routes = Json::array();
  if (cuts_through) {
    forwarding.for_each([&](std::uint32_t source, std::uint32_t destination, std::span<const std::uint32_t> through) {
      Json& nodes = routes.emplace_back(Json::array({forwarding.nodes[source].value}));
      for (const std::uint32_t rank : through) {
        nodes.push_back(forwarding.nodes[rank].value);
      }
      nodes.push_back(forwarding.nodes[destination].value);
    });
  }
  row.update({{"note", schedule.note},
              {"forwards", cuts_through},
              {"waiting", schedule.waiting},
              {"relays", cuts_through ? 0 : forwarding.entries.size()},
              {"routes", std::move(routes)},
              {"stages", Json::array()}});
  for (const Stage& stage : schedule.stages) {
    Json timeslots = Json::array();
    for (const Timeslot& timeslot : stage.timeslots) {
      Json circuits = Json::array();
      for (const Circuit& circuit : timeslot.circuits) {
        spread(circuits.emplace_back(Json::object()), circuit);
      }
      timeslots.push_back({{"guard_ns", timeslot.guard.count()},
                           {"hold_ns", timeslot.hold == kForever ? Json(nullptr) : Json(timeslot.hold.count())},
                           {"circuits", std::move(circuits)}});
    }
    Json streams = Json::array();
    for (const OfferedStream& stream : stage.streams) {
      streams.push_back({{"collective", stream.collective},
                         {"source", stream.source.value},
                         {"destination", stream.destination.value},
                         {"bytes", stream.bytes.count}});
    }
    row["stages"].push_back({{"cycles", stage.cycles},
                             {"by_grants", stage.transmit == Transmit::grants},
                             {"timeslots", std::move(timeslots)},
                             {"streams", std::move(streams)}});
  }
}

void spread(Json& row, const Observation& observation) {
  row.update({{"health", health_word(observation.health)},
              {"reading", std::visit(ReadingJson{}, observation.reading)},
              {"read_at_ns", ns_of(observation.read_at)},
              {"fault", observation.fault},
              {"trouble", to_string(observation.trouble)},
              {"proof", to_string(observation.proof)},
              {"serial", observation.identity.serial},
              {"description", observation.identity.description}});
}

void spread(Json& row, const Outcome& outcome) {
  row["refused"] = !outcome.ok();
  row["answer"] = outcome.error ? Json(printable(outcome.error->message)) : Json(nullptr);
}

void complete(Json& row, const StatusReport& status) {
  row["agents"] = {{"live", status.live}, {"suspect", status.suspect}, {"dead", status.dead}};
}

void complete(Json& row, const StandingAlarm& alarm) { row["raised_by"] = alarm.from_agent ? "agent" : "controller"; }

void complete(Json& row, const AuditRecord& record) {
  row["at_ns"] = ns_of(record.at);
  row["principal"] = printable(record.principal);
  row["asked"] = printable(record.asked);
}

}  // namespace loom::cli
