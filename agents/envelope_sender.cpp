// Envelopes and sentences of the agent.
#include "agents/envelope_sender.hpp"

#include <utility>

#include "core/text/format_text.hpp"

namespace loom {

void EnvelopeSender::send(StepContext context, Revision revision, Body body) const {
  Envelope envelope;
  envelope.role = Role::agent;
  envelope.term = term;
  envelope.node = node;
  envelope.clock = clock;
  envelope.revision = revision;
  envelope.body = std::move(body);
  context.sink->emit(Send{controller_peer(), std::move(envelope)});
}

void EnvelopeSender::warn(StepContext context, Alarm alarm) const {
  alarm.node = node;
  context.sink->emit(RaiseAlarm{alarm});
  send(context, Revision{}, AlarmReport{std::move(alarm)});
}

std::string in_microseconds(Duration duration) { return format_text("{} us", duration.count() / 1000); }

}  // namespace loom
