// SPDX-License-Identifier: Apache-2.0
// Retries of one transaction, and the words for what a bus can answer.
#include "drivers/retry_state.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/text/format_text.hpp"

namespace loom {

bool RetryState::may_retry(Instant now, unsigned tries) {
  allowed_ = tries_ == 0 ? tries : std::max(allowed_, tries);
  ++tries_;
  if (tries_ >= allowed_) {
    tries_ = 0;
    return false;
  }
  resume_at_ = now + kPause * (1 << std::min(tries_ - 1, kTries - 2));
  return true;
}

std::string RetryState::attempt() const { return format_text(", try {} of {}", tries_, allowed_); }

void RetryState::start_over() {
  tries_ = 0;
  resume_at_ = Instant{};
}

Trouble trouble_of(const BusReply& reply) {
  constexpr std::uint8_t kDeviceFailure = 4;  // Modbus application protocol V1.1b3, section 7
  switch (reply.status) {
    case BusStatus::ok:
    case BusStatus::malformed:
      return Trouble::garbage;
    case BusStatus::bad_check:
      return Trouble::bad_check;
    case BusStatus::nack:
      return Trouble::refusing;
    case BusStatus::exception:
      return reply.exception == kDeviceFailure ? Trouble::broken : Trouble::refusing;
    case BusStatus::timeout:
      return Trouble::silent;
    case BusStatus::lost:
      return Trouble::bus_lost;
  }
  return Trouble::garbage;
}

std::string describe(Duration duration) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.3f ms", milliseconds_of(duration));
  return text.data();
}

std::string describe(const BusReply& reply, Duration deadline) {
  // Modbus application protocol V1.1b3 section 7.
  static constexpr std::array<const char*, 7> kExceptions{
      "?", "illegal function", "illegal address", "illegal value", "device failure", "acknowledge", "device busy"};
  switch (reply.status) {
    case BusStatus::ok:
      return "an answer to something else";
    case BusStatus::nack:
      return "\"not now\" (NACK)" + (reply.cause.empty() ? "" : ": " + reply.cause);
    case BusStatus::exception:
      return format_text("exception {} ({}){}{}", reply.exception,
                         reply.exception < kExceptions.size() ? kExceptions[reply.exception] : "?",
                         reply.cause.empty() ? "" : ": ", reply.cause);
    case BusStatus::timeout:
      return "no answer within " + describe(deadline) + (reply.cause.empty() ? "" : ": " + reply.cause);
    case BusStatus::malformed:
      return "a damaged answer" + (reply.cause.empty() ? "" : ": " + reply.cause);
    case BusStatus::bad_check:
      return "a damaged answer: " + (reply.cause.empty() ? "wrong checksum" : reply.cause);
    case BusStatus::lost:
      return "the bus is gone" + (reply.cause.empty() ? "" : ": " + reply.cause);
  }
  return "?";
}

}  // namespace loom
