// SPDX-License-Identifier: Apache-2.0
// Training repeats: jobs whose nodes play one iteration after the other without the controller, under virtual time, through the
// real drivers, judged by replay over ground truth, which knows neither passes nor plans of iterations.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "sim_backend/simulation.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Scenario repeated(Transmit transmit = Transmit::slots, const std::string& workload = "dlrm") {
  Scenario scenario;
  scenario.name = "iterations";
  scenario.fabric = small_oddl(8, 4);
  JobSubmission job;
  job.name = "repeated";
  job.workload = workload;
  job.nodes = 4;
  job.at = milliseconds{500};
  job.transmit = transmit;
  scenario.jobs = {job};
  scenario.duration = seconds{20};
  return scenario;
}

SimResult run(const Scenario& scenario, std::uint64_t seed = 1) {
  SimOptions options;
  options.seed = seed;
  auto result = run_simulation(scenario, options);
  if (!result) {
    FAIL(result.error().message);
  }
  for (const Violation& violation : result->violations) {
    FAIL_CHECK("at " << seconds_of(violation.at.time_since_epoch()) << " s: " << to_string(violation.rule) << ": "
                     << violation.evidence);
  }
  return std::move(*result);
}

Duration unplanned_dark(const JobAccount& job) {
  Duration sum{};
  for (const DarkTime& time : job.light.dark) {
    sum += time.planned ? Duration{} : time.span.length();
  }
  return sum;
}

/// How many iterations of the predicted length fit between the job's first light and its end.
double iterations_that_fit(const JobAccount& job) {
  REQUIRE(job.carried.predicted);
  return seconds_of(job.light.lit_time()) / seconds_of(*job.carried.predicted);
}

}  // namespace

TEST_CASE("one iteration follows the other for as long as the job runs, about as fast as predicted") {
  const Scenario scenario = repeated();
  const SimResult result = run(scenario);
  const JobAccount& job = result.account.jobs.at(0);
  INFO(text_of(result.account));
  CHECK(job.word.state == "lit");
  CHECK(job.failures.empty());
  CHECK(unplanned_dark(job) == Duration{});
  CHECK(job.carried.count > 20);
  CHECK(static_cast<double>(job.carried.count) >= 0.97 * iterations_that_fit(job) - 1);
  CHECK(job.carried.times.percentile(0.99) <= *job.carried.predicted);  // every device at its worst is a promise
  CHECK(result.underflows == 0);
  CHECK(result.revisions.committed == 1);
}

TEST_CASE("a job of so many iterations ends when its light has carried them") {
  Scenario scenario = repeated();
  scenario.jobs[0].iterations = 12;
  const SimResult result = run(scenario);
  const JobAccount& job = result.account.jobs.at(0);
  INFO(text_of(result.account));
  CHECK(job.word.state == "ended");
  CHECK(job.carried.count == 12);
  CHECK(job.failures.empty());
}

TEST_CASE("lost words cost time, and no iteration") {
  Scenario scenario = repeated();
  scenario.network.loss = 0.02;
  const SimResult result = run(scenario);
  const JobAccount& job = result.account.jobs.at(0);
  INFO(text_of(result.account));
  CHECK(static_cast<double>(job.carried.count) >= 0.8 * iterations_that_fit(job));
  CHECK(unplanned_dark(job) == Duration{});
}

TEST_CASE("without a controller the iterations go on") {
  Scenario scenario = repeated();
  const SimResult whole = run(scenario);
  MachineFault crash;
  crash.at = seconds{4};
  crash.lasts = seconds{10};
  scenario.machine_faults = {crash};
  const SimResult alone = run(scenario);
  INFO(text_of(alone.account));
  CHECK(alone.account.jobs.at(0).carried.count == whole.account.jobs.at(0).carried.count);
  CHECK(unplanned_dark(alone.account.jobs.at(0)) == Duration{});
}

TEST_CASE("streams under grants repeat as well, and about as fast as is estimated") {
  const std::string workload = GENERATE("dlrm", "vgg19");
  const SimResult result = run(repeated(Transmit::grants, workload));
  const JobAccount& job = result.account.jobs.at(0);
  const double ratio = seconds_of(job.carried.times.percentile(0.5)) / seconds_of(*job.carried.predicted);
  CHECK(ratio > 0.9);
  CHECK(ratio < 1.4);  // who is granted first is decided while it runs: an exchange is seldom a perfect rotation
  INFO(text_of(result.account));
  CHECK(job.carried.count > 20);
  CHECK(unplanned_dark(job) == Duration{});
  CHECK(result.revisions.committed == 1);  // the controller lit it, and was asked nothing more
}

TEST_CASE("maps in turn come again for every iteration, by commits") {
  Scenario scenario = repeated();
  scenario.jobs[0].nodes = 8;  // two groups
  scenario.jobs[0].settings["map"] = "maps";
  const SimResult result = run(scenario);
  const JobAccount& job = result.account.jobs.at(0);
  INFO(text_of(result.account));
  CHECK(job.carried.count > 3);
  CHECK(result.revisions.committed >= 2 * job.carried.count);
  CHECK(unplanned_dark(job) == Duration{});
}

TEST_CASE("a job that has ended stays ended when the controller has started again and knows nothing of it") {
  Scenario scenario = repeated();
  scenario.jobs[0].iterations = 12;
  MachineFault crash;
  crash.at = seconds{10};
  crash.lasts = seconds{1};
  scenario.machine_faults = {crash};
  const SimResult result = run(scenario);
  CHECK(result.account.jobs.at(0).word.state == "ended");
  CHECK(result.account.jobs.at(0).failures.empty());
}

TEST_CASE("training processes pace the iterations, and their jitter costs what it takes and no iteration") {
  Scenario scenario = repeated();
  const SimResult even = run(scenario);
  scenario.jobs[0].paced_by = PacedBy::training;
  const SimResult paced = run(scenario);
  const JobAccount& job = paced.account.jobs.at(0);
  INFO(text_of(paced.account));
  CHECK(job.failures.empty());
  CHECK(unplanned_dark(job) == Duration{});
  // As the model, but for the light of the commit, which no process asked for.
  CHECK(job.carried.count + 2 >= even.account.jobs.at(0).carried.count);

  scenario.training.jitter = 0.3;
  scenario.training.lost = 0.05;
  scenario.training.doubled = 0.2;
  const SimResult restless = run(scenario);
  INFO(text_of(restless.account));
  CHECK(restless.account.jobs.at(0).failures.empty());
  CHECK(unplanned_dark(restless.account.jobs.at(0)) == Duration{});
  CHECK(restless.underflows == 0);
  CHECK(restless.account.jobs.at(0).carried.count > job.carried.count / 2);
  CHECK(restless.account.jobs.at(0).carried.count < job.carried.count);
  CHECK(run(scenario).digest == restless.digest);
}

TEST_CASE("an iteration that a process computes too long for is slow and alone") {
  Scenario scenario = repeated();
  scenario.jobs[0].paced_by = PacedBy::training;
  const auto usual = run(scenario).account.jobs.at(0);
  scenario.training.slow = 0.02;
  scenario.training.slow_by = milliseconds{400};
  const SimResult result = run(scenario);
  const JobAccount& job = result.account.jobs.at(0);
  INFO(text_of(result.account));
  CHECK(job.failures.empty());
  CHECK(job.carried.times.percentile(0.5) <= usual.carried.times.percentile(0.5) + milliseconds{1});
  CHECK(job.carried.times.percentile(0.99) >= usual.carried.times.percentile(0.99) + milliseconds{300});
}

TEST_CASE("a node whose agent dies is laid anew, and its training asks again for the light that it lost") {
  Scenario scenario = repeated();
  scenario.jobs[0].paced_by = PacedBy::training;
  MachineFault crash;
  crash.node = NodeId{1};
  crash.at = seconds{6};
  crash.lasts = seconds{1};
  scenario.machine_faults = {crash};
  const SimResult result = run(scenario);
  const JobAccount& job = result.account.jobs.at(0);
  INFO(text_of(result.account));
  CHECK(job.word.state == "lit");
  CHECK(static_cast<double>(job.carried.count) >= 0.7 * iterations_that_fit(job));
}

TEST_CASE("a node that is gone costs its own job, and whoever comes has light at once") {
  Scenario scenario = repeated(Transmit::slots, "ncf");
  JobSubmission other = scenario.jobs[0];
  other.name = "other";
  other.workload = "vgg19";
  other.nodes = 2;
  other.at = seconds{8};
  scenario.jobs.push_back(other);
  MachineFault gone;
  gone.kind = MachineFaultKind::partition;
  gone.node = NodeId{1};
  gone.at = seconds{4};
  gone.lasts = seconds{30};
  scenario.machine_faults = {gone};
  const SimResult result = run(scenario);
  INFO(text_of(result.account));
  const JobAccount& lit = result.account.jobs.at(1);
  CHECK(lit.word.state == "lit");
  CHECK(lit.light.lit_time() >= seconds{11});
  CHECK(result.revisions.returned == 0);
}
