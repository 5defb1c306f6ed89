// SPDX-License-Identifier: Apache-2.0
// JSON out; circuits back in, pinned, through the planner itself.
#include "cli/plan/saved_plan.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/nouns/schedule_file.hpp"
#include "cli/output_file.hpp"
#include "cli/render/answer.hpp"
#include "controller/architectures/registry.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::ordered_json;

Json circuit_json(const Circuit& circuit, std::size_t timeslot) {
  return {{"circuit", circuit.id.value},
          {"job", circuit.job.value},
          {"source", circuit.source.value},
          {"destination", circuit.destination.value},
          {"slot_n", circuit.slot.n},
          {"slot_m", circuit.slot.m},
          {"timeslot", timeslot},
          {"transmitter", circuit.transmitter.value},
          {"receiver", circuit.receiver.value}};
}

std::unexpected<Error> refuse(const std::filesystem::path& path, ErrorCode code, const std::string& what) {
  return fail(code, format_text("{}: {}", path.string(), what));
}

/// Rank -> node of the jobs that the file lists.
std::map<JobId, std::vector<NodeId>> ranks_in(const std::filesystem::path& path) {
  std::map<JobId, std::vector<NodeId>> ranks;
  std::ifstream file(path);
  const Json root = Json::parse(file, nullptr, false);
  if (!root.is_object() || !root.contains("jobs") || !root["jobs"].is_array()) {
    return ranks;
  }
  for (const Json& job : root["jobs"]) {
    if (!job.is_object() || !job.contains("job") || !job["job"].is_number_unsigned() || !job.contains("nodes") ||
        !job["nodes"].is_array()) {
      continue;
    }
    std::vector<NodeId> nodes;
    for (const Json& node : job["nodes"]) {
      if (node.is_number_unsigned()) {
        nodes.push_back(NodeId{node.get<std::uint32_t>()});
      }
    }
    ranks[JobId{job["job"].get<std::uint64_t>()}] = std::move(nodes);
  }
  return ranks;
}

Result<Circuit> circuit_of(const std::filesystem::path& path, const Fabric& fabric, const ScheduledCircuit& row) {
  if (row.timeslot != 0) {
    return refuse(path, ErrorCode::unsupported,
                  format_text("timeslot {}: how long timeslots last is not in the file; nearest: a base whose light is static",
                              row.timeslot));
  }
  if (!row.transmitter || !row.receiver) {
    return refuse(path, ErrorCode::invalid_argument,
                  format_text("the circuit from node {} to node {} names no transmitter and receiver, as loom plan -o and loom "
                              "schedule show --json do",
                              row.source.value, row.destination.value));
  }
  if (row.transmitter->value >= fabric.elements.size() || row.receiver->value >= fabric.elements.size() ||
      row.source.value >= fabric.nodes.size() || row.destination.value >= fabric.nodes.size()) {
    return refuse(path, ErrorCode::invalid_argument,
                  format_text("a circuit from node {} to node {} does not exist on fabric \"{}\" of {} nodes", row.source.value,
                              row.destination.value, fabric.name, fabric.nodes.size()));
  }
  const auto* transmitter = std::get_if<Transmitter>(&fabric.element(*row.transmitter).kind);
  if (transmitter == nullptr || !std::holds_alternative<Receiver>(fabric.element(*row.receiver).kind)) {
    return refuse(path, ErrorCode::invalid_argument,
                  format_text("element {} or {} is no transmitter or receiver of fabric \"{}\"", row.transmitter->value,
                              row.receiver->value, fabric.name));
  }
  return Circuit{{}, row.job, row.source, row.destination, *row.transmitter, *row.receiver, row.slot, transmitter->rate};
}

}  // namespace

Result<void> write_plan(const std::filesystem::path& path, const Fabric& fabric, const PlanResult& result) {
  Json root = answer();
  root["algorithm"] = result.schedule.algorithm;
  root["fabric"] = fabric.name;
  root["jobs"] = Json::array();
  root["circuits"] = Json::array();
  for (const Job& job : result.intent.jobs) {
    Json nodes = Json::array();
    for (const NodeId node : job.nodes) {
      nodes.push_back(node.value);
    }
    root["jobs"].push_back({{"job", job.id.value}, {"name", job.spec.name}, {"workload", job.spec.workload}, {"nodes", nodes}});
    for (const JobSchedule& schedule : result.schedule.jobs) {
      if (schedule.job != job.id || job.stage >= schedule.stages.size()) {
        continue;
      }
      const auto& timeslots = schedule.stages[job.stage].timeslots;
      for (std::size_t i = 0; i < timeslots.size(); ++i) {
        for (const Circuit& circuit : timeslots[i].circuits) {
          root["circuits"].push_back(circuit_json(circuit, i));
        }
      }
    }
  }
  return write_text(path.string(), root.dump(1) + "\n", "-o");
}

Result<BasePlan> read_base(const std::filesystem::path& path, std::shared_ptr<const Fabric> fabric,
                           const std::string& algorithm) {
  const auto rows = read_schedule(path);
  if (!rows) {
    Error all{ErrorCode::invalid_config, {}};
    for (const ConfigError& error : rows.errors) {
      all.message += (all.message.empty() ? "" : "\n") + to_string(error);
    }
    return std::unexpected(std::move(all));
  }
  std::map<JobId, std::vector<Circuit>> circuits;
  std::map<JobId, std::set<NodeId>> ends;
  for (const ScheduledCircuit& row : *rows.value) {
    auto circuit = circuit_of(path, *fabric, row);
    if (!circuit) {
      return std::unexpected(std::move(circuit).error());
    }
    ends[row.job].insert({row.source, row.destination});
    circuits[row.job].push_back(*std::move(circuit));
  }
  BasePlan base;
  base.ranks = ranks_in(path);
  PlanRequest request;
  request.fabric = std::move(fabric);
  request.revision = Revision{1};
  request.next_circuit = CircuitId{1};
  request.algorithm = algorithm;
  for (auto& [id, lit] : circuits) {
    std::vector<NodeId>& nodes = base.ranks[id];
    if (std::set<NodeId>(nodes.begin(), nodes.end()) != ends[id]) {
      nodes.assign(ends[id].begin(), ends[id].end());
    }
    Job job{id, {}, nodes, 0};
    job.spec.node_count = static_cast<std::uint32_t>(nodes.size());
    request.intent.jobs.push_back(std::move(job));
    request.intent.pinned.push_back({id, {Stage{{Timeslot{std::move(lit)}}, 1}}});
  }
  std::erase_if(base.ranks, [&](const auto& each) { return !circuits.contains(each.first); });
  auto made = make_plan(all_architectures(), request);
  if (!made) {
    return refuse(path, made.error().code, "cannot be lit on this fabric: " + made.error().message);
  }
  base.next_circuit = (*made)->next_circuit;
  base.plan = std::shared_ptr<const Plan>(*made, &(*made)->plan);
  return base;
}

}  // namespace loom::cli
