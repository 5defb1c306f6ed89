// SPDX-License-Identifier: Apache-2.0
// LaserSurvey: a table of how much light of each transmitter arrives on each of its channels, beside what the fabric's figures
// say, and of where it stands, as far as a wavemeter sees it on its way: in each look every transmitter that is free shines on
// a channel that it was not measured on, each to a receiver of its own. Where not all ways can be at once, half of them are
// tried at a time. Pure.
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

class LaserSurvey final : public LightSurvey {
 public:
  /// Weaker light is what a photodiode's last counts make of darkness [K].
  static constexpr Dbm kWeakest{-2'500};

  explicit LaserSurvey(const std::vector<WayReport>& ways);

  bool is_over() const override { return now_.empty(); }
  ProbeLight ask() const override;
  std::vector<ElementId> receivers() const override;
  bool wants_ways() const override { return true; }
  void take(const ReceivedLights& lights) override;
  void refused(const Error& error) override;
  std::size_t steps() const override { return steps_; }
  std::size_t done() const override { return measured_.size() + unmeasured_.size(); }
  std::size_t all() const override;

  /// Ascending (transmitter, slot).
  const std::vector<MeasuredChannel>& measured() const { return measured_; }
  const std::vector<UnmeasuredLight>& unmeasured() const { return unmeasured_; }

 private:
  using Channel = std::pair<ElementId, FrequencySlot>;

  void begin();
  void give_up(const Probe& light, std::string why);
  void take(const Probe& light, const ReceivedLight& seen);

  std::map<Channel, std::vector<ElementId>> ways_;  ///< receivers that it could come to
  std::set<Channel> waiting_;
  std::vector<Probe> now_;   ///< ascending transmitter
  std::size_t at_once_ = 0;  ///< lights, at most
  std::size_t steps_ = 0;
  std::vector<MeasuredChannel> measured_;
  std::vector<UnmeasuredLight> unmeasured_;
};

}  // namespace loom
