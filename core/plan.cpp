// What "dark" means for a setpoint.
#include "core/plan.hpp"

namespace loom {

std::string_view to_string(Transmit transmit) { return transmit == Transmit::grants ? "grants" : "slots"; }

Setpoint darkened(const Setpoint& setpoint) {
  Setpoint dark = setpoint;
  if (auto* laser = std::get_if<LaserSetpoint>(&dark)) {
    laser->emit = false;
  }
  return dark;
}

bool emits(const Setpoint& setpoint) {
  const auto* laser = std::get_if<LaserSetpoint>(&setpoint);
  return laser != nullptr && laser->emit;
}

}  // namespace loom
