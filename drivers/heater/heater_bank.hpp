// HeaterBankDriver: a bank of micro-ring heaters behind Modbus holding registers, one register a ring, in millivolts
// (Waveshare Modbus RTU Analog Output 8CH (B): 0x0000 + channel, 0-10 V; functions 03 and 10h). It reads before it writes,
// writes one block that covers what differs, proves it by read-back and waits until the rings are warm. This is bias tuning
// (ms), never on/off-resonance switching. It cannot see a resonance: that is what a detector further down is for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/driver.hpp"
#include "drivers/last_verified.hpp"
#include "drivers/operation_state.hpp"
#include "drivers/registry.hpp"
#include "drivers/retry_state.hpp"

namespace loom {

struct HeaterProfile {
  DeviceId device;
  std::string name;
  std::uint16_t bus_address = 0;
  std::vector<RingFilter> rings;                             ///< by channel
  Duration thermal_settle = std::chrono::milliseconds{1};    ///< 5 time constants of an undercut ring (170 us), docs/devices.md
  Duration reply_deadline = std::chrono::milliseconds{500};  ///< libmodbus' default response time-out
  Duration exchange = std::chrono::milliseconds{35};         ///< read of 8 registers at 9600 8N1 with its gaps, for lead()
};

/// Millivolts that put a ring's resonance at `resonance`: heat moves it down from cold, P = V^2 / R.
/// out_of_range: it lies above the cold resonance, or needs more than heater_volt_max.
Result<std::int32_t> heater_millivolts(const RingFilter& ring, Frequency resonance);

class HeaterBankDriver final : public Driver {
 public:
  explicit HeaterBankDriver(HeaterProfile profile);

  /// not_found: no such channel; invalid_argument: channels not ascending; out_of_range: as heater_millivolts().
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;
  void stage(const Setpoint& setpoint) override;
  void fire() override;
  void poll() override;
  Step step(Instant now, const BusReply* reply) override;
  DriverActivity activity() const override;
  Observation observe() const override { return operation_.observation(); }

 private:
  enum class State : std::uint8_t { rest, reading_levels, write, prove, soak };
  struct Voltage {
    std::size_t channel = 0;
    std::int32_t millivolts = 0;
    bool operator==(const Voltage&) const = default;
  };
  struct Row;
  static const Row& row_of(State state);

  void begin(Instant now);
  void enter(State state, Instant now);
  Transaction command() const;
  void receive(Instant now, const BusReply& reply);
  void receive_failure(Instant now, const BusReply& reply);
  void receive_reading(Instant now, const BusReply& reply);
  void compare(Instant now);
  static std::vector<Voltage> by_channel(const std::vector<std::int32_t>& millivolts);
  void give_up(std::string sentence);

  HeaterProfile profile_;
  std::vector<std::int32_t> staged_;  ///< millivolts by channel
  std::vector<std::int32_t> target_;
  std::vector<std::int32_t> read_;
  LastVerified<Voltage> last_verified_;
  bool has_staged_ = false;
  OperationState operation_;
  State state_ = State::rest;
  RetryState retry_;
  unsigned rounds_ = 0;  ///< writes that read-back did not confirm, bounded
  bool warm_ = false;    ///< nothing was written since the rings were last given time to settle
  Instant soaked_at_{};
};

/// The profile of a bank of the fabric, from its ring filters.
HeaterProfile heater_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kHeaterBank;

}  // namespace loom
