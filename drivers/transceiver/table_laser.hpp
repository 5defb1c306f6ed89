// SPDX-License-Identifier: Apache-2.0
// TableLaserDriver: a tunable laser that is set by an index into its own table, within a microsecond (registers:
// table_registers.hpp). One block of words says gate, channel and power, and the module keeps its light off while its currents
// move. The driver shuts the gate first where it shall be dark, whatever else can be read or written; it reads before it writes
// anything else, and is settled only when the module reads back tuned, lit or dark, at the wanted frequency and power.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/read_back_driver.hpp"
#include "drivers/registry.hpp"
#include "drivers/transceiver/table_registers.hpp"

namespace loom {

struct TableLaserProfile : DeviceProfile {
  TableLaserProfile() {
    exchange = std::chrono::microseconds{1};
    grace = std::chrono::milliseconds{10};           // beyond twice settle_max, then it is a failure [K]
    reply_deadline = std::chrono::milliseconds{10};  // of a register file that is near [K]
  }
  bool has_trigger = false;
  std::uint16_t word_count() const { return has_trigger ? table_laser::kWordsWithTrigger : table_laser::kWords; }
  ChannelPlan channels;  ///< of its table: index i is channel i - 1
  bool tunable = true;
  Dbm power_min{-500};
  Dbm power_max{300};
  FrequencyOffset frequency_tolerance{2'500};  ///< [K]
  Db power_tolerance{100};                     ///< [K]
};

/// All that the module is told.
struct TableLaserWords {
  bool gate = false;
  std::uint16_t channel = 0;
  std::int16_t power = 0;  ///< 0.01 dBm
  bool operator==(const TableLaserWords&) const = default;
};

enum class TableLaserState : std::uint8_t { rest, decide, cut, read, write, load, trigger };

class TableLaserDriver final : public ReadBackDriver<TableLaserProfile, TableLaserState, TableLaserWords> {
 public:
  explicit TableLaserDriver(TableLaserProfile profile);

  /// out_of_range: a frequency that is not in its table, power outside its limits; unsupported: another device's setpoint.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;
  /// With a trigger: what waits in the module is switched to by one word, or by an edge that this program knows nothing of.
  bool can_prepare() const override { return profile_.has_trigger; }
  void prepare() override { ask_prepare(false); }
  bool preparation_failed() const override { return operation_.preparation_failed(); }
  void withdraw() override { ask_prepare(true); }

 private:
  std::vector<TableLaserWords> held_by(const Setpoint& setpoint) const override;
  void begin() override;
  TableLaserState resolve(TableLaserState state, Instant now) override;
  void conclude() override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;

  std::uint16_t word(table_laser::Register address) const { return words_[static_cast<std::size_t>(address)]; }
  TableLaserWords held() const;
  TableLaserWords waiting() const;
  void ask_prepare(bool withdraws);
  TableLaserWords to_load() const;
  /// What the module lacks of the target.
  enum class Lack : std::uint8_t { nothing, words, health, darkness, tuning, light, frequency, power };
  Lack lack() const;
  Lack lack_of_light() const;
  std::string sentence_of(Lack lack) const;
  TableLaserState decide(Instant now);

  std::array<std::uint16_t, table_laser::kWordsWithTrigger> words_{};
  bool is_cut_ = false;       ///< the gate was ordered shut, and the order answered, since this fire began
  bool is_read_ = false;      ///< since the procedure began and since the last write
  bool withdraws_ = false;    ///< the preparation asked for takes the last one back
  unsigned rounds_ = 0;       ///< of writing, of this fire, bounded
  Instant patience_since_{};  ///< it was told, or found to have been told, what it shall do
};

/// The profile of a laser of the fabric, from its transmitter.
TableLaserProfile table_laser_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kTableLaser;

}  // namespace loom
