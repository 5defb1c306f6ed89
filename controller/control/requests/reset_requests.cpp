// SPDX-License-Identifier: Apache-2.0
// Numbered in this term, so that an answer to an earlier incarnation's reset is not taken for this one's.
#include "controller/control/requests/reset_requests.hpp"

#include <string>
#include <utility>

#include "controller/control/timers.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr Duration kPatience = std::chrono::seconds{5};

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

void ResetRequests::begin(const Requester& requester, const Device& device, EffectSink& sink) {
  const std::string node = number(device.agent.value);
  if (!sessions_.is_present(device.agent)) {
    return answers_.refuse(
        requester,
        {ErrorCode::device_silent, format_text("{} is driven by node {}, which does not answer", device.name, node),
         "loom node show " + node},
        sink);
  }
  if (pending_.contains(device.id)) {
    return answers_.refuse(
        requester,
        {ErrorCode::busy, device.name + " is being reset already", format_text("loom device show {}", device.id.value)}, sink);
  }
  const std::uint64_t reset = (facts_.header.term.value << 32U) + ++made_;
  pending_[device.id] = {requester, reset, facts_.now + kPatience};
  sessions_.send(device.agent, ResetDevice{device.id, reset}, sink);
  sink.emit(SetTimer{timers::kReset, facts_.now + facts_.timings.retry_interval});
}

void ResetRequests::on_answer(NodeId node, const DeviceReset& done, EffectSink& sink) {
  const auto pending = pending_.find(done.device);
  if (pending == pending_.end() || pending->second.number != done.order || facts_.fabric->device(done.device).agent != node) {
    return;  // repeated, or an answer to an earlier incarnation's reset
  }
  const Requester requester = pending->second.requester;
  pending_.erase(pending);
  readings_.keep_reset(done.observation);
  if (done.outcome.ok()) {
    unusable_.forget(done.device);  // it has just followed an order
  }
  OperatorReply answered;
  answered.outcome = done.outcome;
  answered.writes = done.writes;
  answered.rows = reports_.device_rows(Query{Noun::devices, done.device.value}).rows;
  if (answered.outcome.error && answered.outcome.error->next_command.empty()) {
    answered.outcome.error->next_command = format_text("loom device show {}", done.device.value);
  }
  answers_.answer(requester, std::move(answered), sink);
}

void ResetRequests::repeat(EffectSink& sink) {
  for (auto it = pending_.begin(); it != pending_.end();) {
    const Device& device = facts_.fabric->device(it->first);
    if (facts_.now < it->second.deadline) {
      sessions_.send(device.agent, ResetDevice{device.id, it->second.number}, sink);
      ++it;
      continue;
    }
    const Requester requester = it->second.requester;
    it = pending_.erase(it);
    answers_.refuse(requester,
                    {ErrorCode::timed_out,
                     format_text("{}: node {} did not say within {} s that it was reset", device.name, device.agent.value,
                                 static_cast<std::uint64_t>(kPatience / std::chrono::seconds{1})),
                     format_text("loom node show {}", device.agent.value)},
                    sink);
  }
  if (!pending_.empty()) {
    sink.emit(SetTimer{timers::kReset, facts_.now + facts_.timings.retry_interval});
  }
}

}  // namespace loom
