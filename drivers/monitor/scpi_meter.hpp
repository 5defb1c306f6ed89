// SPDX-License-Identifier: Apache-2.0
// ScpiMeterDriver: meters of light that answer questions over SCPI: a power meter with one question a channel, a wavemeter that
// lists its peaks, a spectrum analyser whose trace is read and searched for peaks. It identifies the device once a connection,
// asks, and where an answer fails it asks the error queue why. It sets nothing: range, averaging and sweep are their owner's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/monitor/monitor_driver.hpp"
#include "drivers/monitor/scpi_readings.hpp"
#include "drivers/registry.hpp"

namespace loom {

/// What the answers are.
enum class MeterAnswers : std::uint8_t {
  power,  ///< a number a channel
  array,  ///< frequencies, Hz, then as many powers, each list after its length
  trace   ///< wavelengths, m, then as many powers, dBm
};

struct MeterProfile : DeviceProfile {
  MeterProfile() { exchange = std::chrono::milliseconds{100}; }  // one averaging of a meter as it is delivered [K]
  MeterAnswers answers = MeterAnswers::power;
  std::vector<std::string> questions;  ///< asked in this order
  scpi::PowerUnit unit = scpi::PowerUnit::dbm;
  std::string serial;  ///< that it must say; empty: whoever answers
  Dbm floor{-6'000};   ///< of a trace: weaker tops are noise
  Db excursion{300};   ///< of a trace: how far it falls at either side of a top
};

/// What a meter's answers say, one list of numbers a question.
struct MeterReading {
  std::vector<LightReading> lights;  ///< ascending (channel, frequency)
  std::string remarks;               ///< what is odd about it
  std::string failure;               ///< not empty: they say nothing, and why
};
MeterReading read_meter(const MeterProfile& profile, const std::vector<std::vector<double>>& answers);

enum class MeterState : std::uint8_t { rest, decide, identify, asking, receive_errors };

class ScpiMeterDriver final : public MonitorDriver<MeterProfile, MeterState> {
 public:
  explicit ScpiMeterDriver(MeterProfile profile);
  Duration lead(const Setpoint& setpoint) const override;

 private:
  void begin() override;
  MeterState resolve(MeterState state, Instant now) override;
  void conclude() override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;
  void forget() override { is_identified_ = false; }
  bool is_wavemeter() const override { return profile_.answers != MeterAnswers::power; }

  MeterState decide();
  std::string text() const;
  Answer absorb_identity(std::string_view text);

  bool is_identified_ = false;
  std::vector<std::vector<double>> answers_;  ///< so many questions were answered
  Instant answered_at_{};
  unsigned rounds_ = 0;    ///< of answers that did not fit each other, of this reading
  unsigned failures_ = 0;  ///< of the question under way: the error queue is asked in between, so they are counted here
  std::string failure_;    ///< the last
  Trouble failure_trouble_ = Trouble::none;  ///< its kind
  std::string complaint_;                    ///< what its error queue held after an answer failed
};

/// Profiles of a device of these models.
MeterProfile meter_profile(const Device& device);
MeterProfile osa_profile(const Device& device);

extern const DriverModel kPowerMeter;
extern const DriverModel kOsa;

}  // namespace loom
