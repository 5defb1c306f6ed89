// SPDX-License-Identifier: Apache-2.0
// One loop: what is due, what the controller says, what the light has carried.
#include "cli/lab/run/operator.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "controller/architectures/registry.hpp"
#include "controller/plan/pipeline.hpp"
#include "core/text/format_text.hpp"
#include "runtime/clock.hpp"

namespace loom::cli {
namespace {

constexpr auto kPollInterval = std::chrono::milliseconds{20};
/// A run without a duration in which nothing changes for so long is over.
constexpr Duration kPatience = std::chrono::seconds{60};
/// After so long it says what it waits for.
constexpr Duration kSilence = std::chrono::seconds{5};
/// A question that was not answered is asked again by `loom` itself; the script only looks when that was in vain.
constexpr Duration kScriptPatience = std::chrono::seconds{3};

Instant last_action_of(const Scenario& scenario) {
  Instant last{};
  for (const ScenarioFault& fault : scenario.device_faults) {
    last = std::max(last, Instant{fault.at});
  }
  for (const ScenarioAction& action : scenario.actions) {
    last = std::max(last, Instant{action.at});
  }
  return last;
}

/// All light of its last stage; whether timeslots and grants have carried everything, the light tells.
bool is_in_light(const JobReport& row) {
  const bool is_last = row.stages > 0 && row.stage + 1 >= row.stages;
  return row.state == "ended" || (is_at_rest({row.state, row.reason}) && is_last && row.waiting_circuits == 0);
}

}  // namespace

LabOperator::LabOperator(LabRecord& lab, std::vector<ScriptedJob> jobs, Instant zero)
    : lab_(lab),
      zero_(zero),
      script_(std::move(jobs), kScriptPatience, lab.scenario.actions),
      history_(lab, zero),
      faults_(lab, history_),
      watches_(script_.entries().size()),
      last_action_(last_action_of(lab.scenario)) {}

Instant LabOperator::now() const { return history_.in_run(monotonic_now()); }

Result<void> LabOperator::run() {
  const Instant end = lab_.scenario.duration == kForever ? kNever : Instant{lab_.scenario.duration};
  Instant patience = kNever;
  for (;;) {
    if (lab_.is_interrupted()) {
      return fail(ErrorCode::timed_out, "interrupted");
    }
    LOOM_TRY(faults_.act(now()));
    if (!faults_.controller_is_down()) {
      LOOM_TRY(step(TimerFired{}));
      LOOM_TRY(poll());
      LOOM_TRY(look_at_iterations());
      show_progress();
    }
    const Instant at = now();
    if (at >= end && patience == kNever) {
      script_.stop();
      patience = at + kPatience;
    }
    const bool is_done = end == kNever ? script_.is_done() && at >= last_action_ && faults_.is_over() : at >= end;
    const bool waits = end == kNever && is_waiting_in_vain(at);
    const bool is_stuck = end == kNever ? waits && at - changed_at_ > kPatience : is_done && at > patience;
    if (waits && at - changed_at_ > kSilence && told_of_ != changed_at_ && !(is_done && is_settled())) {
      told_of_ = changed_at_;
      print_note(format_text("{}; if that stays so, the run ends {} s after the last change", unsettled(),
                             kPatience / std::chrono::seconds{1}));
    }
    if ((is_done && is_settled()) || is_stuck) {
      end_ = at;
      progress_.finish(is_stuck ? "not at rest: " + unsettled() : "at rest after " + text_of(at.time_since_epoch()));
      break;
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  if (!faults_.controller_is_down()) {
    LOOM_TRY(history_.note_commits(*lab_.connection));
  }
  return history_.read();
}

Result<void> LabOperator::step(const Event& event) {
  EffectSink sink;
  script_.step(now(), event, sink);
  for (const Effect& effect : sink.effects()) {
    if (const auto* send = std::get_if<Send>(&effect)) {
      LOOM_TRY(carry_out(*send));
    }
  }
  return {};
}

/// Nothing is left to order, and no light carries what is counted.
bool LabOperator::is_waiting_in_vain(Instant at) const {
  const bool carries = std::ranges::any_of(script_.entries(), [this](const OperatorScript::Entry& entry) {
    return entry.state == OperatorScript::State::running && entry.counts_iterations && word_of(entry.job).state == "lit";
  });
  return !carries && script_.has_asked_all() && at >= last_action_ && faults_.is_over();
}

/// A refusal is an answer. No answer is none: the script looks or asks again in its own time.
Result<void> LabOperator::carry_out(const Send& send) {
  const auto& request = std::get<OperatorRequest>(send.envelope.body);
  if (const auto* lasers = std::get_if<LasersRequest>(&request.ask)) {
    history_.note_lasers(lasers->on, now());
  }
  auto reply = lab_.connection->ask(request.ask);
  if (!reply && (reply.error().code == ErrorCode::timed_out || reply.error().code == ErrorCode::unreachable)) {
    return {};
  }
  MessageArrived arrived;
  OperatorReply answer;
  if (reply) {
    answer = std::move(*reply);
  } else {
    answer.outcome.error = reply.error();
  }
  answer.request = request.request;
  arrived.envelope.body = std::move(answer);
  return step(arrived);
}

Result<void> LabOperator::poll() {
  auto status = lab_.connection->ask(Query{Noun::status, {}});
  auto jobs = status ? lab_.connection->ask(Query{Noun::jobs, {}}) : Result<OperatorReply>(std::unexpected(status.error()));
  if (!jobs) {
    return std::unexpected(jobs.error());
  }
  const StatusReport before = std::exchange(status_, std::get<StatusReport>(status->rows));
  for (JobReport& row : std::get<std::vector<JobReport>>(jobs->rows)) {
    // Only what was never so before: a stage that a busy host has played again and again for missed timeslots, revision after
    // revision, brings nobody nearer to the end.
    const bool is_news = met_[row.job].emplace(row.state, row.stage, row.cycles_done).second;
    changed_at_ = is_news ? now() : changed_at_;
    if (!is_over({row.state, row.reason})) {
      placed_[row.job] = row;
    }
    rows_[row.job] = std::move(row);
  }
  if (status_.revision != before.revision || status_.under_way != before.under_way) {
    LOOM_TRY(history_.note_commits(*lab_.connection));
  }
  return status_.revision != before.revision ? note_schedules() : Result<void>{};
}

/// Whatever the controller lights now; of a job that came and went between two looks nothing is known.
Result<void> LabOperator::note_schedules() {
  auto reply = lab_.connection->ask(Query{Noun::schedules, {}});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  const auto& parts = std::get<std::vector<SchedulePart>>(reply->rows);
  for (auto first = parts.begin(); first != parts.end();) {
    const auto last = std::find_if(first, parts.end(), [&](const SchedulePart& part) { return part.job != first->job; });
    history_.note_schedule(now(), join_parts({first, last}));
    first = last;
  }
  return {};
}

/// Jobs of so many iterations end when their light has carried them; others have carried one before a run without a duration
/// is over.
Result<void> LabOperator::look_at_iterations() {
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    const OperatorScript::Entry& entry = script_.entries()[i];
    const auto row = rows_.find(entry.job);
    const bool counts = entry.scripted.submission.iterations > 0 || lab_.scenario.duration == kForever;
    const bool is_due = counts && entry.submitted_at && !watches_[i].is_over && now() >= watches_[i].again;
    if (is_due && row != rows_.end() && loom::is_over({row->second.state, row->second.reason})) {
      script_.await_no_end(i);  // refused where it was planned, or ended by somebody else
      watches_[i].is_over = true;
      continue;
    }
    if (!is_due || row == rows_.end() || !is_in_light(row->second)) {
      continue;
    }
    const auto is_over = look_at(i);
    if (!is_over) {
      return std::unexpected(is_over.error());
    }
    watches_[i].is_over = *is_over;
  }
  return {};
}

Result<bool> LabOperator::look_at(std::size_t number) {
  const OperatorScript::Entry& entry = script_.entries()[number];
  LOOM_TRY(history_.note_commits(*lab_.connection));
  LOOM_TRY(history_.read());
  const Instant at = now();
  const CarriedIterations carried = carried_so_far(history_.run(), history_.light(), script_, number, at);
  const std::uint32_t wanted = entry.scripted.submission.iterations;
  const IterationVerdict look =
      judge_iterations(carried, std::max(1U, wanted), word_of(entry.job), at, watches_[number].looks++);
  watches_[number].again = look.again;
  if (carried.count > watches_[number].carried || (carried.due > at && carried.due != kNever)) {
    changed_at_ = std::max(at, carried.due == kNever ? at : carried.due);  // something is to be expected until then
  }
  watches_[number].carried = std::max(watches_[number].carried, carried.count);
  if (look.is_done && wanted > 0) {
    script_.end_job(number, at);
  } else if (look.is_hopeless) {
    script_.await_no_end(number);
  }
  return look.is_done || look.is_hopeless;
}

bool LabOperator::is_carried_through(const OperatorScript::Entry& entry, std::size_t number) const {
  using State = OperatorScript::State;
  if (entry.state == State::ended && entry.scripted.submission.changes.empty()) {
    return true;
  }
  const auto row = rows_.find(entry.job);
  if (entry.state == State::waiting || entry.state == State::refused || row == rows_.end()) {
    return entry.state != State::running;
  }
  const bool is_gone = is_over({row->second.state, row->second.reason});
  const bool has_carried = watches_[number].is_over || lab_.scenario.duration != kForever;
  // Nobody can light again what a fault that lasts holds dark.
  const JobStatement word{row->second.state, row->second.reason};
  const bool is_held = (loom::is_in_light(word) || word.state == "waiting") &&
                       std::ranges::any_of(lab_.scenario.device_faults, [this](const ScenarioFault& fault) {
                         return fault.lasts == kForever && Instant{fault.at} <= now();
                       });
  return is_gone || ((is_in_light(row->second) || is_held) && has_carried);
}

bool LabOperator::is_settled() const {
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    if (!is_carried_through(script_.entries()[i], i)) {
      return false;
    }
  }
  return status_.stage == CommitState::idle && faults_.is_over();
}

std::string LabOperator::unsettled() const {
  std::string text;
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    const OperatorScript::Entry& entry = script_.entries()[i];
    if (!is_carried_through(entry, i)) {
      const JobStatement word = word_of(entry.job);
      text += format_text("{}{} is {}{}{}", text.empty() ? "job " : ", job ", entry.scripted.submission.name,
                          word.state.empty() ? "unknown" : word.state, word.why.empty() ? "" : ": ", word.why);
    }
  }
  return text.empty() ? format_text("the controller is {}", to_string(status_.stage)) : text;
}

void LabOperator::show_progress() {
  for (const auto& [id, row] : rows_) {
    const std::string stage = row.stages > 1 ? format_text(" (stage {} of {})", row.stage + 1, row.stages) : "";
    if (!is_at_rest({row.state, row.reason}) && status_.stage != CommitState::idle) {
      progress_.show(format_text("{}{} {}", row.name, stage, to_string(status_.stage)), status_.stage_done,
                     status_.stage_total);
    } else if (status_.stage == CommitState::idle && row.stages > 0 && row.stage + 1 < row.stages) {
      progress_.show(format_text("{}{} plays its timeslots, nodes done", row.name, stage), row.cycles_done, row.nodes.size());
    }
  }
}

const JobReport* LabOperator::row_of(JobId job) const {
  const auto found = placed_.find(job);
  return found == placed_.end() ? nullptr : &found->second;
}

JobStatement LabOperator::word_of(JobId job) const {
  const auto found = rows_.find(job);
  return found == rows_.end() ? JobStatement{} : JobStatement{found->second.state, found->second.reason};
}

}  // namespace loom::cli
