// SPDX-License-Identifier: Apache-2.0
// Passages: what each element does with light that comes to one of its inputs, as it is set. For verify*.cpp only.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/plan/verify/light_field.hpp"
#include "controller/plan/verify/light_order.hpp"
#include "core/plan.hpp"

namespace loom::verifying {

class Faults;
struct Settings;

/// What becomes of one cell at one input.
struct Passage {
  int output = -1;    ///< where it passes; kEveryOutput, or -1: nowhere
  double factor = 0;  ///< loss and gain on that way
  double leak = 0;    ///< of what goes to each other output
};
inline constexpr int kEveryOutput = -2;

/// Factors of a ring filter, without the fibres beside it.
struct RingFactors {
  double passes = 1;
  double drops = 1;  ///< or is added
  double leaks = 0;
};

class Passages {
 public:
  /// All must live as long. Light that an element spoils is a fault.
  Passages(const Fabric& fabric, const LightOrder& order, const Settings& settings, Faults& faults);

  const std::vector<FrequencySlot>& colours() const { return colours_; }
  /// Precondition: it is one of them.
  std::uint16_t colour_of(FrequencySlot slot) const;
  FrequencyOffset width_of_signal(const Cell& cell) const;

  Passage at(const Element& element, PortNumber input, const Cell& cell) const;

  /// Of a ring filter, by its place in the order: it is on resonance with this colour.
  bool acts(std::size_t place, std::uint16_t colour) const {
    return ((acting_[place * words_ + colour / 64U] >> (colour % 64U)) & 1U) != 0;
  }
  RingFactors ring(ElementId id) const { return {pass_factor_[id.value], drop_factor_[id.value], leak_factor_[id.value]}; }
  /// From its bus to the end of the fibre behind it, of what it does not act on.
  double along(std::size_t place) const { return along_[place]; }

 private:
  void measure();
  void find_acting();
  std::vector<std::int32_t> leak_exits_of(const Element& element, const WavelengthSwitchSetpoint& setpoint) const;
  bool leak_is_received(const Element& grating) const;
  Passage at_wss(const Element& element, const WavelengthSelectiveSwitch& wss, PortNumber input, const Cell& cell) const;
  Passage at_ring(const Element& element, const RingFilter& ring, PortNumber input, const Cell& cell) const;
  Passage at_grating(const Element& element, const ArrayedWaveguideGrating& grating, PortNumber input, const Cell& cell) const;

  const Fabric& fabric_;
  const LightOrder& order_;
  const Settings& settings_;
  Faults& faults_;
  std::vector<FrequencySlot> colours_;  ///< of all emissions, ascending
  std::vector<double> pass_factor_;     ///< by element, linear, insertion loss and gain
  std::vector<double> drop_factor_;     ///< by element: what drops from a ring or is added to it
  std::vector<double> leak_factor_;     ///< by element; 0: does not leak
  std::size_t words_ = 0;               ///< of 64 colours
  std::vector<std::uint64_t> acting_;   ///< [place][word]: of a ring filter, a bit for each colour that resonates
  std::vector<double> along_;           ///< by place, of ring filters
  std::vector<std::vector<std::int32_t>> leak_exits_;  ///< [WSS element][input x colour]
};

}  // namespace loom::verifying
