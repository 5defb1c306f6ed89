// SPDX-License-Identifier: Apache-2.0
// SimulatedWss: the optics of a simulated LCoS switch, whatever it speaks: while a hologram reloads, routes under way pass
// nothing and untouched ones dip; it settles within 60 to 100 per cent of its worst time and tells nobody.
#pragma once

#include <vector>

#include "core/fabric/fabric.hpp"
#include "sim_backend/devices/simulated_device.hpp"
#include "sim_backend/devices/switch_motion.hpp"

namespace loom {

class SimulatedWss : public SimulatedDevice {
 public:
  OpticalState light(Instant at) const final;

 protected:
  SimulatedWss(const Device& device, const Element& element, const SimDeviceOptions& options);

  /// What its registers let through when it has settled, ascending.
  virtual std::vector<WssRoute> routes() const = 0;

  void append_breakpoints(Instant from, std::vector<Instant>& instants) const final;
  void misroute(OpticalState& state) const final;

  /// Calls of a change of registers at `at`: before it, and after it.
  void before_move(Instant at) { motion_.keep_before(at, routes()); }
  void begin_move(Instant now, Instant at);
  /// Power came back: nothing moves.
  void stop_moving() { motion_ = {}; }

  PortNumber inputs() const { return inputs_; }
  PortNumber outputs() const { return outputs_; }

 private:
  PortNumber inputs_ = 1;
  PortNumber outputs_ = 1;
  Duration settle_max_{};
  Db reload_dip_{};
  SwitchMotion<WssRoute> motion_;
};

}  // namespace loom
