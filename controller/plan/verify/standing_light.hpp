// SPDX-License-Identifier: Apache-2.0
// StandingLight: all light of a plan in which no laser retunes, on a fabric in which nothing leaks, fibre by fibre. It is
// brought from one plan to the next by the light that differs. For verify*.cpp only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "controller/plan/verify/light_field.hpp"
#include "controller/plan/verify/passages.hpp"
#include "controller/plan/verify/verify_parts.hpp"

namespace loom::verifying {

class StandingLight {
 public:
  /// No element of it leaks, or passes light by its wavelength: then light meets other light only on the fibres of both.
  static bool can_hold(const Fabric& fabric);

  /// All must live as long. `plan` was accepted; `field`: its light.
  StandingLight(const Fabric& fabric, const LightOrder& order, const Settings& settings, const Plan& plan, const Field& field,
                const std::vector<Reception>& receptions);
  StandingLight(const StandingLight&) = delete;  // its parts look at each other
  StandingLight& operator=(const StandingLight&) = delete;

  std::span<const Cell> on(FibreId fibre) const { return cells_[fibre.value]; }
  /// Before the settings change: this light goes.
  void take_away(const std::vector<ElementId>& transmitters);
  /// Its circuits end, and these begin. False: an end is in two circuits.
  bool exchange(const std::vector<Circuit>& ended, const std::vector<Circuit>& begun);
  /// After: the light of these transmitters comes as it is set now. False: something about it or its certificate is wrong, or
  /// cannot be told.
  bool bring(const std::vector<ElementId>& transmitters, const IsolationCertificate& claimed);
  /// By circuit of the plan that it was brought to.
  std::vector<Reception> receptions(const Plan& plan) const;
  void keep();
  /// As it was before take_away(); the settings are those of before again.
  void undo();

 private:
  struct Former {
    FibreId fibre;
    std::vector<Cell> cells;
    bool is_shared;
    Reception reception;
  };
  struct Exchanged {
    Circuit circuit;
    bool has_begun;
  };

  std::vector<Cell>& edit(FibreId fibre);
  std::optional<Lit> lit(ElementId transmitter) const;
  bool put(const Lit& light);
  bool judge(const Fibre& fibre);
  bool judge_receiver(ElementId receiver, const Receiver& kind, std::span<const Cell> cells);
  bool is_alone_at(const Element& coupler, const Cell& cell, FibreId by) const;
  bool is_shared(std::span<const Cell> cells) const;
  void set(const Circuit& circuit, bool is_there);
  bool certifies(const IsolationCertificate& claimed) const;

  const Fabric& fabric_;
  const LightOrder& order_;
  const Settings& settings_;
  Faults faults_;
  Passages passages_;
  SignalFollower follower_;
  SafePower safe_;
  std::vector<std::vector<Cell>> cells_;                  ///< by fibre, ascending colour
  std::vector<std::optional<Circuit>> circuit_of_;        ///< by transmitter element
  std::vector<std::optional<ElementId>> transmitter_of_;  ///< by receiver element
  std::vector<Reception> receptions_;                     ///< by receiver element
  std::vector<bool> fibre_shared_;                        ///< by fibre: light of two jobs
  std::uint32_t shared_fibres_ = 0;
  std::vector<Former> former_;            ///< since keep()
  std::vector<std::uint32_t> former_of_;  ///< by fibre: its place in former_ and one more, or 0
  std::vector<Exchanged> exchanged_;      ///< likewise
};

}  // namespace loom::verifying
