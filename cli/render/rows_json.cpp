// Reports to JSON.
#include "cli/render/rows.hpp"
#include "core/grid.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::ordered_json;

Json ns(Duration duration) { return duration.count(); }
/// Null: something on its way was never read.
Json age_ms(Duration age) { return age < Duration{} ? Json(nullptr) : Json(age / std::chrono::milliseconds{1}); }

Json json_of(const Spread& spread) {
  return {{"min_ns", ns(spread.min)},
          {"p50_ns", ns(spread.p50)},
          {"p99_ns", ns(spread.p99)},
          {"max_ns", ns(spread.max)},
          {"count", spread.count}};
}

Json json_of(const std::vector<WssRoute>& rows) {
  Json routes = Json::array();
  for (const WssRoute& route : rows) {
    routes.push_back({{"slot_n", route.slot.n},
                      {"slot_m", route.slot.m},
                      {"input", route.input},
                      {"output", route.output},
                      {"attenuation_db", route.attenuation.centi / 100.0}});
  }
  return routes;
}

Json json_of(const std::vector<CrossConnect>& rows) {
  Json connects = Json::array();
  for (const CrossConnect& connect : rows) {
    connects.push_back({{"input", connect.input}, {"output", connect.output}});
  }
  return connects;
}

struct SetpointJson {
  Json operator()(const LaserSetpoint& laser) const {
    return {{"frequency_mhz", centre_of(laser.slot).mhz},
            {"slot_n", laser.slot.n},
            {"slot_m", laser.slot.m},
            {"power_dbm", laser.power.centi / 100.0},
            {"emit", laser.emit}};
  }
  Json operator()(const HeaterSetpoint& heater) const {
    Json rings = Json::array();
    for (const RingResonance& ring : heater.rings) {
      rings.push_back({{"channel", ring.channel}, {"resonance_mhz", ring.resonance.mhz}});
    }
    return {{"rings", std::move(rings)}};
  }
  Json operator()(const WssSetpoint& wss) const { return {{"routes", json_of(wss.routes)}}; }
  Json operator()(const OcsSetpoint& ocs) const { return {{"connects", json_of(ocs.connects)}}; }
};

struct ReadingJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const LaserObservation& laser) const {
    return {{"frequency_mhz", laser.frequency.mhz}, {"power_dbm", laser.power.centi / 100.0},
            {"emitting", laser.emitting},           {"locked", laser.locked},
            {"status_fatal", laser.status_fatal},   {"status_warning", laser.status_warning}};
  }
  Json operator()(const HeaterObservation& heater) const { return {{"millivolts", heater.millivolts}}; }
  Json operator()(const WssObservation& wss) const { return {{"settled", wss.settled}, {"routes", json_of(wss.routes)}}; }
  Json operator()(const OcsObservation& ocs) const { return {{"settled", ocs.settled}, {"connects", json_of(ocs.connects)}}; }
};

std::string_view health_word(DeviceHealth health) {
  switch (health) {
    case DeviceHealth::ready:
      return "ready";
    case DeviceHealth::moving:
      return "moving";
    case DeviceHealth::failed:
      return "failed";
    default:
      return "unknown";
  }
}

/// {"api_version": ..., name: [row, ...]}
template <class Row, class Fill>
Json listing(const char* name, const std::vector<Row>& rows, Fill fill) {
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back(fill(row));
  }
  Json object = answer();
  object[name] = std::move(list);
  return object;
}

Json job_list(const std::vector<JobId>& jobs) {
  Json list = Json::array();
  for (const JobId job : jobs) {
    list.push_back(job.value);
  }
  return list;
}

Json node_list(const std::vector<NodeId>& nodes) {
  Json list = Json::array();
  for (const NodeId node : nodes) {
    list.push_back(node.value);
  }
  return list;
}

}  // namespace

Json answer() { return {{"api_version", kApiVersion}}; }

/// By kind, those that never happened as well.
static Json json_of(const RefusalCounts& counts) {
  Json object = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    object[std::string(to_string(static_cast<RefusalKind>(i)))] = counts[i];
  }
  return object;
}

Json json_of(const StatusReport& status) {
  Json object = answer();
  object.update({{"term", status.term.value},
                 {"revision", status.revision.value},
                 {"fabric", status.fabric},
                 {"nodes", status.nodes},
                 {"agents", {{"live", status.live}, {"suspect", status.suspect}, {"dead", status.dead}}},
                 {"jobs", status.jobs},
                 {"circuits", status.circuits},
                 {"lasers_off", status.lasers_off},
                 {"drift",
                  {{"missing", status.drift.missing},
                   {"foreign", status.drift.foreign},
                   {"detuned", status.drift.detuned},
                   {"dim", status.drift.dim},
                   {"stale", status.drift.stale}}},
                 {"stage", to_string(status.stage)},
                 {"under_way", status.under_way.value},
                 {"stage_done", status.stage_done},
                 {"stage_total", status.stage_total},
                 {"malformed_messages", status.malformed},
                 {"refusals", json_of(status.refusals)},
                 {"alarms", status.alarms},
                 {"awaiting_confirm", status.awaiting_confirm.value},
                 {"confirm_left_ns", ns(status.confirm_left)},
                 {"certificate", json_of(status.certificate)}});
  return object;
}

Json json_of(const std::vector<NodeReport>& rows) {
  return listing("nodes", rows, [](const NodeReport& row) -> Json {
    return {{"node", row.node.value},          {"name", row.name},
            {"session", row.session},          {"applied", row.applied.value},
            {"silence_ns", ns(row.silence)},   {"lasers_latched_off", row.lasers_latched_off},
            {"devices", row.devices},          {"drained", row.drained},
            {"maintenance", row.maintenance},  {"jobs", job_list(row.jobs)},
            {"dark_because", row.dark_because}};
  });
}

Json json_of(const std::vector<DeviceReport>& rows) {
  return listing("devices", rows, [](const DeviceReport& row) -> Json {
    return {{"device", row.device.value},
            {"name", row.name},
            {"kind", to_string(row.kind)},
            {"node", row.agent.value},
            {"health", health_word(row.observation.health)},
            {"reading", std::visit(ReadingJson{}, row.observation.reading)},
            {"read_at_ns", ns_of(row.observation.read_at)},
            {"drift", loom::to_string(row.drift)},
            {"desired", row.desired ? std::visit(SetpointJson{}, *row.desired) : Json(nullptr)},
            {"by_hand", row.by_hand},
            {"adopted", row.adopted},
            {"lit_ways", row.lit_ways},
            {"unusable", row.unusable},
            {"fault", row.observation.fault}};
  });
}

Json json_of(const std::vector<CircuitReport>& rows) {
  return listing("circuits", rows, [](const CircuitReport& row) -> Json {
    return {{"circuit", row.circuit.id.value},
            {"job", row.circuit.job.value},
            {"source", row.circuit.source.value},
            {"destination", row.circuit.destination.value},
            {"transmitter", row.circuit.transmitter.value},
            {"receiver", row.circuit.receiver.value},
            {"frequency_mhz", centre_of(row.circuit.slot).mhz},
            {"slot_n", row.circuit.slot.n},
            {"slot_m", row.circuit.slot.m},
            {"rate_bps", row.circuit.rate.bits_per_second},
            {"timeslot", row.timeslot},
            {"light", loom::to_string(row.light)},
            {"oper_state", row.state},
            {"age_ms", age_ms(row.age)},
            {"why", row.why}};
  });
}

Json json_of(const std::vector<JobReport>& rows) {
  return listing("jobs", rows, [](const JobReport& row) -> Json {
    return {{"job", row.job.value},
            {"name", row.name},
            {"workload", row.workload},
            {"state", row.state},
            {"why", row.reason},
            {"stage", row.stage},
            {"stages", row.stages},
            {"nodes", node_list(row.nodes)},
            {"revision", row.revision.value},
            {"underflows", row.underflows},
            {"pinned", row.pinned},
            {"forwarded_pairs", row.forwarded_pairs},
            {"hops_most", row.hops_most},
            {"waiting_circuits", row.waiting_circuits},
            {"schedule", row.note},
            {"attended", row.attended},
            {"quiesce", row.quiesce.value},
            {"adapts", row.adapts},
            {"declared", row.declared},
            {"measured", row.measured},
            {"made_for", row.made_for},
            {"decision", row.decision}};
  });
}

Json json_of(const std::vector<CommitReport>& rows) {
  return listing("revisions", rows, [](const CommitReport& row) -> Json {
    return {{"revision", row.revision.value},
            {"base", row.base.value},
            {"outcome", to_string(row.outcome)},
            {"reason", row.reason},
            {"ordered_by", row.ordered_by},
            {"started", to_string(row.started_wall)},
            {"started_ns", ns_of(row.started)},
            {"agents", row.agents},
            {"circuits", row.circuits},
            {"touched", row.touched},
            {"switches_moved", row.switches_moved},
            {"plan_ns", ns(row.plan)},
            {"prepare_ns", ns(row.prepare)},
            {"arm_ns", ns(row.arm)},
            {"wait_ns", ns(row.wait)},
            {"darken_ns", ns(row.darken)},
            {"move_ns", ns(row.move)},
            {"relight_ns", ns(row.relight)},
            {"total_ns", ns(row.total)},
            {"prepare_ack", json_of(row.prepare_ack)},
            {"arm_ack", json_of(row.arm_ack)},
            {"slack", json_of(row.slack)},
            {"lateness", json_of(row.lateness)},
            {"dark", json_of(row.dark)},
            {"resent", row.resent},
            {"certificate", json_of(row.certificate)}};
  });
}

}  // namespace loom::cli
