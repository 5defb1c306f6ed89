// The words of a commit and their answers. What they do to the devices is in commit_stages.cpp.
#include "agents/commit.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "agents/steering.hpp"

namespace loom {

namespace {

std::string named(Revision revision) { return "revision " + std::to_string(revision.value); }

Error clock_error(ClockId theirs, ClockId ours) {
  return {ErrorCode::refused, "clock_unsynchronised: the instant is of clock " + std::to_string(theirs.value) +
                                  ", this agent reads clock " + std::to_string(ours.value)};
}

}  // namespace

Commit::Commit(const CommitOptions& options, const Voice& voice, DeviceLanes& lanes, Timelines& timelines, GrantPlane& grants)
    : options_(options), voice_(voice), lanes_(lanes), timelines_(timelines), grants_(grants), parts_(lanes.size()) {}

void Commit::prepare(Turn turn, Revision revision, const NodePlan& plan, const std::optional<Error>& latch) {
  const auto refuse = [&](ErrorCode code, std::string message) {
    voice_.say(turn, revision, Prepared{{Error{code, std::move(message)}}, {}});
  };
  if (plan.revision != revision || revision == Revision{}) {
    return refuse(ErrorCode::invalid_argument,
                  "the envelope speaks of " + named(revision) + ", the plan of " + named(plan.revision));
  }
  const bool is_repeated = revision > fenced_;
  if (is_repeated && revision == applied_) {
    return voice_.say(turn, revision, applied_answer_);
  }
  if (is_repeated && revision == revision_ && answers_.prepared) {
    return voice_.say(turn, revision, *answers_.prepared);
  }
  if (revision <= newest_) {
    ++stale_;
    return refuse(ErrorCode::stale_revision, named(revision) + " is not newer than " + named(newest_));
  }
  withdraw_light(turn);
  forget(false);
  revision_ = newest_ = revision;
  Prepared prepared;
  if (latch && emits(plan)) {
    prepared.outcome.error = latch;
  } else if (auto lawful = check_node_plan(plan, voice_.node, lanes_); !lawful) {
    prepared.outcome.error = lawful.error();
  } else {
    prepared.outcome.error = surprise(plan);
  }
  if (prepared.outcome.ok()) {
    plan_ = std::make_shared<const NodePlan>(plan);
    prepared.lead = options_.arm_lead;
  }
  state_ = prepared.outcome.ok() ? RevisionState::prepared : RevisionState::failed;
  error_ = prepared.outcome.error;
  answers_.prepared = prepared;
  voice_.say(turn, revision, std::move(prepared));
}

/// What is known already to be other than the plan takes it for costs nobody his light. Before it moves it is read once more.
std::optional<Error> Commit::surprise(const NodePlan& plan) const {
  for (const DevicePlan& device : plan.devices) {
    const Lane& lane = lanes_[*lanes_.index_of(device.device)];
    const Reading reading = lane.driver->observe().reading;
    const bool at_rest = lane.progress != Progress::under_way && !std::holds_alternative<std::monostate>(reading);
    if (!lane.is_laser() && device.touched && at_rest) {
      if (auto error = surprise(lane, device, reading)) {
        return error;
      }
    }
  }
  return std::nullopt;
}

std::optional<Error> Commit::surprise(const Lane& lane, const DevicePlan& device, const Reading& reading) const {
  const auto found = unexpected(lanes_.fabric(), device, reading);
  return found ? std::optional(Error{ErrorCode::busy, "device " + std::to_string(lane.device->id.value) + " (" +
                                                          lane.device->name + ") " + *found +
                                                          "; nothing was moved: light may meet it that is not dark"})
               : std::nullopt;
}

std::optional<Error> Commit::refusal_to_arm(Turn turn, ClockId clock, Instant fire_at) const {
  if (clock != voice_.clock) {
    return clock_error(clock, voice_.clock);
  }
  const Duration slack = between(turn.now, fire_at);
  if (slack < options_.arm_lead) {
    return Error{ErrorCode::timed_out, "underflow: " + named(revision_) + " fires " + in_microseconds(slack) +
                                           " from now, node " + std::to_string(voice_.node.value) + " needs " +
                                           in_microseconds(options_.arm_lead)};
  }
  return std::nullopt;
}

void Commit::arm(Turn turn, Revision revision, ClockId clock, Instant fire_at) {
  const bool armed = revision == revision_ && state_ == RevisionState::armed;
  const bool prepared = revision == revision_ && state_ == RevisionState::prepared;
  if (armed && clock == voice_.clock && fire_at <= fire_planned_) {  // T only rises: an earlier one is an old duplicate
    return fire_at == fire_planned_ ? answer_again(turn, RevisionWord::arm) : void(++early_);
  }
  if (armed || prepared) {
    if (const auto refusal = refusal_to_arm(turn, clock, fire_at)) {
      return answer(turn, revision, RevisionWord::arm, *refusal);
    }
  }
  if (!hear(turn, revision, RevisionWord::arm)) {
    return;
  }
  fire_planned_ = fire_at;
  fire_at_.set(turn, fire_at);
  report_.slack = between(turn.now, fire_at);
  choose_parts();
  claim_idle_parts();
  read_ahead(turn);
  answers_.armed = Armed{{}, report_.slack};
  voice_.say(turn, revision, *answers_.armed);
}

void Commit::go(Turn turn, Revision revision) {
  if (hear(turn, revision, RevisionWord::go)) {
    went_ = true;
  }
}

void Commit::fence(Turn) {
  const bool in_hand = revision_ != Revision{} && state_ != RevisionState::idle && state_ != RevisionState::lit;
  if (in_hand && !went_) {
    forget(false);
  }
  newest_ = fenced_ = gone();
}

void Commit::proceed(Turn turn, Revision revision, ClockId clock, const Proceed& proceed) {
  if (proceed.phase == CommitPhase::move) {
    if (hear(turn, revision, RevisionWord::move)) {
      may_steer_ = true;
    }
    return;
  }
  if (revision == revision_ && clock != voice_.clock && state_ == RevisionState::settled) {
    return answer(turn, revision, RevisionWord::relight, clock_error(clock, voice_.clock));
  }
  if (hear(turn, revision, RevisionWord::relight)) {
    relight_at_.set(turn, proceed.at);
  }
}

void Commit::abandon(Turn turn, Revision revision) {
  if (revision == revision_ && event(RevisionWord::abandon)) {
    withdraw_light(turn);
    forget(false);
  }
}

void Commit::confirm(Turn, Revision revision) {
  if (revision == Revision{}) {
    return;
  }
  if (revision == applied_) {
    confirmed_ = revision;
  }
  if (revision == revision_ && event(RevisionWord::confirm)) {
    forget(true);
  }
}

std::optional<RevisionStep> Commit::hear(Turn turn, Revision revision, RevisionWord word) {
  if (revision != revision_ || revision == Revision{}) {
    ++stale_;
    answer(turn, revision, word,
           {ErrorCode::stale_revision, named(revision) + " is not prepared on node " + std::to_string(voice_.node.value)});
    return std::nullopt;
  }
  const RevisionStep step = react(state_, word);
  switch (step.reaction) {
    case Reaction::obey:
      state_ = step.next;
      return step;
    case Reaction::again:
      answer_again(turn, word);
      break;
    case Reaction::early:
      ++early_;
      break;
    case Reaction::drop:
      break;
  }
  return std::nullopt;
}

bool Commit::event(RevisionWord word) {
  const RevisionStep step = react(state_, word);
  if (step.reaction == Reaction::obey) {
    state_ = step.next;
  }
  return step.reaction == Reaction::obey;
}

void Commit::answer(Turn turn, Revision revision, RevisionWord word, const Error& error) const {
  switch (word) {
    case RevisionWord::arm:
      return voice_.say(turn, revision, Armed{{error}, {}});
    case RevisionWord::go:
      return voice_.say(turn, revision, Darkened{{error}, {}});
    case RevisionWord::move:
      return voice_.say(turn, revision, Settled{{error}, {}});
    case RevisionWord::relight:
      return voice_.say(turn, revision, Applied{{error}, report_});
    default:
      return;
  }
}

void Commit::answer_again(Turn turn, RevisionWord word) const {
  const auto again = [&](const auto& given) {
    if (given) {
      voice_.say(turn, revision_, *given);
    } else if (error_) {
      answer(turn, revision_, word, *error_);
    }
  };
  switch (word) {
    case RevisionWord::arm:
      return again(answers_.armed);
    case RevisionWord::go:
      return again(answers_.darkened);
    case RevisionWord::move:
      return again(answers_.settled);
    case RevisionWord::relight:
      return again(answers_.applied);
    default:
      return;
  }
}

void Commit::trouble(Turn turn, const Error& error) {
  const RevisionState before = state_;
  if (!event(RevisionWord::trouble)) {
    return;
  }
  error_ = error;
  fire_at_.forget();
  relight_at_.forget();
  lanes_.release_all(Activity::commit);
  if (before >= RevisionState::armed && before <= RevisionState::darkening) {
    answer_again(turn, RevisionWord::go);
  } else if (before == RevisionState::moving) {
    answer_again(turn, RevisionWord::move);
  } else if (before == RevisionState::settled || before == RevisionState::relighting) {
    answers_.applied = Applied{{error}, report_};
    answer_again(turn, RevisionWord::relight);
  }
}

void Commit::forget(bool keep_answers) {
  state_ = RevisionState::idle;
  fire_at_.forget();
  relight_at_.forget();
  lanes_.release_all(Activity::commit);
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
