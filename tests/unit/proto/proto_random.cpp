// SPDX-License-Identifier: Apache-2.0
// How the random values are made: uniform over the lawful range of each field, small collections.
#include "tests/unit/proto/proto_random.hpp"

#include "tests/unit/proto/proto_random_values.hpp"

namespace loom::test {
namespace {

Hello hello(Random& random) {
  Hello out;
  out.software = text(random);
  out.boot_id = random.word();
  out.term_seen = {random.word()};
  out.applied = revision(random);
  out.lasers_latched_off = random.coin();
  out.node_latched_off = random.coin();
  out.devices = some<DeviceState>(random, [&] {
    DeviceState state;
    state.device = device(random);
    state.health = random.any(DeviceHealth::failed);
    return state;
  });
  out.own_latch = {random.word(), text(random)};
  out.listens_at = text(random);
  if (random.coin()) {
    out.fabric = {text(random),
                  random.word() | 1U,
                  random.number<std::uint32_t>(0, 99),
                  random.number<std::uint32_t>(0, 99),
                  random.number<std::uint32_t>(0, 99),
                  random.number<std::uint32_t>(0, 99),
                  some<std::uint64_t>(random, [&] { return random.word(); })};
  }
  return out;
}

CommunicatorTraffic communicator(Random& random) {
  CommunicatorTraffic out;
  if (random.coin()) {
    out.ranks = limits::kNodes;  // any rank may be one of so many
    out.rank = 0;                // and any number of ranks has a first one
  } else {
    out.ranks = random.number<std::uint32_t>(1, limits::kNodes);
    out.rank = random.number<std::uint32_t>(0, out.ranks - 1);
  }
  out.period = some<RepeatedCollective>(random, [&] {
    RepeatedCollective each;
    each.kind = random.any(CollectiveKind::point_to_point);
    each.bytes = {random.between(0, limits::kCollectiveBytes)};
    each.count = random.number<std::uint32_t>(1, limits::kCollectiveRepeats);
    return each;
  });
  std::sort(out.period.begin(), out.period.end());
  out.period.erase(std::unique(out.period.begin(), out.period.end()), out.period.end());
  out.length = Duration{random.between(1, limits::kDurationNs)};
  return out;
}

TrafficReport traffic(Random& random) {
  TrafficReport out;
  out.number = random.word();
  for (const auto id : ascending<std::uint32_t>(random, limits::kNodes)) {
    out.communicators.push_back(communicator(random));
    out.communicators.back().communicator = id;
  }
  out.trouble = text(random);
  out.refused = random.word();
  return out;
}

Applied applied(Random& random) {
  Applied out;
  out.outcome = outcome(random);
  out.fire.slack = difference(random);
  out.fire.lateness = difference(random);
  out.fire.settle = length(random);
  out.fire.dark = length(random);
  out.fire.writes = small(random);
  return out;
}

DeviceReset device_reset(Random& random) {
  DeviceReset out;
  out.device = device(random);
  out.order = random.word();
  out.outcome = outcome(random);
  out.writes = small(random);
  out.observation = observation(random);
  return out;
}

std::uint64_t counting(Random& random) { return random.number<std::uint64_t>(1, 1'000'000); }

GrantKey grant_key(Random& random) { return {counting(random), counting(random)}; }

/// At the start of the clock, at the end of it, or anywhere.
StreamGrant stream_grant(Random& random) {
  StreamGrant out;
  out.number = counting(random);
  out.key = grant_key(random);
  switch (random.between(0, 2)) {
    case 0:
      out.start = instant_from_ns(0);
      out.end = out.start + within_window(random);
      break;
    case 1:
      out.end = instant_from_ns(limits::kInstantNs);
      out.start = out.end - within_window(random);
      break;
    default:
      out.start = instant_from_ns(random.between(0, limits::kInstantNs - limits::kGrantWindowNs));
      out.end = out.start + within_window(random);
      break;
  }
  out.bytes = {random.between(1, limits::kStreamBytes)};
  return out;
}

using MakeWord = GrantMessage (*)(Random&);
constexpr MakeWord kWords[] = {
    [](Random& random) -> GrantMessage {
      return StreamRequest{{}, 0, counting(random), {random.between(1, limits::kStreamBytes)}, instant(random), random.coin()};
    },
    [](Random& random) -> GrantMessage { return StreamAccept{{}, 0, grant_key(random), instant(random)}; },
    [](Random& random) -> GrantMessage {
      return StreamRefusal{{}, 0, grant_key(random), random.any(RefusalReason::unknown), instant(random), instant(random)};
    },
    [](Random& random) -> GrantMessage {
      return StreamRelease{{}, 0, grant_key(random), instant(random), {random.between(0, limits::kStreamBytes)}};
    },
    [](Random& random) -> GrantMessage { return StreamQueued{{}, 0, counting(random), counting(random), random.coin()}; },
    [](Random& random) -> GrantMessage { return stream_grant(random); },
};
static_assert(std::size(kWords) == std::variant_size_v<GrantMessage>);

GrantPlaneMessage grant_plane_message(Random& random) {
  GrantPlaneMessage out{kWords[random.between(0, std::size(kWords) - 1)](random)};
  StreamId stream{job(random), random.word(), node(random), node(random)};
  if (stream.source == stream.destination) {
    stream.destination.value ^= 1;
  }
  std::visit(
      [&](auto& word) {
        word.stream = stream;
        word.sender_epoch = counting(random);
      },
      out.message);
  return out;
}

/// The stream's end that says it.
NodeId speaker_of(const GrantMessage& message) {
  const bool is_of_arbiter = std::holds_alternative<StreamQueued>(message) || std::holds_alternative<StreamGrant>(message);
  return std::visit([&](const auto& word) { return is_of_arbiter ? word.stream.destination : word.stream.source; }, message);
}

Heartbeat heartbeat(Random& random) {
  Heartbeat out;
  out.applied = revision(random);
  out.confirmed = revision(random);
  out.lasers_latched_off = random.coin();
  out.node_latched_off = random.coin();
  out.own_latch = {random.word(), text(random)};
  out.peers_digest = random.word();
  return out;
}

template <class Answer>
Answer answer(Random& random, Duration duration) {
  return {outcome(random), duration};
}

using MakeBody = Body (*)(Random&);
constexpr MakeBody kBodies[] = {
    [](Random& random) -> Body { return hello(random); },
    [](Random& random) -> Body { return answer<Prepared>(random, length(random)); },
    [](Random& random) -> Body { return answer<Armed>(random, difference(random)); },
    [](Random& random) -> Body { return answer<Darkened>(random, difference(random)); },
    [](Random& random) -> Body { return answer<Settled>(random, length(random)); },
    [](Random& random) -> Body { return applied(random); },
    [](Random& random) -> Body { return CycleDone{random.number<std::uint32_t>(1, 1000), 7}; },
    [](Random& random) -> Body { return heartbeat(random); },
    [](Random& random) -> Body { return ObservationReport{some<Observation>(random, [&] { return observation(random); })}; },
    [](Random& random) -> Body { return traffic(random); },
    [](Random& random) -> Body { return AlarmReport{alarm(random)}; },
    [](Random& random) -> Body { return Welcome{Duration{random.between(1, limits::kDurationNs)}, {77}}; },
    [](Random& random) -> Body { return Unwelcome{error(random)}; },
    [](Random& random) -> Body { return Prepare{node_plan(random, {}, {})}; },
    [](Random& random) -> Body { return Arm{instant(random)}; },
    [](Random& random) -> Body { return random.coin() ? Go{} : Go{instant(random)}; },
    [](Random& random) -> Body { return Proceed{CommitPhase::relight, instant(random)}; },
    [](Random&) -> Body { return Confirm{}; },
    [](Random&) -> Body { return Abandon{}; },
    [](Random& random) -> Body { return SetLasers{true, random.word(), random.word(), random.coin()}; },
    [](Random& random) -> Body { return Beat{revision(random)}; },
    [](Random& random) -> Body { return random_request(random); },
    [](Random& random) -> Body { return random_reply(random); },
    [](Random& random) -> Body { return ResetDevice{device(random), random.word()}; },
    [](Random& random) -> Body { return device_reset(random); },
    [](Random& random) -> Body { return grant_plane_message(random); },
    [](Random& random) -> Body {
      PassReady out{job(random),   1 + counting(random), random.number<std::uint32_t>(0, 7),
                    random.coin(), length(random),       length(random)};
      out.device = random.coin() ? std::optional(device(random)) : std::nullopt;
      return out;
    },
    [](Random& random) -> Body { return PassBegin{job(random), 1 + counting(random), counting(random), instant(random)}; },
    [](Random& random) -> Body {
      IterationReport out{job(random), counting(random) % 99, small(random), random.word(), length(random), length(random)};
      out.ledger = {length(random), length(random), length(random), length(random), length(random)};
      out.slowest = {counting(random) % 99, length(random), random.any(DelayCause::dark),
                     node(random),          std::nullopt,   length(random)};
      out.slowest.device = random.coin() ? std::optional(device(random)) : std::nullopt;
      if (random.coin()) {
        out.awaited = AwaitedNode{node(random), random.coin(), length(random)};
      }
      return out;
    },
    [](Random& random) -> Body {
      return PeerAddresses{some<PeerAddress>(random, [&] { return PeerAddress{node(random), text(random)}; }), random.word()};
    },
    [](Random& random) -> Body { return Pulse{some<NodeId>(random, [&] { return node(random); })}; },
};
static_assert(std::size(kBodies) == std::variant_size_v<Body>);

CommitRecord commit(Random& random) {
  CommitRecord out;
  out.decision = random.any(CommitDecision::planned);
  out.revision = revision(random);
  out.next_circuit = {random.word()};
  if (out.decision == CommitDecision::planned || (out.decision == CommitDecision::going && random.coin())) {
    out.plan = std::make_shared<const Plan>(plan(random, out.revision));
    out.intent = random.coin() ? nullptr : std::make_shared<const Intent>(intent(random));
  }
  if (out.decision == CommitDecision::planned && random.coin()) {
    const Plan& whole = *out.plan;
    PlanChange change{revision(random), whole.revision,
                      whole.base,       {whole.nodes.begin(), whole.nodes.end()},
                      whole.circuits,   {},
                      whole.changed,    whole.moved_steering,
                      whole.touched,    whole.certificate};
    for (const auto id : ascending<std::uint64_t>(random, 1LL << 62)) {
      change.ended.push_back({id});
    }
    out.change = std::make_shared<const PlanChange>(std::move(change));
    out.plan = random.coin() ? out.plan : nullptr;
  }
  return out;
}

}  // namespace

Body random_body(Random& random, std::size_t alternative) { return kBodies[alternative](random); }

Envelope random_envelope(Random& random, std::size_t alternative) {
  Envelope out;
  out.principal = text(random);
  out.role = random.any(Role::controller);
  out.term = {random.word()};
  out.node = node(random);
  out.clock = {random.word()};
  out.revision = revision(random);
  out.body = random_body(random, alternative);
  if (auto* prepare = std::get_if<Prepare>(&out.body)) {
    prepare->plan.node = out.node;
    prepare->plan.revision = out.revision;
  }
  if (const auto* word = std::get_if<GrantPlaneMessage>(&out.body)) {
    out.node = speaker_of(word->message);
  }
  return out;
}

namespace {

IntentCause intent_cause(Random& random) {
  IntentCause cause;
  cause.principal = text(random);
  cause.request = {random.word()};
  cause.job = job(random);
  cause.revision = revision(random);
  return cause;
}

SnapshotRecord snapshot(Random& random) {
  SnapshotRecord out;
  out.term = {random.word()};
  out.next_revision = revision(random);
  out.next_circuit = {random.word()};
  auto wanted = std::get<IntentRecord>(random_record(random, 1));
  out.intent = std::move(wanted.intent);
  out.laser_request = wanted.laser_request;
  out.laser_request_to_all = wanted.laser_request_to_all;
  out.next_job = wanted.next_job;
  out.probation = std::move(wanted.probation);
  out.answered = {intent_cause(random), intent_cause(random)};
  const auto going = std::make_shared<const Plan>(plan(random, revision(random)));
  out.confirmed = std::make_shared<const Plan>(plan(random, revision(random)));
  out.kept.push_back({revision(random), std::make_shared<const Intent>(intent(random)), going->circuits});
  out.kept.push_back({out.confirmed->revision, std::make_shared<const Intent>(intent(random)), out.confirmed->circuits});
  out.confirmed_next_circuit = {random.word()};
  if (random.coin()) {
    out.going = going;
    out.going_intent = std::make_shared<const Intent>(intent(random));
    out.planned = random.coin() ? going : nullptr;
    out.planned_intent = out.planned == nullptr ? nullptr : out.going_intent;
  }
  out.uncertain = {std::make_shared<const Plan>(plan(random, revision(random))), going};
  for (const auto id : ascending<std::uint64_t>(random, 1LL << 62)) {
    out.lit.push_back({{id}, random.number<std::uint32_t>(0, limits::kStagesPerJob - 1), revision(random)});
  }
  out.latch = {random.coin(), random.word()};
  for (const auto number : ascending<std::uint64_t>(random, 1LL << 62)) {
    out.audit.push_back(audit_record(random));
    out.audit.back().number = number;
  }
  return out;
}

}  // namespace

Record random_record(Random& random, std::size_t alternative) {
  switch (alternative) {
    case 0:
      return TermRecord{{random.word()}};
    case 1: {
      IntentRecord record;
      record.intent = intent(random);
      record.laser_request = random.word();
      record.laser_request_to_all = random.word();
      record.next_job = job(random);
      if (random.coin()) {
        Probation trial;
        trial.revision = revision(random);
        trial.clock = {random.word()};
        trial.deadline = instant(random);
        trial.pinned_before = job_schedules(random);
        record.probation = std::move(trial);
      }
      if (random.coin()) {
        record.cause = intent_cause(random);
      }
      return record;
    }
    case 2:
      return commit(random);
    case 3:
      return LatchRecord{true, random.word(), random.word(), random.coin(), text(random), random.coin(), random.word()};
    case 4:
      return snapshot(random);
    default:
      return audit_record(random);
  }
}

}  // namespace loom::test
