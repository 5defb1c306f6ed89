// SPDX-License-Identifier: Apache-2.0
// Intake: what waits between a socket and a step machine. Messages wait by key, agents' before operators', and are taken one a
// key and round, so that no key lets another one wait longer than one message of its own; a key that has used up its quota, or
// whose messages fill its queue, is refused at the door. It owns no socket, decodes nothing, and is handed the time (ADR 24).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/messages/token_bucket.hpp"
#include "core/time.hpp"

namespace loom {

enum class IntakeRank : std::uint8_t { agent, operator_ };

/// What one key may send.
struct IntakeQuota {
  IntakeRank rank = IntakeRank::operator_;
  TokenRate messages;
  std::string_view limit;  ///< name of the limit in core/limits.hpp, for sentences
  std::size_t queue_bytes = 0;
  std::string_view queue_limit;
};

/// Messages that came together.
struct IntakeFrame {
  std::uint64_t connection = 0;
  std::shared_ptr<const void> owner;         ///< of what the messages point into
  std::vector<std::string_view> messages{};  ///< none: nothing waits
  std::size_t bytes = 0;                     ///< that `owner` keeps
};

struct IntakeMessage {
  std::uint64_t connection = 0;
  std::shared_ptr<const void> owner;
  std::string_view bytes;
};

class Intake {
 public:
  /// What became of a frame: the first `admitted` messages wait, the others do not.
  struct Admission {
    std::size_t admitted = 0;
    bool is_queue_full = false;  ///< else the quota is used up
  };
  Admission offer(const std::string& key, const IntakeQuota& quota, const IntakeFrame& frame, Instant now);
  /// Answers to this key have cost so much: beyond its burst of bytes it is refused until that is paid back.
  void charge(const std::string& key, std::uint64_t bytes, Instant now);
  bool owes_replies(const std::string& key, Instant now);
  /// Takes one of the refusals a second that a key is answered.
  bool may_answer_refusal(const std::string& key, Instant now);

  /// The next one of this rank. One a key and round; within a key in the order of their arrival.
  std::optional<IntakeMessage> next(IntakeRank rank);
  bool is_empty(IntakeRank rank) const { return round_[static_cast<std::size_t>(rank)].empty(); }
  bool is_empty() const { return is_empty(IntakeRank::agent) && is_empty(IntakeRank::operator_); }
  /// Nothing of this key waits any more, and it is forgotten. Returns how many messages are dropped.
  std::size_t forget(const std::string& key);
  std::size_t waiting(const std::string& key) const;

 private:
  struct Queue {
    explicit Queue(const IntakeQuota& quota);
    IntakeRank rank;
    TokenRate rate;
    TokenBucket messages;
    TokenBucket reply_bytes;
    TokenBucket refusals;
    struct Part {
      IntakeFrame frame;
      std::size_t next = 0;
    };
    std::deque<Part> frames;
    std::size_t bytes = 0;
    bool is_in_round = false;
  };

  Queue& queue_of(const std::string& key, const IntakeQuota& quota);

  std::map<std::string, Queue> queues_;  ///< by key; never more than keys in the keyring
  std::deque<Queue*> round_[2];          ///< with something to take, by rank; the first one's turn
};

}  // namespace loom
