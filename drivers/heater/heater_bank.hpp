// HeaterBankDriver: a bank of micro-ring heaters behind Modbus holding registers, one register a ring, in millivolts
// (Waveshare Modbus RTU Analog Output 8CH (B): 0x0000 + channel, 0-10 V; functions 03 and 10h). It reads before it writes,
// writes one block that covers what differs, proves it by read-back and waits until the rings are warm. This is bias tuning
// (ms), never on/off-resonance switching. It cannot see a resonance: that is what a detector further down is for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/read_back_driver.hpp"
#include "drivers/registry.hpp"

namespace loom {

struct HeaterProfile : DeviceProfile {
  HeaterProfile() {
    settle_max = std::chrono::milliseconds{1};  // 5 time constants of an undercut ring (170 us), docs/devices.md
    exchange = std::chrono::milliseconds{35};   // read of 8 registers at 9600 8N1 with its gaps
  }
  std::vector<RingFilter> rings;  ///< by channel
};

/// One ring's heater.
struct HeaterVoltage {
  std::size_t channel = 0;
  std::int32_t millivolts = 0;
  bool operator==(const HeaterVoltage&) const = default;
};

enum class HeaterState : std::uint8_t { rest, decide, reading_levels, write, soak };

/// Millivolts that put a ring's resonance at `resonance`: heat moves it down from cold, P = V^2 / R.
/// out_of_range: it lies above the cold resonance, or needs more than heater_volt_max.
Result<std::int32_t> heater_millivolts(const RingFilter& ring, Frequency resonance);

class HeaterBankDriver final : public ReadBackDriver<HeaterProfile, HeaterState, HeaterVoltage> {
 public:
  explicit HeaterBankDriver(HeaterProfile profile);

  /// not_found: no such channel; invalid_argument: channels not ascending; out_of_range: as heater_millivolts().
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;

 private:
  std::vector<HeaterVoltage> held_by(const Setpoint& setpoint) const override;
  void begin() override;
  HeaterState resolve(HeaterState state, Instant now) override;
  void conclude() override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  std::string misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;
  Instant ready_at() const override;
  HeaterState decide();
  std::optional<HeaterVoltage> lost() const;

  std::vector<HeaterVoltage> read_;
  bool read_known_ = false;  ///< read since the procedure began and since the last write
  unsigned rounds_ = 0;      ///< of writing, of this fire, bounded
  bool warm_ = false;        ///< nothing was written since the rings were last given time to settle
  Instant soaked_at_{};
};

/// The profile of a bank of the fabric, from its ring filters.
HeaterProfile heater_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kHeaterBank;

}  // namespace loom
