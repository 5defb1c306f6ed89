// SPDX-License-Identifier: Apache-2.0
// lightloom-agent as a relay (--relay): no agents and no devices, only what passes between agents of other processes and their
// controller.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/config/scenario/scenario.hpp"
#include "core/result.hpp"
#include "runtime/loop.hpp"
#include "runtime/state/state_folder.hpp"

namespace loom {

struct RelayOrder {
  std::uint32_t relay = 0;   ///< one of the scenario's
  std::string listen{};      ///< empty: where the scenario says
  std::string controller{};  ///< endpoint; empty: the scenario's, or the state folder's
  std::string metrics{};     ///< ADDRESS:PORT; empty: nowhere
  /// Unpacks its key bundle into the state folder, before keys are read and again at SIGHUP; empty: it has none.
  std::function<Result<void>()> take_bundle{};
};

/// Until a signal. Errors: conflict (this relay runs already with this state folder), those of keys, sockets, metrics.
Result<void> run_relay(const RelayOrder& order, const Scenario& scenario, const StateFolder& files, AsioLoop& loop);

}  // namespace loom
