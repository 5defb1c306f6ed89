// SPDX-License-Identifier: Apache-2.0
// TokenBucket: so many at once, and so many more with time. It is handed the time, counts in whole numbers, and so forgets
// nothing and rounds nothing in its holder's favour. Real-time safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/time.hpp"

namespace loom {

struct TokenRate {
  std::uint64_t burst = 0;                   ///< at once, from a full bucket; > 0
  std::uint64_t tokens = 0;                  ///< more of them ...
  Duration period{std::chrono::seconds{1}};  ///< ... in so long; (burst + tokens) x period fits 63 bits
  bool operator==(const TokenRate&) const = default;
};

class TokenBucket {
 public:
  /// Full.
  explicit TokenBucket(const TokenRate& rate) : rate_(rate), level_(full()) {}

  /// Takes as many as there are, at most `wanted`.
  std::uint64_t take(std::uint64_t wanted, Instant now) {
    fill(now);
    const std::int64_t whole = std::max<std::int64_t>(level_, 0) / rate_.period.count();
    const std::uint64_t taken = std::min(wanted, static_cast<std::uint64_t>(whole));
    level_ -= static_cast<std::int64_t>(taken) * rate_.period.count();
    return taken;
  }
  /// Takes them whether they are there or not; what is missing is paid back first, from at most one more burst of debt.
  void spend(std::uint64_t tokens, Instant now) {
    fill(now);
    const std::uint64_t bounded = std::min(tokens, 2 * rate_.burst);
    level_ = std::max(level_ - static_cast<std::int64_t>(bounded) * rate_.period.count(), -full());
  }
  bool is_empty(Instant now) {
    fill(now);
    return level_ < rate_.period.count();
  }

 private:
  std::int64_t full() const { return static_cast<std::int64_t>(rate_.burst) * rate_.period.count(); }
  /// A clock that steps back gives nothing.
  void fill(Instant now) {
    const std::int64_t passed = std::max<std::int64_t>((now - filled_).count(), 0);
    filled_ = std::max(filled_, now);
    const std::int64_t missing = full() - level_;
    const auto tokens = static_cast<std::int64_t>(rate_.tokens);
    if (tokens > 0) {  // compared before it is multiplied: a bucket that nobody asked for years is full
      level_ = passed > missing / tokens ? full() : level_ + passed * tokens;
    }
  }

  TokenRate rate_;
  std::int64_t level_;  ///< tokens x period
  Instant filled_{};
};

}  // namespace loom
