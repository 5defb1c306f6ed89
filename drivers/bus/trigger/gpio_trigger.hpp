// SPDX-License-Identifier: Apache-2.0
// GpioTrigger: an edge by an output of a GPIO character device. No GPIO controller of the kernel's interface keeps an instant,
// so a thread of its own waits for it and sets the line: no message and no loop is in between, and its lateness is the
// scheduler's.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "drivers/bus/trigger/trigger_output.hpp"

namespace loom {

/// The line as the library gives it; the only thing between GpioTrigger and libgpiod.
class GpioOutputPort {
 public:
  virtual ~GpioOutputPort() = default;
  /// Takes the line as an output, inactive. Errors: unreachable, naming chip, line and errno.
  virtual Result<void> open(const GpioOutput& line) = 0;
  /// Active or not, active_low minded. Errors: unreachable.
  virtual Result<void> set(bool active) = 0;
};

/// libgpiod 1.6.
std::unique_ptr<GpioOutputPort> make_gpio_output_port();

class GpioTrigger final : public TriggerOutput {
 public:
  GpioTrigger(GpioOutput line, std::unique_ptr<GpioOutputPort> port, std::function<Instant()> now)
      : line_(std::move(line)), port_(std::move(port)), now_(std::move(now)) {}
  ~GpioTrigger() override;

  Result<void> open() override;
  /// Also device_error: the edge before could not be given.
  Result<void> arm(Instant at) override;
  Result<void> disarm() override;

 private:
  void run(const std::stop_token& stop);
  void give_edge();
  Result<void> take_trouble();

  GpioOutput line_;
  std::unique_ptr<GpioOutputPort> port_;  ///< of the thread alone, once it runs
  std::function<Instant()> now_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Instant at_ = kNever;             ///< of the next edge
  std::optional<Error> trouble_{};  ///< of the last one
  std::jthread thread_;             ///< last: it uses all of the above
};

}  // namespace loom
