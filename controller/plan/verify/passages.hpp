// SPDX-License-Identifier: Apache-2.0
// Passages: what each element does with light that comes to one of its inputs, as it is set. For verify*.cpp only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
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
  /// Two signals on one fibre whose spectra touch.
  bool touch(const Cell& a, const Cell& b) const;

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

/// Follows signals through what is set, one after the other, by every fibre that they come to.
class SignalFollower {
 public:
  /// All must live as long.
  SignalFollower(const Fabric& fabric, const LightOrder& order, const Passages& passages)
      : fabric_(fabric), order_(order), passages_(passages), seen_(fabric.fibres.size(), 0) {}

  /// `arrive(fibre, cell, element, passage)`: at the fibre's end, where that element does that with it. `meet(fibre)`: it comes
  /// to the fibre a second time, by which it has run in a circle (and would for ever, growing if the circle gains) or has come
  /// by two ways; there it is followed no further. Precondition: its colour is one of the passages'.
  template <class Arrive, class Meet>
  void follow(const Lit& light, Arrive arrive, Meet meet) {
    const auto& first = fabric_.fibre_out[light.transmitter.value][0];
    if (!first) {
      return;
    }
    ++number_;
    const double power = to_milliwatt(light.power).value * order_.fibre_factor[first->value];
    open_.assign(1, {*first, {power, light.transmitter.value, passages_.colour_of(light.slot), 1}});
    while (!open_.empty()) {
      const auto [id, cell] = open_.back();
      open_.pop_back();
      if (seen_[id.value] == number_) {
        meet(id);
        continue;
      }
      seen_[id.value] = number_;
      const Fibre& fibre = fabric_.fibres[id.value];
      const Element& element = fabric_.element(fibre.to.element);
      const Passage way = passages_.at(element, fibre.to.port, cell);
      arrive(id, cell, element, way);
      const auto outputs = fabric_.fibre_out[element.id.value];
      const auto leave = [&, mw = cell.mw](const std::optional<FibreId>& next) {
        if (next) {
          Cell on = cell;
          on.mw = mw * (way.factor * order_.fibre_factor[next->value]);
          open_.push_back({*next, on});
        }
      };
      if (way.output == kEveryOutput) {
        std::ranges::for_each(outputs, leave);
      } else if (way.output >= 0 && static_cast<std::size_t>(way.output) < outputs.size()) {
        leave(outputs[static_cast<std::size_t>(way.output)]);
      }
    }
  }

 private:
  const Fabric& fabric_;
  const LightOrder& order_;
  const Passages& passages_;
  std::vector<std::pair<FibreId, Cell>> open_;  ///< scratch
  std::vector<std::uint32_t> seen_;             ///< by fibre: number of the signal that came last
  std::uint32_t number_ = 0;
};

}  // namespace loom::verifying
