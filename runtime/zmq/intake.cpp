// SPDX-License-Identifier: Apache-2.0
// Queues by key, and whose turn it is.
#include "runtime/zmq/intake.hpp"

#include <algorithm>
#include <utility>

#include "core/messages/intake_limits.hpp"

namespace loom {
namespace {

constexpr TokenRate kRefusals{limits::kRefusalsAnswered, limits::kRefusalsAnswered, std::chrono::seconds{1}};
constexpr TokenRate kReplies{limits::kReplyBytesBurst, limits::kReplyBytes, std::chrono::seconds{1}};

}  // namespace

Intake::Queue::Queue(const IntakeQuota& quota)
    : rank(quota.rank), rate(quota.messages), messages(quota.messages), reply_bytes(kReplies), refusals(kRefusals) {}

/// A key whose grant was changed begins anew.
Intake::Queue& Intake::queue_of(const std::string& key, const IntakeQuota& quota) {
  const auto known = queues_.find(key);
  if (known != queues_.end() && known->second.rank == quota.rank && known->second.rate == quota.messages) {
    return known->second;
  }
  forget(key);
  return queues_.try_emplace(key, quota).first->second;
}

Intake::Admission Intake::offer(const std::string& key, const IntakeQuota& quota, const IntakeFrame& frame, Instant now) {
  Queue& queue = queue_of(key, quota);
  if (frame.messages.empty()) {
    return {};
  }
  if (queue.bytes + frame.bytes > quota.queue_bytes) {
    return {0, true};
  }
  const std::size_t admitted =
      queue.reply_bytes.is_empty(now) ? 0 : static_cast<std::size_t>(queue.messages.take(frame.messages.size(), now));
  if (admitted == 0) {
    return {};
  }
  Queue::Part& part = queue.frames.emplace_back(Queue::Part{frame, 0});
  part.frame.messages.resize(admitted);
  queue.bytes += frame.bytes;
  if (!queue.is_in_round) {
    queue.is_in_round = true;
    round_[static_cast<std::size_t>(queue.rank)].push_back(&queue);
  }
  return {admitted, false};
}

void Intake::charge(const std::string& key, std::uint64_t bytes, Instant now) {
  if (const auto known = queues_.find(key); known != queues_.end()) {
    known->second.reply_bytes.spend(bytes, now);
  }
}

bool Intake::owes_replies(const std::string& key, Instant now) {
  const auto known = queues_.find(key);
  return known != queues_.end() && known->second.reply_bytes.is_empty(now);
}

bool Intake::may_answer_refusal(const std::string& key, Instant now) {
  const auto known = queues_.find(key);
  return known != queues_.end() && known->second.refusals.take(1, now) == 1;
}

std::optional<IntakeMessage> Intake::next(IntakeRank rank) {
  auto& round = round_[static_cast<std::size_t>(rank)];
  if (round.empty()) {
    return std::nullopt;
  }
  Queue& queue = *round.front();
  round.pop_front();
  Queue::Part& part = queue.frames.front();
  IntakeMessage message{part.frame.connection, part.frame.owner, part.frame.messages[part.next++]};
  if (part.next == part.frame.messages.size()) {
    queue.bytes -= part.frame.bytes;
    queue.frames.pop_front();
  }
  queue.is_in_round = !queue.frames.empty();
  if (queue.is_in_round) {
    round.push_back(&queue);
  }
  return message;
}

std::size_t Intake::waiting(const std::string& key) const {
  std::size_t count = 0;
  if (const auto known = queues_.find(key); known != queues_.end()) {
    for (const Queue::Part& part : known->second.frames) {
      count += part.frame.messages.size() - part.next;
    }
  }
  return count;
}

std::size_t Intake::forget(const std::string& key) {
  const auto known = queues_.find(key);
  if (known == queues_.end()) {
    return 0;
  }
  const std::size_t dropped = waiting(key);
  auto& round = round_[static_cast<std::size_t>(known->second.rank)];
  round.erase(std::remove(round.begin(), round.end(), &known->second), round.end());
  queues_.erase(known);
  return dropped;
}

}  // namespace loom
