// SPDX-License-Identifier: Apache-2.0
// Campaign: banks measured side by side, as far as there are transmitters and ways for their lights; the others after them. It
// asks for light and heat, is told what came, and ends with a calibration of each bank. Whoever runs it, from the command line
// or in a test, carries its steps to a controller: ProbeLight, a look at Noun::receivers, and at the end Calibrate. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/calibrate/bank_sweep.hpp"
#include "controller/calibrate/light_survey.hpp"
#include "core/messages/operator.hpp"
#include "core/messages/report.hpp"
#include "core/result.hpp"
#include "core/ring/calibration.hpp"

namespace loom {

/// Of one ring, or of a whole bank that could not be measured.
struct RingTrouble {
  DeviceId bank;
  std::string ring;
  std::string why;
};

class Campaign final : public LightSurvey {
 public:
  /// `rings`: of all banks to be measured. `before`: calibrations in force, ascending device.
  Campaign(const std::vector<RingReport>& rings, const std::vector<DeviceCalibration>& before);

  bool is_over() const override { return now_.empty(); }
  ProbeLight ask() const override;
  std::vector<ElementId> receivers() const override;
  void take(const ReceivedLights& lights) override;
  /// With several banks fewer are tried at once; with one it is given up.
  void refused(const Error& error) override;
  std::size_t steps() const override { return steps_; }
  std::size_t done() const override { return done_; }
  std::size_t all() const override { return banks_.size(); }

  /// Of the banks in which every ring, or some, was found; ascending device.
  const std::vector<DeviceCalibration>& calibrations() const { return calibrations_; }
  const std::vector<RingTrouble>& troubles() const { return troubles_; }

 private:
  struct Bank {
    DeviceId device;
    std::vector<RingReport> rings;
    const DeviceCalibration* before = nullptr;
  };
  struct Running {
    std::size_t bank;  ///< of banks_
    BankSweep sweep;
  };

  void begin_some();
  void close(const Running& running);
  void give_up(const Bank& bank, const std::string& why);

  std::vector<DeviceCalibration> before_;
  std::vector<Bank> banks_;           ///< ascending device
  std::vector<std::size_t> waiting_;  ///< of banks_
  std::vector<Running> now_;
  std::size_t at_once_;  ///< banks, at most
  std::size_t steps_ = 0;
  std::size_t done_ = 0;
  std::vector<DeviceCalibration> calibrations_;
  std::vector<RingTrouble> troubles_;
};

}  // namespace loom
