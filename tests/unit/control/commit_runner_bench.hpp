// SPDX-License-Identifier: Apache-2.0
// A CommitRunner among the real parts of a controller, with nothing between: the test makes and changes plans, answers for the
// agents, and says when rows are durable.
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/architectures/registry.hpp"
#include "controller/control/commit/commit_runner.hpp"
#include "controller/control/timers.hpp"
#include "tests/unit/architectures/small_fabrics.hpp"

namespace loom::test {

/// Eight nodes of SiP-OCS with two switches, whose agents are nodes 0 and 1. All agents have greeted.
class RunnerBench {
 public:
  RunnerBench()
      : facts{small_fabric(3), "sip-ocs", {}, {}, Instant{std::chrono::seconds{100}}, true},
        journal({}),
        readings(*facts.fabric),
        sessions(facts, desired, confirmed, journal, alarms, readings),
        jobs(facts, desired),
        drift(facts.fabric->devices.size(), facts.timings, {}),
        found(facts, desired, confirmed, sessions, drift, {}),
        unusable(facts, confirmed, sessions, alarms),
        numbers(facts, confirmed, alarms),
        returns({facts, desired, confirmed, alarms, sessions, jobs}),
        runner({facts, desired, confirmed, journal, alarms, sessions, jobs, found, unusable, numbers, returns, dark_forecast}) {
    for (const Node& node : facts.fabric->nodes) {
      greet(node.id);
    }
  }

  void greet(NodeId node, bool latched = false) {
    sessions.greet(node, "agents-0", Hello{"test", node.value + 1ULL, {}, {}, latched, {}}, false, scratch);
  }
  /// Time passes, and everybody is heard but these.
  void pass(Duration time, const std::set<NodeId>& gone = {}) {
    facts.now += time;
    for (const Node& node : facts.fabric->nodes) {
      if (!gone.contains(node.id)) {
        sessions.admit(node.id, {}, scratch);
      }
    }
    sessions.sweep(scratch);
  }
  template <class Call>
  void with(Call call) {
    EffectSink sink;
    call(sink);
    take(sink);
  }

  // --- what is wanted

  void want(const std::string& reason = "test") {
    with([&](EffectSink& sink) { runner.want_plan(reason, sink); });
  }
  void add(std::uint64_t id, const std::vector<std::uint32_t>& nodes) {
    desired.add_job(placed_job(id, nodes));
    jobs.add(JobId{id});
  }
  void consider() {
    with([&](EffectSink& sink) { runner.consider_planning(sink); });
  }
  /// Until a plan is asked for.
  void await_request() {
    pass(facts.timings.debounce);
    consider();
    REQUIRE_FALSE(orders.empty());
  }
  /// What the planner makes of the order, for the test to change.
  std::shared_ptr<PlanResult> made() const {
    const auto result = make_plan(all_architectures(), *orders.back());
    INFO((result ? "" : result.error().message));
    REQUIRE(result);
    return std::make_shared<PlanResult>(**result);
  }
  void planned(Result<std::shared_ptr<const PlanResult>> result) {
    const Revision revision = orders.back()->revision;
    orders.pop_back();
    with([&](EffectSink& sink) { runner.on_planned({revision, std::move(result), std::chrono::milliseconds{1}}, sink); });
  }
  void refuse_plan() { planned(fail(ErrorCode::infeasible, "no free path")); }

  // --- what happens

  void perform(JournalAct act) {
    with([&](EffectSink& sink) {
      if (const auto* go = std::get_if<GoAct>(&act)) {
        runner.on_recorded(CommitDecision::going, go->revision, sink);
      } else if (const auto* confirm = std::get_if<ConfirmAct>(&act)) {
        runner.on_recorded(CommitDecision::confirmed, confirm->revision, sink);
      } else {
        runner.consider_planning(sink);
      }
    });
  }
  /// All rows so far.
  void durable() {
    while (auto act = journal.take_due(records.size())) {
      perform(*std::move(act));
    }
  }
  void tick() {
    with([&](EffectSink& sink) { runner.on_tick(sink); });
  }
  void begin() {
    with([&](EffectSink& sink) { runner.begin_if_ready(sink); });
  }
  void deliver(NodeId node, const Body& body, std::optional<Revision> of = {}) {
    const Revision revision = of ? *of : runner.under_way() != nullptr ? runner.under_way()->revision() : Revision{};
    with([&](EffectSink& sink) { runner.on_answer(node, revision, body, sink); });
  }
  /// Everybody answers, and rows are durable at once, until the commit is in this stage, or at its end.
  void handle(std::optional<CommitState> until = {}) {
    for (int i = 0; i < 20 && runner.under_way() != nullptr && runner.under_way()->stage() != until; ++i) {
      const std::deque<Send> words = std::exchange(sent, {});
      for (const Send& send : words) {
        if (runner.under_way() == nullptr || runner.under_way()->stage() == until) {
          return;
        }
        answer(send.envelope);
      }
      if (runner.under_way() != nullptr && runner.under_way()->stage() != until) {
        durable();
      }
    }
  }
  /// What is wanted comes into light as it was planned.
  void commit() {
    if (orders.empty()) {
      want();
      await_request();
    }
    planned(made());
    handle();
    durable();
    REQUIRE(runner.under_way() == nullptr);
    REQUIRE(runner.history().back().outcome == CommitOutcome::committed);
  }
  /// A job in light, alone or beside others.
  void light(std::uint64_t id, const std::vector<std::uint32_t>& nodes) {
    add(id, nodes);
    commit();
    REQUIRE(state(id) == JobState::lit);
  }
  /// A commit of what is wanted that is under way up to this stage.
  void begin_commit(CommitState stage = CommitState::relighting) {
    want();
    await_request();
    planned(made());
    handle(stage);
    REQUIRE(runner.under_way() != nullptr);
    REQUIRE(runner.under_way()->stage() == stage);
  }
  void fail_now(const std::string& why = "test") {
    with([&](EffectSink& sink) { runner.fail_with(why, sink); });
    REQUIRE(runner.under_way() == nullptr);
  }

  JobState state(std::uint64_t id) const { return jobs.at(JobId{id}).state; }
  std::string reason(std::uint64_t id) const { return jobs.at(JobId{id}).reason; }
  const CommitReport& last() const { return runner.history().back(); }
  std::size_t alarms_with(AlarmCode code) const {
    std::size_t count = 0;
    for (const StandingAlarm& row : alarms.rows()) {
      count += row.alarm.code == code && !row.cleared ? row.count : 0U;
    }
    return count;
  }
  DeviceId device(std::uint32_t node, DeviceRole role, std::size_t index = 0) const {
    for (const DeviceId id : facts.fabric->devices_of_agent[node]) {
      if (facts.fabric->device(id).role == role && index-- == 0) {
        return id;
      }
    }
    FAIL("no such device");
    return {};
  }
  DeviceId laser(std::uint32_t node, std::size_t index = 0) const { return device(node, DeviceRole::transmitter, index); }
  template <class B>
  std::size_t delivered() const {
    std::size_t count = 0;
    for (const Send& send : sent) {
      count += std::holds_alternative<B>(send.envelope.body) ? 1U : 0U;
    }
    return count;
  }
  /// The last row of this decision; none: it was not recorded.
  std::optional<CommitRecord> recorded(CommitDecision decision) const {
    std::optional<CommitRecord> last;
    for (const Record& record : records) {
      const auto* commit = std::get_if<CommitRecord>(&record);
      last = commit != nullptr && commit->decision == decision ? std::optional(*commit) : last;
    }
    return last;
  }

  ControllerFacts facts;
  DesiredIntent desired;
  ConfirmedPlans confirmed;
  JournalQueue journal;
  AlarmBoard alarms;
  DeviceReadings readings;
  AgentSessions sessions;
  Jobs jobs;
  DriftWatch drift;
  FoundState found;
  UnusableWatch unusable;
  RevisionNumbers numbers;
  CommitReturns returns;
  DarkForecast dark_forecast;
  CommitRunner runner;
  std::deque<Send> sent;
  std::vector<Record> records;
  std::vector<std::shared_ptr<const PlanRequest>> orders;
  std::map<TimerId, Instant> timers;
  Duration lead = std::chrono::milliseconds{1};  ///< of every agent

  EffectSink scratch;  ///< of what nobody looks at

 private:
  void take(EffectSink& sink) {
    for (Effect& effect : sink.effects()) {
      if (auto* send = std::get_if<Send>(&effect)) {
        sent.push_back(std::move(*send));
      } else if (auto* append = std::get_if<Append>(&effect)) {
        records.push_back(std::move(append->record));
      } else if (auto* make = std::get_if<MakePlan>(&effect)) {
        orders.push_back(make->request);
      } else if (const auto* timer = std::get_if<SetTimer>(&effect)) {
        timers[timer->timer] = timer->at;
      }
    }
  }
  void answer(const Envelope& asked) {
    if (std::holds_alternative<Prepare>(asked.body)) {
      deliver(asked.node, Prepared{{}, lead}, asked.revision);
    } else if (std::holds_alternative<Arm>(asked.body)) {
      deliver(asked.node, Armed{{}, std::chrono::milliseconds{50}}, asked.revision);
    } else if (std::holds_alternative<Go>(asked.body)) {
      deliver(asked.node, Darkened{{}, {}}, asked.revision);
    } else if (const auto* proceed = std::get_if<Proceed>(&asked.body)) {
      const bool moves = proceed->phase == CommitPhase::move;
      deliver(asked.node, moves ? Body(Settled{{}, {}}) : Body(Applied{{}, {}}), asked.revision);
    }
  }
};

}  // namespace loom::test
