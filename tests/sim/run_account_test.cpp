// SPDX-License-Identifier: Apache-2.0
// What a run says of its jobs and of itself: lit, dark, refused, iterations; what was expected and what was not; and what an
// operator orders meanwhile.
#include <algorithm>
#include <catch2/catch.hpp>

#include "sim_backend/simulation.hpp"
#include "tests/sim/light/oddl_light.hpp"

using namespace loom;
using namespace loom::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

JobSubmission job(const std::string& name, const std::string& workload, std::uint32_t nodes, Duration at) {
  JobSubmission submission;
  submission.name = name;
  submission.workload = workload;
  submission.nodes = nodes;
  submission.at = at;
  return submission;
}

Scenario scenario_of(std::vector<JobSubmission> jobs, Duration duration) {
  Scenario scenario;
  scenario.name = "test";
  scenario.fabric = small_oddl(8, 4);
  scenario.jobs = std::move(jobs);
  scenario.duration = duration;
  return scenario;
}

DeviceId device_named(const Fabric& fabric, const std::string& name) {
  const auto found = std::ranges::find(fabric.devices, name, &Device::name);
  REQUIRE(found != fabric.devices.end());
  return found->id;
}

ScenarioFault fault(const Scenario& scenario, const std::string& device, DeviceFaultKind kind, Duration at,
                    Duration lasts = kForever) {
  ScenarioFault of;
  of.device = device_named(*scenario.fabric, device);
  of.kind = kind;
  of.at = at;
  of.lasts = lasts;
  return of;
}

SimResult run(const Scenario& scenario) {
  auto result = run_simulation(scenario, {.seed = 3, .run_for = kForever, .trace_path = {}});
  REQUIRE(result);
  for (const Violation& violation : result->violations) {
    FAIL_CHECK(to_string(violation.rule) << ": " << violation.evidence);
  }
  return std::move(*result);
}

const JobAccount& account_of(const SimResult& result, const std::string& name) {
  const auto found = std::ranges::find(result.account.jobs, name, &JobAccount::name);
  REQUIRE(found != result.account.jobs.end());
  return *found;
}

std::vector<DarkTime> unplanned(const JobAccount& account) {
  std::vector<DarkTime> dark = account.light.dark;
  std::erase_if(dark, [](const DarkTime& time) { return time.planned; });
  return dark;
}

/// Four circuits of a ring pass a switch that dies after ten seconds of thirty.
Scenario dark_and_green() {
  Scenario scenario =
      scenario_of({job("ring", "vgg19", 4, milliseconds{500}), job("shuffle", "dlrm", 4, seconds{3})}, seconds{30});
  scenario.device_faults = {fault(scenario, "wss-in-0", DeviceFaultKind::fail, seconds{10})};
  return scenario;
}

ScenarioAction action(ActionKind kind, Duration at) {
  ScenarioAction of;
  of.kind = kind;
  of.at = at;
  return of;
}

}  // namespace

TEST_CASE("a_job_whose_circuits_a_dead_switch_holds_is_dark_with_times_and_the_run_fails") {
  const SimResult result = run(dark_and_green());
  const JobAccount& ring = account_of(result, "ring");
  const std::vector<DarkTime> dark = unplanned(ring);
  REQUIRE(dark.size() == 1);
  CHECK(dark[0].span == TimeSpan{Instant{seconds{10}}, Instant{seconds{30}}});
  CHECK(dark[0].why.find("4 of 4 circuits are dark") == 0);
  CHECK(dark[0].why.find("wss-in-0: wss-dead") != std::string::npos);
  CHECK(ring.light.lit_time() + ring.light.dark_time() == ring.ended - *ring.submitted);
  CHECK(ring.failures.size() == 1);
  CHECK(account_of(result, "shuffle").failures.empty());  // its timeslots had been played
  CHECK_FALSE(result.is_as_expected());
  const std::string text = text_of(result.account);
  CHECK(text.find("dark from 10.000 s to 30.000 s") != std::string::npos);
  CHECK(text.find("NOT EXPECTED: was dark for 20.000 s") != std::string::npos);
}

TEST_CASE("one_laser_that_is_dead_from_the_start_costs_one_job_and_that_one_waits_for_it_by_name") {
  Scenario scenario = scenario_of(
      {job("g0", "vgg19", 4, seconds{1}), job("g1", "vgg19", 4, seconds{1}), job("g2", "vgg19", 4, seconds{1})}, seconds{30});
  scenario.fabric = small_oddl(12, 4);
  scenario.device_faults = {fault(scenario, "laser-9", DeviceFaultKind::fail, milliseconds{100})};
  const SimResult result = run(scenario);
  std::size_t lit = 0;
  for (const JobAccount& each : result.account.jobs) {
    CAPTURE(each.name, each.word.state, each.word.why);
    const bool is_lit = each.word.state == "lit" && each.failures.empty();
    CHECK((is_lit || (each.word.state == "waiting" && each.word.why.find("laser-9 (device") != std::string::npos)));
    lit += is_lit ? 1 : 0;
  }
  CHECK(lit == 2);
  CHECK_FALSE(result.is_as_expected());
}

TEST_CASE("darkness_that_is_expected_fails_nothing_and_an_expectation_that_does_not_happen_fails") {
  Scenario scenario = dark_and_green();
  JobExpectation& expected = scenario.jobs[0].expect.emplace();
  SECTION("as expected") {
    expected.dark = {{seconds{10}, seconds{30}}};
    CHECK(run(scenario).is_as_expected());
  }
  SECTION("at most so long") {
    expected.dark_at_most = seconds{20};
    CHECK(run(scenario).is_as_expected());
  }
  SECTION("by all jobs") {
    scenario.jobs[0].expect.reset();
    scenario.expect.emplace().dark_at_most = seconds{20};
    CHECK(run(scenario).is_as_expected());
  }
  SECTION("what a fault file may cost comes on top") {
    expected.dark_at_most = seconds{15};
    scenario.faults_darken = seconds{5};
    CHECK(run(scenario).is_as_expected());
  }
  SECTION("longer than expected") {
    expected.dark_at_most = milliseconds{19'900};
    CHECK_FALSE(run(scenario).is_as_expected());
  }
  SECTION("outside of the window") {
    expected.dark = {{seconds{10}, seconds{29}}};
    CHECK_FALSE(run(scenario).is_as_expected());
  }
  SECTION("in a window without any") {
    expected.dark = {{seconds{10}, seconds{30}}, {seconds{5}, seconds{6}}};
    const SimResult result = run(scenario);
    REQUIRE(account_of(result, "ring").failures.size() == 1);
    CHECK(account_of(result, "ring").failures[0] == "expected to be dark from 5.000 s to 6.000 s, and was not");
  }
}

TEST_CASE("a_job_that_is_refused_fails_the_run_unless_it_is_expected") {
  Scenario scenario = scenario_of({job("ring", "vgg19", 8, seconds{1}), job("more", "vgg19", 4, seconds{2})}, seconds{4});
  const SimResult result = run(scenario);
  const JobAccount& refused = account_of(result, "more");
  CHECK(is_refused(refused.word));
  CHECK_FALSE(refused.word.why.empty());
  CHECK(refused.failures.size() == 1);
  CHECK_FALSE(result.is_as_expected());

  scenario.jobs[1].expect.emplace().state = "refused";
  CHECK(run(scenario).is_as_expected());
  scenario.jobs[1].expect->why = refused.word.why.substr(0, 12);
  CHECK(run(scenario).is_as_expected());
  scenario.jobs[1].expect->why = "the moon";
  CHECK_FALSE(run(scenario).is_as_expected());
  scenario.jobs[1].expect.reset();
  scenario.jobs[0].expect.emplace().state = "refused";  // and it is not
  scenario.jobs.pop_back();
  CHECK_FALSE(run(scenario).is_as_expected());
}

TEST_CASE("a_job_with_timeslots_carries_one_iteration_after_the_other_and_says_how_many_it_is_short_of") {
  Scenario scenario = scenario_of({job("shuffle", "dlrm", 4, seconds{1})}, seconds{10});
  scenario.jobs[0].iterations = 100'000;
  const SimResult result = run(scenario);
  const JobAccount& shuffle = account_of(result, "shuffle");
  CHECK(shuffle.carried.count > 40);  // of 200 ms each, or less
  CHECK(shuffle.carried.bytes.count > 0);
  REQUIRE(shuffle.failures.size() == 1);
  CHECK_THAT(shuffle.failures[0], Catch::StartsWith("ended after") && Catch::EndsWith("of 100000 iterations"));
  scenario.jobs[0].expect.emplace().iterations = 1;
  CHECK(run(scenario).is_as_expected());
}

namespace {

/// What the light of this account's job can have carried at its full rate.
double bits_of_light(const SimResult& result, const JobAccount& account) {
  double bits = 0;
  for (const LitWindow& window : result.light) {
    const Instant from = std::max(window.begin, *account.submitted);
    const Instant to = std::min(window.end, account.ended);
    bits += from < to ? seconds_of(to - from) * static_cast<double>(window.rate.bits_per_second) : 0;
  }
  return bits;
}

}  // namespace

TEST_CASE("a_job_of_so_many_iterations_ends_when_its_light_has_carried_them") {
  const std::vector<std::string> names{"first", "then", "last"};
  const std::vector<std::uint32_t> iterations{20, 3, 37};
  Scenario scenario = scenario_of({}, kForever);
  for (std::size_t i = 0; i < names.size(); ++i) {
    scenario.jobs.push_back(job(names[i], "vgg19", 8, seconds{1}));
    scenario.jobs.back().iterations = iterations[i];
    scenario.jobs.back().after = i == 0 ? "" : names[i - 1];
  }
  const SimResult result = run(scenario);
  CHECK(result.is_as_expected());
  std::vector<Duration> lit;
  Instant before{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i]);
    const JobAccount& account = account_of(result, names[i]);
    CHECK(account.carried.count == iterations[i]);
    CHECK(account.carried.bytes.count * 3 == account_of(result, "then").carried.bytes.count * iterations[i]);
    CHECK(8 * static_cast<double>(account.carried.bytes.count) <= bits_of_light(result, account));
    CHECK(account.submitted >= before);
    before = account.ended;
    lit.push_back(account.light.lit_time());
  }
  // And none stays lit for long behind its last iteration: until somebody has looked and its end is in light.
  const Duration iteration = std::min({lit[0] / iterations[0], lit[1] / iterations[1], lit[2] / iterations[2]});
  for (std::size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i], lit[i].count(), iteration.count());
    CHECK(lit[i] - iterations[i] * iteration < seconds{1});
  }
}

TEST_CASE("a_fault_that_is_over_excuses_no_light_that_stays_dark") {
  Scenario scenario = scenario_of({job("ring", "vgg19", 4, milliseconds{500})}, seconds{12});
  scenario.device_faults = {fault(scenario, "laser-1", DeviceFaultKind::fail, seconds{4}, seconds{1})};
  scenario.controller.repair_attempts = 0;  // nobody mends anything: but the laser comes back by itself
  const SimResult result = run(scenario);
  const std::vector<DarkTime> dark = unplanned(account_of(result, "ring"));
  REQUIRE_FALSE(dark.empty());
  CHECK(dark[0].span.from == Instant{seconds{4}});
  CHECK(dark[0].why.find("laser-1: laser-dead") != std::string::npos);
  CHECK_FALSE(result.is_as_expected());  // a fault excuses light that is wrong, not a job that has none
}

TEST_CASE("an_operator_drains_resizes_cancels_and_switches_lasers_as_the_scenario_says") {
  Scenario scenario = scenario_of({job("ring", "vgg19", 4, seconds{1}), job("other", "vgg19", 2, seconds{1})}, seconds{14});
  ScenarioAction drain = action(ActionKind::drain, seconds{3});
  drain.node = NodeId{0};
  ScenarioAction resize = action(ActionKind::resize, seconds{5});
  resize.job = "ring";
  resize.nodes = 3;
  ScenarioAction off = action(ActionKind::lasers, seconds{7});
  ScenarioAction rearm = action(ActionKind::lasers, seconds{8});
  rearm.lasers_on = true;
  ScenarioAction cancel = action(ActionKind::cancel, seconds{11});
  cancel.job = "other";
  scenario.actions = {drain, resize, off, rearm, cancel};
  const SimResult result = run(scenario);
  CAPTURE(text_of(result.account));
  REQUIRE(result.account.actions.size() == 5);
  for (const ActionAccount& done : result.account.actions) {
    CAPTURE(done.text, done.refusal);
    CHECK(done.answered.has_value());
    CHECK(done.failure.empty());
  }
  CHECK(result.account.actions[0].text == "drain node 0");
  CHECK(result.is_as_expected());  // all darkness was ordered
  const JobAccount& ring = account_of(result, "ring");
  CHECK(std::ranges::any_of(ring.light.dark, [](const DarkTime& time) {
    return time.why == "lasers are ordered off" && time.span.length() > milliseconds{900};
  }));
  CHECK(account_of(result, "other").ended < Instant{milliseconds{11'100}});
  const auto last = std::ranges::count_if(result.light, [](const LitWindow& window) {
    return window.end == kNever && (window.source == NodeId{0} || window.destination == NodeId{0});
  });
  CHECK(last == 0);  // drained
}

TEST_CASE("lasers_that_are_ordered_off_stay_so_for_the_judges_over_a_restart_of_the_controller") {
  Scenario scenario = scenario_of({job("ring", "vgg19", 4, seconds{1})}, seconds{14});
  ScenarioAction rearm = action(ActionKind::lasers, seconds{9});
  rearm.lasers_on = true;
  scenario.actions = {action(ActionKind::lasers, seconds{4}), rearm};
  scenario.machine_faults = {{seconds{5}, {}, MachineFaultKind::crash, milliseconds{500}}};
  const SimResult result = run(scenario);
  CAPTURE(text_of(result.account));
  CHECK(result.is_as_expected());
  CHECK(std::ranges::any_of(account_of(result, "ring").light.dark, [](const DarkTime& time) {
    return time.why == "lasers are ordered off" && time.span.length() > milliseconds{4'500};
  }));
}

TEST_CASE("a_run_whose_lasers_stay_ordered_off_ends_at_rest_in_the_dark") {
  Scenario scenario = scenario_of({job("ring", "vgg19", 4, seconds{1})}, seconds{6});
  scenario.actions = {action(ActionKind::lasers, seconds{4})};
  const SimResult result = run(scenario);
  CHECK(result.is_as_expected());
  CHECK(account_of(result, "ring").word.state == "dark");
  CHECK(std::ranges::none_of(result.light, [](const LitWindow& window) { return window.end == kNever; }));
}

TEST_CASE("an_order_that_is_refused_fails_the_run_unless_it_is_expected") {
  Scenario scenario = scenario_of({job("ring", "vgg19", 8, seconds{1})}, seconds{4});
  ScenarioAction drain = action(ActionKind::drain, seconds{2});
  drain.node = NodeId{3};
  scenario.actions = {drain};
  const SimResult result = run(scenario);
  REQUIRE(result.account.actions.size() == 1);
  CHECK_FALSE(result.account.actions[0].refusal.empty());
  CHECK_FALSE(result.is_as_expected());
  scenario.actions[0].refused = result.account.actions[0].refusal.substr(0, 8);
  CHECK(run(scenario).is_as_expected());
  scenario.actions[0].refused = "the moon";
  CHECK_FALSE(run(scenario).is_as_expected());
}

TEST_CASE("an_order_is_given_again_until_it_is_answered") {
  Scenario scenario = scenario_of({job("ring", "vgg19", 4, seconds{1})}, seconds{12});
  ScenarioAction drain = action(ActionKind::drain, milliseconds{3'010});
  drain.node = NodeId{7};
  scenario.actions = {drain};
  scenario.machine_faults = {{seconds{3}, {}, MachineFaultKind::crash, seconds{2}}};
  const SimResult result = run(scenario);
  REQUIRE(result.account.actions.size() == 1);
  CHECK(result.account.actions[0].answered > Instant{seconds{5}});
  CHECK(result.is_as_expected());
}

TEST_CASE("the_answer_of_a_run_has_the_keys_that_others_rely_on") {
  const std::string json = to_json(run(dark_and_green()));
  for (const char* key : {"\"jobs\":[{\"name\":\"ring\"", "\"state\":", "\"why\":", "\"lit_ms\":", "\"dark_ms\":",
                          "\"iterations\":", "\"bytes\":", "\"violations\":[]", "\"excused\":[", "\"as_expected\":false"}) {
    CAPTURE(key);
    CHECK(json.find(key) != std::string::npos);
  }
}
