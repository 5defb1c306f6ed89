// SPDX-License-Identifier: Apache-2.0
// PowerSurvey: a table of how much light of each transmitter arrives on each of its channels, beside what the fabric's figures
// say: in each look every transmitter that is free shines on a channel that it was not measured on, each to a receiver of its
// own. Where not all ways can be at once, half of them are tried at a time. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/calibrate/light_survey.hpp"
#include "core/messages/report.hpp"

namespace loom {

/// Light that was not measured, and why.
struct UnmeasuredLight {
  Probe light;
  std::string why;
};

class PowerSurvey final : public LightSurvey {
 public:
  /// Weaker light is what a photodiode's last counts make of darkness [K].
  static constexpr Dbm kWeakest{-2'500};

  explicit PowerSurvey(const std::vector<WayReport>& ways);

  bool is_over() const override { return now_.empty(); }
  ProbeLight ask() const override;
  std::vector<ElementId> receivers() const override;
  bool wants_expected() const override { return true; }
  void expect(const std::map<ElementId, Dbm>& powers) override { expected_ = powers; }
  void take(const std::map<ElementId, Dbm>& powers) override;
  void refused(const Error& error) override;
  std::size_t steps() const override { return steps_; }
  std::size_t done() const override { return powers_.size() + unmeasured_.size(); }
  std::size_t all() const override;

  /// Ascending (transmitter, slot).
  const std::vector<MeasuredPower>& powers() const { return powers_; }
  const std::vector<UnmeasuredLight>& unmeasured() const { return unmeasured_; }

 private:
  using Channel = std::pair<ElementId, FrequencySlot>;

  void begin();
  void give_up(const Probe& light, std::string why);

  std::map<Channel, std::vector<ElementId>> ways_;  ///< receivers that it could come to
  std::set<Channel> waiting_;
  std::vector<Probe> now_;   ///< ascending transmitter
  std::size_t at_once_ = 0;  ///< lights, at most
  std::size_t steps_ = 0;
  std::map<ElementId, Dbm> expected_;
  std::vector<MeasuredPower> powers_;
  std::vector<UnmeasuredLight> unmeasured_;
};

}  // namespace loom
