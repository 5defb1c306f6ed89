// SPDX-License-Identifier: Apache-2.0
// One rule a field.
#include "controller/control/watch/plausibility.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

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
      refuse(RefusalKind::implausible,
             format_text("says hello with term {}, more than {} (limit kTermJump) above the controller's {}",
                         hello.term_seen.value, limits::kTermJump, own.value));
    }
    for (const Revision revision : {hello.applied, revision_}) {
      if (revision > next_revision_ && revision.value - next_revision_.value > limits::kRevisionJump) {
        refuse(RefusalKind::implausible,
               format_text("says hello with revision {}, more than {} (limit kRevisionJump) above the controller's {}",
                           revision.value, limits::kRevisionJump, next_revision_.value));
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
      refuse(RefusalKind::implausible, format_text("says that {} timeslots stayed dark, the limit is {} (kUnderflows)",
                                                   done.underflows, limits::kUnderflows));
    }
  }
  void operator()(const IterationReport&) {}  // of a job of its own: see Jobs::keep_iterations
  void operator()(const Heartbeat& heartbeat) {
    known_revision("says that it has applied revision ", heartbeat.applied);
    known_revision("says that it has confirmed revision ", heartbeat.confirmed);
  }
  void operator()(const Pulse& pulse) {
    if (!std::is_sorted(pulse.nodes.begin(), pulse.nodes.end(), std::less_equal<>())) {
      refuse(RefusalKind::malformed, "pulses for nodes that are not named in ascending order, each once");
    }
    for (const NodeId node : pulse.nodes) {
      if (node.value >= facts_.fabric->nodes.size()) {
        refuse(RefusalKind::malformed,
               format_text("pulses for node {} of {}, which does not exist", node.value, facts_.fabric->nodes.size()));
      }
    }
  }
  void operator()(const ObservationReport&) {}  // row by row
  void operator()(const TrafficReport&) {}      // its number ages: see DemandFollower::keep
  void operator()(const AlarmReport& report) {
    const Alarm& alarm = report.alarm;
    if (alarm.node && *alarm.node != node_) {
      refuse(RefusalKind::foreign, format_text("raises an alarm of node {}", alarm.node->value));
    }
    if (alarm.device) {
      own_device("raises an alarm of", *alarm.device);
    }
    if (alarm.revision) {
      known_revision("raises an alarm of revision ", *alarm.revision);
    }
    if (std::find(kAgentAlarms.begin(), kAgentAlarms.end(), alarm.code) == kAgentAlarms.end()) {
      refuse(RefusalKind::malformed, format_text("raises an alarm {}, which no agent does", to_string(alarm.code)));
    }
  }
  void operator()(const DeviceReset& reset) {
    own_device("says that it has reset", reset.device);
    if (reset.observation.device != reset.device) {
      own_device("answers a reset with a reading of", reset.observation.device);
      refuse(RefusalKind::malformed, format_text("answers a reset of device {} with a reading of device {}", reset.device.value,
                                                 reset.observation.device.value));
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
             format_text("reports a reading of device {} that is {} ms ahead of now, the limit is {} ms (kClockAheadNs)",
                         observation.device.value,
                         static_cast<std::uint64_t>((observation.read_at - facts_.now) / std::chrono::milliseconds{1}),
                         limits::kClockAheadNs / 1'000'000));
    }
  }

 private:
  /// The first one is kept.
  void refuse(RefusalKind kind, const std::string& what) {
    if (!refusal_) {
      refusal_ = Refusal{kind, format_text("node {} {}", node_.value, what)};
    }
  }
  void own_device(std::string_view what, DeviceId device) {
    const Fabric& fabric = *facts_.fabric;
    if (device.value >= fabric.devices.size()) {
      refuse(RefusalKind::malformed,
             format_text("{} device {} of {}, which does not exist", what, device.value, fabric.devices.size()));
    } else if (fabric.device(device).agent != node_) {
      refuse(RefusalKind::foreign,
             format_text("{} device {}, which is node {}'s", what, device.value, fabric.device(device).agent.value));
    }
  }
  void outcome(const Outcome& outcome) {
    if (outcome.error && outcome.error->device) {
      own_device("blames", *outcome.error->device);
    }
  }
  void length(std::string_view what, Duration length, std::int64_t limit, std::string_view name) {
    if (length > Duration{limit} || length < -Duration{limit}) {
      refuse(RefusalKind::implausible, format_text("{} {} ms ahead, the limit is {} ms ({})", what,
                                                   length / std::chrono::milliseconds{1}, limit / 1'000'000, name));
    }
  }
  void measured(Duration length) {
    if (length > Duration{limits::kMeasuredNs} || length < -Duration{limits::kMeasuredNs}) {
      refuse(RefusalKind::implausible, format_text("measured {} s in a commit, the limit is {} s (kMeasuredNs)",
                                                   length / std::chrono::seconds{1}, limits::kMeasuredNs / 1'000'000'000));
    }
  }
  /// Messages of an earlier controller may be under way, about what it had prepared and this one's journal does not know.
  void known_revision(std::string_view what, Revision revision) {
    if (revision > next_revision_ && revision.value - next_revision_.value > limits::kRevisionsBehindApplied) {
      refuse(RefusalKind::implausible,
             format_text("{}{}, the controller's next one is {}", what, revision.value, next_revision_.value));
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
