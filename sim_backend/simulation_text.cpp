// SPDX-License-Identifier: Apache-2.0
// A run as JSON: the answer of `loom sim run`, and the trace that Perfetto shows.
#include <array>
#include <cstdio>

#include "core/text/commit_trace.hpp"
#include "core/text/format_text.hpp"
#include "core/text/json_text.hpp"
#include "sim_backend/simulation.hpp"

namespace loom {
namespace {

template <class Items, class Print>
std::string listed(const Items& items, Print print) {
  std::string text;
  for (const auto& item : items) {
    text += (text.empty() ? "" : ",") + print(item);
  }
  return text;
}

}  // namespace

std::string to_json(const SimResult& result) {
  std::array<char, 24> digest{};
  std::snprintf(digest.data(), digest.size(), "%016llx", static_cast<unsigned long long>(result.digest));
  std::string out = format_text(
      "{{\"api_version\":1,\"seed\":{},\"digest\":{},\"events\":{},\"virtual_s\":{},\"wall_s\":{},\"revisions\":{{"
      "\"committed\":{},\"returned\":{},\"mixed\":{}}},\"violations\":[",
      result.seed, json_text(digest.data()), result.events, json_number(seconds_of(result.virtual_time)),
      json_number(result.wall_s), result.revisions.committed, result.revisions.returned, result.revisions.mixed);
  const auto violation_json = [](const Violation& violation) {
    return format_text("\"at_s\":{},\"rule\":{},\"evidence\":{}", json_number(seconds_of(violation.at.time_since_epoch())),
                       json_text(to_string(violation.rule)), json_text(violation.evidence));
  };
  out += listed(result.violations, [&](const Violation& each) { return format_text("{{{}}}", violation_json(each)); });
  out += "],\"excused\":[";
  out += listed(result.excused, [&](const ExcusedViolation& each) {
    return format_text("{{{},\"fault\":{}}}", violation_json(each.violation), json_text(each.fault));
  });
  out += format_text("],\"excused_count\":{}", result.excused_count);
  out += format_text(",\"as_expected\":{},\"jobs\":[", result.is_as_expected() ? "true" : "false");
  out += listed(result.account.jobs, [](const JobAccount& job) { return json_of(job); });
  out += "],\"actions\":[";
  out += listed(result.account.actions, [](const ActionAccount& action) { return json_of(action); });
  out += format_text("],\"underflows\":{},\"refusals\":[", result.underflows);
  out += listed(result.refusals, [](const std::string& refusal) { return json_text(refusal); });
  return out + "]}";
}

std::string to_trace(const World& world) {
  TraceEvents trace;
  name_commits(1, trace);
  trace.name_process(2, "light, by receiving node");
  for (const CommitReport& report : world.controller().history()) {
    add_commit(report, 1, trace);
  }
  for (const LitWindow& window : world.light().timeline()) {
    const Instant end = window.end == kNever ? world.loop_now() : window.end;
    trace.add({format_text("from node {}", window.source.value), "light", 2, window.destination.value, window.begin,
               end - window.begin});
  }
  return trace.text();
}

}  // namespace loom
