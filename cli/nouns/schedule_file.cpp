// SPDX-License-Identifier: Apache-2.0
// The keys of a schedule file and their ranges.
#include "cli/nouns/schedule_file.hpp"

#include "core/config/yaml/yaml_document.hpp"
#include "core/config/yaml/yaml_reader.hpp"
#include "core/limits.hpp"

namespace loom::cli {
namespace {

constexpr std::int64_t kLastNode = limits::kNodes - 1;
constexpr std::int64_t kLastElement = limits::kElements - 1;

std::optional<ElementId> element_of(YamlMap& row, const char* key) {
  if (row.find(key) == nullptr) {
    return std::nullopt;
  }
  return ElementId{static_cast<std::uint32_t>(row.integer(key, {0, kLastElement}, Rule::required))};
}

ScheduledCircuit circuit_of(const YamlNode& node, ErrorList& errors) {
  YamlMap row(node, "the circuit", errors);
  for (const char* ignored : {"circuit", "frequency_mhz", "rate_bps", "light", "oper_state", "age_ms", "why", "proof"}) {
    row.find(ignored);
  }
  ScheduledCircuit circuit;
  circuit.job = JobId{static_cast<std::uint64_t>(row.integer("job", {1, std::int64_t{1} << 62U}, Rule::required))};
  circuit.source = NodeId{static_cast<std::uint32_t>(row.integer("source", {0, kLastNode}, Rule::required))};
  circuit.destination = NodeId{static_cast<std::uint32_t>(row.integer("destination", {0, kLastNode}, Rule::required))};
  circuit.slot.n = static_cast<std::int32_t>(row.integer("slot_n", {-limits::kSlotN, limits::kSlotN}, Rule::required));
  circuit.slot.m = static_cast<std::int32_t>(row.integer("slot_m", {1, limits::kSlotM}, Rule::required));
  circuit.timeslot = static_cast<std::uint32_t>(row.integer("timeslot", {0, limits::kTimelineEntries - 1}, 0));
  circuit.transmitter = element_of(row, "transmitter");
  circuit.receiver = element_of(row, "receiver");
  row.finish();
  return circuit;
}

}  // namespace

Loaded<std::vector<ScheduledCircuit>> read_schedule(const std::filesystem::path& path) {
  const auto root = read_yaml(path);
  if (!root) {
    return {std::nullopt, root.errors};
  }
  ErrorList errors(path.string());
  YamlMap file(*root.value, "the schedule file", errors);
  for (const char* ignored : {"api_version", "algorithm", "fabric", "jobs", "revision", "certificate"}) {  // of loom plan -o
    file.find(ignored);
  }
  std::vector<ScheduledCircuit> circuits;
  const YamlNode* list = file.find("circuits");
  if (list == nullptr || list->kind != YamlNode::Kind::list) {
    file.error("circuits", "circuits must be a list, as loom schedule show --json prints it");
  } else {
    for (const YamlNode& node : list->items) {
      circuits.push_back(circuit_of(node, errors));
    }
  }
  file.finish();
  if (!errors.empty()) {
    return {std::nullopt, errors.sorted()};
  }
  return {std::move(circuits), {}};
}

}  // namespace loom::cli
