// SPDX-License-Identifier: Apache-2.0
// DarkForecast: how long a commit will leave dark what it touches, by what commits of as many agents took beside their slowest
// device. All circuits of a commit go dark at T and are lit when the last device stands, so one figure is every circuit's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "controller/control/jobs/confirmed_plans.hpp"
#include "core/fabric/fabric.hpp"
#include "core/plan.hpp"
#include "core/time.hpp"

namespace loom {

/// What is known of a commit before it begins.
struct CommitForecast {
  std::string slowest{};    ///< CommitReport::slowest
  Duration slowest_time{};  ///< and its time
  Duration dark{};          ///< CommitReport::dark_predicted
};

class DarkForecast {
 public:
  /// A commit of so many agents whose slowest device promises `device` left light dark for `dark`, at most.
  void keep(std::uint32_t agents, Duration device, Duration dark);
  /// Of a commit of this plan, which is none yet.
  CommitForecast of(const Fabric& fabric, const ConfirmedPlans& confirmed, const Plan& plan) const;
  /// Beside the slowest device; 0: none was measured. Of a number of agents that was not, an inference from the nearest: in
  /// proportion from more (hosts that serve many share their time among them), as it was from fewer, which is the least.
  Duration beside(std::uint32_t agents) const;

 private:
  /// By the power of two of the number of agents.
  struct Mean {
    std::uint32_t count = 0;
    Duration value{};
  };
  static constexpr std::size_t kClasses = 16;
  static std::size_t class_of(std::uint32_t agents);

  std::array<Mean, kClasses> means_{};
};

}  // namespace loom
