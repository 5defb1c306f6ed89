// SPDX-License-Identifier: Apache-2.0
// The calls of libgpiod 1.6, and nothing else.
#include <gpiod.h>

#include <cerrno>
#include <string>

#include "core/text/format_text.hpp"
#include "drivers/bus/stream.hpp"
#include "drivers/bus/trigger/gpio_trigger.hpp"

namespace loom {
namespace {

class LibgpiodOutputPort final : public GpioOutputPort {
 public:
  ~LibgpiodOutputPort() override {
    if (chip_ != nullptr) {
      gpiod_chip_close(chip_);  // gives its lines back
    }
  }

  Result<void> open(const GpioOutput& line) override {
    place_ = format_text("{} line {}", line.chip, line.line);
    chip_ = gpiod_chip_open(line.chip.c_str());
    line_ = chip_ == nullptr ? nullptr : gpiod_chip_get_line(chip_, line.line);
    const int flags = line.active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0;
    return line_ == nullptr || gpiod_line_request_output_flags(line_, "lightloom-trigger", flags, 0) != 0 ? failure()
                                                                                                          : Result<void>{};
  }
  Result<void> set(bool active) override {
    return gpiod_line_set_value(line_, active ? 1 : 0) == 0 ? Result<void>{} : failure();
  }

 private:
  Result<void> failure() const { return fail(ErrorCode::unreachable, format_text("{}: {}", place_, describe_errno(errno))); }

  std::string place_;
  gpiod_chip* chip_ = nullptr;
  gpiod_line* line_ = nullptr;
};

}  // namespace

std::unique_ptr<GpioOutputPort> make_gpio_output_port() { return std::make_unique<LibgpiodOutputPort>(); }

}  // namespace loom
