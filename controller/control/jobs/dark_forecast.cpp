// SPDX-License-Identifier: Apache-2.0
// A mean that forgets: the newest counts for a quarter.
#include "controller/control/jobs/dark_forecast.hpp"

#include <algorithm>
#include <bit>

#include "core/fabric/dark_time.hpp"

namespace loom {

std::size_t DarkForecast::class_of(std::uint32_t agents) {
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(agents)), kClasses - 1);
}

void DarkForecast::keep(std::uint32_t agents, Duration device, Duration dark) {
  Mean& mean = means_[class_of(agents)];
  const Duration beside = std::max(dark - device, Duration{});
  mean.count = std::min(mean.count + 1, 4U);
  mean.value += (beside - mean.value) / static_cast<std::int64_t>(mean.count);
}

Duration DarkForecast::beside(std::uint32_t agents) const {
  const std::size_t own = class_of(agents);
  for (std::size_t away = 0; away < kClasses; ++away) {
    if (own + away < kClasses && means_[own + away].count > 0) {
      return means_[own + away].value / (1LL << away);
    }
    if (away <= own && means_[own - away].count > 0) {
      return means_[own - away].value;
    }
  }
  return {};
}

CommitForecast DarkForecast::of(const Fabric& fabric, const ConfirmedPlans& confirmed, const Plan& plan) const {
  CommitForecast forecast;
  const auto held = [&](DeviceId device) -> const Setpoint* {
    const DevicePlan* now = confirmed.exists() ? confirmed.desired_of(fabric, device) : nullptr;
    return now == nullptr ? nullptr : &now->timeline.front().setpoint;
  };
  if (const auto slowest = slowest_of(fabric, plan, held)) {
    forecast.slowest = fabric.device(slowest->device).name;
    forecast.slowest_time = slowest->time;
  }
  if (!plan.touched.empty()) {
    forecast.dark = forecast.slowest_time + beside(static_cast<std::uint32_t>(plan.changed.size()));
  }
  return forecast;
}

}  // namespace loom
