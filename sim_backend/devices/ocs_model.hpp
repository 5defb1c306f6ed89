// OcsModel: the register side of the SCPI dialect, with the cross-connects that follow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/ocs/scpi_dialect.hpp"
#include "sim_backend/devices/registry.hpp"
#include "sim_backend/devices/switch_motion.hpp"

namespace loom {

/// An OCS of the SCPI dialect. Success is silent; a batch with one wrong pair does nothing but queue an error. Ports under way
/// pass nothing and are missing from the map that is read back. A port that is taken refuses a second cross-connect.
class OcsModel final : public SimulatedDevice {
 public:
  OcsModel(const Device& device, const Element& element, const SimDeviceOptions& options);
  OpticalState light(Instant at) const override;

 protected:
  ModelReply respond(Instant now, const Transaction& transaction) override;
  ModelReply refuse(Instant now, const Transaction& transaction) override;
  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const override;
  void misroute(OpticalState& state) const override;

 private:
  using Outputs = std::vector<std::int32_t>;  ///< by input; -1 = open
  std::string answer(Instant now, Instant at, std::string_view line);
  std::string query(Instant at, std::string_view command);
  bool act(Instant now, Instant at, std::string_view command);
  std::optional<Outputs> with_pairs(Outputs outputs, std::string_view verb, std::string_view lists);
  void turn_to(Instant now, Instant at, const Outputs& wanted);
  std::string port_of(std::string_view text) const;
  void queue_error(std::int32_t number, std::string_view text);
  std::string take_errors(std::size_t limit);
  std::vector<CrossConnect> connects() const;

  std::string serial_;
  scpi::Size size_;
  Duration settle_max_{};
  Outputs outputs_;
  SwitchMotion<CrossConnect> motion_;
  std::vector<scpi::QueuedError> errors_;
};

extern const SimulatedModel kSimulatedOcs;

}  // namespace loom
