// SPDX-License-Identifier: Apache-2.0
// OcsModel: the register side of the SCPI dialect, with the cross-connects that follow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "sim_backend/devices/ocs/circuit_switch_model.hpp"

namespace loom {

/// A circuit switch of the SCPI dialect. Success is silent; a batch with one wrong pair does nothing but queue an error.
class OcsModel final : public CircuitSwitchModel {
 public:
  OcsModel(const Device& device, const Element& element, const SimDeviceOptions& options);
  OcsModel(const Device& device, const Element& element, const SimDeviceOptions& options, PortRectangle ports)
      : CircuitSwitchModel(device, element, options, ports) {}

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;

 private:
  std::string answer(Instant now, Instant at, std::string_view line);
  std::string query(Instant at, std::string_view command);
  bool act(Instant now, Instant at, std::string_view command);
  std::optional<Outputs> with_pairs(Outputs outputs, std::string_view verb, std::string_view lists);
  std::string port_of(Instant at, std::string_view text) const;
  std::string states_of(std::string_view list);
  void queue_error(std::int32_t number, std::string_view text);
  std::string take_errors(std::size_t limit);

  std::vector<scpi::QueuedError> errors_;
};

extern const SimulatedModel kSimulatedOcs;

}  // namespace loom
