// SPDX-License-Identifier: Apache-2.0
// The stages of a commit. Each stage is one request, one answer and one deadline (kStages); a stage ends when the slowest
// participant has answered, and then the next begins.
#include "controller/control/commit/commit.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// What an agent has reached when it has answered the stage's request.
struct StageRow {
  CommitState stage;
  CommitProgress reached;
  CommitState next;
};

constexpr std::array<StageRow, 5> kStages{{
    {CommitState::preparing, CommitProgress::prepared, CommitState::arming},
    {CommitState::arming, CommitProgress::armed, CommitState::firing},
    {CommitState::darkening, CommitProgress::dark, CommitState::moving},
    {CommitState::moving, CommitProgress::settled, CommitState::relighting},
    {CommitState::relighting, CommitProgress::applied, CommitState::confirmed},
}};

const StageRow* row_of(CommitState stage) {
  const auto* row = std::find_if(kStages.begin(), kStages.end(), [&](const StageRow& r) { return r.stage == stage; });
  return row == kStages.end() ? nullptr : row;
}

/// What an answer says: how far its sender has come, and how it went. Null: not an answer of a commit.
struct Answer {
  CommitProgress reached = CommitProgress::asked;
  const Outcome* outcome = nullptr;
};

Answer answer_of(const Body& body) {
  if (const auto* prepared = std::get_if<Prepared>(&body)) return {CommitProgress::prepared, &prepared->outcome};
  if (const auto* armed = std::get_if<Armed>(&body)) return {CommitProgress::armed, &armed->outcome};
  if (const auto* darkened = std::get_if<Darkened>(&body)) return {CommitProgress::dark, &darkened->outcome};
  if (const auto* settled = std::get_if<Settled>(&body)) return {CommitProgress::settled, &settled->outcome};
  if (const auto* applied = std::get_if<Applied>(&body)) return {CommitProgress::applied, &applied->outcome};
  return {};
}

/// When Go is said again to whom is not dark: nobody is before T, and one that was lost only lengthens the dark.
Instant next_after_firing(Instant now, Instant fire_at, const ControllerTimings& timings) {
  return std::max(now, fire_at) + timings.retry_interval;
}

template <class Participants>  // const or not
auto find(Participants& participants, NodeId node) -> decltype(participants.data()) {
  const auto it = std::lower_bound(participants.begin(), participants.end(), node,
                                   [](const Participant& a, NodeId b) { return a.node < b; });
  return it != participants.end() && it->node == node ? &*it : nullptr;
}

std::string first_of(const std::vector<NodeId>& nodes) {
  constexpr std::size_t kNamed = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(nodes.size(), kNamed); ++i) {
    names += (names.empty() ? "node " : ", ") + std::to_string(nodes[i].value);
  }
  return nodes.size() > kNamed ? names + ", ..." : names;
}

CommitReport report_of(const Plan& plan, CommitOrigin origin, Instant now) {
  CommitReport report;
  report.revision = plan.revision;
  report.base = plan.base;
  report.reason = std::move(origin.reason);
  report.ordered_by = std::move(origin.ordered_by);
  report.agents = static_cast<std::uint32_t>(plan.changed.size());
  report.circuits = static_cast<std::uint32_t>(plan.circuits.size());
  report.touched = static_cast<std::uint32_t>(plan.touched.size());
  report.switches_moved = switches_moved_by(plan);
  report.plan = origin.plan_time;
  report.certificate = std::move(origin.certificate);
  report.slowest = std::move(origin.forecast.slowest);
  report.slowest_time = origin.forecast.slowest_time;
  report.dark_predicted = origin.forecast.dark;
  report.started = now;
  report.started_wall = origin.started_wall;
  return report;
}

/// How long no laser that plays timeslots shines after their start: least guard of a first timeslot. Where anybody works under
/// grants, or all light stands, 0.
Duration first_dark_of(const std::vector<Participant>& participants) {
  std::optional<Duration> least;
  for (const Participant& participant : participants) {
    if (participant.plan->grants) {
      return {};
    }
    for (const DevicePlan& device : participant.plan->devices) {
      const TimedSetpoint& first = device.timeline.front();
      if (first.hold != kForever) {
        least = std::min(first.offset + first.guard, least.value_or(Duration::max()));
      }
    }
  }
  return least.value_or(Duration{});
}

}  // namespace

FabricCommit::FabricCommit(std::shared_ptr<const PlanResult> plan, ControllerTimings timings, CommitPaceOptions pace,
                           CommitOrigin origin, Instant now, MoveTimes move_times)
    : plan_(std::move(plan)),
      timings_(timings),
      pace_(pace, timings),
      measures_(report_of(plan_->plan, std::move(origin), now)),
      move_times_(move_times) {
  const Plan& target = plan_->plan;
  participants_.reserve(target.changed.size());
  for (const NodeId node : target.changed) {
    const auto slice = std::lower_bound(target.nodes.begin(), target.nodes.end(), node,
                                        [](const NodePlan& a, NodeId b) { return a.node < b; });
    LOOM_ASSERT(slice != target.nodes.end() && slice->node == node);
    Participant participant;
    participant.node = node;
    participant.plan = &*slice;
    has_timeline_ = has_timeline_ || slice->cycle > Duration{0};
    participants_.push_back(participant);
  }
}

void FabricCommit::begin(Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  enter(CommitState::preparing, now, header, sink);
}

CommitVerdict FabricCommit::verdict() const {
  if (!failure_.why.empty()) {
    return CommitVerdict::failed;
  }
  switch (stage_) {
    case CommitState::firing:
      return CommitVerdict::wants_going;
    case CommitState::confirmed:
      return CommitVerdict::applied;
    default:
      return CommitVerdict::running;
  }
}

bool FabricCommit::takes_part(NodeId node) const { return find(participants_, node) != nullptr; }

void FabricCommit::set_deadline(Instant now) {
  patience_ = timings_.retry_interval;
  next_tick_ = now + patience_;
  switch (stage_) {
    case CommitState::arming:
      // T leaves room for the repeats of the arming that are likely to be needed, and for the clocks.
      fire_at_ = now + lead_ + pace_.everybody_receives(participants_.size());
      patience_ = pace_.patience();
      next_tick_ = now + patience_;
      deadline_ = fire_at_;
      armed_sent_ = true;
      break;
    case CommitState::darkening:
      // T had to leave room for repeats of the arming; now that everybody is armed, one word brings it forward.
      fire_at_ = std::min(fire_at_, now + std::max(lead_, pace_.everybody_hears(participants_.size())));
      deadline_ = std::max(now, fire_at_) + timings_.stage_deadline;
      next_tick_ =
          pace_.hear_tries(participants_.size()) > 1 ? now + pace_.hearing() : next_after_firing(now, fire_at_, timings_);
      break;
    case CommitState::relighting:
      // Light that stands needs no common start, unless edges give it one. Lasers are tuned for their first timeslot before:
      // its guard needs no waiting for, and passes while the word of it is under way.
      lit_at_ = has_timeline_ || timings_.common_start ? now + pace_.everybody_receives(participants_.size()) : now;
      relight_at_ = timings_.common_start || !has_timeline_ ? lit_at_ : lit_at_ - first_dark_of(participants_);
      deadline_ = lit_at_ + lead_ + timings_.stage_deadline;
      patience_ = lit_at_ > now ? pace_.patience() : timings_.retry_interval;
      next_tick_ = now + patience_;
      break;
    case CommitState::preparing:
      deadline_ = now + move_times_.lasers + timings_.stage_deadline;
      break;
    case CommitState::moving:
      deadline_ = now + lead_ + std::max(move_times_.lasers, move_times_.switches) + timings_.stage_deadline;
      break;
    default:
      deadline_ = now + lead_ + timings_.stage_deadline;
      break;
  }
}

void FabricCommit::enter(CommitState stage, Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  stage_ = stage;
  stage_began_ = now;
  done_ = 0;
  pace_.begin_stage();
  const StageRow* row = row_of(stage);
  if (row == nullptr) {
    next_tick_ = kNever;
    return;
  }
  set_deadline(now);
  for (Participant& participant : participants_) {
    participant.sent_at = now;
    participant.repeated = false;
    if (participant.progress >= row->reached) {
      ++done_;  // it ran ahead: agents without a moving switch settle by themselves
    } else {
      request(participant, header, sink);
    }
  }
  if (done_ == total()) {
    complete_stage(now, header, sink);
  }
}

void FabricCommit::request(const Participant& participant, const EnvelopeHeader& header, EffectSink& sink) const {
  const auto send = [&](Body body) { sink.emit(header.to_agent(participant.node, revision(), std::move(body))); };
  switch (stage_) {
    case CommitState::preparing:
      return send(Prepare{*participant.plan});
    case CommitState::arming:
      return send(Arm{fire_at_});
    case CommitState::darkening:
      return send(Go{fire_at_});
    case CommitState::moving:
      return send(Proceed{CommitPhase::move, stage_began_});
    case CommitState::relighting:
      return send(Proceed{CommitPhase::relight, relight_at_});
    default:
      return;
  }
}

void FabricCommit::on_answer(NodeId node, const Body& body, Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  Participant* participant = find(participants_, node);
  const Answer answer = answer_of(body);
  if (participant == nullptr || answer.outcome == nullptr || !failure_.why.empty()) {
    return;
  }
  if (!answer.outcome->ok()) {
    const Error& error = *answer.outcome->error;
    if (error.code == ErrorCode::stale_revision && participant->progress >= CommitProgress::prepared) {
      return interrupt(node);  // a new incarnation of the agent answers a repeated request before its hello has come
    }
    CommitFailure failure;
    failure.kind = error.code == ErrorCode::timed_out ? CommitFailureKind::late
                   : error.code == ErrorCode::busy    ? CommitFailureKind::surprised
                                                      : CommitFailureKind::fault;
    failure.node = node;
    failure.device = failure.kind == CommitFailureKind::fault ? error.device : std::nullopt;
    failure.why = format_text("node {} while {}: {}", node.value, to_string(stage_), error.message);
    return fail_with(std::move(failure));
  }
  if (answer.reached <= participant->progress) {
    return;  // repeated
  }
  if (const auto* prepared = std::get_if<Prepared>(&body)) {
    participant->lead = prepared->lead;
  }
  if (const auto* darkened = std::get_if<Darkened>(&body)) {
    pace_.keep_lateness(std::min(darkened->lateness, std::max(Duration{}, now - fire_at_)));  // whoever answers has fired
  }
  measures_.keep(body, now - participant->sent_at);
  if (!participant->repeated) {
    pace_.keep(now - participant->sent_at);
  }
  const StageRow* row = row_of(stage_);
  const bool was_waited_for = row != nullptr && participant->progress < row->reached;
  participant->progress = answer.reached;
  if (was_waited_for && answer.reached >= row->reached && ++done_ == total()) {
    complete_stage(now, header, sink);
  }
}

void FabricCommit::complete_stage(Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  // Everybody says that it stands; but no hologram does before its time, whatever an agent's clock says of that.
  const Instant earliest = stage_ == CommitState::moving ? stage_began_ + move_times_.least : now;
  if (now < earliest) {
    next_tick_ = earliest;
    return;
  }
  measures_.end_stage(stage_, stage_began_, now, fire_at_);
  const auto repeated = static_cast<std::size_t>(std::ranges::count_if(participants_, &Participant::repeated));
  if (stage_ == CommitState::arming) {
    pace_.end_arming(participants_.size(), repeated);
  }
  if (stage_ == CommitState::preparing) {
    pace_.end_prepare(participants_.size(), repeated, now - stage_began_);
    for (const Participant& participant : participants_) {
      lead_ = std::max(lead_, participant.lead);
    }
  }
  enter(row_of(stage_)->next, now, header, sink);
}

void FabricCommit::go(Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  LOOM_ASSERT(stage_ == CommitState::firing);
  enter(CommitState::darkening, now, header, sink);
}

void FabricCommit::on_tick(Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  const StageRow* row = row_of(stage_);
  if (row == nullptr || !failure_.why.empty() || now < next_tick_) {
    return;
  }
  if (done_ == total()) {
    return complete_stage(now, header, sink);
  }
  const auto waited_for = [&](const Participant& participant) { return participant.progress < row->reached; };
  if (now >= deadline_) {
    CommitFailure failure;
    failure.kind = stage_ == CommitState::arming ? CommitFailureKind::late : CommitFailureKind::fault;  // T came first
    for (const Participant& participant : participants_) {
      if (waited_for(participant)) {
        failure.nodes.push_back(participant.node);
      }
    }
    failure.node = failure.nodes.front();
    failure.why =
        format_text("{} of {} agents did not answer while {} ({}) within {} ms", failure.nodes.size(), participants_.size(),
                    to_string(stage_), first_of(failure.nodes), (deadline_ - stage_began_) / std::chrono::milliseconds{1});
    return fail_with(std::move(failure));
  }
  for (Participant& participant : participants_) {
    if (waited_for(participant)) {
      request(participant, header, sink);
      participant.repeated = true;
      measures_.count_resent();
    }
  }
  if (stage_ == CommitState::darkening && now < fire_at_) {  // nobody says that he has heard Go before he is dark
    next_tick_ = now + pace_.hearing() < fire_at_ ? now + pace_.hearing() : next_after_firing(now, fire_at_, timings_);
    return;
  }
  // Ahead of an instant that everybody must know, as often as answers take: T leaves room for so many.
  if (stage_ == CommitState::relighting && now >= lit_at_) {
    patience_ = std::max(patience_, timings_.retry_interval);
  }
  const bool is_ahead = stage_ == CommitState::arming || (stage_ == CommitState::relighting && now < lit_at_);
  if (!is_ahead) {
    patience_ = CommitPace::next_patience(patience_, total(), total() - done_);
  }
  next_tick_ = std::min(deadline_, next_tick_ + patience_);
}

void FabricCommit::abandon(const EnvelopeHeader& header, EffectSink& sink) const {
  for (const Participant& participant : participants_) {
    sink.emit(header.to_agent(participant.node, revision(), Abandon{}));
  }
}

void FabricCommit::confirm(const EnvelopeHeader& header, EffectSink& sink) const {
  for (const Participant& participant : participants_) {
    sink.emit(header.to_agent(participant.node, revision(), Confirm{}));
  }
}

void FabricCommit::fail_with(CommitFailure failure) {
  if (failure_.why.empty()) {
    failure_ = std::move(failure);
    next_tick_ = kNever;
  }
}

void FabricCommit::interrupt(NodeId node) {
  fail_with(
      {format_text("node {} started again in the middle of the commit", node.value), CommitFailureKind::interrupted, node});
}

}  // namespace loom
