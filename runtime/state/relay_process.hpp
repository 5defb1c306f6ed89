// SPDX-License-Identifier: Apache-2.0
// lightloom-agent as a relay (--relay): no agents and no devices, only what passes between agents of other processes and their
// controller.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/config/scenario/scenario.hpp"
#include "core/result.hpp"
#include "runtime/loop.hpp"
#include "runtime/state/state_folder.hpp"

namespace loom {

/// Where a process finds the controller, or the relay that stands for it: `configured`, else as the scenario says, else as the
/// state folder does. `relay`: nothing for the controller. Errors: malformed (the endpoint), unreachable (nobody has written
/// it).
Result<std::string> endpoint_of(std::string configured, const Scenario& scenario, const StateFolder& files,
                                std::optional<std::uint32_t> relay);

struct RelayOrder {
  std::uint32_t relay = 0;              ///< one of the scenario's
  std::string listen{};                 ///< empty: where the scenario says
  std::string controller{};             ///< endpoint; empty: the scenario's, or the state folder's
  std::string metrics{};                ///< ADDRESS:PORT; empty: nowhere
  std::function<void()> renew = [] {};  ///< at SIGHUP, before keys are read again
};

/// Until a signal. Errors: those of keys, sockets, metrics.
Result<void> run_relay(const RelayOrder& order, const Scenario& scenario, const StateFolder& files, AsioLoop& loop);

}  // namespace loom
