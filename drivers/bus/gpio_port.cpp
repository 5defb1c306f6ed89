// SPDX-License-Identifier: Apache-2.0
// The calls of libgpiod 1.6, and nothing else.
#include <gpiod.h>

#include <cerrno>
#include <ctime>
#include <string>

#include "core/text/format_text.hpp"
#include "drivers/bus/gpio_contact.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {
namespace {

int flags_of(const GpioLine& line) {
  int flags = line.active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0;
  switch (line.bias) {
    case GpioLine::Bias::as_is:
      break;
    case GpioLine::Bias::disabled:
      flags |= GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE;
      break;
    case GpioLine::Bias::pull_up:
      flags |= GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP;
      break;
    case GpioLine::Bias::pull_down:
      flags |= GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN;
      break;
  }
  return flags;
}

class LibgpiodPort final : public GpioPort {
 public:
  ~LibgpiodPort() override { close(); }

  Result<void> open(const GpioLine& line) override {
    place_ = format_text("{} line {}", line.chip, line.line);
    chip_ = gpiod_chip_open(line.chip.c_str());
    line_ = chip_ == nullptr ? nullptr : gpiod_chip_get_line(chip_, line.line);
    if (line_ == nullptr || gpiod_line_request_both_edges_events_flags(line_, "lightloom-interlock", flags_of(line)) != 0) {
      return failure();
    }
    return {};
  }
  void close() override {
    if (chip_ != nullptr) {
      gpiod_chip_close(chip_);  // gives its lines back
    }
    chip_ = nullptr;
    line_ = nullptr;
  }
  Result<bool> is_active() override {
    const int value = gpiod_line_get_value(line_);
    return value < 0 ? Result<bool>(failure()) : Result<bool>(value == 1);
  }
  Result<bool> take_edge(Duration limit) override {
    const timespec wait{limit.count() / 1'000'000'000, limit.count() % 1'000'000'000};
    const int ready = gpiod_line_event_wait(line_, &wait);
    if (ready == 0) {
      return false;
    }
    gpiod_line_event event{};
    if (ready < 0 || gpiod_line_event_read(line_, &event) != 0) {
      return failure();
    }
    return true;
  }

 private:
  std::unexpected<Error> failure() const {
    return fail(ErrorCode::unreachable, format_text("{}: {}", place_, describe_errno(errno)));
  }

  std::string place_;
  gpiod_chip* chip_ = nullptr;
  gpiod_line* line_ = nullptr;
};

}  // namespace

std::unique_ptr<GpioPort> make_gpio_port() { return std::make_unique<LibgpiodPort>(); }

}  // namespace loom
