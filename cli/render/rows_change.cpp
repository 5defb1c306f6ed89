// Alarms, changes and explanations to tables and JSON.
#include <algorithm>

#include "cli/render/rows.hpp"
#include "cli/render/term.hpp"
#include "core/grid.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kChangesShown = 40;  ///< of a table; JSON has all

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string db_text(Db loss) {
  std::string text = loss.centi < 0 ? "+" : loss.centi > 0 ? "-" : "";
  const int size = std::abs(loss.centi);
  text += number(static_cast<std::uint64_t>(size / 100)) + "." + (size % 100 < 10 ? "0" : "") +
          number(static_cast<std::uint64_t>(size % 100));
  return text + " dB";
}

std::string_view state_of(const StandingAlarm& row) {
  return row.cleared ? "cleared" : row.acknowledged_by.empty() ? "OPEN" : "acknowledged";
}

}  // namespace

std::string text_of(const std::vector<StandingAlarm>& rows) {
  if (rows.empty()) {
    return {};
  }
  Table table({"id", "alarm", "state", "node", "device", "count", "first seen", "last seen", "evidence", "next"});
  for (const StandingAlarm& row : rows) {
    const Alarm& alarm = row.alarm;
    table.add({number(row.id.value), std::string(loom::to_string(alarm.code)), std::string(state_of(row)),
               row.node_count > 1 ? number(row.node_count) + " nodes"
               : alarm.node       ? number(alarm.node->value)
                                  : "-",
               alarm.device ? number(alarm.device->value) : "-", number(row.count), loom::to_string(row.first_seen_wall),
               loom::to_string(row.last_seen_wall), alarm.evidence, alarm.next_command});
  }
  return table.text();
}

std::string text_of(const ChangeReport& change) {
  std::string text;
  for (const JobMove& move : change.moves) {
    text += "job " + number(move.job.value) + ": node " + number(move.from.value) + " -> node " + number(move.to.value) + "\n";
  }
  if (!change.changes.empty()) {
    Table table({"change", "circuit", "job", "from", "to", "frequency"});
    const std::size_t shown = std::min(kChangesShown, change.changes.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const CircuitChange& row = change.changes[i];
      table.add({std::string(loom::to_string(row.kind)), number(row.circuit.id.value), number(row.circuit.job.value),
                 number(row.circuit.source.value), number(row.circuit.destination.value),
                 loom::to_string(centre_of(row.circuit.slot))});
    }
    text += table.text();
    if (shown < change.changes.size()) {
      text += "... and " + number(change.changes.size() - shown) + " more (--json has all)\n";
    }
  }
  return text + text_of(change.certificate);
}

/// Who else uses this circuit: pairs whose servers forward over it.
std::string forwarded_text(const CircuitExplanation& it) {
  constexpr std::size_t kShown = 8;
  if (it.forwarded_pairs == 0) {
    return "";
  }
  std::string text = "servers forward " + number(it.forwarded_pairs) + " other pairs over it:";
  for (std::size_t i = 0; i < std::min(kShown, it.forwarded.size()); ++i) {
    const HostRoute& route = it.forwarded[i];
    text += (i == 0 ? " " : ", ") + number(route.source.value);
    for (const NodeId node : route.through) {
      text += " > " + number(node.value);
    }
    text += " > " + number(route.destination.value);
  }
  return text + (it.forwarded_pairs > kShown ? ", ..." : "") + "\n";
}

std::string text_of(const CircuitExplanation& it) {
  const Circuit& circuit = it.circuit.circuit;
  std::string text = "circuit " + number(circuit.id.value) + " of job " + number(circuit.job.value) +
                     (it.job_name.empty() ? "" : " (" + it.job_name + ")") + ": node " + number(circuit.source.value) +
                     " -> node " + number(circuit.destination.value) + " at " + loom::to_string(centre_of(circuit.slot)) +
                     ", " + text_of(circuit.rate) + ", timeslot " + number(it.circuit.timeslot) + ", revision " +
                     number(it.revision.value) + ", " + std::string(loom::to_string(it.circuit.light)) + "\n";
  Table table(
      {"element", "kind", "in", "out", "loss", "power", "device", "desired", "applied", "observed", "drift", "problem"});
  for (const HopReport& hop : it.hops) {
    const bool is_end = hop.kind == "receiver";
    table.add({hop.name, hop.kind, number(hop.input), is_end ? "-" : number(hop.output), db_text(hop.loss),
               loom::to_string(hop.power_out), hop.device ? number(hop.device->value) : "-", hop.desired,
               hop.device ? number(hop.applied.value) : "-", hop.observed,
               hop.drift == Drift::none ? "" : std::string(loom::to_string(hop.drift)), hop.problem});
  }
  return text + table.text() + forwarded_text(it) + it.verdict + "\n";
}

Json json_of(const std::vector<StandingAlarm>& rows) {
  Json list = Json::array();
  for (const StandingAlarm& row : rows) {
    const Alarm& alarm = row.alarm;
    Json object{{"id", row.id.value},
                {"code", loom::to_string(alarm.code)},
                {"evidence", alarm.evidence},
                {"next_command", alarm.next_command},
                {"count", row.count},
                {"first_seen", loom::to_string(row.first_seen_wall)},
                {"last_seen", loom::to_string(row.last_seen_wall)},
                {"first_seen_ns", ns_of(row.first_seen)},
                {"last_seen_ns", ns_of(row.last_seen)},
                {"acknowledged_by", row.acknowledged_by},
                {"cleared", row.cleared}};
    object["node"] = alarm.node ? Json(alarm.node->value) : Json(nullptr);
    object["device"] = alarm.device ? Json(alarm.device->value) : Json(nullptr);
    object["revision"] = alarm.revision ? Json(alarm.revision->value) : Json(nullptr);
    object["nodes"] = Json::array();
    for (const NodeId node : row.nodes) {
      object["nodes"].push_back(node.value);
    }
    object["node_count"] = row.node_count;
    object["raised_by"] = row.from_agent ? "agent" : "controller";
    list.push_back(std::move(object));
  }
  Json object = answer();
  object["alarms"] = std::move(list);
  return object;
}

Json json_of(const ChangeReport& change) {
  Json moves = Json::array();
  for (const JobMove& move : change.moves) {
    moves.push_back({{"job", move.job.value}, {"from", move.from.value}, {"to", move.to.value}});
  }
  Json changes = Json::array();
  for (const CircuitChange& row : change.changes) {
    changes.push_back({{"change", loom::to_string(row.kind)},
                       {"circuit", row.circuit.id.value},
                       {"job", row.circuit.job.value},
                       {"source", row.circuit.source.value},
                       {"destination", row.circuit.destination.value},
                       {"slot_n", row.circuit.slot.n},
                       {"slot_m", row.circuit.slot.m},
                       {"frequency_mhz", centre_of(row.circuit.slot).mhz}});
  }
  Json object = answer();
  object.update({{"base", change.base.value},
                 {"agents", change.agents},
                 {"circuits", change.circuits},
                 {"touched", change.touched},
                 {"switches_moved", change.switches_moved},
                 {"certificate", json_of(change.certificate)},
                 {"plan_ns", change.plan.count()},
                 {"moves", std::move(moves)},
                 {"changes", std::move(changes)}});
  return object;
}

Json json_of(const CircuitExplanation& it) {
  const Circuit& circuit = it.circuit.circuit;
  Json hops = Json::array();
  for (const HopReport& hop : it.hops) {
    Json row{{"element", hop.element.value},
             {"name", hop.name},
             {"kind", hop.kind},
             {"input", hop.input},
             {"output", hop.output},
             {"loss_db", hop.loss.centi / 100.0},
             {"power_out_dbm", hop.power_out.centi / 100.0}};
    row["device"] = hop.device ? Json(hop.device->value) : Json(nullptr);
    row.update({{"desired", hop.desired},
                {"applied", hop.applied.value},
                {"observed", hop.observed},
                {"drift", loom::to_string(hop.drift)},
                {"problem", hop.problem}});
    hops.push_back(std::move(row));
  }
  Json forwarded = Json::array();
  for (const HostRoute& route : it.forwarded) {
    Json way = Json::array({route.source.value});
    for (const NodeId node : route.through) {
      way.push_back(node.value);
    }
    way.push_back(route.destination.value);
    forwarded.push_back(std::move(way));
  }
  Json object = answer();
  object.update({{"circuit", circuit.id.value},
                 {"job", circuit.job.value},
                 {"job_name", it.job_name},
                 {"source", circuit.source.value},
                 {"destination", circuit.destination.value},
                 {"frequency_mhz", centre_of(circuit.slot).mhz},
                 {"timeslot", it.circuit.timeslot},
                 {"light", loom::to_string(it.circuit.light)},
                 {"oper_state", it.circuit.state},
                 {"revision", it.revision.value},
                 {"sensitivity_dbm", it.sensitivity.centi / 100.0},
                 {"hops", std::move(hops)},
                 {"forwarded_pairs", it.forwarded_pairs},
                 {"forwarded", std::move(forwarded)},
                 {"verdict", it.verdict},
                 {"next_command", it.next_command}});
  return object;
}

}  // namespace loom::cli
