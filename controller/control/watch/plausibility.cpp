// One rule a field.
#include "controller/control/watch/plausibility.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/messages/intake_limits.hpp"

namespace loom {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

/// Codes that agents have for what they find; the others are the controller's own to say.
constexpr std::array kAgentAlarms{AlarmCode::device_failed,   AlarmCode::fire_underflow,      AlarmCode::lasers_off,
                                  AlarmCode::journal_damaged, AlarmCode::malformed_message,   AlarmCode::receiver_withheld,
                                  AlarmCode::agent_duplicate, AlarmCode::clock_unsynchronised};

class Judge {
 public:
  Judge(const ControllerFacts& facts, Revision next_revision, NodeId node, Revision revision)
      : facts_(facts), next_revision_(next_revision), node_(node), revision_(revision) {}

  std::optional<Refusal> take_refusal() { return std::move(refusal_); }

  /// Of every message but a hello, which may come of another controller.
  void envelope() { known_revision("speaks of revision ", revision_); }

  void operator()(const Hello& hello) {
    const Term own = facts_.header.term;
    if (hello.term_seen > own && hello.term_seen.value - own.value > limits::kTermJump) {
      refuse(RefusalKind::implausible, "says hello with term " + number(hello.term_seen.value) + ", more than " +
                                           number(limits::kTermJump) + " (limit kTermJump) above the controller's " +
                                           number(own.value));
    }
    for (const Revision revision : {hello.applied, revision_}) {
      if (revision > next_revision_ && revision.value - next_revision_.value > limits::kRevisionJump) {
        refuse(RefusalKind::implausible, "says hello with revision " + number(revision.value) + ", more than " +
                                             number(limits::kRevisionJump) + " (limit kRevisionJump) above the controller's " +
                                             number(next_revision_.value));
      }
    }
    for (const DeviceState& state : hello.devices) {
      own_device("says hello with", state.device);
    }
  }
  void operator()(const Prepared& prepared) {
    outcome(prepared.outcome);
    length("wants to be armed", prepared.lead, limits::kArmLeadNs, "kArmLeadNs");
  }
  void operator()(const Armed& armed) {
    outcome(armed.outcome);
    measured(armed.slack);
  }
  void operator()(const Darkened& darkened) {
    outcome(darkened.outcome);
    measured(darkened.lateness);
  }
  void operator()(const Settled& settled) {
    outcome(settled.outcome);
    measured(settled.settle);
  }
  void operator()(const Applied& applied) {
    outcome(applied.outcome);
    for (const Duration each : {applied.fire.slack, applied.fire.lateness, applied.fire.settle, applied.fire.dark}) {
      measured(each);
    }
  }
  void operator()(const CycleDone& done) {
    if (done.underflows > limits::kUnderflows) {
      refuse(RefusalKind::implausible, "says that " + number(done.underflows) + " timeslots stayed dark, the limit is " +
                                           number(limits::kUnderflows) + " (kUnderflows)");
    }
  }
  void operator()(const Heartbeat& heartbeat) {
    known_revision("says that it has applied revision ", heartbeat.applied);
    known_revision("says that it has confirmed revision ", heartbeat.confirmed);
  }
  void operator()(const ObservationReport&) {}  // row by row
  void operator()(const TrafficReport&) {}      // its number ages: see DemandFollower::keep
  void operator()(const AlarmReport& report) {
    const Alarm& alarm = report.alarm;
    if (alarm.node && *alarm.node != node_) {
      refuse(RefusalKind::foreign, "raises an alarm of node " + number(alarm.node->value));
    }
    if (alarm.device) {
      own_device("raises an alarm of", *alarm.device);
    }
    if (alarm.revision) {
      known_revision("raises an alarm of revision ", *alarm.revision);
    }
    if (std::find(kAgentAlarms.begin(), kAgentAlarms.end(), alarm.code) == kAgentAlarms.end()) {
      refuse(RefusalKind::malformed, "raises an alarm " + std::string(to_string(alarm.code)) + ", which no agent does");
    }
  }
  void operator()(const DeviceReset& reset) {
    own_device("says that it has reset", reset.device);
    if (reset.observation.device != reset.device) {
      own_device("answers a reset with a reading of", reset.observation.device);
      refuse(RefusalKind::malformed, "answers a reset of device " + number(reset.device.value) + " with a reading of device " +
                                         number(reset.observation.device.value));
    }
    outcome(reset.outcome);
    reading(reset.observation);
  }
  template <class Other>
  void operator()(const Other&) {
    refuse(RefusalKind::malformed, "sends what no agent sends to a controller");
  }

  void reading(const Observation& observation) {
    own_device("reports", observation.device);
    if (observation.read_at > facts_.now + Duration{limits::kClockAheadNs}) {
      refuse(RefusalKind::implausible,
             "reports a reading of device " + number(observation.device.value) + " that is " +
                 number(static_cast<std::uint64_t>((observation.read_at - facts_.now) / std::chrono::milliseconds{1})) +
                 " ms ahead of now, the limit is " + number(limits::kClockAheadNs / 1'000'000) + " ms (kClockAheadNs)");
    }
  }

 private:
  /// The first one is kept.
  void refuse(RefusalKind kind, const std::string& what) {
    if (!refusal_) {
      refusal_ = Refusal{kind, "node " + number(node_.value) + " " + what};
    }
  }
  void own_device(std::string_view what, DeviceId device) {
    const Fabric& fabric = *facts_.fabric;
    if (device.value >= fabric.devices.size()) {
      refuse(RefusalKind::malformed, std::string(what) + " device " + number(device.value) + " of " +
                                         number(fabric.devices.size()) + ", which does not exist");
    } else if (fabric.device(device).agent != node_) {
      refuse(RefusalKind::foreign, std::string(what) + " device " + number(device.value) + ", which is node " +
                                       number(fabric.device(device).agent.value) + "'s");
    }
  }
  void outcome(const Outcome& outcome) {
    if (outcome.error && outcome.error->device) {
      own_device("blames", *outcome.error->device);
    }
  }
  void length(std::string_view what, Duration length, std::int64_t limit, std::string_view name) {
    if (length > Duration{limit} || length < -Duration{limit}) {
      refuse(RefusalKind::implausible, std::string(what) + " " + std::to_string(length / std::chrono::milliseconds{1}) +
                                           " ms ahead, the limit is " + std::to_string(limit / 1'000'000) + " ms (" +
                                           std::string(name) + ")");
    }
  }
  void measured(Duration length) {
    if (length > Duration{limits::kMeasuredNs} || length < -Duration{limits::kMeasuredNs}) {
      refuse(RefusalKind::implausible, "measured " + std::to_string(length / std::chrono::seconds{1}) +
                                           " s in a commit, the limit is " +
                                           std::to_string(limits::kMeasuredNs / 1'000'000'000) + " s (kMeasuredNs)");
    }
  }
  /// Messages of an earlier controller may be under way, about what it had prepared and this one's journal does not know.
  void known_revision(std::string_view what, Revision revision) {
    if (revision > next_revision_ && revision.value - next_revision_.value > limits::kRevisionsBehindApplied) {
      refuse(RefusalKind::implausible,
             std::string(what) + number(revision.value) + ", the controller's next one is " + number(next_revision_.value));
    }
  }

  const ControllerFacts& facts_;
  Revision next_revision_;
  NodeId node_;
  Revision revision_;
  std::optional<Refusal> refusal_;
};

}  // namespace

std::optional<Refusal> judge(const ControllerFacts& facts, Revision next_revision, NodeId node, const Envelope& envelope) {
  Judge judge(facts, next_revision, node, envelope.revision);
  if (!std::holds_alternative<Hello>(envelope.body)) {
    judge.envelope();
  }
  std::visit(judge, envelope.body);
  return judge.take_refusal();
}

std::optional<Refusal> judge(const ControllerFacts& facts, NodeId node, const Observation& observation) {
  Judge judge(facts, {}, node, {});
  judge.reading(observation);
  return judge.take_refusal();
}

}  // namespace loom
