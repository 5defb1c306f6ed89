// SPDX-License-Identifier: Apache-2.0
// A commit beside its physical limit, architecture by architecture: plays scenarios in labs of real processes several times and
// compares each revision's time and darkness with what the slowest device that it moves promises to need by itself. The
// machine's own floor, a thread that sleeps until an instant and does nothing else, is measured in the same run.
#include <pthread.h>
#include <sched.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/page_table.hpp"

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kScenarios[] = {"first_light", "topoopt_432", "sip_ocs_1024", "sip_ring_1024"};
// docs/performance.md says which figures these are.
constexpr double kTotalFactor = 1.25;
constexpr double kTotalExtraMs = 30;
constexpr double kDarkFactor = 1.25;
constexpr double kDarkExtraMs = 5;

struct Options {
  int runs = 3;
  std::vector<std::string> scenarios;
  std::string loom;
  std::string source = LOOM_SOURCE_DIR;
  std::string page;
  bool json = false;
  bool realtime = false;
};

/// Of one kind of commit in one scenario; milliseconds.
struct Samples {
  std::string slowest;
  std::uint64_t agents = 0;   ///< that took part, of the largest
  std::uint64_t touched = 0;  ///< circuits, likewise
  std::vector<double> limit;
  std::map<std::string, std::vector<double>> times;
  std::vector<double> total_ratio;
  std::vector<double> dark_ratio;
  std::vector<double> prediction_error;  ///< of the dark, percent: above 0, it was longer than predicted
};

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Json spread(const std::vector<double>& values) {
  if (values.empty()) {
    return nullptr;
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {{"min", *least}, {"median", median(values)}, {"max", *most}, {"samples", values.size()}};
}

/// How late a bare thread wakes from an absolute sleep, ms; what `cyclictest -m -p 10` measures. Empty: `fifo` is not
/// permitted.
std::vector<double> sleep_lateness(bool fifo) {
  std::vector<double> late;
  sched_param priority{};
  priority.sched_priority = 10;
  if (fifo && pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) != 0) {
    return late;
  }
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  for (int i = 0; i < 500; ++i) {
    until.tv_nsec += 2'000'000;
    if (until.tv_nsec >= 1'000'000'000) {
      until.tv_nsec -= 1'000'000'000;
      ++until.tv_sec;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
    }
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    late.push_back(static_cast<double>(now.tv_sec - until.tv_sec) * 1e3 +
                   static_cast<double>(now.tv_nsec - until.tv_nsec) / 1e6);
  }
  std::sort(late.begin(), late.end());
  return late;
}

Json lateness(bool fifo) {
  std::vector<double> late;
  std::thread([&] { late = sleep_lateness(fifo); }).join();
  return late.empty() ? Json() : Json{{"p50", late[late.size() / 2]}, {"p99", late[late.size() * 99 / 100]}};
}

/// What the command writes to its output; nothing: it failed.
std::optional<std::string> output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (pipe == nullptr) {
    return std::nullopt;
  }
  std::string text;
  std::array<char, 65'536> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    text.append(buffer.data(), count);
  }
  return text;
}

double milliseconds(const Json& revision, const char* key) { return revision.at(key).get<double>() / 1e6; }

/// A revision that moves nothing has no limit, and one that nobody took part in no times.
void take(const Json& revision, bool is_first, std::map<std::string, Samples>& kinds) {
  const double limit = milliseconds(revision, "slowest_ns");
  if (revision.at("outcome") != "committed" || limit <= 0) {
    return;
  }
  Samples& samples = kinds[is_first ? "first" : "later"];
  samples.slowest = revision.at("slowest");
  samples.agents = std::max(samples.agents, revision.at("agents").get<std::uint64_t>());
  samples.touched = std::max(samples.touched, revision.at("touched").get<std::uint64_t>());
  samples.limit.push_back(limit);
  for (const char* stage : {"plan", "prepare", "arm", "wait", "darken", "move", "relight", "total"}) {
    samples.times[stage].push_back(milliseconds(revision, (std::string(stage) + "_ns").c_str()));
  }
  const double dark = milliseconds(revision.at("dark"), "max_ns");
  samples.times["dark_max"].push_back(dark);
  samples.times["prepare_ack_p50"].push_back(milliseconds(revision.at("prepare_ack"), "p50_ns"));
  samples.times["prepare_ack_p99"].push_back(milliseconds(revision.at("prepare_ack"), "p99_ns"));
  samples.times["lateness_p50"].push_back(milliseconds(revision.at("lateness"), "p50_ns"));
  samples.times["lateness_p99"].push_back(milliseconds(revision.at("lateness"), "p99_ns"));
  const double predicted = milliseconds(revision, "dark_predicted_ns");
  if (!is_first && predicted > 0) {  // of a first commit nothing but its device is known
    samples.prediction_error.push_back(100 * (dark - predicted) / dark);
  }
  samples.total_ratio.push_back(samples.times["total"].back() / limit);
  samples.dark_ratio.push_back(dark / limit);
}

/// False: the lab did not run, and why was said.
bool play(const Options& options, const std::string& scenario, std::map<std::string, Samples>& kinds) {
  const fs::path state = fs::temp_directory_path() / ("commit_time-" + std::to_string(getpid()));
  const std::string file = options.source + "/configs/scenarios/" + scenario + ".yaml";
  const auto text = output_of("'" + options.loom + "' --state '" + state.string() + "' --json lab run '" + file + "' --fresh" +
                              (options.realtime ? " --realtime" : "") + " 2>/dev/null");
  fs::remove_all(state);
  const Json report = Json::parse(text.value_or(""), nullptr, false);
  if (report.is_discarded() || !report.contains("jobs")) {
    std::fprintf(stderr, "%s: the lab did not report; run %s lab run %s\n", scenario.c_str(), options.loom.c_str(),
                 file.c_str());
    return false;
  }
  std::map<std::uint64_t, Json> revisions;  // two jobs may name the same
  for (const Json& job : report.at("jobs")) {
    for (const Json& revision : job.value("revisions", Json::array())) {  // a job that never had light has none
      revisions[revision.at("revision")] = revision;
    }
  }
  for (const auto& [number, revision] : revisions) {
    take(revision, number == revisions.begin()->first, kinds);
  }
  return true;
}

Json row_of(const std::string& scenario, const std::string& kind, const Samples& samples) {
  const double limit = median(samples.limit);
  Json row{{"scenario", scenario},       {"commits", kind},
           {"agents", samples.agents},   {"touched", samples.touched},
           {"slowest", samples.slowest}, {"limit_ms", spread(samples.limit)}};
  for (const auto& [name, values] : samples.times) {
    row[name + "_ms"] = spread(values);
  }
  row["total_ratio"] = spread(samples.total_ratio);
  row["dark_ratio"] = spread(samples.dark_ratio);
  row["dark_prediction_error_percent"] = spread(samples.prediction_error);
  row["total_target_ms"] = kTotalFactor * limit + kTotalExtraMs;
  row["dark_target_ms"] = kDarkFactor * limit + kDarkExtraMs;
  return row;
}

std::string cell(const Json& spread) {
  if (spread.is_null()) {
    return "-";
  }
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%.1f (%.1f-%.1f)", spread.at("median").get<double>(), spread.at("min").get<double>(),
                spread.at("max").get<double>());
  return text.data();
}

std::string fixed(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string late_text(const Json& late) {
  return late.is_null() ? "(not permitted)"
                        : fixed(1e3 * late.at("p50").get<double>()) + " us late (p50), " +
                              fixed(1e3 * late.at("p99").get<double>()) + " us (p99)";
}

std::string markdown(const Json& report) {
  std::ostringstream out;
  out << "| scenario | commits | agents | slowest device alone | total | ratio | target | dark | ratio | target | prepare + "
         "ack "
         "p99 | wait | darken | move | relight | fired late p50 | p99 | dark beyond prediction, % |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Json& row : report.at("rows")) {
    out << "| " << row.at("scenario").get<std::string>() << " | " << row.at("commits").get<std::string>() << ", "
        << row.at("total_ms").at("samples") << " | " << row.at("agents") << " | " << fixed(row.at("limit_ms").at("median"))
        << " | " << cell(row.at("total_ms")) << " | " << fixed(row.at("total_ratio").at("median")) << "x | "
        << fixed(row.at("total_target_ms")) << " | " << cell(row.at("dark_max_ms")) << " | "
        << fixed(row.at("dark_ratio").at("median")) << "x | " << fixed(row.at("dark_target_ms"));
    for (const char* name : {"prepare_ack_p99_ms", "wait_ms", "darken_ms", "move_ms", "relight_ms", "lateness_p50_ms",
                             "lateness_p99_ms", "dark_prediction_error_percent"}) {
      out << " | " << cell(row.at(name));
    }
    out << " |\n";
  }
  out << "\nmilliseconds, median (least-most); a bare thread that sleeps until an instant woke "
      << late_text(report.at("sleep_late_ms")) << ",\nat SCHED_FIFO " << late_text(report.at("fifo_sleep_late_ms")) << "\n";
  return out.str();
}

int run(const Options& options) {
  Json report;
  utsname machine{};
  uname(&machine);
  report["kernel"] = std::string(machine.release);
  report["cores"] = std::thread::hardware_concurrency();
  report["runs"] = options.runs;
  report["sleep_late_ms"] = lateness(false);
  report["fifo_sleep_late_ms"] = lateness(true);
  report["rows"] = Json::array();
  for (const std::string& scenario : options.scenarios) {
    std::map<std::string, Samples> kinds;
    for (int i = 0; i < options.runs; ++i) {
      if (!play(options, scenario, kinds)) {
        return 1;
      }
    }
    for (const auto& [kind, samples] : kinds) {
      report["rows"].push_back(row_of(scenario, kind, samples));
    }
  }
  if (options.json) {
    std::printf("%s\n", report.dump(2).c_str());
  } else {
    std::fputs(markdown(report).c_str(), stdout);
  }
  return options.page.empty() || loom::write_page_table(options.page, "commit_time", markdown(report)) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Times commits beside what their slowest device promises to need by itself, in labs of real processes"};
  app.add_option("--runs", options.runs, "Labs of each scenario")->check(CLI::Range(1, 100));
  app.add_option("--scenario", options.scenarios, "Names in configs/scenarios; may be repeated");
  app.add_option("--loom", options.loom, "The operator's program; else the one of this build");
  app.add_option("--page", options.page, "Also write the table into this page, between its marks");
  app.add_flag("--realtime", options.realtime, "Labs with --realtime");
  app.add_flag("--json", options.json, "All figures as one JSON object");
  CLI11_PARSE(app, argc, argv);
  if (options.scenarios.empty()) {
    options.scenarios.assign(std::begin(kScenarios), std::end(kScenarios));
  }
  if (options.loom.empty()) {
    options.loom = (fs::canonical(argv[0]).parent_path().parent_path() / "bin" / "loom").string();
  }
  return run(options);
}
