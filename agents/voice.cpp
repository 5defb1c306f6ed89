// Envelopes and sentences of the agent.
#include "agents/voice.hpp"

#include <utility>

namespace loom {

void Voice::say(Turn turn, Revision revision, Body body) const {
  Envelope envelope;
  envelope.role = Role::agent;
  envelope.term = term;
  envelope.node = node;
  envelope.clock = clock;
  envelope.revision = revision;
  envelope.body = std::move(body);
  turn.sink->emit(Send{controller_peer(), std::move(envelope)});
}

void Voice::warn(Turn turn, Alarm alarm) const {
  alarm.node = node;
  turn.sink->emit(RaiseAlarm{alarm});
  say(turn, Revision{}, AlarmReport{std::move(alarm)});
}

std::string in_microseconds(Duration duration) { return std::to_string(duration.count() / 1000) + " us"; }

}  // namespace loom
