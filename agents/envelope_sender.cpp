// SPDX-License-Identifier: Apache-2.0
// Envelopes and sentences of the agent.
#include "agents/envelope_sender.hpp"

#include <utility>

#include "core/text/format_text.hpp"

namespace loom {
namespace {

Send addressed(const EnvelopeSender& from, Peer to, Revision revision, Body body) {
  Envelope envelope;
  envelope.role = Role::agent;
  envelope.term = from.term;
  envelope.node = from.node;
  envelope.clock = from.clock;
  envelope.revision = revision;
  envelope.body = std::move(body);
  return {to, std::move(envelope)};
}

}  // namespace

void EnvelopeSender::send(StepContext context, Revision revision, Body body) const {
  context.sink->emit(addressed(*this, controller_peer(), revision, std::move(body)));
}

void EnvelopeSender::send_to_peer(StepContext context, NodeId to, Revision revision, Body body) const {
  context.sink->emit(addressed(*this, agent_peer(to), revision, std::move(body)));
}

void EnvelopeSender::warn(StepContext context, Alarm alarm) const {
  alarm.node = node;
  context.sink->emit(RaiseAlarm{alarm});
  send(context, Revision{}, AlarmReport{std::move(alarm)});
}

std::string in_microseconds(Duration duration) { return format_text("{} us", duration.count() / 1000); }

}  // namespace loom
