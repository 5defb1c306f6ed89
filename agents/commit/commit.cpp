// SPDX-License-Identifier: Apache-2.0
// The words of a commit and their answers. What they do to the devices is in commit_stages.cpp.
#include "agents/commit/commit.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "agents/commit/preparation.hpp"
#include "agents/commit/steering.hpp"
#include "core/text/format_text.hpp"

namespace loom {

namespace {

/// Where others took longer than this to prepare, what is to move is read once more before T [K].
constexpr Duration kReadingKept = std::chrono::seconds{1};

std::string named(Revision revision) { return format_text("revision {}", revision.value); }

Error clock_error(ClockId theirs, ClockId ours) {
  return {ErrorCode::refused,
          format_text("clock_unsynchronised: the instant is of clock {}, this agent reads clock {}", theirs.value, ours.value)};
}

}  // namespace

AgentCommit::AgentCommit(const CommitOptions& options, const EnvelopeSender& envelopes, DeviceUnits& units,
                         Timelines& timelines, GrantPlane& grants, PassBarrier& barrier)
    : options_(options),
      envelopes_(envelopes),
      units_(units),
      timelines_(timelines),
      grants_(grants),
      barrier_(barrier),
      parts_(units.size()) {}

void AgentCommit::prepare(StepContext context, Revision revision, const NodePlan& plan, const std::optional<Error>& latch) {
  const auto refuse = [&](ErrorCode code, std::string message) {
    envelopes_.send(context, revision, Prepared{{Error{code, std::move(message)}}, {}});
  };
  if (plan.revision != revision || revision == Revision{}) {
    return refuse(ErrorCode::invalid_argument,
                  format_text("the envelope speaks of {}, the plan of {}", named(revision), named(plan.revision)));
  }
  const bool is_repeated = revision > fenced_;
  if (is_repeated && revision == applied_) {
    return envelopes_.send(context, revision, applied_answer_);
  }
  if (is_repeated && revision == revision_ && (answers_.prepared || state_ == RevisionState::preparing)) {
    return answers_.prepared ? envelopes_.send(context, revision, *answers_.prepared) : void();
  }
  if (revision <= newest_) {
    ++stale_;
    return refuse(ErrorCode::stale_revision, format_text("{} is not newer than {}", named(revision), named(newest_)));
  }
  withdraw_light(context);
  withdraw_prepared(context, units_);
  forget(false);
  revision_ = newest_ = revision;
  Prepared prepared;
  if (latch && emits(plan)) {
    prepared.outcome.error = latch;
  } else if (auto lawful = check_node_plan(plan, envelopes_.node, units_); !lawful) {
    prepared.outcome.error = lawful.error();
  } else {
    prepared.outcome.error = surprise(plan);
  }
  if (!prepared.outcome.ok()) {
    state_ = RevisionState::failed;
    error_ = prepared.outcome.error;
    answers_.prepared = prepared;
    return envelopes_.send(context, revision, std::move(prepared));
  }
  plan_ = std::make_shared<const NodePlan>(plan);
  for (const DevicePlan& device : plan_->devices) {
    units_[*units_.index_of(device.device)].driver->may_hold(device.may_hold);
  }
  state_ = RevisionState::preparing;
  prepare_devices(context, units_, *plan_);
  read_ahead(context);
  advance(context);
}

/// What is known already to be other than the plan takes it for costs nobody his light. Before it moves it is read once more.
std::optional<Error> AgentCommit::surprise(const NodePlan& plan) const {
  for (const DevicePlan& device : plan.devices) {
    const std::size_t index = *units_.index_of(device.device);
    const DeviceUnit& unit = units_[index];
    if (unit.is_laser() || !device.touched || unit.progress == Progress::under_way) {
      continue;
    }
    const Reading reading = units_.observe(index).reading;
    if (!std::holds_alternative<std::monostate>(reading)) {
      if (auto error = surprise(unit, device, reading)) {
        return error;
      }
    }
  }
  return std::nullopt;
}

std::optional<Error> AgentCommit::surprise(const DeviceUnit& unit, const DevicePlan& device, const Reading& reading) const {
  const auto found = unexpected(units_.fabric(), device, reading);
  return found ? std::optional(Error{ErrorCode::busy,
                                     format_text("device {} ({}) {}; nothing was moved: light may meet it that is not dark",
                                                 unit.device->id.value, unit.device->name, *found)})
               : std::nullopt;
}

std::optional<Error> AgentCommit::refusal_to_arm(StepContext context, ClockId clock, Instant fire_at) const {
  if (clock != envelopes_.clock) {
    return clock_error(clock, envelopes_.clock);
  }
  const Duration slack = between(context.now, fire_at);
  if (slack < options_.arm_lead) {
    return Error{ErrorCode::timed_out,
                 format_text("underflow: {} fires {} from now, node {} needs {}", named(revision_), in_microseconds(slack),
                             envelopes_.node.value, in_microseconds(options_.arm_lead))};
  }
  return std::nullopt;
}

void AgentCommit::arm(StepContext context, Revision revision, ClockId clock, Instant fire_at) {
  const bool armed = revision == revision_ && state_ == RevisionState::armed;
  const bool prepared = revision == revision_ && state_ == RevisionState::prepared;
  if (armed && clock == envelopes_.clock && fire_at <= armed_for_) {  // T only rises: an earlier one is an old duplicate
    return fire_at == armed_for_ ? answer_again(context, RevisionMessage::arm) : void(++early_);
  }
  if (armed || prepared) {
    if (const auto refusal = refusal_to_arm(context, clock, fire_at)) {
      return answer(context, revision, RevisionMessage::arm, *refusal);
    }
  }
  if (!receive(context, revision, RevisionMessage::arm)) {
    return;
  }
  armed_for_ = fire_at;
  fire_.set(context, fire_at);
  report_.slack = between(context.now, fire_at);
  choose_parts();
  claim_idle_parts();
  if (between(read_since_, context.now) > kReadingKept) {
    read_ahead(context);
  }
  answers_.armed = Armed{{}, report_.slack};
  envelopes_.send(context, revision, *answers_.armed);
}

void AgentCommit::go(StepContext context, Revision revision, ClockId clock, const Go& go) {
  if (!receive(context, revision, RevisionMessage::go)) {
    return;
  }
  went_ = true;
  const bool is_sooner = state_ == RevisionState::going && clock == envelopes_.clock && go.fire_at < fire_.planned;
  if (is_sooner) {
    fire_.set(context, std::max(go.fire_at, context.now));
  }
}

void AgentCommit::fence(StepContext context) {
  const bool in_hand = revision_ != Revision{} && state_ != RevisionState::idle && state_ != RevisionState::lit;
  if (in_hand && !went_) {
    withdraw_prepared(context, units_);
    forget(false);
  }
  newest_ = fenced_ = gone();
}

void AgentCommit::proceed(StepContext context, Revision revision, ClockId clock, const Proceed& proceed) {
  if (proceed.phase == CommitPhase::move) {
    if (receive(context, revision, RevisionMessage::move)) {
      may_steer_ = true;
    }
    return;
  }
  if (revision == revision_ && clock != envelopes_.clock && state_ == RevisionState::settled) {
    return answer(context, revision, RevisionMessage::relight, clock_error(clock, envelopes_.clock));
  }
  if (receive(context, revision, RevisionMessage::relight)) {
    relight_at_.set(context, proceed.at);
  }
}

void AgentCommit::abandon(StepContext context, Revision revision) {
  if (revision == revision_ && event(RevisionMessage::abandon)) {
    withdraw_light(context);
    withdraw_prepared(context, units_);
    forget(false);
  }
}

void AgentCommit::confirm(StepContext, Revision revision) {
  if (revision == Revision{}) {
    return;
  }
  if (revision == applied_) {
    confirmed_ = revision;
  }
  if (revision == revision_ && event(RevisionMessage::confirm)) {
    forget(true);
  }
}

std::optional<RevisionStep> AgentCommit::receive(StepContext context, Revision revision, RevisionMessage revision_message) {
  if (revision != revision_ || revision == Revision{}) {
    ++stale_;
    answer(context, revision, revision_message,
           {ErrorCode::stale_revision, format_text("{} is not prepared on node {}", named(revision), envelopes_.node.value)});
    return std::nullopt;
  }
  const RevisionStep step = react(state_, revision_message);
  switch (step.reaction) {
    case Reaction::handle:
      state_ = step.next;
      return step;
    case Reaction::again:
      answer_again(context, revision_message);
      break;
    case Reaction::early:
      ++early_;
      break;
    case Reaction::drop:
      break;
  }
  return std::nullopt;
}

bool AgentCommit::event(RevisionMessage revision_message) {
  const RevisionStep step = react(state_, revision_message);
  if (step.reaction == Reaction::handle) {
    state_ = step.next;
  }
  return step.reaction == Reaction::handle;
}

void AgentCommit::answer(StepContext context, Revision revision, RevisionMessage revision_message, const Error& error) const {
  switch (revision_message) {
    case RevisionMessage::arm:
      return envelopes_.send(context, revision, Armed{{error}, {}});
    case RevisionMessage::go:
      return envelopes_.send(context, revision, Darkened{{error}, {}});
    case RevisionMessage::move:
      return envelopes_.send(context, revision, Settled{{error}, {}});
    case RevisionMessage::relight:
      return envelopes_.send(context, revision, Applied{{error}, report_});
    default:
      return;
  }
}

void AgentCommit::answer_again(StepContext context, RevisionMessage revision_message) const {
  const auto again = [&](const auto& given) {
    if (given) {
      envelopes_.send(context, revision_, *given);
    } else if (error_) {
      answer(context, revision_, revision_message, *error_);
    }
  };
  switch (revision_message) {
    case RevisionMessage::arm:
      return again(answers_.armed);
    case RevisionMessage::go:
      return again(answers_.darkened);
    case RevisionMessage::move:
      return again(answers_.settled);
    case RevisionMessage::relight:
      return again(answers_.applied);
    default:
      return;
  }
}

void AgentCommit::trouble(StepContext context, const Error& error) {
  const RevisionState before = state_;
  if (!event(RevisionMessage::trouble)) {
    return;
  }
  error_ = error;
  fire_.forget();
  relight_at_.forget();
  edge_lighting_.forget();
  release_all(units_, Activity::commit);
  withdraw_prepared(context, units_);
  if (before == RevisionState::preparing) {
    answers_.prepared = Prepared{{error}, {}};
    envelopes_.send(context, revision_, *answers_.prepared);
  } else if (before >= RevisionState::armed && before <= RevisionState::darkening) {
    answer_again(context, RevisionMessage::go);
  } else if (before == RevisionState::moving) {
    answer_again(context, RevisionMessage::move);
  } else if (before == RevisionState::settled || before == RevisionState::relighting) {
    answers_.applied = Applied{{error}, report_};
    answer_again(context, RevisionMessage::relight);
  }
}

void AgentCommit::forget(bool keep_answers) {
  state_ = RevisionState::idle;
  fire_.forget();
  replaced_.clear();
  relight_at_.forget();
  edge_lighting_.forget();
  release_all(units_, Activity::commit);
  std::fill(parts_.begin(), parts_.end(), Part{});
  plan_.reset();
  if (keep_answers) {
    return;
  }
  revision_ = Revision{};
  answers_ = {};
  error_.reset();
  report_ = {};
  went_ = may_steer_ = light_given_ = false;
}

}  // namespace loom
