// SPDX-License-Identifier: Apache-2.0
// What of every event and effect goes into a digest: a tag, then its values in the order of their declaration.
#include "runtime/journal/fold.hpp"

#include <span>
#include <type_traits>
#include <variant>

namespace loom {
namespace {

template <class Enum>
  requires std::is_enum_v<Enum>
std::uint64_t word_of(Enum value) {
  return static_cast<std::uint64_t>(value);
}

std::uint64_t word_of(std::int64_t value) { return static_cast<std::uint64_t>(value); }

void fold_words(Digest& digest, std::span<const std::uint16_t> words) {
  digest.add(words.size());
  for (const std::uint16_t word : words) {
    digest.add(word);
  }
}

void fold_bytes(Digest& digest, std::span<const std::uint8_t> bytes) {
  digest.add(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void fold_request(Digest& digest, const Registers& order) {
  digest.add(std::uint64_t{order.is_input} << 32 | std::uint64_t{order.address} << 16 | order.count);
  fold_words(digest, order.values);
}

void fold_request(Digest& digest, const BytesAt& order) {
  digest.add(word_of(order.layout) << 48 | std::uint64_t{order.offset} << 16 | order.count);
  fold_bytes(digest, order.values);
}

void fold_request(Digest& digest, const Frame& order) {
  fold_bytes(digest, order.request);
  digest.add(order.reply_bytes);
  digest.add(order.terminator);
  if (!order.answers.empty()) {
    digest.add(order.answers);
  }
}

void fold_event(Digest& digest, const Started& event) {
  digest.add(event.boot_id);
  digest.add(event.clock.value);
  digest.add(event.records.size());
}

void fold_event(Digest& digest, const MessageArrived& event) {
  digest.add(word_of(event.from.kind));
  digest.add(event.from.id);
  digest.add(event.envelope.principal);
  digest.add(word_of(event.envelope.role));
}

void fold_event(Digest& digest, const MessageRefused& event) {
  digest.add(word_of(event.from.kind));
  digest.add(event.from.id);
  digest.add(word_of(event.error.code));
  digest.add(word_of(event.kind));
  digest.add(event.count);
}

void fold_event(Digest& digest, const KeysChanged& event) {
  digest.add(event.digest);
  digest.add(event.changes.size());
}

void fold_event(Digest& digest, const TimerFired& event) { digest.add(event.timer.value); }

void fold_event(Digest& digest, const BusReplied& event) {
  digest.add(event.bus.value);
  digest.add(event.transaction.value);
  digest.add(word_of(event.reply.status) << 8 | event.reply.exception);
  fold_words(digest, event.reply.words);
  fold_bytes(digest, event.reply.bytes);
}

void fold_event(Digest& digest, const Appended& event) { digest.add(event.count ^ std::uint64_t{event.snapshot_due} << 63); }
void fold_event(Digest& digest, const AppendFailed& event) { digest.add(word_of(event.error.code)); }

void fold_event(Digest& digest, const Planned& event) {
  digest.add(event.outcome.revision.value);
  if (!event.outcome.result) {
    digest.add(word_of(event.outcome.result.error().code));
    return;
  }
  const PlanResult& result = **event.outcome.result;
  digest.add(result.next_circuit.value);
  digest.add(result.schedule.steps_used);
  for (const Circuit& circuit : result.plan.circuits) {
    digest.add(circuit.id.value);
    digest.add(std::uint64_t{circuit.transmitter.value} << 32 | circuit.receiver.value);
    digest.add(word_of(std::int64_t{circuit.slot.n}));
  }
}

void fold_event(Digest& digest, const InterlockChanged& event) { digest.add(event.open ? 1U : 0U); }

void fold_event(Digest& digest, const TrafficReceived& event) {
  digest.add(event.reported.unfolded);
  digest.add(event.reported.refused);
  for (const TrafficRecord& record : event.reported.records) {
    digest.add(record.communicator);
    digest.add(std::uint64_t{record.rank} << 32 | record.ranks);
    digest.add(record.sequence);
    digest.add(word_of(record.kind));
    digest.add(word_of(record.bytes.count));
    digest.add(word_of(std::int64_t{record.at.count()}));
  }
}

void fold_event(Digest& digest, const ClockJudged& event) {
  digest.add(event.problem ? 1U : 0U);
  digest.add(event.problem ? std::string_view(event.problem->message) : std::string_view{});
}

void fold_event(Digest& digest, const PeersListen& event) { digest.add(event.endpoint); }

void fold_event(Digest& digest, const PulseDue& event) {
  for (const NodeId node : event.nodes) {
    digest.add(node.value);
  }
}

void fold_event(Digest& digest, const TrainingReady& event) { digest.add(event.iteration << 1 | (event.is_unsent ? 1U : 0U)); }

// Tags of effects; events have theirs by index, below these. 64 and 68 are the host's, for Send and Append.
enum Tag : std::uint64_t { set_timer = 65, cancel_timer, transact, make_plan = 69, raise_alarm, tell_training, learn_peers };

}  // namespace

void fold(Digest& digest, const Event& event, std::uint64_t encoding) {
  digest.add(event.index());
  digest.add(encoding);
  std::visit([&](const auto& kind) { fold_event(digest, kind); }, event);
}

std::uint64_t setup_digest(const Fabric& fabric, std::string_view algorithm) {
  Digest digest;
  digest.add(algorithm);
  digest.add(fabric.name);
  digest.add(fabric.architecture);
  digest.add(fabric.nodes.size());
  for (const Element& element : fabric.elements) {
    digest.add(element.name);
    digest.add(element.kind.index());
    digest.add(std::uint64_t{element.inputs} << 16 | element.outputs);
  }
  for (const Fibre& fibre : fabric.fibres) {
    digest.add(std::uint64_t{fibre.from.element.value} << 16 | fibre.from.port);
    digest.add(std::uint64_t{fibre.to.element.value} << 16 | fibre.to.port);
  }
  for (const Device& device : fabric.devices) {
    digest.add(word_of(device.role));
    digest.add(std::uint64_t{device.agent.value} << 32 | device.bus.value);
  }
  return digest.value();
}

void fold(Digest& digest, const SetTimer& effect) {
  digest.add(Tag::set_timer);
  digest.add(effect.timer.value);
  digest.add(word_of(std::int64_t{ns_of(effect.at)}));
}

void fold(Digest& digest, const CancelTimer& effect) {
  digest.add(Tag::cancel_timer);
  digest.add(effect.timer.value);
}

void fold(Digest& digest, const Transact& effect) {
  digest.add(Tag::transact);
  digest.add(effect.bus.value);
  digest.add(effect.transaction.value);
  digest.add(std::uint64_t{effect.order.device.value} << 16 | effect.order.bus_address);
  digest.add(effect.order.order.index());
  std::visit([&](const auto& order) { fold_request(digest, order); }, effect.order.order);
}

void fold(Digest& digest, const MakePlan& effect) {
  digest.add(Tag::make_plan);
  digest.add(effect.request->revision.value);
  digest.add(effect.request->next_circuit.value);
  digest.add(effect.request->intent.jobs.size());
  digest.add(effect.request->algorithm);
  digest.add(effect.request->make_before_break ? 1U : 0U);
  for (const UnusableDevice& unusable : effect.request->unusable) {
    digest.add(std::uint64_t{unusable.device.value} << 1 | (unusable.holds ? 1U : 0U));
    for (const CrossConnect occupied : unusable.occupied) {
      digest.add(std::uint64_t{occupied.input} << 16 | occupied.output);
    }
  }
}

void fold(Digest& digest, const RaiseAlarm& effect) {
  digest.add(Tag::raise_alarm);
  digest.add(word_of(effect.alarm.code));
  digest.add(effect.alarm.evidence);
}

void fold(Digest& digest, const TellTraining& effect) {
  digest.add(Tag::tell_training);
  digest.add(word_of(effect.word.what));
  digest.add(effect.word.iteration);
  digest.add(word_of(std::int64_t{ns_of(effect.word.at)}));
}

void fold(Digest& digest, const LearnPeers& effect) {
  digest.add(Tag::learn_peers);
  for (const PeerAddress& peer : effect.peers) {
    digest.add(peer.node.value);
    digest.add(peer.endpoint);
  }
}

}  // namespace loom
