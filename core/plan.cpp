// What "dark" means for a setpoint.
#include "core/plan.hpp"

namespace loom {

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
