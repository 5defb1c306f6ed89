// What became of a run's jobs, for people and for programs.
#include <algorithm>
#include <array>
#include <cstdio>

#include "sim_backend/json_text.hpp"
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

std::string iterations_text(const JobAccount& job) {
  std::string text = std::to_string(job.carried.count);
  if (job.iterations_wanted > 0) {
    text += " of " + std::to_string(job.iterations_wanted);
  }
  const bool is_one = job.iterations_wanted == 0 ? job.carried.count == 1 : job.iterations_wanted == 1;
  return text + (is_one ? " iteration, " : " iterations, ") + bytes_text(job.carried.bytes) +
         (job.carried.why.empty() ? "" : " (" + job.carried.why + ")");
}

std::string line_of(const JobAccount& job, Instant end) {
  std::string line = "job " + job.name + ": " + job.word.state + (job.word.why.empty() ? "" : ": " + job.word.why);
  if (!job.submitted) {
    return line + "\n";
  }
  line += "; submitted at " + seconds_text(*job.submitted);
  if (is_refused(job.word) && job.light.lit.empty()) {
    return line + "\n";
  }
  line += job.ended < end ? (job.was_changed ? ", changed at " : ", ended at ") + seconds_text(job.ended) : "";
  return line + ", lit " + seconds_text(job.light.lit_time()) + ", dark " + seconds_text(job.light.dark_time()) + "; " +
         iterations_text(job) + "\n";
}

std::string text_of(const JobAccount& job, Instant end) {
  std::string text = line_of(job, end);
  std::size_t printed = 0;
  for (const DarkTime& time : job.light.dark) {
    if (++printed > kTimesPrinted) {
      text += "  dark " + std::to_string(job.light.dark.size() - kTimesPrinted) + " times more\n";
      break;
    }
    text += "  dark from " + seconds_text(time.span.from) + " to " + seconds_text(time.span.to) + ": " + time.why +
            (time.planned ? " (planned)" : "") + "\n";
  }
  for (const std::string& failure : job.failures) {
    text += "  NOT EXPECTED: " + failure + "\n";
  }
  return text;
}

bool is_worth_a_look(const JobAccount& job) {
  return !job.failures.empty() || std::ranges::any_of(job.light.dark, [](const DarkTime& time) { return !time.planned; });
}

std::string text_of(const ActionAccount& action) {
  std::string text = action.text + " at " + seconds_text(action.at) + ": ";
  text += !action.answered ? "not answered" : action.refusal.empty() ? "accepted" : "refused: " + action.refusal;
  return text + "\n" + (action.failure.empty() ? "" : "  NOT EXPECTED: " + action.failure + "\n");
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
    text += std::to_string(silent) + (silent < account.jobs.size() ? " more" : "") +
            " jobs as expected, dark only by plan (--json lists them)\n";
  }
  for (const ActionAccount& action : account.actions) {
    text += text_of(action);
  }
  return text;
}

std::string json_of(const JobAccount& job) {
  const auto dark = [](const DarkTime& time) {
    return "{\"from_s\":" + json_seconds(time.span.from) + ",\"to_s\":" + json_seconds(time.span.to) +
           ",\"planned\":" + (time.planned ? "true" : "false") + ",\"why\":" + json_text(time.why) + "}";
  };
  return "{\"name\":" + json_text(job.name) + ",\"state\":" + json_text(job.word.state) +
         ",\"why\":" + json_text(job.word.why) + ",\"submitted_s\":" + (job.submitted ? json_seconds(*job.submitted) : "null") +
         ",\"ended_s\":" + json_seconds(job.ended) + ",\"lit_ms\":" + json_milliseconds(job.light.lit_time()) +
         ",\"dark_ms\":" + json_milliseconds(job.light.dark_time()) + ",\"dark\":" + list_of(job.light.dark, dark) +
         ",\"iterations\":" + std::to_string(job.carried.count) +
         ",\"iterations_wanted\":" + (job.iterations_wanted == 0 ? "null" : std::to_string(job.iterations_wanted)) +
         ",\"iterations_why\":" + json_text(job.carried.why) + ",\"bytes\":" + std::to_string(job.carried.bytes.count) +
         ",\"bytes_from\":\"replay of one iteration, times iterations\"" +
         ",\"failures\":" + list_of(job.failures, [](const std::string& failure) { return json_text(failure); }) + "}";
}

std::string json_of(const ActionAccount& action) {
  return "{\"action\":" + json_text(action.text) + ",\"at_s\":" + json_seconds(action.at) +
         ",\"answered_s\":" + (action.answered ? json_seconds(*action.answered) : "null") +
         ",\"refusal\":" + (action.refusal.empty() ? "null" : json_text(action.refusal)) +
         ",\"failure\":" + (action.failure.empty() ? "null" : json_text(action.failure)) + "}";
}

}  // namespace loom
