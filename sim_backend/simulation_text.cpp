// A run as JSON: the answer of `loom sim run`, and the trace that Perfetto shows.
#include <array>
#include <cstdio>

#include "sim_backend/simulation.hpp"

namespace loom {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(letter));
      out += escape.data();
    } else {
      out += letter;
    }
  }
  return out + '"';
}

std::string number(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

/// Nanoseconds as microseconds, exactly.
std::string microseconds(Duration duration) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%lld.%03lld", static_cast<long long>(duration.count() / 1'000),
                static_cast<long long>(duration.count() % 1'000));
  return text.data();
}

std::string span(std::string_view name, std::string_view lane, std::uint64_t process, std::uint64_t thread, Instant begin,
                 Duration length) {
  return "{\"ph\":\"X\",\"name\":" + quoted(name) + ",\"cat\":" + quoted(lane) + ",\"pid\":" + std::to_string(process) +
         ",\"tid\":" + std::to_string(thread) + ",\"ts\":" + microseconds(begin.time_since_epoch()) +
         ",\"dur\":" + microseconds(length) + "}";
}

std::string process_name(std::uint64_t process, std::string_view name) {
  return "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(process) + ",\"args\":{\"name\":" + quoted(name) +
         "}}";
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

}  // namespace

std::string to_json(const SimResult& result) {
  std::array<char, 24> digest{};
  std::snprintf(digest.data(), digest.size(), "%016llx", static_cast<unsigned long long>(result.digest));
  std::string out = "{\"api_version\":1,\"seed\":" + std::to_string(result.seed) + ",\"digest\":" + quoted(digest.data()) +
                    ",\"events\":" + std::to_string(result.events) +
                    ",\"virtual_s\":" + number(seconds_of(result.virtual_time)) + ",\"wall_s\":" + number(result.wall_s) +
                    ",\"revisions\":{\"committed\":" + std::to_string(result.revisions.committed) +
                    ",\"returned\":" + std::to_string(result.revisions.returned) +
                    ",\"mixed\":" + std::to_string(result.revisions.mixed) + "},\"violations\":[";
  for (std::size_t i = 0; i < result.violations.size(); ++i) {
    const Violation& violation = result.violations[i];
    out += std::string(i == 0 ? "" : ",") + "{\"at_s\":" + number(seconds_of(violation.at.time_since_epoch())) +
           ",\"rule\":" + quoted(to_string(violation.rule)) + ",\"evidence\":" + quoted(violation.evidence) + "}";
  }
  out += "],\"underflows\":" + std::to_string(result.underflows) + ",\"refusals\":[";
  for (std::size_t i = 0; i < result.refusals.size(); ++i) {
    out += std::string(i == 0 ? "" : ",") + quoted(result.refusals[i]);
  }
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
