// SPDX-License-Identifier: Apache-2.0
// CircuitSwitchModel: the optics of a simulated circuit switch, whatever it speaks: a switch that may be larger than what the
// fabric has of it, with connections of others, ports that are disabled or broken, shutters, and power monitors. Light of the
// fabric passes between ports of the rectangle only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/ocs/port_rectangle.hpp"
#include "sim_backend/devices/light_observer.hpp"
#include "sim_backend/devices/registry.hpp"
#include "sim_backend/devices/switch_motion.hpp"

namespace loom {

/// Ports under way pass nothing and are missing from the map that is read back. A port that is taken refuses a second
/// connection, one that is disabled or broken the first.
class CircuitSwitchModel : public SimulatedDevice, public LightObserver {
 public:
  CircuitSwitchModel(const Device& device, const Element& element, const SimDeviceOptions& options, PortRectangle ports);
  OpticalState light(Instant at) const final;
  void look_through(LightSight sight) final { sight_ = std::move(sight); }

 protected:
  using Outputs = std::vector<std::int32_t>;  ///< by input of the whole switch; -1 = open

  enum class Refusal : std::uint8_t { none, no_such_port, conflict, unfit };

  void power_up(Instant now) override;
  void append_breakpoints(Instant from, std::vector<Instant>& instants) const final;
  void misroute(OpticalState& state) const final;
  ModelReply refuse(Instant now, const Transaction& transaction) override;

  SwitchSize size() const { return ports_.whole; }
  const Outputs& outputs() const { return outputs_; }
  Outputs open() const { return Outputs(outputs_.size(), -1); }
  /// The map after one connection more (`output` < 0: any) or less; both from 0.
  Refusal add(Outputs& outputs, std::uint32_t input, std::uint32_t output) const;
  Refusal take_away(Outputs& outputs, std::uint32_t input, std::int32_t output) const;
  void turn_to(Instant now, Instant at, const Outputs& wanted);
  /// What it lists: every connection that is not under way, from 0 on the whole switch.
  std::vector<CrossConnect> listed(Instant at) const;
  /// Ports counted from 0, inputs before outputs.
  enum class Fitness : std::uint8_t { enabled, disabled, failed };
  Fitness fitness(std::uint32_t port) const;
  bool is_shut(std::uint32_t port) const { return shut_[port]; }
  /// A shutter that sticks stays as it is.
  void shut(Instant now, Instant at, std::uint32_t port, bool closed);
  /// What the port's tap measures; nothing: nobody said what light there is.
  std::optional<Dbm> power_at(Instant at, std::uint32_t port) const;
  const std::string& serial() const { return serial_; }
  Duration service_time() const { return options().device_time; }

 private:
  std::vector<CrossConnect> inside() const;

  std::optional<Dbm> power_in(std::uint32_t input) const;

  std::string serial_;
  ElementId element_;
  LightSight sight_;
  PortRectangle ports_;
  Duration settle_max_{};
  Outputs outputs_;
  std::vector<bool> shut_;  ///< by port
  SwitchMotion<CrossConnect> motion_;
};

}  // namespace loom
