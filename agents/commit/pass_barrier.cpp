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
/// An instant so long ago is no beginning that was merely late.
constexpr Duration kLongAgo = std::chrono::seconds{10};

}  // namespace

void PassBarrier::keep(std::vector<Duration>& into, Duration length) const {
  if (into.size() < limits::kIterationsKept) {
    into.push_back(length);
  } else {
    into[begun_.pass % limits::kIterationsKept] = length;
  }
}

void PassBarrier::report(StepContext context) const {
  if (!is_on() || !leads()) {
    return;
  }
  const auto percentile = [](std::vector<Duration> lengths, std::size_t hundredth) {
    if (lengths.empty()) {
      return Duration{};
    }
    const auto place = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) * hundredth / 100);
    std::ranges::nth_element(lengths, place);
    return *place;
  };
  envelopes_.send(context, plan()->routed_by,
                  IterationReport{plan()->job, passes_.iterations, passes_.replayed, missed_of_all_, percentile(lengths_, 50),
                                  percentile(lengths_, 99), percentile(waits_, 50)});
}

PassBarrier::PassBarrier(const EnvelopeSender& envelopes, Timelines& timelines, GrantPlane& grants)
    : envelopes_(envelopes), timelines_(timelines), grants_(grants) {}

void PassBarrier::begin(std::shared_ptr<const NodePlan> plan) {
  plan_ = std::move(plan);
  phase_ = Phase::playing;
  pass_ = 1;
  missed_ = 0;
  missed_sum_ = 0;
  wake_.forget();
  is_ready_.assign(this->plan()->members.size(), false);
  ready_ = 0;
  begun_ = {this->plan()->job, 1, 1, {}};
  passes_ = {1, 1, 0, 0};
  missed_of_all_ = 0;
  began_ = kNever;
  lengths_.clear();
  waits_.clear();
}

void PassBarrier::end() {
  plan_.reset();
  pass_ = 0;
  wake_.forget();
}

void PassBarrier::advance(StepContext context) {
  if (!is_on()) {
    return;
  }
  if (phase_ == Phase::playing) {
    const auto missed = plan_->grants ? grants_.take_pass_end() : timelines_.take_pass_end();
    if (!missed) {
      return;
    }
    missed_ = *missed;
    counters_.missed += *missed;
    phase_ = Phase::computing;
    const bool ends_iteration = phase_of(pass_ + 1) == 0;
    wake_.set(context, later(context.now, ends_iteration ? plan()->compute : Duration{}));
  }
  if (phase_ == Phase::computing && wake_.passed(context.now) && is_tuned()) {
    phase_ = Phase::ready;
    ready_since_ = context.now;
    say_ready(context);
  } else if (phase_ == Phase::ready && wake_.passed(context.now)) {
    say_ready(context);
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
void PassBarrier::say_ready(StepContext context) {
  const PassReady ready{plan()->job, pass_ + 1, missed_};
  wake_.set(context, later(context.now, std::max(plan()->lead / kWordsWithinLead, Duration{1})));
  leads() ? gather(context, envelopes_.node, ready)
          : envelopes_.send_to_peer(context, plan()->leader, plan()->routed_by, ready);
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
  if (begin.pass != pass_ + 1 || phase_ != Phase::ready || !is_near) {
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
  const auto& members = plan()->members;
  const auto member = static_cast<std::size_t>(std::ranges::lower_bound(members, from) - members.begin());
  if (is_ready_[member]) {
    ++counters_.repeated;
    return;
  }
  is_ready_[member] = true;
  missed_sum_ += ready.missed;
  missed_of_all_ += ready.missed;
  if (++ready_ == members.size()) {
    begin_next(context);
  }
}

/// Bytes of timeslots that stayed dark are unsent, and who relays them waits for them: the pass is played again as a whole.
void PassBarrier::begin_next(StepContext context) {
  const Instant light = later(context.now, plan()->lead);
  if (missed_sum_ > 0) {
    ++passes_.replayed;
  } else if (phase_of(begun_.pass + 1) == 0) {
    begun_.iteration += 1;
    if (began_ != kNever) {
      keep(lengths_, between(began_, light));
    }
    began_ = light;
  }
  keep(waits_, between(ready_since_, light));
  begun_.pass += 1;
  begun_.at = later(light, -first_guard());
  is_ready_.assign(is_ready_.size(), false);
  ready_ = 0;
  missed_sum_ = 0;
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
  passes_.iterations = begin.iteration;
  const Instant light = later(begin.at, first_guard());
  passes_.late += light < context.now ? 1 : 0;
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
