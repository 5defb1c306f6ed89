// SPDX-License-Identifier: Apache-2.0
// Edges first, then the level.
#include "drivers/bus/gpio_contact.hpp"

#include <utility>

namespace loom {
namespace {

/// The kernel queues 16 edges of a line; a contact that bounces more often is read again soon enough.
constexpr int kEdgesAtOnce = 64;

}  // namespace

std::unexpected<Error> GpioContact::give_up(Error error) {
  port_->close();
  is_open_ = false;
  return std::unexpected(std::move(error));
}

Result<void> GpioContact::take_edges() {
  for (int i = 0; i < kEdgesAtOnce; ++i) {
    auto edge = port_->take_edge(Duration{0});
    if (!edge) {
      return std::unexpected(std::move(edge).error());
    }
    if (!*edge) {
      return {};
    }
    saw_edge_ = true;
  }
  return {};
}

/// Whatever was queued before the line was taken belongs to nobody's reading; the first one goes by the level.
Result<bool> GpioContact::read(Duration) {
  if (!is_open_) {
    if (auto opened = port_->open(line_); !opened) {
      return give_up(std::move(opened).error());
    }
    is_open_ = true;
    saw_edge_ = false;
  }
  if (auto taken = take_edges(); !taken) {
    return give_up(std::move(taken).error());
  }
  auto active = port_->is_active();
  if (!active) {
    return give_up(std::move(active).error());
  }
  const bool was_still = !std::exchange(saw_edge_, false);
  return *active && was_still;
}

bool GpioContact::wait(Duration limit) {
  if (!is_open_) {
    return false;
  }
  const auto edge = port_->take_edge(limit);
  saw_edge_ = saw_edge_ || (edge && *edge);
  return edge.has_value();
}

}  // namespace loom
