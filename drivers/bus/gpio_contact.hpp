// SPDX-License-Identifier: Apache-2.0
// GpioContact: a contact at a line of a GPIO character device. The kernel queues the line's edges, so that even an opening
// between two readings counts. Which way an edge went is not asked: the kernel reads the level after the interrupt, and a
// short opening may leave two rising edges.
#pragma once

#include <memory>

#include "drivers/bus/contact_input.hpp"

namespace loom {

/// The line as the library gives it; the only thing between GpioContact and libgpiod.
class GpioPort {
 public:
  virtual ~GpioPort() = default;
  /// Takes the line as an input with both edges queued. Errors: unreachable, naming chip, line and cause.
  virtual Result<void> open(const GpioLine& line) = 0;
  virtual void close() = 0;
  /// The level, active or not, active_low minded. Errors: unreachable.
  virtual Result<bool> is_active() = 0;
  /// Takes the oldest queued edge, waiting for one at most `limit`; false: none came. Errors: unreachable.
  virtual Result<bool> take_edge(Duration limit) = 0;
};

/// libgpiod 1.6.
std::unique_ptr<GpioPort> make_gpio_port();

class GpioContact final : public ContactInput {
 public:
  GpioContact(GpioLine line, std::unique_ptr<GpioPort> port) : line_(std::move(line)), port_(std::move(port)) {}

  Result<bool> read(Duration limit) override;
  bool wait(Duration limit) override;

 private:
  Result<void> take_edges();
  std::unexpected<Error> give_up(Error error);

  GpioLine line_;
  std::unique_ptr<GpioPort> port_;
  bool is_open_ = false;   ///< the port
  bool saw_edge_ = false;  ///< since the last reading
};

}  // namespace loom
