// SPDX-License-Identifier: Apache-2.0
// What becomes a metric of the controller's numbers: each commit and plan once, a job's darkness while it is wanted.
#include "controller/control/controller_metrics.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <string>

using namespace loom;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Null: no such sample.
const MetricSample* find(const MetricList& list, const std::string& name, const MetricLabels& labels = {}) {
  for (const Metric& metric : list.metrics()) {
    for (const MetricSample& sample : metric.samples) {
      if (metric.name == name && sample.labels == labels) {
        return &sample;
      }
    }
  }
  return nullptr;
}

double value(const MetricList& list, const std::string& name, const MetricLabels& labels = {}) {
  const MetricSample* sample = find(list, name, labels);
  REQUIRE(sample != nullptr);
  return sample->durations ? static_cast<double>(sample->durations->count()) : sample->value;
}

CommitReport report(std::uint64_t revision, CommitOutcome outcome) {
  CommitReport made;
  made.revision = Revision{revision};
  made.outcome = outcome;
  made.started = Instant{seconds{static_cast<std::int64_t>(revision)}};
  made.prepare = milliseconds{2};
  made.total = milliseconds{40};
  made.resent = 1;
  return made;
}

MetricList of(const CommitMeter& meter) {
  MetricList list;
  meter.add_metrics(list);
  return list;
}

Event planned(Duration elapsed) {
  Planned event;
  event.outcome.elapsed = elapsed;
  return event;
}

Job job_of(std::uint64_t id) {
  Job job;
  job.id = JobId{id};
  return job;
}

}  // namespace

TEST_CASE("each commit is counted once, however often the history is looked at, and timed if it was committed") {
  CommitMeter meter("oddl");
  std::deque<CommitReport> history;
  const Event tick = TimerFired{};
  meter.follow(tick, history);
  history.push_back(report(1, CommitOutcome::committed));
  meter.follow(tick, history);
  meter.follow(tick, history);
  history.push_back(report(2, CommitOutcome::returned));
  history.push_back(report(2, CommitOutcome::committed));
  history.pop_front();  // forgotten, and yet counted
  meter.follow(tick, history);
  const MetricList list = of(meter);
  CHECK(value(list, "lightloom_commit_total", {{"outcome", "committed"}}) == 2);
  CHECK(value(list, "lightloom_commit_total", {{"outcome", "returned"}}) == 1);
  CHECK(value(list, "lightloom_commit_total", {{"outcome", "refused"}}) == 0);
  CHECK(value(list, "lightloom_commit_messages_resent_total") == 3);
  CHECK(value(list, "lightloom_commit_duration_seconds", {{"stage", "total"}}) == 2);
  CHECK(find(list, "lightloom_commit_duration_seconds", {{"stage", "prepare"}})->durations->sum() == milliseconds{4});
  CHECK(value(list, "lightloom_fire_skew_seconds") == 0);  // nobody fired
}

TEST_CASE("a plan is timed under the daemon's algorithm, whatever becomes of it") {
  CommitMeter meter("oddl");
  meter.follow(planned(milliseconds{30}), {});
  meter.follow(planned(milliseconds{50}), {});
  const MetricList list = of(meter);
  const MetricSample* sample = find(list, "lightloom_schedule_compute_seconds", {{"algorithm", "oddl"}});
  REQUIRE(sample != nullptr);
  CHECK(sample->durations->count() == 2);
  CHECK(sample->durations->sum() == milliseconds{80});
}

TEST_CASE("a job is dark from its submission until its light is confirmed, and while it waits or is read dark") {
  ControllerFacts facts;
  DesiredIntent desired;
  Jobs jobs(facts, desired);
  const auto at = [&](int s) { facts.now = Instant{seconds{s}}; };
  const auto dark = [&] { return jobs.at(JobId{1}).dark.until(facts.now); };
  at(100);
  jobs.add(JobId{1});
  desired.add_job(job_of(1));
  PlanResult plan;
  plan.intent = desired.intent();
  at(102);
  CHECK(dark() == seconds{2});
  jobs.planned(plan);
  at(103);
  jobs.confirmed(plan);
  at(110);
  CHECK(dark() == seconds{3});
  jobs.measured(JobId{1}, LightState::degraded, "weak");
  at(120);
  CHECK(dark() == seconds{3});  // it passes
  jobs.measured(JobId{1}, LightState::dark, "no light");
  at(121);
  jobs.measured(JobId{1}, LightState::lit, "");
  at(130);
  CHECK(dark() == seconds{4});

  desired.go_to_stage(JobId{1}, 1);
  jobs.next_stage(JobId{1}, 1, Revision{2});
  at(131);
  CHECK(dark() == seconds{5});  // without the light of that stage
  plan.intent = desired.intent();
  jobs.confirmed(plan);
  jobs.leave_out(JobId{1}, "a switch is broken");
  at(141);
  jobs.planned(plan);  // back, and dark until that is confirmed
  at(142);
  CHECK(dark() == seconds{16});
  jobs.confirmed(plan);
  jobs.end(job_of(1));
  at(200);
  CHECK(dark() == seconds{16});
}

TEST_CASE("a job keeps its light over a restart of the controller, and over a plan that has not fired") {
  ControllerFacts facts;
  DesiredIntent desired;
  desired.add_job(job_of(1));
  desired.add_job(job_of(2));
  Jobs jobs(facts, desired);
  facts.now = Instant{seconds{5}};
  jobs.add(JobId{1}, Revision{9});
  jobs.add(JobId{2});
  PlanResult plan;
  plan.intent = desired.intent();
  facts.now = Instant{seconds{6}};
  jobs.planned(plan);
  facts.now = Instant{seconds{8}};
  CHECK(jobs.at(JobId{1}).dark.until(facts.now) == Duration{});
  CHECK(jobs.at(JobId{2}).dark.until(facts.now) == seconds{3});
}

TEST_CASE("a job's series ends with the job") {
  ControllerFacts facts;
  DesiredIntent desired;
  Jobs jobs(facts, desired);
  for (const std::uint64_t id : {1U, 2U}) {
    jobs.add(JobId{id});
    desired.add_job(job_of(id));
  }
  facts.now = Instant{milliseconds{2500}};
  MetricList both;
  add_metrics(both, jobs, desired.intent(), facts.now);
  CHECK(value(both, "lightloom_dark_time_seconds_total", {{"job", "2"}}) == 2.5);
  jobs.end(job_of(2));
  desired.remove_job(JobId{2});
  MetricList one;
  add_metrics(one, jobs, desired.intent(), facts.now);
  CHECK(find(one, "lightloom_dark_time_seconds_total", {{"job", "1"}}) != nullptr);
  CHECK(find(one, "lightloom_dark_time_seconds_total", {{"job", "2"}}) == nullptr);
}

TEST_CASE("a schedule's gap is told where its scheduler knows a bound") {
  PlanResult plan;
  plan.schedule.algorithm = "sip-ocs";
  plan.schedule.objective = 0.006;
  MetricList none;
  add_schedule_gap(none, nullptr);
  add_schedule_gap(none, &plan);
  CHECK(none.metrics().empty());
  plan.schedule.bound = 0.004;
  MetricList list;
  add_schedule_gap(list, &plan);
  CHECK(value(list, "lightloom_schedule_gap_ratio", {{"algorithm", "sip-ocs"}}) == Approx(0.5));
}
