// A run as JSON: the answer of `loom sim run`, and the trace that Perfetto shows.
#include <array>
#include <cstdio>

#include "sim_backend/json_text.hpp"
#include "sim_backend/simulation.hpp"

namespace loom {
namespace {

/// Nanoseconds as microseconds, exactly.
std::string microseconds(Duration duration) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%lld.%03lld", static_cast<long long>(duration.count() / 1'000),
                static_cast<long long>(duration.count() % 1'000));
  return text.data();
}

std::string span(std::string_view name, std::string_view lane, std::uint64_t process, std::uint64_t thread, Instant begin,
                 Duration length) {
  return "{\"ph\":\"X\",\"name\":" + json_text(name) + ",\"cat\":" + json_text(lane) + ",\"pid\":" + std::to_string(process) +
         ",\"tid\":" + std::to_string(thread) + ",\"ts\":" + microseconds(begin.time_since_epoch()) +
         ",\"dur\":" + microseconds(length) + "}";
}

std::string process_name(std::uint64_t process, std::string_view name) {
  return "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(process) +
         ",\"args\":{\"name\":" + json_text(name) + "}}";
}

void add_commit(const CommitReport& report, std::vector<std::string>& events) {
  const std::string name = "revision " + std::to_string(report.revision.value) + " " + std::string(to_string(report.outcome));
  events.push_back(span(name, "commit", 1, 0, report.started, report.total));
  const std::array<std::pair<std::string_view, Duration>, 6> stages{{{"prepare", report.prepare},
                                                                     {"arm", report.arm},
                                                                     {"wait", report.wait},
                                                                     {"darken", report.darken},
                                                                     {"move", report.move},
                                                                     {"relight", report.relight}}};
  Instant begin = report.started;
  for (const auto& [stage, length] : stages) {
    events.push_back(span(stage, "stage", 1, 1, begin, length));
    begin += length;
  }
}

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
  std::string out = "{\"api_version\":1,\"seed\":" + std::to_string(result.seed) + ",\"digest\":" + json_text(digest.data()) +
                    ",\"events\":" + std::to_string(result.events) +
                    ",\"virtual_s\":" + json_number(seconds_of(result.virtual_time)) +
                    ",\"wall_s\":" + json_number(result.wall_s) +
                    ",\"revisions\":{\"committed\":" + std::to_string(result.revisions.committed) +
                    ",\"returned\":" + std::to_string(result.revisions.returned) +
                    ",\"mixed\":" + std::to_string(result.revisions.mixed) + "},\"violations\":[";
  const auto violation_json = [](const Violation& violation) {
    return "\"at_s\":" + json_number(seconds_of(violation.at.time_since_epoch())) +
           ",\"rule\":" + json_text(to_string(violation.rule)) + ",\"evidence\":" + json_text(violation.evidence);
  };
  out += listed(result.violations, [&](const Violation& each) { return "{" + violation_json(each) + "}"; });
  out += "],\"excused\":[";
  out += listed(result.excused, [&](const ExcusedViolation& each) {
    return "{" + violation_json(each.violation) + ",\"fault\":" + json_text(each.fault) + "}";
  });
  out += "],\"excused_count\":" + std::to_string(result.excused_count);
  out += ",\"as_expected\":" + std::string(result.is_as_expected() ? "true" : "false") + ",\"jobs\":[";
  out += listed(result.account.jobs, [](const JobAccount& job) { return json_of(job); });
  out += "],\"actions\":[";
  out += listed(result.account.actions, [](const ActionAccount& action) { return json_of(action); });
  out += "],\"underflows\":" + std::to_string(result.underflows) + ",\"refusals\":[";
  out += listed(result.refusals, [](const std::string& refusal) { return json_text(refusal); });
  return out + "]}";
}

std::string to_trace(const World& world) {
  std::vector<std::string> events{process_name(1, "commits"), process_name(2, "light, by receiving node")};
  for (const CommitReport& report : world.controller().history()) {
    add_commit(report, events);
  }
  for (const LitWindow& window : world.light().timeline()) {
    const Instant end = window.end == kNever ? world.loop_now() : window.end;
    events.push_back(span("from node " + std::to_string(window.source.value), "light", 2, window.destination.value,
                          window.begin, end - window.begin));
  }
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    out += events[i] + (i + 1 < events.size() ? ",\n" : "\n");
  }
  return out + "]}\n";
}

}  // namespace loom
