// SPDX-License-Identifier: Apache-2.0
// One rule a field.
#include "agents/commit/message_check.hpp"

#include "core/messages/intake_limits.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

using Fault = std::optional<std::string>;

Fault above(const char* what, std::uint64_t value, std::uint64_t known, std::uint64_t limit, const char* name) {
  if (value <= known || value - known <= limit) {
    return std::nullopt;
  }
  return format_text("{} {} is more than {} (limit {}) above {}", what, value, limit, name, known);
}

Fault ahead(const char* what, Instant at, Instant now) {
  if (at <= now + Duration{limits::kCommitAheadNs}) {
    return std::nullopt;
  }
  return format_text("{} is {} s ahead, the limit is {} s (kCommitAheadNs)", what, (at - now) / std::chrono::seconds{1},
                     limits::kCommitAheadNs / 1'000'000'000);
}

struct Rule {
  const KnownNumbers& known;
  Term term;

  Fault operator()(const Prepare& prepare) const {
    return above("revision", prepare.plan.revision.value, known.newest.value, limits::kRevisionAbove, "kRevisionAbove");
  }
  Fault operator()(const Arm& arm) const { return ahead("the instant to fire at", arm.fire_at, known.now); }
  Fault operator()(const Proceed& proceed) const { return ahead("the instant to proceed at", proceed.at, known.now); }
  Fault operator()(const Welcome& welcome) const {
    if (welcome.heartbeat_interval <= Duration{limits::kHeartbeatIntervalNs}) {
      return std::nullopt;
    }
    return format_text("a heartbeat every {} s, the limit is {} s (kHeartbeatIntervalNs)",
                       welcome.heartbeat_interval / std::chrono::seconds{1}, limits::kHeartbeatIntervalNs / 1'000'000'000);
  }
  Fault operator()(const SetLasers& order) const {
    return above("the order about lasers", order.order, known.laser_request, limits::kLaserOrderJump, "kLaserOrderJump");
  }
  /// Numbered in its term, so that those of the next one are above all of this one's.
  Fault operator()(const ResetDevice& reset) const {
    const std::uint64_t of_term = term.value & 0xFFFF'FFFFU;
    if (reset.order >> 32U <= of_term) {
      return std::nullopt;
    }
    return format_text("the order to reset device {} has number {}, those of term {} end at {}", reset.device.value,
                       reset.order, term.value, (of_term << 32U) | 0xFFFF'FFFFU);
  }
  template <class Other>
  Fault operator()(const Other&) const {
    return std::nullopt;  // compared for equality, or not at all
  }
};

}  // namespace

std::optional<std::string> implausible(const Envelope& envelope, const KnownNumbers& known) {
  if (auto fault = above("term", envelope.term.value, known.term.value, limits::kTermAbove, "kTermAbove")) {
    return fault;
  }
  return std::visit(Rule{known, envelope.term}, envelope.body);
}

}  // namespace loom
