// SPDX-License-Identifier: Apache-2.0
// CmisDriver: a tunable coherent module of CMIS 5.x as a transmitter. It blanks by OutputDisableTx, changes grid and channel
// only in DPDeactivated, proves the lock before the output is enabled and again in its light, and holds what the module
// advertises of its own times against what the fabric promises. I2C has no checksum: whatever is remembered of a module was
// read twice alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fabric/fabric.hpp"
#include "drivers/pluggable/cmis_pages.hpp"
#include "drivers/pluggable/module_blocks.hpp"
#include "drivers/pluggable/module_driver.hpp"
#include "drivers/pluggable/module_profile.hpp"
#include "drivers/registry.hpp"

namespace loom {

struct CmisProfile : ModuleProfile {
  Dbm power_min{-500};
  Dbm power_max{300};
  unsigned lane = 0;  ///< media lane, from 0
};

/// All that the module is to do.
struct CmisSetting {
  FrequencySlot slot;
  Dbm power{0};
  bool emit = false;
  bool operator==(const CmisSetting&) const = default;
};

enum class CmisState : std::uint8_t {
  rest,
  decide,
  read,          ///< the block that was asked for
  power_up,      ///< out of LowPwr
  cut,           ///< OutputDisableTx
  deinitialise,  ///< DPDeinit
  set_grid,
  set_channel,
  set_fine,
  set_power,
  apply,       ///< ApplyDPInit: what is staged becomes the active configuration
  initialise,  ///< DPDeinit taken back
  enable       ///< OutputDisableTx taken back
};
inline constexpr std::size_t kCmisStates = static_cast<std::size_t>(CmisState::enable) + 1;

/// What is read at a time.
enum class CmisBlock : std::uint8_t {
  identity,
  advertised,
  limits,
  lower,
  control,
  status,
  tuning,
  flags,
  observables,
  samples
};
inline constexpr std::size_t kCmisBlocks = static_cast<std::size_t>(CmisBlock::samples) + 1;

class CmisDriver final : public ModuleDriver<CmisProfile, CmisState, CmisSetting> {
 public:
  explicit CmisDriver(CmisProfile profile);

  /// out_of_range: a frequency, a power or a time beyond the fabric's or the module's own limits, as far as they were read;
  /// unsupported: another device's setpoint, or a module that cannot be tuned.
  Result<void> check(const Setpoint& setpoint) const override;
  /// By the module's own worst cases where they are known.
  Duration lead(const Setpoint& setpoint) const override;

 private:
  /// What is waited for; patience counts from the first time that it is.
  enum class Phase : std::uint8_t { none, power_up, deinit, apply, init, turn_off, lock, turn_on, light };

  std::vector<CmisSetting> held_by(const Setpoint& setpoint) const override;
  void begin() override;
  CmisState resolve(CmisState state, Instant now) override;
  void conclude() override;
  decltype(Transaction::order) order() const override;
  std::string question() const override;
  Answer absorb(Instant now, const BusReply& reply) override;
  Complaint misread(const BusReply& reply) const override;
  void mark_uncertain(Instant now, const BusReply& reply) override;
  void forget() override;

  CmisState decide(Instant now);
  CmisState decide_audit();
  CmisState decide_fire(Instant now);
  std::optional<CmisState> decide_module(Instant now);
  std::optional<CmisState> decide_tuning(Instant now);
  std::optional<CmisState> decide_path(Instant now);
  std::optional<CmisState> decide_light(Instant now);
  CmisState read(CmisBlock block);
  /// The write, or nothing more where it was repeated often enough: then the verdict says what reads back.
  CmisState write(CmisState state);
  CmisState wait(Phase phase, Instant now);
  CmisState judge(Trouble trouble, std::string words);

  void absorb_block(Instant now, const std::vector<std::uint8_t>& bytes);
  void absorb_remembered(const std::vector<std::uint8_t>& bytes);
  void absorb_write();
  void tell(Instant now);

  struct Write {
    std::uint32_t offset;
    std::vector<std::uint8_t> values;
    std::string_view name;
  };
  Write write_of(CmisState state) const;
  std::string why_not(const CmisSetting& setting) const;
  std::string why_never() const;
  std::string why_too_slow() const;
  std::string lack() const;
  std::string astray() const;
  std::string waited_in_vain(Phase phase) const;
  Duration limit_of(Phase phase) const;
  std::optional<cmis::Choice> choice() const;
  cmis::Tuning tuning() const;
  std::uint8_t control(unsigned byte) const;
  std::uint8_t lane_bit() const { return static_cast<std::uint8_t>(1U << profile_.lane); }
  bool is_enabled() const { return (control(cmis::kOutputDisable) & lane_bit()) == 0; }
  std::uint8_t lanes() const;
  cmis::PathState path() const { return cmis::path_state(blocks_[CmisBlock::status], profile_.lane); }
  bool is_provisioned() const;
  bool is_locked() const;
  bool tells_light() const;

  // What is remembered: read twice alike.
  std::optional<cmis::Identity> identity_;
  std::optional<cmis::Advertised> advertised_;
  std::optional<cmis::Limits> limits_;
  bool limits_are_damaged_ = false;
  cmis::Lower lower_;
  ModuleBlocks<CmisBlock, kCmisBlocks> blocks_;

  CmisBlock asked_ = CmisBlock::lower;
  std::array<unsigned, kCmisStates> writes_{};  ///< of this fire, bounded
  unsigned failures_ = 0;                       ///< of exchanges, of this fire, bounded
  bool is_cut_ = false;                         ///< darkness was ordered, and the order answered, since this fire began
  bool has_tuned_ = false;                      ///< since this fire began: its flags are judged
  bool is_unproven_ = false;                    ///< what was written to page 12h was not read back yet
  Complaint verdict_;                           ///< why the fire has failed, while the module is made dark for it
  Phase phase_ = Phase::none;
  Instant phase_since_{};
};

/// The profile of a module of the fabric, from its transmitter.
CmisProfile cmis_profile(const Fabric& fabric, const Device& device);

extern const DriverModel kCmis;

}  // namespace loom
