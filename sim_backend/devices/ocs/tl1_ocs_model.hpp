// SPDX-License-Identifier: Apache-2.0
// Tl1OcsModel: a simulated circuit switch that speaks TL1 as Polatis or as Calient does.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim_backend/devices/ocs/circuit_switch_model.hpp"

namespace loom {

enum class Tl1Vendor : std::uint8_t { polatis, calient };

/// Whoever has not logged in is denied (PLNA) where a user is set. A batch with one wrong pair does nothing and is denied. A
/// session ends with the power; which connection asks is not known here.
class Tl1OcsModel final : public CircuitSwitchModel {
 public:
  Tl1OcsModel(const Device& device, const Element& element, const SimDeviceOptions& options, PortRectangle ports,
              Tl1Vendor vendor);

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;

 private:
  struct Command {
    std::string verb;  ///< in capitals
    std::string access;
    std::string ctag;
    std::string parameters;
  };
  /// Rows, or the code of a denial.
  struct Outcome {
    std::vector<std::string> rows{};
    std::string denial{};
    std::string comment{};
  };

  std::string header() const;
  Outcome carry_out(Instant now, Instant at, const Command& command);
  Outcome carry_out_polatis(Instant now, Instant at, const Command& command);
  Outcome carry_out_calient(Instant now, Instant at, const Command& command);
  Outcome log_in(const Command& command);
  Outcome patch(Instant now, Instant at, const Command& command);
  Outcome unpatch(Instant now, Instant at, std::string_view access);
  Outcome ports_told(Instant at, const Command& command) const;
  Outcome shutters(Instant now, Instant at, const Command& command);
  Outcome fibres(Instant at) const;
  /// Ports from 0, inputs before outputs; nothing if one is not there.
  std::optional<std::vector<std::uint32_t>> ports_of(std::string_view list) const;
  std::uint32_t number_of(std::uint32_t port) const;

  Tl1Vendor vendor_;
  bool is_logged_in_ = false;
  std::uint32_t announced_ = 0;
};

extern const SimulatedModel kSimulatedPolatisTl1;
extern const SimulatedModel kSimulatedCalientTl1;

}  // namespace loom
