// SPDX-License-Identifier: Apache-2.0
// Printing of trace summaries.
#include "controller/workload/import/trace_text.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/text/format_text.hpp"

namespace loom {

std::string byte_text(double bytes) {
  static constexpr std::array<const char*, 6> kUnits{"B", "KB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.3g %s", bytes, kUnits[unit]);
  return text.data();
}

nlohmann::ordered_json import_json(const TraceSummary& summary) {
  nlohmann::ordered_json answer;
  answer["api_version"] = 1;
  answer["format"] = summary.format;
  answer["ranks"] = summary.ranks;
  answer["ranks_present"] = summary.ranks_present;
  answer["nodes"] = summary.nodes;
  answer["iterations"] = summary.iterations;
  answer["collectives"] = nlohmann::ordered_json::array();
  for (const TraceCollective& row : summary.collectives) {
    nlohmann::ordered_json entry;
    entry["kind"] = std::string{to_string(row.kind)};
    entry["name"] = row.name;
    entry["group"] = row.group;
    entry["ranks"] = row.ranks;
    entry["bytes"] = row.bytes.count;
    entry["count"] = row.count;
    answer["collectives"].push_back(std::move(entry));
  }
  answer["unsized"] = summary.unsized;
  answer["unsized_names"] = summary.unsized_names;
  answer["compute_ms"] = milliseconds_of(summary.compute);
  answer["warnings"] = summary.warnings;
  return answer;
}

std::string import_table(const TraceSummary& summary) {
  std::string text =
      format_text("{}: {} ranks ({} in the file), {} nodes, {}{}", summary.format, summary.ranks, summary.ranks_present,
                  summary.nodes, summary.iterations, summary.iterations == 1 ? " iteration\n" : " iterations\n");
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(), "%-16s %-16s %-12s %6s %6s %10s\n", "collective", "in the trace", "group", "ranks",
                "count", "each");
  text += line.data();
  for (const TraceCollective& row : summary.collectives) {
    const std::string group = row.group.empty() ? "all" : row.group;
    std::snprintf(line.data(), line.size(), "%-16s %-16.16s %-12.12s %6u %6u %10s\n", std::string{to_string(row.kind)}.c_str(),
                  row.name.c_str(), group.c_str(), row.ranks, row.count,
                  byte_text(static_cast<double>(row.bytes.count)).c_str());
    text += line.data();
  }
  text += format_text("unsized: {}\n", summary.unsized);
  for (const std::string& name : summary.unsized_names) {
    text += format_text("  {}\n", name);
  }
  for (const std::string& warning : summary.warnings) {
    text += format_text("warning: {}\n", warning);
  }
  return text;
}

}  // namespace loom
