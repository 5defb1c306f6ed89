// SPDX-License-Identifier: Apache-2.0
// What becomes a metric of an agent's devices: operations that ended well are timed, by model; what went wrong is counted.
#include "agents/agent_metrics.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/agents/agent_bench.hpp"

namespace loom::test {
namespace {

MetricSample sample(const AgentBench& bench, const std::string& name, const MetricLabels& labels) {
  AgentSums sums;
  sums.add(*bench.agent);
  MetricList list;
  sums.add_metrics(list);
  for (const Metric& metric : list.metrics()) {
    for (const MetricSample& each : metric.samples) {
      if (metric.name == name && each.labels == labels) {
        return each;
      }
    }
  }
  FAIL("no sample of " << name);
  return {};
}

DurationHistogram op(const AgentBench& bench, const char* driver, const char* which) {
  return *sample(bench, "lightloom_device_op_seconds", {{"driver", driver}, {"op", which}}).durations;
}

double errors(const AgentBench& bench, const char* driver, const char* code) {
  return sample(bench, "lightloom_device_errors_total", {{"driver", driver}, {"code", code}}).value;
}

double writes(const AgentBench& bench, const char* driver) {
  return sample(bench, "lightloom_device_writes_total", {{"driver", driver}}).value;
}

std::uint64_t alarms(const AgentBench& bench, AlarmCode code) {
  return static_cast<std::uint64_t>(
      std::count_if(bench.alarms.begin(), bench.alarms.end(), [&](const Alarm& alarm) { return alarm.code == code; }));
}

constexpr const char* kLaser = "itla_laser";
constexpr const char* kBank = "heater_bank";
constexpr const char* kSwitch = "wss";

}  // namespace

TEST_CASE("what a commit moves is timed once proven, by the model of its driver") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{50});
  CHECK(op(bench, kLaser, "audit").count() >= bench.lasers.size());
  CHECK(op(bench, kLaser, "fire").count() == 0);
  CHECK(writes(bench, kSwitch) == 0);
  bench.commit(bench.static_plan(1, 4));
  CHECK(op(bench, kBank, "fire").count() == bench.heaters.size());
  CHECK(op(bench, kSwitch, "fire").count() == bench.switches.size());
  CHECK(op(bench, kSwitch, "fire").sum() >= bench.device(bench.switches[0]).settle_time * bench.switches.size());
  CHECK(op(bench, kLaser, "fire").count() >= 2 * bench.lasers.size());  // dark, then lit
  CHECK(writes(bench, kSwitch) == static_cast<double>(bench.switches.size()));
  for (const char* driver : {kLaser, kBank, kSwitch}) {
    for (const char* code : {"nack", "exception", "timeout", "malformed", "lost", "gave_up"}) {
      CHECK(errors(bench, driver, code) == 0);
    }
  }
}

TEST_CASE("a device that falls silent is counted by what its bus says, and as often given up as an alarm is raised") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{50});
  const std::uint64_t read = op(bench, kSwitch, "audit").count();
  bench.device(bench.switches[0]).silent = true;
  bench.device(bench.switches[1]).silent = true;
  bench.run_for(seconds{30});
  CHECK(errors(bench, kSwitch, "timeout") >= 2);
  CHECK(errors(bench, kSwitch, "exception") == 0);
  CHECK(errors(bench, kSwitch, "gave_up") == 2);
  CHECK(alarms(bench, AlarmCode::device_failed) == 2);
  CHECK(op(bench, kSwitch, "audit").count() == read);  // none of those readings came
  CHECK(op(bench, kLaser, "audit").count() > bench.lasers.size());
}

TEST_CASE("a command that its device refuses is no operation that ended well") {
  AgentBench bench;
  bench.start();
  bench.run_for(milliseconds{50});
  bench.device(bench.heaters[0]).refuses = Op::move;
  bench.receive(Revision{1}, Prepare{bench.static_plan(1, 4)});
  bench.receive(Revision{1}, Arm{bench.now + milliseconds{5}});
  bench.receive(Revision{1}, Go{});
  bench.step_until<Darkened>();
  bench.receive(Revision{1}, Proceed{CommitPhase::move, {}});
  bench.run_for(seconds{1});
  CHECK(errors(bench, kBank, "exception") >= 1);
  CHECK(errors(bench, kBank, "gave_up") == 1);
  CHECK(op(bench, kBank, "fire").count() == bench.heaters.size() - 1);
}

}  // namespace loom::test
