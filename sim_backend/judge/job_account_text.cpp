// SPDX-License-Identifier: Apache-2.0
// What became of a run's jobs, for people and for programs.
#include <algorithm>
#include <array>
#include <cstdio>

#include "core/text/format_text.hpp"
#include "core/text/json_text.hpp"
#include "sim_backend/judge/job_account.hpp"

namespace loom {
namespace {

constexpr std::size_t kJobsPrinted = 32;   ///< of more, only those that are worth a look
constexpr std::size_t kTimesPrinted = 12;  ///< of one job's darkness

std::string seconds_text(Duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f s", seconds_of(duration));
  return text.data();
}
std::string seconds_text(Instant instant) { return seconds_text(instant.time_since_epoch()); }

std::string bytes_text(Bytes bytes) {
  static constexpr std::array<const char*, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  auto value = static_cast<double>(bytes.count);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.3g %s", value, kUnits[unit]);
  return text.data();
}

std::string milliseconds_text(Duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f ms", milliseconds_of(duration));
  return text.data();
}

/// `142.100 ms each (p99 150.200 ms, predicted 141.000 ms), `
std::string times_text(const CarriedIterations& carried) {
  if (carried.count == 0) {
    return {};
  }
  return format_text("{}{} (p99 {}{}), ", milliseconds_text(carried.times.percentile(0.5)), carried.count == 1 ? "" : " each",
                     milliseconds_text(carried.times.percentile(0.99)),
                     carried.predicted ? ", predicted " + milliseconds_text(*carried.predicted) : "");
}

std::string iterations_text(const JobAccount& job) {
  std::string text = std::to_string(job.carried.count);
  if (job.iterations_wanted > 0) {
    text += format_text(" of {}", job.iterations_wanted);
  }
  const bool is_one = job.iterations_wanted == 0 ? job.carried.count == 1 : job.iterations_wanted == 1;
  return text + (is_one ? " iteration, " : " iterations, ") + times_text(job.carried) + bytes_text(job.carried.bytes) +
         (job.carried.why.empty() ? "" : format_text(" ({})", job.carried.why));
}

std::string line_of(const JobAccount& job, Instant end) {
  std::string line = format_text("job {}: {}{}", job.name, job.word.state, job.word.why.empty() ? "" : ": " + job.word.why);
  if (!job.submitted) {
    return line + "\n";
  }
  line += "; submitted at " + seconds_text(*job.submitted);
  if (is_refused(job.word) && job.light.lit.empty()) {
    return line + "\n";
  }
  line += job.ended < end ? (job.was_changed ? ", changed at " : ", ended at ") + seconds_text(job.ended) : "";
  return format_text("{}, lit {}, dark {}; {}\n", line, seconds_text(job.light.lit_time()), seconds_text(job.light.dark_time()),
                     iterations_text(job));
}

std::string text_of(const JobAccount& job, Instant end) {
  std::string text = line_of(job, end);
  std::size_t printed = 0;
  for (const DarkTime& time : job.light.dark) {
    if (++printed > kTimesPrinted) {
      text += format_text("  dark {} times more\n", job.light.dark.size() - kTimesPrinted);
      break;
    }
    text += format_text("  dark from {} to {}: {}{}\n", seconds_text(time.span.from), seconds_text(time.span.to), time.why,
                        time.planned ? " (planned)" : "");
  }
  for (const std::string& failure : job.failures) {
    text += format_text("  NOT EXPECTED: {}\n", failure);
  }
  return text;
}

bool is_worth_a_look(const JobAccount& job) {
  return !job.failures.empty() || std::ranges::any_of(job.light.dark, [](const DarkTime& time) { return !time.planned; });
}

std::string text_of(const ActionAccount& action) {
  std::string text = format_text("{} at {}: ", action.text, seconds_text(action.at));
  text += !action.answered ? "not answered" : action.refusal.empty() ? "accepted" : "refused: " + action.refusal;
  return format_text("{}\n{}", text, action.failure.empty() ? "" : format_text("  NOT EXPECTED: {}\n", action.failure));
}

/// null without an iteration; `predicted` is null where nothing was predicted.
std::string iteration_json(const CarriedIterations& carried) {
  if (carried.count == 0) {
    return "null";
  }
  return format_text("{{\"p50\":{},\"p99\":{},\"predicted\":{}}}", json_milliseconds(carried.times.percentile(0.5)),
                     json_milliseconds(carried.times.percentile(0.99)),
                     carried.predicted ? json_milliseconds(*carried.predicted) : "null");
}

template <class Items, class Print>
std::string list_of(const Items& items, Print print) {
  std::string text = "[";
  for (const auto& item : items) {
    text += (text.size() == 1 ? "" : ",") + print(item);
  }
  return text + "]";
}

}  // namespace

std::string text_of(const RunAccount& account) {
  std::string text;
  std::size_t silent = 0;
  for (const JobAccount& job : account.jobs) {
    if (account.jobs.size() <= kJobsPrinted || is_worth_a_look(job)) {
      text += text_of(job, account.end);
    } else {
      ++silent;
    }
  }
  if (silent > 0) {
    text += format_text("{}{} jobs as expected, dark only by plan (--json lists them)\n", silent,
                        silent < account.jobs.size() ? " more" : "");
  }
  for (const ActionAccount& action : account.actions) {
    text += text_of(action);
  }
  return text;
}

std::string json_of(const JobAccount& job) {
  const auto dark = [](const DarkTime& time) {
    return format_text("{{\"from_s\":{},\"to_s\":{},\"planned\":{},\"why\":{}}}", json_seconds(time.span.from),
                       json_seconds(time.span.to), time.planned ? "true" : "false", json_text(time.why));
  };
  return format_text(
      "{{\"name\":{},\"state\":{},\"why\":{},\"submitted_s\":{},\"ended_s\":{},\"lit_ms\":{},\"dark_ms\":{},\"dark\":{},"
      "\"iterations\":{},\"iterations_wanted\":{},\"iterations_why\":{},\"bytes\":{},\"bytes_from\":\"replay of one iteration, "
      "times iterations\",\"iteration_ms\":{},\"dark_ms_per_iteration\":{},\"failures\":{}}}",
      json_text(job.name), json_text(job.word.state), json_text(job.word.why),
      job.submitted ? json_seconds(*job.submitted) : "null", json_seconds(job.ended), json_milliseconds(job.light.lit_time()),
      json_milliseconds(job.light.dark_time()), list_of(job.light.dark, dark), job.carried.count,
      job.iterations_wanted == 0 ? "null" : std::to_string(job.iterations_wanted), json_text(job.carried.why),
      job.carried.bytes.count, iteration_json(job.carried),
      job.carried.count == 0 ? "null" : json_milliseconds(job.carried.times.dark_per_iteration()),
      list_of(job.failures, [](const std::string& failure) { return json_text(failure); }));
}

std::string json_of(const ActionAccount& action) {
  return format_text("{{\"action\":{},\"at_s\":{},\"answered_s\":{},\"refusal\":{},\"failure\":{}}}", json_text(action.text),
                     json_seconds(action.at), action.answered ? json_seconds(*action.answered) : "null",
                     action.refusal.empty() ? "null" : json_text(action.refusal),
                     action.failure.empty() ? "null" : json_text(action.failure));
}

}  // namespace loom
