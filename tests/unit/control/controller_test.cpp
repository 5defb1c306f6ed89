// SPDX-License-Identifier: Apache-2.0
// The controller against scripted agents and a scripted journal: what is said, when, and what must be durable before.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>

#include "controller/architectures/oddl/fabric.hpp"
#include "controller/control/controller.hpp"
#include "controller/control/timers.hpp"
#include "core/messages/intake_limits.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<const Fabric> small_fabric() {
  OddlParameters parameters;
  parameters.nodes = 4;
  parameters.group_size = 2;
  return std::make_shared<const Fabric>(make_oddl(parameters));
}

/// Plays host, planner, journal and agents; every step is explicit unless `agents_obey`.
class Requests {
 public:
  explicit Requests(const ControllerTimings& timings = {}) : fabric_(small_fabric()), timings_(timings) { start_controller(); }

  /// A new incarnation over what its journal has; agents have not spoken to it yet.
  void start_controller() {
    controller_.emplace(ControllerOptions{fabric_, "oddl", timings_});
    durable_ = appended = 0;
    order = nullptr;
    requests.clear();
    const std::vector<Record> kept = records;
    feed(Started{++boots_, kVirtualClock, kept});
    make_durable();
  }

  void feed(const Event& event) {
    EffectSink sink;
    controller_->step(now, event, sink);
    for (Effect& effect : sink.effects()) {
      take(effect);
    }
  }

  void make_durable() {
    while (durable_ < appended) {
      durable_ = appended;
      feed(Appended{durable_});
    }
  }

  void deliver(NodeId node, Body body, Revision revision = {}, Term term = Term{1}) {
    feed(MessageArrived{agent_peer(node),
                        {kWireVersion, "host", Role::agent, term, node, kVirtualClock, revision, std::move(body)}});
  }

  void greet_all() {
    for (const Node& node : fabric_->nodes) {
      deliver(node.id, Hello{"test", node.id.value + 1ULL, {}, {}, false, {}});
    }
  }

  void ask(OperatorAsk what, Role role = Role::operator_) {
    const Peer from{Peer::Kind::operator_, 7};
    feed(MessageArrived{from,
                        {kWireVersion, "ada", role, {}, {}, {}, {}, OperatorRequest{RequestId{++requests_}, std::move(what)}}});
  }

  JobSpec job(std::uint32_t nodes) const {
    JobSpec spec;
    spec.name = "ring";
    spec.node_count = nodes;
    return spec;
  }

  /// The plan that a worker would make: one touched laser on each node of every job, nothing else changed.
  void plan() {
    REQUIRE(order != nullptr);
    auto result = std::make_shared<PlanResult>();
    result->intent = order->intent;
    result->next_circuit = CircuitId{order->next_circuit.value + 8};
    Plan& plan = result->plan;
    plan.revision = order->revision;
    plan.base = order->base == nullptr ? Revision{} : order->base->revision;
    std::set<NodeId> lit;
    for (Job& job : result->intent.jobs) {
      job.nodes.clear();
      for (std::uint32_t rank = 0; rank < job.spec.node_count; ++rank) {
        job.nodes.push_back(NodeId{rank});
        lit.insert(NodeId{rank});
      }
      result->schedule.jobs.push_back({job.id, std::vector<Stage>(stages_a_job)});
    }
    for (const Node& node : fabric_->nodes) {
      NodePlan slice{plan.revision, plan.base, node.id, {}, 1, {}, {}, {}};
      const bool is_lit = lit.contains(node.id);
      const DeviceId laser = fabric_->devices_of_agent[node.id.value].front();
      slice.devices.push_back(
          {laser, is_lit != lit_before_.contains(node.id), {{{}, {}, kForever, TransmitterSetpoint{{}, {}, is_lit}}}});
      if (is_lit != lit_before_.contains(node.id)) {
        plan.changed.push_back(node.id);
      }
      plan.nodes.push_back(std::move(slice));
    }
    plan_lit_ = lit;
    const auto revision = order->revision;
    order = nullptr;
    feed(Planned{{revision, std::shared_ptr<const PlanResult>(result), milliseconds{3}}});
  }

  /// Every agent of the newest request answers with `body`, apart from `except`.
  void all_answer(const Body& body, std::optional<NodeId> except = {}) {
    const auto asked = requests;
    requests.clear();
    for (const auto& [node, envelope] : asked) {
      if (node != except) {
        deliver(node, body, envelope.revision);
      }
    }
  }

  /// Submits and brings a job into confirmed light.
  void light(std::uint32_t nodes) {
    ask(SubmitJob{job(nodes), false});
    make_durable();
    relight();
    all_answer(Applied{{}, {}});
    make_durable();
    lit_before_ = plan_lit_;
  }

  /// Plans what is wanted and goes the road until everybody has been told to relight.
  void relight() {
    tick_to_plan();
    plan();
    all_answer(Prepared{{}, milliseconds{1}});
    all_answer(Armed{{}, milliseconds{100}});
    make_durable();
    all_answer(Darkened{{}, {}});
    all_answer(Settled{{}, {}});
  }

  void tick_to_plan() {
    now += milliseconds{2'000};
    feed(TimerFired{timers::kPlan});
  }

  template <class B>
  std::size_t delivered() const {
    return static_cast<std::size_t>(std::count_if(
        sent.begin(), sent.end(), [](const Send& send) { return std::holds_alternative<B>(send.envelope.body); }));
  }
  const OperatorReply& last_reply() const {
    const auto it = std::find_if(sent.rbegin(), sent.rend(),
                                 [](const Send& send) { return std::holds_alternative<OperatorReply>(send.envelope.body); });
    REQUIRE(it != sent.rend());
    return std::get<OperatorReply>(it->envelope.body);
  }
  Controller& controller() { return *controller_; }
  const std::vector<DeviceId>& devices_of(NodeId node) const { return fabric_->devices_of_agent[node.value]; }

  Instant now{milliseconds{1'000}};
  std::vector<Send> sent;
  std::map<NodeId, Envelope> requests;  ///< the newest commit request to each agent
  std::vector<Alarm> alarms;
  std::vector<Record> records;
  std::uint64_t appended = 0;
  std::shared_ptr<const PlanRequest> order;
  std::uint32_t stages_a_job = 1;

 private:
  void take(Effect& effect) {
    if (auto* send = std::get_if<Send>(&effect)) {
      const Body& body = send->envelope.body;
      if (std::holds_alternative<Prepare>(body) || std::holds_alternative<Arm>(body) || std::holds_alternative<Go>(body) ||
          std::holds_alternative<Proceed>(body)) {
        requests[send->envelope.node] = send->envelope;
      }
      sent.push_back(std::move(*send));
    } else if (auto* append = std::get_if<Append>(&effect)) {
      ++appended;
      records.push_back(std::move(append->record));
    } else if (auto* make = std::get_if<MakePlan>(&effect)) {
      order = make->request;
    } else if (auto* alarm = std::get_if<RaiseAlarm>(&effect)) {
      alarms.push_back(std::move(alarm->alarm));
    }
  }

  std::shared_ptr<const Fabric> fabric_;
  ControllerTimings timings_;
  std::optional<Controller> controller_;
  std::uint64_t boots_ = 0;
  std::uint64_t durable_ = 0;
  std::uint64_t requests_ = 0;
  std::set<NodeId> lit_before_;
  std::set<NodeId> plan_lit_;
};

Outcome refusal(std::string why) { return {Error{ErrorCode::device_error, std::move(why)}}; }

}  // namespace

TEST_CASE("an order is answered and planned only when its intent is durable") {
  Requests bench;
  bench.greet_all();
  bench.ask(SubmitJob{bench.job(4), false});
  bench.tick_to_plan();
  CHECK(bench.delivered<OperatorReply>() == 0);
  CHECK(bench.order == nullptr);
  bench.make_durable();
  CHECK(bench.last_reply().outcome.ok());
  CHECK(bench.last_reply().job == JobId{1});
  CHECK(bench.order != nullptr);
}

TEST_CASE("a job reaches confirmed light by the road's stages in order") {
  Requests bench;
  bench.greet_all();
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  bench.tick_to_plan();
  bench.plan();
  CHECK(bench.delivered<Prepare>() == 4);
  bench.all_answer(Prepared{{}, milliseconds{1}});
  CHECK(bench.delivered<Arm>() == 4);
  bench.all_answer(Armed{{}, milliseconds{100}});
  CHECK(bench.delivered<Go>() == 0);  // `going` is not durable yet
  bench.make_durable();
  CHECK(bench.delivered<Go>() == 4);
  bench.all_answer(Darkened{{}, {}});
  CHECK(bench.delivered<Proceed>() == 4);
  bench.all_answer(Settled{{}, {}});
  CHECK(bench.delivered<Proceed>() == 8);
  CHECK(std::get<Proceed>(bench.sent.back().envelope.body).phase == CommitPhase::relight);
  bench.all_answer(Applied{{}, {}});
  CHECK(bench.delivered<Confirm>() == 0);  // `confirmed` is not durable yet
  bench.make_durable();
  CHECK(bench.delivered<Confirm>() == 4);
  CHECK(bench.controller().confirmed() == Revision{1});
  CHECK(bench.controller().history().back().outcome == CommitOutcome::committed);
  CHECK(bench.controller().jobs().at(JobId{1}).state == JobState::lit);
}

TEST_CASE("nobody is told to move before every touched transmitter is dark") {
  Requests bench;
  bench.greet_all();
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  bench.tick_to_plan();
  bench.plan();
  bench.all_answer(Prepared{{}, {}});
  bench.all_answer(Armed{{}, {}});
  bench.make_durable();
  bench.all_answer(Darkened{{}, {}}, NodeId{3});
  CHECK(bench.delivered<Proceed>() == 0);
  bench.deliver(NodeId{3}, Darkened{{}, {}}, Revision{1});
  CHECK(bench.delivered<Proceed>() == 4);
}

TEST_CASE("an unanswered request is repeated to the silent agent alone") {
  Requests bench;
  bench.greet_all();
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  bench.tick_to_plan();
  bench.plan();
  bench.all_answer(Prepared{{}, {}}, NodeId{2});
  const std::size_t before = bench.delivered<Prepare>();
  bench.now += milliseconds{100};
  bench.feed(TimerFired{timers::kTick});
  CHECK(bench.delivered<Prepare>() == before + 1);
  CHECK(bench.sent.back().to == agent_peer(NodeId{2}));
}

TEST_CASE("a refusal before arming abandons the revision and returns nothing") {
  Requests bench;
  bench.greet_all();
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  bench.tick_to_plan();
  bench.plan();
  bench.deliver(NodeId{1}, Prepared{refusal("laser-1: channel 77 is outside 0..47"), {}}, Revision{1});
  CHECK(bench.delivered<Abandon>() == 4);
  CHECK(bench.controller().history().back().outcome == CommitOutcome::abandoned);
  CHECK(bench.controller().jobs().at(JobId{1}).state == JobState::refused);
  CHECK(bench.controller().jobs().at(JobId{1}).reason.find("channel 77 is outside 0..47") != std::string::npos);
  bench.make_durable();
  bench.tick_to_plan();
  CHECK(bench.order == nullptr);
  CHECK(bench.controller().is_idle());
}

TEST_CASE("a failure after arming returns by a commit of the last good intent that touches what is in doubt") {
  Requests bench;
  bench.greet_all();
  bench.light(2);
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  bench.tick_to_plan();
  bench.plan();
  bench.all_answer(Prepared{{}, {}});
  bench.all_answer(Armed{{}, {}});
  bench.make_durable();
  bench.requests.clear();
  bench.deliver(NodeId{3}, Darkened{refusal("laser-3 did not go dark"), {}}, Revision{2});
  CHECK(bench.controller().history().back().outcome == CommitOutcome::returned);
  bench.make_durable();
  bench.tick_to_plan();
  REQUIRE(bench.order != nullptr);
  CHECK(bench.order->revision == Revision{3});
  CHECK(bench.order->intent.jobs.size() == 1);
  bench.plan();  // the worker sees no difference to the confirmed plan: nobody changes ...
  std::set<NodeId> asked;
  for (const auto& [node, envelope] : bench.requests) {
    asked.insert(node);
    for (const DevicePlan& device : std::get<Prepare>(envelope.body).plan.devices) {
      CHECK(device.touched);
    }
  }
  CHECK(asked == std::set<NodeId>{NodeId{2}, NodeId{3}});  // ... but those in doubt take part, and go dark
}

TEST_CASE("a plan that is refused refuses the new job and keeps the old one") {
  Requests bench;
  bench.greet_all();
  bench.light(2);
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  bench.tick_to_plan();
  REQUIRE(bench.order != nullptr);
  bench.feed(Planned{{bench.order->revision, fail(ErrorCode::infeasible, "needs 4 nodes, 2 are free"), {}}});
  bench.make_durable();
  CHECK(bench.controller().jobs().at(JobId{1}).state == JobState::lit);
  CHECK(bench.controller().jobs().at(JobId{2}).state == JobState::refused);
  CHECK(bench.controller().confirmed() == Revision{1});
  CHECK(bench.alarms.back().code == AlarmCode::plan_refused);
  CHECK(bench.controller().is_idle());
}

TEST_CASE("lasers off is said to every agent before the journal answers") {
  Requests bench;
  bench.greet_all();
  bench.ask(LasersRequest{false});
  CHECK(bench.delivered<SetLasers>() == 4);
  CHECK(bench.delivered<OperatorReply>() == 0);
  bench.make_durable();
  CHECK(bench.delivered<OperatorReply>() == 1);
  CHECK(bench.controller().intent().lasers_off);
}

TEST_CASE("a viewer may ask and may not order") {
  Requests bench;
  bench.ask(Query{Noun::status, {}}, Role::viewer);
  CHECK(std::get<StatusReport>(bench.last_reply().rows).nodes == 4);
  bench.ask(SubmitJob{bench.job(2), false}, Role::viewer);
  REQUIRE_FALSE(bench.last_reply().outcome.ok());
  CHECK(bench.last_reply().outcome.error->code == ErrorCode::refused);
  CHECK(bench.controller().intent().jobs.empty());
}

TEST_CASE("a job larger than the fabric is refused with both numbers") {
  Requests bench;
  bench.ask(SubmitJob{bench.job(5), false});
  REQUIRE_FALSE(bench.last_reply().outcome.ok());
  CHECK(bench.last_reply().outcome.error->message.find("asks for 5 nodes") != std::string::npos);
  CHECK(bench.last_reply().outcome.error->message.find("1..4") != std::string::npos);
}

TEST_CASE("an agent that has seen a higher term is welcomed only under a higher one, durably taken") {
  Requests bench;
  bench.deliver(NodeId{0}, Hello{"test", 9, Term{41}, {}, false, {}});
  CHECK(bench.delivered<Welcome>() == 0);
  bench.make_durable();
  REQUIRE(bench.delivered<Welcome>() == 1);
  CHECK(bench.sent.back().envelope.term == Term{42});
}

TEST_CASE("an agent that has seen a term beyond belief is not heard, and uses up no terms") {
  const auto beyond = GENERATE(Term{limits::kTermJump + 2}, Term{~0ULL - 1}, Term{~0ULL});
  Requests bench;
  bench.deliver(NodeId{0}, Hello{"test", 9, beyond, {}, false, {}});
  bench.make_durable();
  CHECK(bench.delivered<Welcome>() == 0);
  REQUIRE_FALSE(bench.alarms.empty());
  CHECK(bench.alarms.back().code == AlarmCode::malformed_message);
  CHECK(bench.alarms.back().node == NodeId{0});
  bench.deliver(NodeId{1}, Hello{"test", 9, Term{limits::kTermJump + 1}, {}, false, {}});
  bench.make_durable();
  REQUIRE(bench.delivered<Welcome>() == 1);
  CHECK(bench.sent.back().envelope.term == Term{limits::kTermJump + 2});
}

TEST_CASE("the next stage is committed when every node has played its cycles") {
  Requests bench;
  bench.stages_a_job = 2;
  bench.greet_all();
  bench.light(4);
  CHECK(bench.controller().jobs().at(JobId{1}).stages == 2);
  for (std::uint32_t node = 0; node < 3; ++node) {
    bench.deliver(NodeId{node}, CycleDone{1, 0}, Revision{1});
    bench.deliver(NodeId{node}, CycleDone{1, 0}, Revision{1});  // repeated
  }
  CHECK(bench.controller().intent().jobs.front().stage == 0);
  bench.deliver(NodeId{3}, CycleDone{1, 0}, Revision{1});
  CHECK(bench.controller().intent().jobs.front().stage == 1);
  bench.make_durable();
  bench.tick_to_plan();
  CHECK(bench.order != nullptr);
}

TEST_CASE("a stage whose timeslots stayed dark is played again by all of its nodes, and not for ever") {
  Requests bench;
  bench.stages_a_job = 2;
  bench.greet_all();
  bench.light(4);
  const JobId job{1};
  const auto play = [&](std::uint32_t dark) {
    const Revision revision = bench.controller().confirmed();
    for (std::uint32_t node = 0; node < 4; ++node) {
      bench.deliver(NodeId{node}, CycleDone{1, node == 2 ? dark : 0}, revision);
    }
    bench.make_durable();
  };
  const auto light_again = [&] {
    bench.relight();
    CHECK(bench.requests.size() == 4);
    bench.all_answer(Applied{{}, {}});
    bench.make_durable();
    CHECK(bench.controller().jobs().at(job).state == JobState::lit);
  };
  const std::uint32_t attempts = ControllerTimings{}.late_attempts;
  SECTION("until nothing is missing") {
    play(3);
    CHECK(bench.controller().intent().jobs.front().stage == 0);
    light_again();
    CHECK(bench.controller().confirmed() == Revision{2});
    play(0);
    CHECK(bench.controller().intent().jobs.front().stage == 1);
  }
  SECTION("until it has been tried often enough") {
    for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
      play(1);
      CHECK(bench.controller().intent().jobs.front().stage == 0);
      light_again();
    }
    play(1);
    CHECK(bench.controller().intent().jobs.front().stage == 1);
  }
}

TEST_CASE("a commit for which an agent was too late is tried again, and refused when that goes on") {
  Requests bench;
  bench.greet_all();
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  const auto be_late = [&] {
    bench.relight();
    bench.deliver(NodeId{2}, Applied{{Error{ErrorCode::timed_out, "underflow: device 4"}}, {}},
                  bench.requests.at(NodeId{2}).revision);
    bench.make_durable();
  };
  const JobId job{1};
  const std::uint32_t attempts = ControllerTimings{}.late_attempts;
  for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
    be_late();
    CHECK(bench.controller().jobs().at(job).state == JobState::pending);
    CHECK(bench.delivered<Abandon>() == 4 * (attempt + 1));
  }
  SECTION("in time at last") {
    bench.relight();
    bench.all_answer(Applied{{}, {}});
    bench.make_durable();
    CHECK(bench.controller().jobs().at(job).state == JobState::lit);
    CHECK(bench.controller().confirmed() == Revision{attempts + 1});
  }
  SECTION("late once more") {
    be_late();
    CHECK(bench.controller().jobs().at(job).state == JobState::refused);
    CHECK(bench.controller().jobs().at(job).reason.find("node 2 while relighting: underflow") != std::string::npos);
  }
}

TEST_CASE("an agent that is late again and again is given more time before T, and not without end") {
  ControllerTimings timings;
  timings.late_attempts = 100;
  Requests bench(timings);
  bench.greet_all();
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  std::vector<Duration> leads;
  for (std::uint32_t attempt = 0; attempt < timings.return_attempts; ++attempt) {
    bench.tick_to_plan();
    bench.plan();
    bench.all_answer(Prepared{{}, milliseconds{1}});
    leads.push_back(std::get<Arm>(bench.requests.at(NodeId{2}).body).fire_at - bench.now);
    bench.deliver(NodeId{2}, Armed{{Error{ErrorCode::timed_out, "underflow"}}, {}}, bench.requests.at(NodeId{2}).revision);
    bench.make_durable();
  }
  AnswerTimes answers;  // of which none is lost
  for (std::size_t attempt = 0; attempt < leads.size(); ++attempt) {
    answers.count(4, 0);
    const Duration measured = kAnswerFloor * (1 + answers.repeats(4, timings.arm_repeats)) + timings.lead_margin;
    CHECK(leads[attempt] == milliseconds{1} + measured * (1LL << 2 * std::min<std::size_t>(attempt, 5)));
  }
}

TEST_CASE("a commit for which a device failed is not tried again by itself") {
  Requests bench;
  bench.greet_all();
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  bench.relight();
  bench.deliver(NodeId{2}, Applied{refusal("laser-2: stuck"), {}}, bench.requests.at(NodeId{2}).revision);
  bench.make_durable();
  CHECK(bench.controller().jobs().at(JobId{1}).state == JobState::refused);
}

TEST_CASE("a commit waits for an absent agent, then the same is planned without its devices, and it is named") {
  Requests bench;
  for (std::uint32_t node = 0; node < 3; ++node) {
    bench.deliver(NodeId{node}, Hello{"test", node + 1ULL, {}, {}, false, {}});
  }
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  bench.tick_to_plan();
  bench.plan();
  CHECK(bench.delivered<Prepare>() == 0);
  for (int i = 0; i < 11; ++i) {
    bench.now += milliseconds{1'000};
    for (std::uint32_t node = 0; node < 3; ++node) {
      bench.deliver(NodeId{node}, Heartbeat{});
    }
    bench.feed(TimerFired{timers::kSweep});
  }
  CHECK(bench.controller().jobs().at(JobId{1}).state == JobState::pending);  // acknowledged, so it is not refused for that
  bench.make_durable();
  bench.tick_to_plan();
  REQUIRE(bench.order != nullptr);
  CHECK(bench.order->may_leave_out == std::vector{JobId{1}});
  std::vector<DeviceId> unusable;
  for (const UnusableDevice& each : bench.order->unusable) {
    unusable.push_back(each.device);
    CHECK(each.why.find("node 3") != std::string::npos);
  }
  CHECK(unusable == bench.devices_of(NodeId{3}));
  CHECK(bench.delivered<Prepare>() == 0);
  const auto& alarms = bench.controller().alarms();
  const auto returned = std::find_if(alarms.begin(), alarms.end(), [](const StandingAlarm& standing) {
    return standing.alarm.code == AlarmCode::commit_returned;
  });
  REQUIRE(returned != alarms.end());
  CHECK(returned->alarm.next_command == "loom node maintenance 3 on --force");
}

/// What it is in doubt about shows where the next plan would not touch it: the job that was going is cancelled, so that nothing
/// differs from what was confirmed.
TEST_CASE("a controller that starts again takes a higher term and holds what was not confirmed in doubt") {
  Requests bench;
  bench.greet_all();
  bench.light(2);
  bench.ask(SubmitJob{bench.job(4), false});
  bench.make_durable();
  bench.tick_to_plan();
  bench.plan();
  bench.all_answer(Prepared{{}, {}});
  bench.all_answer(Armed{{}, {}});
  bench.make_durable();  // `going` of revision 2 is durable: here the controller dies
  bench.start_controller();
  CHECK(bench.controller().confirmed() == Revision{1});
  CHECK(bench.controller().intent().jobs.size() == 2);
  CHECK(std::get<TermRecord>(bench.records.back()).term == Term{2});
  bench.greet_all();
  bench.ask(CancelJob{JobId{2}, false});
  bench.make_durable();
  bench.tick_to_plan();
  bench.plan();
  std::set<NodeId> asked;
  for (const auto& [node, envelope] : bench.requests) {
    asked.insert(node);
    for (const DevicePlan& device : std::get<Prepare>(envelope.body).plan.devices) {
      CHECK(device.touched);
    }
  }
  CHECK(asked == std::set<NodeId>{NodeId{2}, NodeId{3}});  // they may have gone dark, or have lit what was never confirmed
}

}  // namespace loom
