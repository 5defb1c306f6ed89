// The stages of a commit. Each stage is one request, one answer and one deadline (kStages); a stage ends when the slowest
// participant has answered, and then the next begins.
#include "controller/control/commit/commit.hpp"

#include <algorithm>
#include <array>

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

}  // namespace

FabricCommit::FabricCommit(std::shared_ptr<const PlanResult> plan, ControllerTimings timings, std::string reason, Instant now)
    : plan_(std::move(plan)), timings_(timings) {
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
  report_.revision = target.revision;
  report_.base = target.base;
  report_.reason = std::move(reason);
  report_.agents = total();
  report_.circuits = static_cast<std::uint32_t>(target.circuits.size());
  report_.touched = static_cast<std::uint32_t>(target.touched.size());
  report_.switches_moved = switches_moved_by(target);
  report_.started = now;
}

void FabricCommit::begin(Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  enter(CommitState::preparing, now, header, sink);
}

CommitVerdict FabricCommit::verdict() const {
  if (!failure_.empty()) {
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

const Participant* FabricCommit::find(NodeId node) const {
  const auto it = std::lower_bound(participants_.begin(), participants_.end(), node,
                                   [](const Participant& a, NodeId b) { return a.node < b; });
  return it != participants_.end() && it->node == node ? &*it : nullptr;
}

void FabricCommit::set_deadline(Instant now) {
  next_tick_ = now + timings_.retry_interval;
  // T leaves room for every repeat of the arming that may be needed, and for the clocks; a timeline's start likewise.
  const Duration everybody_receives =
      timings_.retry_interval * timings_.arm_repeats + timings_.lead_margin + 2 * timings_.clock_error;
  switch (stage_) {
    case CommitState::arming:
      fire_at_ = now + lead_ + everybody_receives;
      deadline_ = fire_at_;
      armed_sent_ = true;
      break;
    case CommitState::darkening:
      deadline_ = std::max(now, fire_at_) + timings_.stage_deadline;
      next_tick_ =
          std::max(now, fire_at_) + timings_.retry_interval;  // nobody is dark before T; a lost Go only lengthens the dark
      break;
    case CommitState::relighting:
      relight_at_ = has_timeline_ ? now + everybody_receives : now;  // static light needs no common start
      deadline_ = relight_at_ + lead_ + timings_.stage_deadline;
      break;
    case CommitState::moving:
      deadline_ = now + lead_ + move_time_ + timings_.stage_deadline;
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
  const StageRow* row = row_of(stage);
  if (row == nullptr) {
    next_tick_ = kNever;
    return;
  }
  set_deadline(now);
  for (Participant& participant : participants_) {
    participant.sent_at = now;
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
      return send(Go{});
    case CommitState::moving:
      return send(Proceed{CommitPhase::move, stage_began_});
    case CommitState::relighting:
      return send(Proceed{CommitPhase::relight, relight_at_});
    default:
      return;
  }
}

void FabricCommit::on_answer(NodeId node, const Body& body, Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  auto* participant = const_cast<Participant*>(find(node));
  const Answer answer = answer_of(body);
  if (participant == nullptr || answer.outcome == nullptr || !failure_.empty()) {
    return;
  }
  if (!answer.outcome->ok()) {
    const bool has_forgotten =
        answer.outcome->error->code == ErrorCode::stale_revision && participant->progress >= CommitProgress::prepared;
    if (has_forgotten) {
      return interrupt(node);  // a new life of the agent answers a repeated request before its hello has come
    }
    failed_node_ = node;
    late_ = answer.outcome->error->code == ErrorCode::timed_out;
    surprised_ = answer.outcome->error->code == ErrorCode::busy;
    failed_device_ = late_ || surprised_ ? std::nullopt : answer.outcome->error->device;
    fail_with("node " + std::to_string(node.value) + " while " + std::string(to_string(stage_)) + ": " +
              answer.outcome->error->message);
    return;
  }
  if (answer.reached <= participant->progress) {
    return;  // repeated
  }
  if (const auto* prepared = std::get_if<Prepared>(&body)) {
    participant->lead = prepared->lead;
    prepare_acks_.push_back(now - participant->sent_at);
  } else if (const auto* armed = std::get_if<Armed>(&body)) {
    slacks_.push_back(armed->slack);
    arm_acks_.push_back(now - participant->sent_at);
  } else if (const auto* darkened = std::get_if<Darkened>(&body)) {
    latenesses_.push_back(darkened->lateness);
  } else if (const auto* applied = std::get_if<Applied>(&body)) {
    participant->fire = applied->fire;
  }
  advance(*participant, answer.reached, now, header, sink);
}

void FabricCommit::advance(Participant& participant, CommitProgress reached, Instant now, const EnvelopeHeader& header,
                           EffectSink& sink) {
  const StageRow* row = row_of(stage_);
  const bool was_waited_for = row != nullptr && participant.progress < row->reached;
  participant.progress = reached;
  if (was_waited_for && reached >= row->reached && ++done_ == total()) {
    complete_stage(now, header, sink);
  }
}

void FabricCommit::complete_stage(Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  measure_stage(now);
  if (stage_ == CommitState::preparing) {
    for (const Participant& participant : participants_) {
      lead_ = std::max(lead_, participant.lead);
    }
  }
  enter(row_of(stage_)->next, now, header, sink);
}

void FabricCommit::measure_stage(Instant now) {
  const Duration spent = now - stage_began_;
  switch (stage_) {
    case CommitState::preparing:
      report_.prepare = spent;
      break;
    case CommitState::arming:
      report_.arm = spent;
      report_.wait = participants_.empty() ? Duration{0} : std::max(Duration{0}, fire_at_ - now);  // nobody is to act at T
      break;
    case CommitState::darkening:
      report_.darken = std::max(Duration{0}, now - fire_at_);
      break;
    case CommitState::moving:
      report_.move = spent;
      break;
    case CommitState::relighting:
      report_.relight = spent;
      break;
    default:
      break;
  }
}

void FabricCommit::go(Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  LOOM_ASSERT(stage_ == CommitState::firing);
  enter(CommitState::darkening, now, header, sink);
}

std::string FabricCommit::silent_agents() const {
  const StageRow* row = row_of(stage_);
  std::string names;
  std::uint32_t count = 0;
  for (const Participant& participant : participants_) {
    if (participant.progress < row->reached && ++count <= 5) {
      names += (names.empty() ? "node " : ", ") + std::to_string(participant.node.value);
    }
  }
  return std::to_string(count) + " of " + std::to_string(total()) + " agents did not answer while " +
         std::string(to_string(stage_)) + " (" + names + (count > 5 ? ", ..." : "") + ")";
}

void FabricCommit::on_tick(Instant now, const EnvelopeHeader& header, EffectSink& sink) {
  const StageRow* row = row_of(stage_);
  if (row == nullptr || !failure_.empty() || now < next_tick_) {
    return;
  }
  const auto waited_for = [&](const Participant& participant) { return participant.progress < row->reached; };
  if (now >= deadline_) {
    const auto first = std::find_if(participants_.begin(), participants_.end(), waited_for);
    failed_node_ = first->node;
    late_ = stage_ == CommitState::arming;  // T came before they had answered
    fail_with(silent_agents() + " within " + std::to_string((deadline_ - stage_began_) / std::chrono::milliseconds{1}) + " ms");
    return;
  }
  for (const Participant& participant : participants_) {
    if (waited_for(participant)) {
      request(participant, header, sink);
      ++report_.resent;
    }
  }
  next_tick_ = std::min(deadline_, next_tick_ + timings_.retry_interval);
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

void FabricCommit::fail_with(std::string why) {
  if (failure_.empty()) {
    failure_ = std::move(why);
    next_tick_ = kNever;
  }
}

void FabricCommit::interrupt(NodeId node) {
  if (failure_.empty()) {
    interrupted_ = true;
    failed_node_ = node;
    fail_with("node " + std::to_string(node.value) + " started again in the middle of the commit");
  }
}

CommitReport FabricCommit::report(Instant now) const {
  CommitReport report = report_;
  report.total = now - report.started;
  const auto spread = [](std::vector<Duration> values) { return spread_of(values); };
  report.prepare_ack = spread(prepare_acks_);
  report.arm_ack = spread(arm_acks_);
  report.slack = spread(slacks_);
  report.lateness = spread(latenesses_);
  std::vector<Duration> dark;
  for (const Participant& participant : participants_) {
    if (participant.progress == CommitProgress::applied && participant.fire.dark > Duration{0}) {
      dark.push_back(participant.fire.dark);
    }
  }
  report.dark = spread_of(dark);
  return report;
}

}  // namespace loom
