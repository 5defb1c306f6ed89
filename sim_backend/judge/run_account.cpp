// SPDX-License-Identifier: Apache-2.0
// From a script's entries to the accounts of their jobs.
#include "sim_backend/judge/run_account.hpp"

#include <algorithm>

#include "controller/architectures/registry.hpp"
#include "controller/schedule/job_alone.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Entry = OperatorScript::Entry;
using State = OperatorScript::State;

/// Why an entry never became a job.
JobStatement word_without_job(const Entry& entry, const OperatorScript& script) {
  if (entry.state == State::refused) {
    return {"refused", entry.reason};
  }
  const std::string& after = entry.scripted.submission.after;
  const auto before = std::ranges::find_if(
      script.entries(), [&](const Entry& each) { return !after.empty() && each.scripted.submission.name == after; });
  if (before != script.entries().end() && before->state != State::ended && before->state != State::refused) {
    return {"waiting", format_text("job '{}' has not ended", after)};
  }
  return {"waiting", entry.state == State::waiting ? "the run ended before its time" : "its submission was not answered"};
}

CarriedIterations carried(const RunHistory& history, const LightTimeline& light, const JobLight& account,
                          const JobHistory& job_history, const Entry& entry,
                          const std::optional<ScheduleTimings>& timings = {}) {
  const CarriedQuestion question{entry.scripted.spec, history.schedule(job_history.job, job_history.until),
                                 entry.scripted.submission.iterations, timings.value_or(ScheduleTimings{}),
                                 timings.has_value()};
  return carried_by(history.plans(), light, account, job_history, question);
}

/// What the controller's own schedules are predicted with; nothing: nobody schedules for such a fabric.
std::optional<ScheduleTimings> timings_of(const Scenario& scenario) {
  const auto scheduler =
      all_architectures().find_scheduler(scenario.algorithm.empty() ? scenario.fabric->architecture : scenario.algorithm);
  return scheduler ? std::optional(timings_on(*scenario.fabric, scenario.controller, **scheduler)) : std::nullopt;
}

/// An order of the scenario, or its clock, ended the job.
bool was_cut(const Entry& entry, const OperatorScript& script) {
  const JobSubmission& submission = entry.scripted.submission;
  const auto cancels = [&](const OperatorScript::Action& action) {
    return action.what.kind == ActionKind::cancel && action.what.job == submission.name && action.asked_at != kNever;
  };
  return submission.runs_for != kForever || std::ranges::any_of(script.actions(), cancels);
}

JobAccount account_of(const RunHistory& history, const LinkWindows& windows, const RunEnd& run,
                      const std::optional<ScheduleTimings>& timings, std::size_t number) {
  const Entry& entry = run.script.entries()[number];
  JobAccount account;
  account.name = entry.scripted.submission.name;
  account.submitted = entry.submitted_at;
  account.iterations_wanted = entry.scripted.submission.iterations;
  account.ended = run.end;
  account.was_cut = was_cut(entry, run.script);
  const auto job_history = history_of(run.script, number, run.end);
  if (!job_history) {
    account.word = word_without_job(entry, run.script);
  } else {
    account.word = run.word_of(job_history->job);
    if (account.word.state.empty() && entry.ended_at) {
      account.word = {"ended", {}};  // a controller that started again since then knows nothing of it
    }
    account.ended = job_history->until;
    account.was_changed = job_history->until < run.end && !entry.ended_at;
    account.light = job_light(history.plans(), windows, *job_history, history.faults());
    if (is_refused(account.word) && account.light.lit.empty()) {
      account.light = {};  // it wanted none
    } else {
      account.carried = carried(history, run.light, account.light, *job_history, entry, timings);
    }
  }
  account.failures = failures_of(account, entry.scripted.submission, run.scenario);
  return account;
}

ActionAccount account_of(const OperatorScript::Action& action) {
  ActionAccount account{to_string(action.what), Instant{action.what.at}, action.answered_at, action.refusal, {}};
  account.at = action.asked_at == kNever ? account.at : action.asked_at;
  const std::string& expected = action.what.refused;
  if (!action.answered_at) {
    account.failure = action.asked_at == kNever ? "was never ordered" : "was not answered";
  } else if (expected.empty() && !action.refusal.empty()) {
    account.failure = "was refused: " + action.refusal;
  } else if (action.refusal.find(expected) == std::string::npos) {
    account.failure = format_text("expected to be refused with '{}'", expected);
  }
  return account;
}

}  // namespace

void RunHistory::note_schedule(Instant now, const JobSchedule& schedule) {
  auto& known = schedules_[schedule.job];
  if (known.empty() || known.back().second != schedule) {
    known.emplace_back(now, schedule);
  }
}

const JobSchedule* RunHistory::schedule(JobId job, Instant at) const {
  const auto found = schedules_.find(job);
  if (found == schedules_.end() || found->second.empty()) {
    return nullptr;
  }
  const auto after = std::ranges::upper_bound(found->second, at, {}, [](const auto& each) { return each.first; });
  return after == found->second.begin() ? &after->second : &(after - 1)->second;
}

std::optional<JobHistory> history_of(const OperatorScript& script, std::size_t entry, Instant now) {
  const Entry& own = script.entries()[entry];
  if (!own.submitted_at) {
    return std::nullopt;
  }
  const std::string& changes = own.scripted.submission.changes;
  const std::string& name = changes.empty() ? own.scripted.submission.name : changes;
  Instant until = now;
  for (const Entry& other : script.entries()) {
    const bool is_job = other.scripted.submission.name == name;
    const bool is_later_change = other.scripted.submission.changes == name && other.submitted_at > own.submitted_at;
    if (is_job && other.ended_at) {
      until = std::min(until, *other.ended_at);
    } else if (is_later_change) {
      until = std::min(until, *other.submitted_at);
    }
  }
  return JobHistory{own.job, *own.submitted_at, until};
}

CarriedIterations carried_so_far(const RunHistory& history, const LightTimeline& light, const OperatorScript& script,
                                 std::size_t entry, Instant now) {
  const auto job_history = history_of(script, entry, now);
  if (!job_history) {
    return {};
  }
  const JobLight account = job_light(history.plans(), LinkWindows(light), *job_history, {});
  return carried(history, light, account, *job_history, script.entries()[entry]);
}

IterationVerdict judge_iterations(const CarriedIterations& carried, std::uint32_t wanted, const JobStatement& word, Instant now,
                                  std::uint32_t looks) {
  constexpr Duration kFirstPause = std::chrono::milliseconds{20};
  constexpr Duration kLongestPause = std::chrono::seconds{1};
  constexpr std::uint32_t kLooksInVain = 10;  // more than 5 s
  constexpr std::uint32_t kLooksMost = 600;   // ten minutes of an iteration that is never whole
  const bool is_foreseen = carried.due > now && carried.due != kNever;
  const bool is_played = carried.count > 0 && !carried.why.empty();  // its timeslots, and no more come
  IterationVerdict look;
  look.is_done = carried.count >= wanted && !is_foreseen;
  const bool is_in_vain = looks >= (now < carried.hoped_until ? kLooksMost : kLooksInVain);
  look.is_hopeless = is_refused(word) || is_played || (is_at_rest(word) && !is_foreseen && is_in_vain);
  look.again =
      is_foreseen ? carried.due : now + std::min(kLongestPause, kFirstPause * (std::int64_t{1} << std::min(looks, 10U)));
  return look;
}

RunAccount run_account(const RunHistory& history, const RunEnd& run) {
  RunAccount account;
  account.end = run.end;
  const LinkWindows windows(run.light);
  const auto timings = timings_of(run.scenario);
  for (std::size_t i = 0; i < run.script.entries().size(); ++i) {
    account.jobs.push_back(account_of(history, windows, run, timings, i));
  }
  for (const OperatorScript::Action& action : run.script.actions()) {
    account.actions.push_back(account_of(action));
  }
  return account;
}

}  // namespace loom
