// SPDX-License-Identifier: Apache-2.0
// Sff8690Driver: a tunable SFP+ as a transmitter. It blanks by the soft TX disable (A2h 110.6), tunes in the dark by channel
// number, or by wavelength where the module has no channels, and keeps dither and self tuning off. Its power is the module's
// own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/pluggable/module_blocks.hpp"
#include "drivers/pluggable/module_driver.hpp"
#include "drivers/pluggable/module_profile.hpp"
#include "drivers/pluggable/sff_pages.hpp"
#include "drivers/registry.hpp"

namespace loom {

/// SFF-8690 gives no times: the fabric's are the limit. Its power is its launch power.
using SffProfile = ModuleProfile;

struct SffSetting {
  FrequencySlot slot;
  bool emit = false;
  bool operator==(const SffSetting&) const = default;
};

enum class SffState : std::uint8_t { rest, decide, read, cut, calm, tune, enable };
enum class SffBlock : std::uint8_t { identity, limits, monitor, tuning, flags };

class Sff8690Driver final : public ModuleDriver<SffProfile, SffState, SffSetting> {
 public:
  explicit Sff8690Driver(SffProfile profile);

  /// out_of_range: a frequency or a power that the module does not have; unsupported: another device's setpoint, another
  /// module.
  Result<void> check(const Setpoint& setpoint) const override;
  Duration lead(const Setpoint& setpoint) const override;

 private:
  enum class Phase : std::uint8_t { none, dark, tuned, light };

  std::vector<SffSetting> held_by(const Setpoint& setpoint) const override;
  void begin() override;
  SffState resolve(SffState state, Instant now) override { return state == SffState::decide ? decide(now) : state; }
  void conclude() override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;
  void forget() override { blocks_.make_all_stale(); }

  SffState decide(Instant now);
  SffState decide_light(Instant now);
  SffState read(SffBlock block);
  SffState write(SffState state);
  SffState wait(Phase phase, Instant now);
  SffState judge(Trouble trouble, std::string words);
  void absorb_block(Instant now, const std::vector<std::uint8_t>& bytes);
  std::uint8_t byte_of(SffBlock block, unsigned first, unsigned byte) const;
  std::pair<std::uint32_t, std::vector<std::uint8_t>> write_of(SffState state) const;
  std::string why_never() const;
  std::string why_not(FrequencySlot slot) const;
  std::string lack() const;
  std::uint8_t status() const { return byte_of(SffBlock::monitor, sff::kMonitorFirst, sff::kStatus); }
  bool is_enabled() const { return (status() & sff::kSoftDisable) == 0; }
  Dbm tx_power() const;
  bool is_set() const;
  bool is_calm() const;
  bool is_locked() const;
  Frequency frequency() const;

  std::optional<sff::Identity> identity_;
  std::optional<sff::Limits> limits_;
  bool identity_is_damaged_ = false;
  ModuleBlocks<SffBlock, 5> blocks_;
  SffBlock asked_ = SffBlock::identity;
  std::array<unsigned, 7> writes_{};  ///< of this fire, bounded
  unsigned failures_ = 0;             ///< likewise
  bool is_cut_ = false;               ///< darkness was ordered since this fire began
  bool has_cleared_ = false;          ///< flags of earlier tunings were read away in this fire
  Complaint verdict_;
  Phase phase_ = Phase::none;
  Instant phase_since_{};
};

SffProfile sff_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kSff8690;

}  // namespace loom
