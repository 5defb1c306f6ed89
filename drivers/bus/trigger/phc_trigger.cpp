// SPDX-License-Identifier: Apache-2.0
// Pin, period and start of one output, as the kernel's ioctls take them.
#include "drivers/bus/trigger/phc_trigger.hpp"

#include <linux/ptp_clock.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {
namespace {

/// A start in the past is refused by some cards and lost by others; setting one takes some register accesses over PCIe [K].
constexpr Duration kNearest = std::chrono::microseconds{50};
/// What phc2sys or chrony keep between the card's clock and the host's is below a microsecond [K]; UTC would be 37 s beside it.
constexpr Duration kApart = std::chrono::microseconds{100};
/// The kernel wants a period of every output that is on. A card without one-shot outputs gives its next edge then, unless it
/// was switched off meanwhile, as it always is.
constexpr Duration kPeriod = std::chrono::seconds{2};

ptp_clock_time clock_time(Duration time) {
  ptp_clock_time value{};
  value.sec = time / std::chrono::seconds{1};
  value.nsec = static_cast<std::uint32_t>((time % std::chrono::seconds{1}).count());
  return value;
}

}  // namespace

std::unexpected<Error> PhcTrigger::failure(ErrorCode code, std::string_view what, int error) const {
  return fail(code, format_text("{}: {}: {}", output_.clock, what, describe_errno(error)));
}

PhcTrigger::~PhcTrigger() {
  if (is_open_) {
    (void)request(Instant{}, 0);  // whoever is left without it finds it on at the next start, which switches it off
  }
}

Result<void> PhcTrigger::open() {
  if (const int error = port_->open(output_.clock); error != 0) {
    return failure(ErrorCode::unreachable, "cannot be opened", error);
  }
  ptp_clock_caps caps{};
  if (const int error = port_->control(PTP_CLOCK_GETCAPS, &caps); error != 0) {
    return failure(ErrorCode::unsupported, "is no PTP hardware clock (PTP_CLOCK_GETCAPS)", error);
  }
  if (output_.channel >= static_cast<std::uint32_t>(std::max(caps.n_per_out, 0))) {
    return failure(ErrorCode::unsupported,
                   caps.n_per_out <= 0
                       ? std::string("has no periodic output")
                       : format_text("has periodic outputs 0 to {}, no {}", caps.n_per_out - 1, output_.channel),
                   EINVAL);
  }
  LOOM_TRY(set_pin(caps.n_pins));
  if (const int error = request(Instant{}, 0); error != 0) {
    return failure(ErrorCode::unsupported, format_text("periodic output {} cannot be switched off", output_.channel), error);
  }
  is_open_ = true;
  return {};
}

Result<void> PhcTrigger::set_pin(int pins) {
  if (!output_.pin) {
    return {};
  }
  if (*output_.pin >= static_cast<std::uint32_t>(std::max(pins, 0))) {
    return failure(ErrorCode::unsupported,
                   pins <= 0 ? std::string("has no programmable pin; leave pin out")
                             : format_text("has pins 0 to {}, no {}", pins - 1, *output_.pin),
                   EINVAL);
  }
  ptp_pin_desc pin{};
  pin.index = *output_.pin;
  pin.func = PTP_PF_PEROUT;
  pin.chan = output_.channel;
  const int error = port_->control(PTP_PIN_SETFUNC, &pin);
  return error == 0 ? Result<void>{}
                    : failure(ErrorCode::unsupported,
                              format_text("pin {} cannot show periodic output {}", *output_.pin, output_.channel), error);
}

Result<void> PhcTrigger::check_time() {
  const Instant before = now_();
  Instant there{};
  if (const int error = port_->time(there); error != 0) {
    return failure(ErrorCode::device_error, "cannot be read", error);
  }
  const Instant after = now_();
  if (there < before - kApart || there > after + kApart) {
    const Duration apart = there < before ? before - there : there - after;
    return fail(ErrorCode::refused,
                format_text("{} is {} us {} this host's TAI, expected at most {}; ptp4l with phc2sys has to "
                            "hold them together (docs/hosts.md)",
                            output_.clock, apart / std::chrono::microseconds{1}, there < before ? "behind" : "before",
                            kApart / std::chrono::microseconds{1}));
  }
  return {};
}

int PhcTrigger::request(Instant at, unsigned flags) {
  ptp_perout_request order{};
  order.index = output_.channel;
  order.flags = flags;
  order.start = clock_time(at.time_since_epoch());
  order.period = clock_time(at == Instant{} ? Duration{0} : kPeriod);
  return port_->control(PTP_PEROUT_REQUEST2, &order);
}

Result<void> PhcTrigger::arm(Instant at) {
  LOOM_TRY(check_time());
  if (const Duration left = at - now_(); left < kNearest) {
    return fail(ErrorCode::timed_out,
                format_text("{}: an edge was asked for {} us from now, it takes {} us", output_.clock,
                            left / std::chrono::microseconds{1}, kNearest / std::chrono::microseconds{1}));
  }
  int error = knows_one_shot_ ? request(at, PTP_PEROUT_ONE_SHOT) : EOPNOTSUPP;
  if (error == EOPNOTSUPP || error == EINVAL) {
    knows_one_shot_ = false;
    error = request(at, 0);
  }
  return error == 0
             ? Result<void>{}
             : failure(ErrorCode::device_error, format_text("periodic output {} takes no start", output_.channel), error);
}

Result<void> PhcTrigger::disarm() {
  const int error = request(Instant{}, 0);
  return error == 0 ? Result<void>{}
                    : failure(ErrorCode::device_error,
                              format_text("periodic output {} cannot be switched off", output_.channel), error);
}

}  // namespace loom
