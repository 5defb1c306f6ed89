// SPDX-License-Identifier: Apache-2.0
// Counting iterations over light, and comparing with what was expected.
#include "sim_backend/judge/job_account.hpp"

#include <algorithm>
#include <set>

#include "controller/predict/replay.hpp"
#include "controller/workload/import/flows.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

/// Nobody replays more iterations than this one by one.
constexpr std::uint64_t kReplaysMost = 10'000;

std::int64_t bytes_of(const JobSpec& job) {
  std::int64_t sum = 0;
  for (const Collective& collective : job.collectives) {
    for (const Flow& flow : flows_of(collective, job.node_count)) {
      sum += flow.bytes * collective.count;
    }
  }
  return sum;
}

class IterationCounter {
 public:
  IterationCounter(const PlanHistory& history, const LightTimeline& light, const JobHistory& job_history,
                   const CarriedQuestion& question)
      : history_(history), light_(light), job_history_(job_history), question_(question) {}

  CarriedIterations count(const JobLight& account) {
    const std::vector<PlanPhase> phases = plan_phases(history_, job_history_.job, job_history_.until);
    const auto has = [&](LightKind kind) {
      return std::ranges::any_of(phases, [&](const PlanPhase& phase) {
        return phase.base != nullptr && phase.span.to > job_history_.from && phase.base->kind == kind;
      });
    };
    repeats_ = std::ranges::any_of(phases, [](const PlanPhase& phase) { return phase.base != nullptr && phase.base->repeats; });
    repeats_ = repeats_ || (question_.schedule != nullptr && question_.schedule->stages.size() > 1);
    if (question_.schedule == nullptr) {
      carried_.why = "it never had a plan";
    } else if (has(LightKind::granted)) {
      one_by_one("what it had to send was sent once");
    } else if (has(LightKind::timeslots)) {
      one_by_one("its timeslots were played once");
    } else {
      for (const TimeSpan& span : account.lit) {
        over_standing(span, phases);
      }
      if (carried_.count == 0 && carried_.why.empty()) {
        carried_.why = account.lit.empty() ? "it never was lit" : "its light never lasted for a whole iteration";
      }
    }
    if (question_.wants_prediction && carried_.count > 0) {
      const auto predicted = predict_schedule(spec_at(job_history_.until), *question_.schedule, question_.timings);
      carried_.predicted = predicted ? std::optional(predicted->iteration) : std::nullopt;
    }
    return std::move(carried_);
  }

 private:
  struct Ran {
    Duration iteration{};
    Duration compute{};
    Duration dark{};
  };

  JobSpec spec_at(Instant at) const {
    JobSpec spec = question_.spec;
    if (const auto* placement = history_.placement(job_history_.job, at)) {
      spec.placement = placement->nodes;
      spec.node_count = static_cast<std::uint32_t>(placement->nodes.size());
      spec.collectives = placement->measured.empty() ? spec.collectives : placement->measured;
    }
    return spec;
  }

  /// Light between the job's nodes from `from` on.
  LightTimeline light_for(const JobSpec& spec, Instant from) const {
    const std::set<NodeId> nodes(spec.placement.begin(), spec.placement.end());
    LightTimeline own;
    for (LitWindow window : light_) {
      if (window.end > from && window.begin < job_history_.until && nodes.contains(window.source) &&
          nodes.contains(window.destination)) {
        window.end = std::min(window.end, job_history_.until);
        own.push_back(window);
      }
    }
    return own;
  }

  Result<Ran> replay_from(const JobSpec& spec, const LightTimeline& light, Instant start) const {
    if (spec.placement.size() < spec.node_count || light.empty()) {
      return fail(ErrorCode::infeasible, "there is no light between its nodes");
    }
    ReplayOptions options;
    options.start = start;
    options.latency = question_.timings.latency;
    options.order = order_of(*question_.schedule);
    options.schedule = question_.schedule;
    options.forward = question_.timings.forward;
    auto ran = replay(spec, light, options);
    if (!ran) {
      return std::unexpected(ran.error());
    }
    return Ran{ran->iteration, ran->compute, ran->dark};
  }

  /// As replay_from over all of `light`, which is in the order of its ends, but it reads no more of it than it needs.
  Result<Ran> replay_soon(const JobSpec& spec, const LightTimeline& light, Instant start) {
    const auto first = std::ranges::upper_bound(light, start, {}, &LitWindow::end);
    for (;; horizon_ *= 4) {
      LightTimeline soon;
      bool is_all = true;
      for (auto window = first; window != light.end(); ++window) {
        if (window->begin - start < horizon_) {
          soon.push_back(*window);
        } else {
          is_all = false;
          if (window->end - start > horizon_ + longest_) {
            break;
          }
        }
      }
      auto ran = replay_from(spec, soon, start);
      if (ran || is_all) {
        return ran;
      }
    }
  }

  void add(std::uint64_t iterations, const JobSpec& spec, const Ran& ran) {
    carried_.count += iterations;
    carried_.times.add(iterations, ran.iteration, ran.dark);
    carried_.bytes.count += bytes_of(spec) * static_cast<std::int64_t>(iterations);
  }

  /// Windows that come and go: each iteration begins when the one before is done.
  void one_by_one(const char* once) {
    const JobSpec spec = spec_at(job_history_.until);
    const LightTimeline light = light_for(spec, job_history_.from);
    Instant start = kNever;
    for (const LitWindow& window : light) {
      start = std::min(start, std::max(window.begin, job_history_.from));
      longest_ = std::max(longest_, window.end - window.begin);
      carried_.hoped_until = std::max(carried_.hoped_until, std::min(window.end, job_history_.until) + 2 * spec.compute);
    }
    const std::uint64_t most = question_.wanted == 0 ? kReplaysMost : std::min<std::uint64_t>(question_.wanted, kReplaysMost);
    while (start != kNever && carried_.count < most) {
      const auto ran = replay_soon(spec, light, start);
      if (!ran) {
        carried_.why = carried_.count == 0 ? ran.error().message : repeats_ ? "" : once;
        return foresee(start);
      }
      add(1, spec, *ran);
      // Merged transfers: the replay starts when compute is done, and the next iteration computes first.
      carried_.due = start + ran->iteration - ran->compute;
      start = carried_.due + ran->compute;
    }
    if (start == kNever) {
      carried_.why = "it never was lit";
    }
  }

  /// When a job that goes on repeating will have carried what is wanted. One that has carried nothing for long does not.
  void foresee(Instant start) {
    constexpr Duration kLong = std::chrono::seconds{5};
    const Duration typical = carried_.times.percentile(0.5);
    if (!repeats_ || carried_.count == 0 || carried_.count >= question_.wanted ||
        job_history_.until - start > kLong + 10 * typical) {
      return;
    }
    constexpr Duration kSoon = std::chrono::milliseconds{20};
    const auto left = static_cast<std::int64_t>(question_.wanted - carried_.count);
    carried_.due = std::max(start + typical * left, job_history_.until + kSoon);
  }

  /// The plan that had the most of this light.
  static std::shared_ptr<const PlannedLight> base_of(const TimeSpan& span, const std::vector<PlanPhase>& phases) {
    std::shared_ptr<const PlannedLight> base;
    Duration most{};
    for (const PlanPhase& phase : phases) {
      const Duration overlap = std::min(phase.span.to, span.to) - std::max(phase.span.from, span.from);
      if (phase.base != nullptr && phase.moving == nullptr && overlap > most) {
        most = overlap;
        base = phase.base;
      }
    }
    return base;
  }

  void over_standing(const TimeSpan& span, const std::vector<PlanPhase>& phases) {
    const std::shared_ptr<const PlannedLight> base = base_of(span, phases);
    if (base == nullptr) {
      return;
    }
    const JobSpec spec = spec_at(span.from);
    if (base != measured_for_) {
      measured_for_ = base;
      // As long as it stays as it is: what ends during the iteration is found by dividing.
      LightTimeline light = light_for(spec, span.from);
      std::erase_if(light, [&](const LitWindow& window) { return window.begin > span.from; });
      for (LitWindow& window : light) {
        window.end = kNever;
      }
      const auto ran = replay_from(spec, light, span.from);
      iteration_ = ran ? *ran : Ran{};
      carried_.why = ran ? std::string() : ran.error().message;
    }
    if (iteration_.iteration <= Duration{}) {
      return;
    }
    const auto left = question_.wanted > carried_.count ? question_.wanted - carried_.count : 0;
    const auto fits = static_cast<std::uint64_t>(span.length() / iteration_.iteration);
    if (left > 0) {
      carried_.due = span.from + iteration_.iteration * static_cast<std::int64_t>(left);
    }
    add(question_.wanted == 0 ? fits : std::min(fits, std::uint64_t{left}), spec, iteration_);
  }

  const PlanHistory& history_;
  const LightTimeline& light_;
  JobHistory job_history_;
  CarriedQuestion question_;
  CarriedIterations carried_;
  std::shared_ptr<const PlannedLight> measured_for_;
  Ran iteration_;
  bool repeats_ = false;
  Duration horizon_ = std::chrono::seconds{1};  ///< how far ahead one iteration's light is looked for at first
  Duration longest_{};                          ///< of the windows
};

class Verdict {
 public:
  Verdict(const JobAccount& account, const JobSubmission& submission, const Scenario& scenario)
      : account_(account),
        expected_(submission.expect ? *submission.expect : scenario.expect.value_or(JobExpectation{})),
        scenario_(scenario) {}

  std::vector<std::string> take() {
    judge_state();
    if (account_.submitted && !is_refused(account_.word)) {
      judge_darkness();
      judge_iterations();
    }
    return std::move(failures_);
  }

 private:
  void judge_state() {
    const std::string is =
        format_text("is {}{}", account_.word.state, account_.word.why.empty() ? "" : ": " + account_.word.why);
    if (!expected_.state.empty() && account_.word.state != expected_.state) {
      failures_.push_back(format_text("expected to be {}, and {}", expected_.state, is));
    } else if (!expected_.why.empty() && account_.word.why.find(expected_.why) == std::string::npos) {
      failures_.push_back(format_text("expected to be {} because of '{}', and {}", expected_.state, expected_.why, is));
    } else if (expected_.state.empty() && is_refused(account_.word)) {
      failures_.push_back("was refused");
    } else if (expected_.state.empty() && !account_.submitted) {
      failures_.push_back("was never submitted: " + account_.word.why);
    } else if (expected_.state.empty() && !is_at_rest(account_.word) && !is_in_light(account_.word)) {
      failures_.push_back(is);  // how much of its light there was is measured from ground truth below
    }
  }

  void judge_darkness() {
    TimeSpans dark;
    for (const DarkTime& time : account_.light.dark) {
      if (!time.planned) {
        dark.push_back(time.span);
      }
    }
    dark = united(std::move(dark));
    TimeSpans windows;
    for (const DarkWindow& window : expected_.dark) {
      // A receiver takes its microseconds: windows are as exact as people write them.
      constexpr Duration kGrain = std::chrono::milliseconds{1};
      windows.push_back({Instant{window.from} - kGrain, window.to == kForever ? kNever : Instant{window.to} + kGrain});
      if (intersection(dark, TimeSpans{windows.back()}).empty()) {
        failures_.push_back(format_text("expected to be dark {}, and was not", text_of_window(window)));
      }
    }
    const Duration unexpected = length_of(difference(dark, united(std::move(windows))));
    const Duration allowed = expected_.dark_at_most.value_or(Duration{}) + scenario_.faults_darken;
    if (unexpected > allowed) {
      failures_.push_back(
          format_text("was dark for {}{}", seconds_text(unexpected),
                      allowed > Duration{} ? ", expected at most " + seconds_text(allowed) : " that nobody expected"));
    }
  }

  void judge_iterations() {
    const std::uint64_t carried = account_.carried.count;
    const std::string because = account_.carried.why.empty() ? "" : ": " + account_.carried.why;
    if (expected_.iterations && carried < *expected_.iterations) {
      failures_.push_back(
          format_text("expected {} iterations, its light carried {}{}", *expected_.iterations, carried, because));
    } else if (!expected_.iterations && !account_.was_cut && account_.iterations_wanted > carried) {
      failures_.push_back(format_text("ended after {} of {} iterations{}", carried, account_.iterations_wanted, because));
    }
  }

  static std::string seconds_text(Duration duration) {
    std::string text = std::to_string(seconds_of(duration));
    return text.substr(0, text.find('.') + 4) + " s";
  }
  static std::string text_of_window(const DarkWindow& window) {
    return format_text("from {}{}", seconds_text(window.from),
                       window.to == kForever ? " on" : " to " + seconds_text(window.to));
  }

  const JobAccount& account_;
  JobExpectation expected_;
  const Scenario& scenario_;
  std::vector<std::string> failures_;
};

}  // namespace

void IterationTimes::add(std::uint64_t iterations, Duration length, Duration dark) {
  if (iterations == 0) {
    return;
  }
  count_ += iterations;
  dark_ += dark * static_cast<std::int64_t>(iterations);
  if (!lengths_.empty() && lengths_.back().first == length) {
    lengths_.back().second += iterations;
  } else {
    lengths_.emplace_back(length, iterations);
  }
}

Duration IterationTimes::percentile(double part) const {
  auto sorted = lengths_;
  std::ranges::sort(sorted);
  std::uint64_t passed = 0;
  for (const auto& [length, count] : sorted) {
    passed += count;
    if (static_cast<double>(passed) >= part * static_cast<double>(count_)) {
      return length;
    }
  }
  return {};
}

CarriedIterations carried_by(const PlanHistory& history, const LightTimeline& light, const JobLight& account,
                             const JobHistory& job_history, const CarriedQuestion& question) {
  return IterationCounter(history, light, job_history, question).count(account);
}

bool is_refused(const JobStatement& word) { return word.state == "refused"; }

bool is_over(const JobStatement& word) { return is_refused(word) || word.state == "ended"; }

bool is_in_light(const JobStatement& word) { return word.state == "lit" || word.state == "degraded" || word.state == "dark"; }

bool is_at_rest(const JobStatement& word) {
  static const std::set<std::string, std::less<>> kAtRest{"lit", "ended"};
  return kAtRest.contains(word.state) || (is_refused(word) && !word.why.empty());
}

std::vector<std::string> failures_of(const JobAccount& account, const JobSubmission& submission, const Scenario& scenario) {
  return Verdict(account, submission, scenario).take();
}

bool RunAccount::is_as_expected() const {
  return std::ranges::all_of(jobs, [](const JobAccount& job) { return job.failures.empty(); }) &&
         std::ranges::all_of(actions, [](const ActionAccount& action) { return action.failure.empty(); });
}

}  // namespace loom
