// SPDX-License-Identifier: Apache-2.0
// A job's life cut into phases by the commits that moved it, and each phase judged by itself.
#include "sim_backend/judge/job_light.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// From the end of a commit that failed to the beginning of the one that takes it back: a plan, and what a restart takes.
constexpr Duration kReturnGap = std::chrono::seconds{3};
/// Under grants light comes and goes as it is asked for. Nobody waits for it longer than this while others are served.
constexpr Duration kGrantedGap = std::chrono::seconds{1};
/// Nodes of a job agree on the next iteration within this, words lost and repeated included.
constexpr Duration kAgreementGap = std::chrono::milliseconds{250};

bool contains(const std::vector<PlannedLink>& links, const PlannedLink& link) {
  return std::ranges::find(links, link) != links.end();
}

bool touches(const PlannedRevision& revision, const PlannedLight& light) {
  return std::ranges::any_of(
      light.links, [&](const PlannedLink& link) { return std::ranges::binary_search(revision.touched, link.transmitter); });
}

const std::shared_ptr<const PlannedLight>* light_of(const PlannedRevision& revision, JobId job) {
  const auto found = revision.jobs.find(job);
  return found == revision.jobs.end() ? nullptr : &found->second;
}

bool moves(const PlannedRevision& revision, JobId job, const std::shared_ptr<const PlannedLight>& base) {
  const auto* light = light_of(revision, job);
  if (light == nullptr || base == nullptr) {
    return (light == nullptr) != (base == nullptr);
  }
  return **light != *base || touches(revision, *base);
}

/// Light is there when its receiver has acquired it, which is after a commit has proven it by read-back.
Duration acquisition_of(const Fabric& fabric, const PlannedLight& light) {
  Duration longest{};
  for (const PlannedLink& link : light.links) {
    const auto* receiver = std::get_if<Receiver>(&fabric.element(link.receiver).kind);
    longest = receiver == nullptr ? longest : std::max(longest, receiver->acquisition_max);
  }
  return longest;
}

class Account {
 public:
  Account(const PlanHistory& history, const LinkWindows& windows, const JobHistory& job_history,
          std::span<const FaultNote> faults)
      : history_(history), windows_(windows), job_history_(job_history), faults_(faults) {}

  JobLight take() {
    for (const PlanPhase& phase : plan_phases(history_, job_history_.job, job_history_.until)) {
      const TimeSpan span{std::max(phase.span.from, job_history_.from), std::min(phase.span.to, job_history_.until)};
      if (span.from < span.to) {
        judge(phase, span);
      }
    }
    light_.lit = united(std::move(light_.lit));
    settle_reasons();
    return std::move(light_);
  }

 private:
  bool wants_standing(const PlannedLight& light) const { return light.kind == LightKind::standing; }

  /// When all of the links were lit, within `span`.
  TimeSpans all_lit(const std::vector<PlannedLink>& links, TimeSpan span) const {
    TimeSpans lit{span};
    for (const PlannedLink& link : links) {
      const TimeSpans* windows = windows_.of(link);
      lit = windows == nullptr ? TimeSpans{} : intersection(lit, *windows);
      if (lit.empty()) {
        break;
      }
    }
    return lit;
  }

  void judge(const PlanPhase& phase, TimeSpan span) {
    if (phase.base == nullptr && phase.moving == nullptr) {
      wait(span);
    } else if (phase.base != nullptr && phase.base->kind == LightKind::dark && phase.moving == nullptr) {
      stay_off(span);
    } else if (phase.moving != nullptr) {
      move(phase, span);
    } else if (wants_standing(*phase.base)) {
      stand(*phase.base, span);
    } else {
      play(phase, span);
    }
  }

  /// The plan of an operator who ordered lasers off; when they are on again, a commit is due.
  void stay_off(TimeSpan span, const char* otherwise = "lasers are on again, and no commit has lit it") {
    TimeSpans off = history_.lasers_off();
    for (TimeSpan& each : off) {
      each.to = each.to == kNever ? kNever : each.to + kFirstLightBound;
    }
    off = united(std::move(off));
    add_dark(intersection(TimeSpans{span}, off), true, kOff);
    add_dark(difference(TimeSpans{span}, off), false, otherwise);
  }

  /// No plan has light for the job: not yet, or not any more.
  void wait(TimeSpan span) {
    if (was_lit_) {
      stay_off(span, "no confirmed plan has light for it");
      return;
    }
    const Instant patience = job_history_.from + kFirstLightBound;
    const TimeSpans early = intersection(TimeSpans{span}, TimeSpans{{job_history_.from, patience}});
    add_dark(early, true, kWaits);
    add_dark(difference(TimeSpans{span}, early), false, "no plan has light for it");
  }

  void stand(const PlannedLight& base, TimeSpan span) {
    was_lit_ = true;
    const TimeSpans lit = all_lit(base.links, span);
    light_.lit.insert(light_.lit.end(), lit.begin(), lit.end());
    for (const TimeSpan& hole : difference(TimeSpans{span}, lit)) {
      add_dark({hole}, false, missing(base.links, hole.from));
    }
  }

  /// While a commit moves it: lit is what has all light of the old plan, or all of the new one. What the commit leaves alone
  /// stays lit.
  void move(const PlanPhase& phase, TimeSpan span) {
    const auto* next = light_of(*phase.moving, job_history_.job);
    TimeSpans lit;
    const auto add_light = [&](const PlannedLight& light, Instant since) {
      TimeSpans more;
      if (wants_standing(light)) {
        more = all_lit(light.links, span);
      } else if (light.kind != LightKind::dark) {
        more = intersection(played_span(light, since, windows_, job_history_.until), TimeSpans{span});
      }
      lit.insert(lit.end(), more.begin(), more.end());
    };
    std::vector<PlannedLink> kept;
    if (phase.base != nullptr) {
      was_lit_ = true;
      add_light(*phase.base, phase.base_since);
      for (const PlannedLink& link : phase.base->links) {
        const bool stays = next == nullptr || contains((*next)->links, link);
        const bool is_touched = std::ranges::binary_search(phase.moving->touched, link.transmitter);
        if (wants_standing(*phase.base) && next != nullptr && stays && !is_touched && wants_standing(**next)) {
          kept.push_back(link);
        }
      }
    }
    if (next != nullptr) {
      add_light(**next, phase.moving->going);
    }
    lit = united(std::move(lit));
    light_.lit.insert(light_.lit.end(), lit.begin(), lit.end());
    const TimeSpans lost = difference(TimeSpans{span}, all_lit(kept, span));
    for (const TimeSpan& hole : lost) {
      add_dark({hole}, false, missing(kept, hole.from));
    }
    const TimeSpans dark = difference(difference(TimeSpans{span}, lit), lost);
    const std::string revision = format_text("revision {}", phase.moving->revision.value);
    add_dark(dark, true,
             phase.is_return         ? revision + " failed and is taken back"
             : phase.base == nullptr ? revision + " lights it"
             : next == nullptr       ? revision + " takes its light"
                                     : revision + " moves it");
  }

  /// Timeslots and grants: what is played counts, and afterwards nothing is wanted.
  void play(const PlanPhase& phase, TimeSpan span) {
    was_lit_ = true;
    const PlannedLight& base = *phase.base;
    const TimeSpans played = played_span(base, phase.base_since, windows_, job_history_.until);
    if (played.empty()) {
      const Duration due = base.kind == LightKind::granted ? kGrantedGap : base.cycle * std::max(1U, base.cycles);
      if (span.to == job_history_.until && span.length() < due) {
        return;  // it was about to be
      }
      add_dark(intersection(TimeSpans{span}, TimeSpans{{span.from, span.from + due}}), false, "none of its timeslots was lit");
      return;
    }
    if (base.repeats && base.kind == LightKind::timeslots) {
      return play_again_and_again(base, span, played);
    }
    TimeSpans any;
    std::size_t never = 0;
    for (const PlannedLink& link : base.links) {
      const TimeSpans* windows = windows_.of(link);
      const TimeSpans own = windows == nullptr ? TimeSpans{} : intersection(*windows, played);
      never += own.empty() ? 1 : 0;
      any.insert(any.end(), own.begin(), own.end());
    }
    const Duration gap = base.kind == LightKind::granted ? kGrantedGap + base.compute : base.cycle;
    TimeSpans lit = bridged(united(std::move(any)), gap);
    if (base.kind == LightKind::timeslots && played.back().to - lit.back().to <= gap) {
      lit.back().to = played.back().to;
    }
    const bool is_over = base.cycles > 0 && played.back().to <= span.to && played.back().to < job_history_.until;
    if (base.kind == LightKind::timeslots && never > 0 && is_over) {
      add_dark(intersection(played, TimeSpans{span}), false,
               format_text("{} of {} circuits had no light in any of their timeslots", never, base.links.size()));
      return;
    }
    const TimeSpans now = intersection(lit, TimeSpans{span});
    light_.lit.insert(light_.lit.end(), now.begin(), now.end());
    for (const TimeSpan& hole : difference(intersection(played, TimeSpans{span}), lit)) {
      const bool was_all_sent = base.kind == LightKind::granted && hole.to == span.to && hole.length() <= gap;
      if (!was_all_sent) {
        add_dark({hole}, false, "no light for longer than its timeslots take");
      }
    }
  }

  /// Each link is lit once an iteration, and dark meanwhile.
  void play_again_and_again(const PlannedLight& base, TimeSpan span, const TimeSpans& played) {
    const Duration gap = base.cycle * base.cycles + base.compute + kAgreementGap;
    TimeSpans lit = played;
    for (const PlannedLink& link : base.links) {
      const TimeSpans* windows = windows_.of(link);
      TimeSpans own = windows == nullptr ? TimeSpans{} : intersection(*windows, played);
      own.push_back({played.front().from, played.front().from + Duration{1}});  // its first timeslot, or its last one
      own.push_back({played.back().to - Duration{1}, played.back().to});
      lit = intersection(lit, bridged(united(std::move(own)), gap));
    }
    const TimeSpans now = intersection(lit, TimeSpans{span});
    light_.lit.insert(light_.lit.end(), now.begin(), now.end());
    for (const TimeSpan& hole : difference(intersection(played, TimeSpans{span}), lit)) {
      add_dark({hole}, false,
               format_text("no iteration for longer than its timeslots and compute take; {}", missing(base.links, hole.from)),
               base.cycle * base.cycles + base.compute);
    }
  }

  /// Which light is not there.
  std::string missing(const std::vector<PlannedLink>& links, Instant at) const {
    std::size_t dark = 0;
    const PlannedLink* first = nullptr;
    for (const PlannedLink& link : links) {
      const TimeSpans* windows = windows_.of(link);
      const bool is_lit = windows != nullptr && !intersection(TimeSpans{{at, at + Duration{1}}}, *windows).empty();
      dark += is_lit ? 0 : 1;
      first = is_lit || first != nullptr ? first : &link;
    }
    const Fabric& fabric = history_.fabric();
    return format_text("{} of {}{} dark{}", dark, links.size(), links.size() == 1 ? " circuit is" : " circuits are",
                       first == nullptr ? ""
                                        : format_text(", first from {} to {}", fabric.nodes[first->source.value].name,
                                                      fabric.nodes[first->destination.value].name));
  }

  void add_dark(const TimeSpans& spans, bool planned, const std::string& why, Duration due = {}) {
    for (const TimeSpan& span : spans) {
      light_.dark.push_back({span, planned, why, due});
    }
  }

  /// Lasers that are ordered off are nobody's failure. What went dark otherwise stays so until there is light again, whatever
  /// is done about it meanwhile; and what nobody planned says which fault was on.
  void settle_reasons() {
    cut_orders();
    std::ranges::sort(light_.dark, {}, [](const DarkTime& dark) { return dark.span.from; });
    std::vector<DarkTime> settled;
    for (DarkTime& dark : light_.dark) {
      const bool follows = !settled.empty() && settled.back().span.to == dark.span.from;
      const bool goes_on = follows && !settled.back().planned && dark.why != kOff;
      const bool is_same = follows && settled.back().planned == dark.planned && settled.back().why == dark.why;
      if (follows && settled.back().planned && dark.planned && settled.back().why == kWaits) {
        settled.back().why = dark.why;  // and the commit came
        settled.back().span.to = dark.span.to;
        continue;
      }
      if (goes_on || is_same) {
        settled.back().span.to = dark.span.to;
        continue;
      }
      settled.push_back(std::move(dark));
    }
    for (DarkTime& dark : settled) {
      dark.why += dark.planned ? "" : fault_at(dark.span.from + dark.due);
    }
    light_.dark = std::move(settled);
  }

  void cut_orders() {
    const TimeSpans off = history_.lasers_off();
    std::vector<DarkTime> cut;
    for (const DarkTime& dark : light_.dark) {
      for (const TimeSpan& span : difference(TimeSpans{dark.span}, off)) {
        cut.push_back({span, dark.planned, dark.why, dark.due});
      }
      for (const TimeSpan& span : intersection(TimeSpans{dark.span}, off)) {
        cut.push_back({span, true, kOff, {}});
      }
    }
    light_.dark = std::move(cut);
  }

  /// The last fault that began before the darkness and was still on, or just over.
  std::string fault_at(Instant at) const {
    constexpr Duration kJustOver = std::chrono::seconds{1};
    const FaultNote* last = nullptr;
    for (const FaultNote& fault : faults_) {
      const bool was_on = fault.from <= at && (fault.to == kNever || at - fault.to <= kJustOver);
      last = was_on && (last == nullptr || fault.from >= last->from) ? &fault : last;
    }
    return last == nullptr ? "" : "; " + last->text;
  }

  static constexpr const char* kOff = "lasers are ordered off";
  static constexpr const char* kWaits = "waits for its first light";

  const PlanHistory& history_;
  const LinkWindows& windows_;
  JobHistory job_history_;
  std::span<const FaultNote> faults_;
  bool was_lit_ = false;
  JobLight light_;
};

}  // namespace

Duration JobLight::dark_time() const {
  Duration sum{};
  for (const DarkTime& time : dark) {
    sum += time.span.length();
  }
  return sum;
}

LinkWindows::LinkWindows(const LightTimeline& light) {
  for (const LitWindow& window : light) {
    windows_[{window.receiver, window.transmitter}].push_back({window.begin, window.end});
  }
  for (auto& [link, spans] : windows_) {
    spans = united(std::move(spans));
  }
}

const TimeSpans* LinkWindows::of(const PlannedLink& link) const {
  const auto found = windows_.find({link.receiver, link.transmitter});
  return found == windows_.end() ? nullptr : &found->second;
}

JobLight job_light(const PlanHistory& history, const LinkWindows& windows, const JobHistory& job_history,
                   std::span<const FaultNote> faults) {
  return Account(history, windows, job_history, faults).take();
}

std::vector<PlanPhase> plan_phases(const PlanHistory& history, JobId job, Instant end) {
  std::vector<PlanPhase> phases;
  PlanPhase standing{{Instant{}, end}, nullptr, Instant{}, nullptr, false};
  std::uint32_t failed = 0;
  const PlannedRevision* last_failed = nullptr;
  const auto close = [&](Instant at) {
    if (standing.span.from < at) {
      PlanPhase phase = standing;
      phase.span.to = at;
      phases.push_back(std::move(phase));
    }
    standing.span.from = std::max(standing.span.from, at);
  };
  for (const PlannedRevision& revision : history.revisions()) {
    if (revision.going >= end || !moves(revision, job, standing.base)) {
      continue;
    }
    const bool takes_back = failed == 1 && revision.going - standing.span.from <= kReturnGap;
    if (takes_back && standing.span.from < revision.going) {
      phases.push_back({{standing.span.from, revision.going}, standing.base, standing.base_since, last_failed, true});
      standing.span.from = revision.going;
    }
    close(revision.going);
    const auto* light = light_of(revision, job);
    Instant over = std::min(revision.ended, end);
    if (revision.confirmed && light != nullptr) {
      over = std::min(end, revision.ended + acquisition_of(history.fabric(), **light));
    }
    if (failed <= 1) {
      phases.push_back({{standing.span.from, over}, standing.base, standing.base_since, &revision, false});
      standing.span.from = std::max(standing.span.from, over);
    }
    failed = revision.confirmed ? 0 : failed + 1;
    last_failed = &revision;
    if (revision.confirmed) {
      close(over);  // after attempts that failed too often: nothing of them was planned
      standing.base = light == nullptr ? nullptr : *light;
      standing.base_since = revision.going;
    }
  }
  close(end);
  return phases;
}

TimeSpans played_span(const PlannedLight& base, Instant since, const LinkWindows& windows, Instant end) {
  const TimeSpans asked{{since, end}};
  TimeSpan span{kNever, since};
  for (const PlannedLink& link : base.links) {
    const TimeSpans* all = windows.of(link);
    TimeSpans own = all == nullptr ? TimeSpans{} : intersection(asked, *all);
    if (!own.empty() && own.front().from == since) {
      own.erase(own.begin());  // light of the plan before
    }
    if (!own.empty()) {
      span.from = std::min(span.from, own.front().from);
      span.to = std::max(span.to, own.back().to);
    }
  }
  if (span.from == kNever) {
    return {};
  }
  if (base.kind == LightKind::timeslots) {
    span.to = base.cycles == 0 || base.repeats ? end : std::min(end, span.from + base.cycle * base.cycles);
  }
  return {span};
}

}  // namespace loom
