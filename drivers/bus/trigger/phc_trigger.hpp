// SPDX-License-Identifier: Apache-2.0
// PhcTrigger: an edge by a periodic output of a PTP hardware clock, which compares its own time with the instant: no software
// runs at the edge. Interface: linux/ptp_clock.h of kernel 6.1. Tried against a clock made of code only; none was at hand.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "drivers/bus/trigger/trigger_output.hpp"

namespace loom {

/// The only thing between PhcTrigger and the kernel.
class PhcPort {
 public:
  virtual ~PhcPort() = default;
  /// 0, or an errno.
  virtual int open(const std::string& clock) = 0;
  /// ioctl(): 0, or an errno.
  virtual int control(unsigned long request, void* argument) = 0;
  /// clock_gettime() of the card's clock. 0, or an errno.
  virtual int time(Instant& now) = 0;
};

std::unique_ptr<PhcPort> make_phc_port();

class PhcTrigger final : public TriggerOutput {
 public:
  /// `now`: TAI of this host.
  PhcTrigger(PhcOutput output, std::unique_ptr<PhcPort> port, std::function<Instant()> now)
      : output_(std::move(output)), port_(std::move(port)), now_(std::move(now)) {}
  /// The output is off.
  ~PhcTrigger() override;

  /// Also unsupported: no periodic output, no such channel or pin.
  Result<void> open() override;
  /// Also refused: the card's clock is not the host's TAI.
  Result<void> arm(Instant at) override;
  Result<void> disarm() override;

 private:
  Result<void> set_pin(int pins);
  Result<void> check_time();
  /// `at` Instant{}: off. 0, or an errno.
  int request(Instant at, unsigned flags);
  std::unexpected<Error> failure(ErrorCode code, std::string_view what, int error) const;

  PhcOutput output_;
  std::unique_ptr<PhcPort> port_;
  std::function<Instant()> now_;
  bool is_open_ = false;
  bool knows_one_shot_ = true;  ///< until it says otherwise
};

}  // namespace loom
