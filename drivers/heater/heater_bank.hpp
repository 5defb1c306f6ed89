// SPDX-License-Identifier: Apache-2.0
// HeaterBankDriver: a bank of micro-ring heaters behind Modbus holding registers, one register a ring, on a board of
// drivers/heater/heater_board.hpp. It asks the board which one it is before it believes a register, reads before it writes,
// writes one block that covers what differs, proves it by read-back, waits until the rings are warm and asks for the outputs'
// status where the board has one. This is bias tuning (ms), never on/off-resonance switching. It cannot see a resonance: that
// is what a detector further down is for, and its proof is *assumed*.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/heater/heater_board.hpp"
#include "drivers/heater/heater_law.hpp"
#include "drivers/read_back_driver.hpp"
#include "drivers/registry.hpp"

namespace loom {

struct HeaterProfile : DeviceProfile {
  HeaterProfile() {
    settle_max = std::chrono::milliseconds{1};  // 5 time constants of an undercut ring (170 us), docs/devices.md
    exchange = std::chrono::milliseconds{35};   // read of 8 registers at 9600 8N1 with its gaps
  }
  std::vector<RingFilter> rings;  ///< by channel
  HeaterBoard board;
};

/// What the register of one output holds.
struct HeaterLevel {
  std::size_t channel = 0;
  std::uint16_t counts = 0;
  bool operator==(const HeaterLevel&) const = default;
};

enum class HeaterState : std::uint8_t { rest, decide, identify, reading_levels, write, soak, reading_status };

class HeaterBankDriver final : public ReadBackDriver<HeaterProfile, HeaterState, HeaterLevel> {
 public:
  explicit HeaterBankDriver(HeaterProfile profile);

  /// As check_heaters(); out_of_range also: the board's counts are too coarse to bring the ring to its place.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;

 private:
  std::vector<HeaterLevel> held_by(const Setpoint& setpoint) const override;
  void begin() override;
  HeaterState resolve(HeaterState state, Instant now) override;
  void conclude() override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;
  Instant ready_at() const override;
  void forget() override;

  /// Channels from the first that differs to the last, or the first alone.
  struct Block {
    std::size_t first = 0;
    std::size_t last = 0;  ///< beyond it
  };

  HeaterState decide();
  Registers registers() const;
  Block to_write() const;
  Answer absorb_identity(const BusReply& reply);
  void absorb_levels(Instant now, const BusReply& reply);
  void absorb_written();
  std::optional<HeaterLevel> lost() const;
  bool is_proven() const { return proven_ && read_ == target_; }
  /// The first output in trouble, as a sentence; of `needed` ones: that shall be hot, or are.
  std::string trouble(bool needed) const;

  bool identified_ = false;  ///< since the driver was made, and since the board was last out of reach or lost its power
  std::vector<HeaterLevel> read_;
  std::vector<std::uint16_t> status_;  ///< by two an output
  bool read_known_ = false;            ///< read since the procedure began; what was written since is in it
  bool proven_ = false;                ///< read since the last write
  bool status_known_ = false;          ///< likewise
  unsigned rounds_ = 0;                ///< of writing, of this fire, bounded
  bool warm_ = false;                  ///< nothing was written since the rings were last given time to settle
  Instant soaked_at_{};
};

/// The profile of a bank of the fabric, from its ring filters and what its file says of it.
HeaterProfile heater_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kHeaterBank;

}  // namespace loom
