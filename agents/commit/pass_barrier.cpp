// SPDX-License-Identifier: Apache-2.0
// Gather readiness, name the instant; or be ready, and play when told.
#include "agents/commit/pass_barrier.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// So often readiness is said within the lead, so that one or two lost words are made good before the light is due.
constexpr std::int64_t kWordsWithinLead = 3;
/// So often a node says that its pass is over, while its training computes.
constexpr Duration kSaidAgain = std::chrono::milliseconds{100};
/// An instant so long ago is no beginning that was merely late.
constexpr Duration kLongAgo = std::chrono::seconds{10};

}  // namespace

void PassBarrier::report(StepContext context) const {
  if (!is_on() || !leads()) {
    return;
  }
  // An iteration that is interrupted is asked for again, and counts once.
  const bool is_carried = gathering_.is_over() && gathering_.missed() == 0 && phase_of(begun_.pass + 1) == 0;
  const std::uint64_t carried = begun_.iteration - (is_carried || begun_.iteration == 0 ? 0 : 1);
  IterationReport report{plan()->job, carried, passes_.replayed};
  gathering_.describe(context.now, report);
  envelopes_.send(context, plan()->routed_by, std::move(report));
}

PassBarrier::PassBarrier(const EnvelopeSender& envelopes, Timelines& timelines, GrantPlane& grants)
    : envelopes_(envelopes), timelines_(timelines), grants_(grants) {}

void PassBarrier::begin(std::shared_ptr<const NodePlan> plan) {
  plan_ = std::move(plan);
  phase_ = Phase::playing;
  pass_ = 1;
  end_ = {};
  wake_.forget();
  tuned_at_.reset();
  computed_at_.reset();
  pace_ = {};
  is_unsent_ = false;
  // The light of the commit carries the first iteration of a model; a training process has not asked for it.
  const std::uint64_t first = this->plan()->paced_by == PacedBy::training ? 0 : 1;
  begun_ = {this->plan()->job, 1, first, {}};
  passes_ = {1, first, 0, 0};
  gathering_.begin(this->plan()->members);
}

void PassBarrier::end(StepContext context) {
  if (is_on()) {
    pace_.tell(context, *plan(), TrainingWord::What::none, context.now);
  }
  plan_.reset();
  pass_ = 0;
  wake_.forget();
}

void PassBarrier::advance(StepContext context) {
  if (!is_on()) {
    return;
  }
  if (phase_ == Phase::playing) {
    finish_pass(context);
  }
  if (phase_ == Phase::over) {
    prepare_next(context);
  } else if (phase_ == Phase::ready && wake_.passed(context.now)) {
    say(context, true);
  }
}

void PassBarrier::finish_pass(StepContext context) {
  if (plan_->grants) {
    if (!grants_.take_pass_end()) {
      return;
    }
    end_ = {};
  } else if (const auto end = timelines_.take_pass_end()) {
    end_ = *end;
  } else {
    return;
  }
  counters_.missed += end_.missed;
  end_.missed += is_unsent_ ? 1 : 0;
  is_unsent_ = false;
  phase_ = Phase::over;
  ended_ = context.now;
  tuned_at_.reset();
  computed_at_.reset();
  tuned_last_.reset();
  if (is_paced_by_training()) {
    pace_.tell(context, *plan(), TrainingWord::What::over, context.now);
    wake_.set(context, later(context.now, kSaidAgain));
  } else {
    wake_.set(context, later(context.now, phase_of(pass_ + 1) == 0 ? plan()->compute : Duration{}));
  }
}

/// Tuned and not computed: the pass could be played again.
void PassBarrier::prepare_next(StepContext context) {
  const bool has_computed = is_paced_by_training() ? pace_.wants_light() : wake_.passed(context.now);
  if (!computed_at_ && has_computed) {
    computed_at_ = context.now;
  }
  const auto untuned = plan_->grants || tuned_at_ ? std::nullopt : timelines_.untuned();
  if (untuned) {
    tuned_last_ = untuned;
    return;
  }
  const bool is_first_word = !tuned_at_;
  tuned_at_ = tuned_at_.value_or(context.now);
  if (computed_at_) {
    phase_ = Phase::ready;
    return say(context, true);
  }
  if (is_first_word || (is_paced_by_training() && wake_.passed(context.now))) {
    say(context, false);
  }
}

// --- words ---------------------------------------------------------------------------------------------------------------

bool PassBarrier::is_of_this_light(const Envelope& envelope) {
  if (!is_on() || envelope.revision != plan()->routed_by) {
    ++counters_.other_revision;
    return false;
  }
  if (envelope.clock != envelopes_.clock) {
    ++counters_.other_clock;
    return false;
  }
  return true;
}

void PassBarrier::report_unlawful(StepContext context, NodeId from, std::string_view what) const {
  envelopes_.warn(context, {AlarmCode::malformed_message,
                            {},
                            {},
                            format_text("node {} {}: job {}, light of revision {}, pass {} of it is the present one",
                                        from.value, what, plan()->job.value, plan()->routed_by.value, pass_),
                            format_text("loom node show {}", from.value)});
}

/// The pass before may have begun for us alone: a leader that has answered answers again.
void PassBarrier::say(StepContext context, bool is_ready) {
  PassReady word{plan()->job, pass_ + 1, end_.missed, is_ready};
  word.computed_in = is_ready ? between(ended_, *computed_at_) : Duration{};
  word.tuned_in = between(ended_, *tuned_at_);
  word.device = end_.missed > 0 ? end_.device : tuned_last_;
  if (is_ready) {
    wake_.set(context, later(context.now, std::max(plan()->lead / kWordsWithinLead, Duration{1})));
  } else if (is_paced_by_training()) {
    wake_.set(context, later(context.now, kSaidAgain));
  }
  leads() ? gather(context, envelopes_.node, word)
          : envelopes_.send_to_peer(context, plan()->leader, plan()->routed_by, std::move(word));
}

void PassBarrier::receive(StepContext context, const TrainingReady& ready) {
  using Heard = TrainingPace::Heard;
  const bool is_asked = is_on() && plan()->paced_by == PacedBy::training;
  const Heard heard = is_asked ? pace_.hear(ready) : Heard::untimely;
  // A pass of several phases is not played again: what is unsent goes with the next one.
  const bool is_late = heard == Heard::unsent && (phase_ == Phase::ready || plan()->phases > 1);
  if (heard == Heard::repeated || heard == Heard::untimely || is_late) {
    ++(heard == Heard::repeated ? counters_.repeated : counters_.untimely);
    return;
  }
  if (heard == Heard::unsent && phase_ == Phase::playing) {
    is_unsent_ = true;
  } else if (heard == Heard::unsent && end_.missed == 0) {
    end_.missed = 1;
    if (tuned_at_) {
      say(context, false);
    }
  }
}

void PassBarrier::receive(StepContext context, NodeId from, const Envelope& envelope, const PassReady& ready) {
  if (!is_of_this_light(envelope)) {
    return;
  }
  if (!leads() || ready.job != plan()->job || !std::ranges::binary_search(plan()->members, from)) {
    if (++counters_.strangers == 1) {
      report_unlawful(context, from, "is ready for a pass that is not begun here");
    }
    return;
  }
  gather(context, from, ready);
}

void PassBarrier::receive(StepContext context, NodeId from, const Envelope& envelope, const PassBegin& begin) {
  if (!is_of_this_light(envelope)) {
    return;
  }
  if (from != plan()->leader || begin.job != plan()->job) {
    if (++counters_.strangers == 1) {
      report_unlawful(context, from, "begins a pass and does not lead the job");
    }
    return;
  }
  if (begin.pass <= pass_) {
    ++counters_.repeated;
    return;
  }
  const bool is_near =
      begin.at <= later(context.now, Duration{limits::kPassLeadNs}) && later(begin.at, kLongAgo) >= context.now;
  const bool is_again = phase_ == Phase::over && tuned_at_ && begin.iteration == passes_.iterations;
  if (begin.pass != pass_ + 1 || (phase_ != Phase::ready && !is_again) || !is_near) {
    if (++counters_.implausible == 1) {
      report_unlawful(context, from,
                      format_text("begins pass {} at an instant {} us from now, when {} was expected within {} us", begin.pass,
                                  between(context.now, begin.at).count() / 1000, pass_ + 1, limits::kPassLeadNs / 1000));
    }
    return;
  }
  play(context, begin);
}

// --- the leader ----------------------------------------------------------------------------------------------------------

void PassBarrier::gather(StepContext context, NodeId from, const PassReady& ready) {
  if (ready.pass == begun_.pass) {
    ++counters_.repeated;
    return envelopes_.send_to_peer(context, from, plan()->routed_by, begun_);
  }
  if (ready.pass != begun_.pass + 1) {
    if (++counters_.implausible == 1) {
      report_unlawful(context, from, format_text("is ready for pass {}, when {} was expected", ready.pass, begun_.pass + 1));
    }
    return;
  }
  if (!gathering_.hear(context.now, from, ready)) {
    ++counters_.repeated;
    return;
  }
  if (gathering_.is_ready() || (gathering_.is_over() && gathering_.missed() > 0)) {
    begin_next(context);
  }
}

/// Bytes of timeslots that stayed dark are unsent, and who relays them waits for them: the pass is played again as a whole.
void PassBarrier::begin_next(StepContext context) {
  const Instant light = later(context.now, plan()->lead);
  auto next = PassGathering::Next::of_iteration;
  if (gathering_.missed() > 0) {
    next = PassGathering::Next::again;
    ++passes_.replayed;
  } else if (phase_of(begun_.pass + 1) == 0) {
    next = PassGathering::Next::of_next_iteration;
    begun_.iteration += 1;
  }
  gathering_.go_on(context.now, light, next, begun_.iteration);
  begun_.pass += 1;
  begun_.at = later(light, -first_guard());
  for (const NodeId member : plan()->members) {
    if (member != envelopes_.node) {
      envelopes_.send_to_peer(context, member, plan()->routed_by, begun_);
    }
  }
  play(context, begun_);
}

// --- the pass ------------------------------------------------------------------------------------------------------------

/// Lasers that are tuned need none of it.
Duration PassBarrier::first_guard() const { return plan_->grants ? Duration{} : timelines_.first_guard(); }

void PassBarrier::play(StepContext context, const PassBegin& begin) {
  pass_ = begin.pass;
  phase_ = Phase::playing;
  wake_.forget();
  ++passes_.passes;
  ++counters_.passes;
  if (phase_of(pass_) == 0) {
    pace_.light(begin.iteration == passes_.iterations);
  }
  passes_.iterations = begin.iteration;
  const Instant light = later(begin.at, first_guard());
  passes_.late += light < context.now ? 1 : 0;
  if (phase_of(pass_) == 0) {
    pace_.tell(context, *plan(), TrainingWord::What::lit, light);
  }
  plan_->grants ? grants_.begin_pass(context, begin.at, phase_of(pass_)) : timelines_.begin_pass(context, begin.at);
}

Result<void> check_iteration_plan(const NodePlan& plan, NodeId node, std::uint32_t nodes) {
  const IterationPlan& iterations = *plan.iterations;
  const auto named = format_text("iterations of node {}: ", node.value);
  if (iterations.routed_by == Revision{} || iterations.compute < Duration{} || iterations.lead <= Duration{} ||
      iterations.lead > Duration{limits::kPassLeadNs}) {
    return fail(ErrorCode::out_of_range,
                format_text("{}laid by revision {}, {} of compute and {} of lead; allowed a revision above 0, no negative time "
                            "and a lead of 1 ns to {} ns",
                            named, iterations.routed_by.value, in_microseconds(iterations.compute),
                            in_microseconds(iterations.lead), limits::kPassLeadNs));
  }
  if (iterations.phases == 0 || (iterations.phases > 1 && !plan.grants)) {
    return fail(ErrorCode::invalid_argument,
                format_text("{}{} passes an iteration; timeslots have one, grants at least one", named, iterations.phases));
  }
  const auto& members = iterations.members;
  const bool leads = iterations.leader == node;
  const bool beyond = iterations.leader.value >= nodes || (!members.empty() && members.back().value >= nodes);
  if (beyond || leads != !members.empty() || (leads && !std::ranges::binary_search(members, node))) {
    return fail(ErrorCode::invalid_argument,
                format_text("{}led by node {} of {}, {} members named; the leader names itself among them, others name nobody",
                            named, iterations.leader.value, nodes, members.size()));
  }
  if (!plan.grants && (plan.cycle <= Duration{} || plan.cycles == 0)) {
    return fail(ErrorCode::invalid_argument,
                format_text("{}{} cycles of {}: a pass must have an end", named, plan.cycles, in_microseconds(plan.cycle)));
  }
  return {};
}

}  // namespace loom
