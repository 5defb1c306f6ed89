// SPDX-License-Identifier: Apache-2.0
// What CmisDriver does next: the data path walked to where the grid may change, and back into light.
#include "drivers/pluggable/cmis.hpp"

#include <algorithm>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {

using cmis::ModuleState;
using cmis::PathState;

namespace {

constexpr unsigned kWrites = 3;         ///< of one register that read-back did not confirm, a fire
constexpr unsigned kDisagreements = 8;  ///< readings that differ, an operation
constexpr int kExchanges = 30;          ///< of a fire, for lead()
constexpr int kHoldOffs = 8;
constexpr Duration kHoldOff = std::chrono::milliseconds{10};  ///< CMIS 5.4 section 10: tNACK of volatile bytes

constexpr ProcedureRow<CmisState> kTable[] = {
    // state                       exchange         then               uncertain
    {CmisState::rest, Exchange::none, CmisState::rest, CmisState::rest},
    {CmisState::decide, Exchange::none, CmisState::decide, CmisState::decide},
    {CmisState::read, Exchange::asks, CmisState::decide, CmisState::decide},
    {CmisState::power_up, Exchange::moves, CmisState::decide, CmisState::decide},
    {CmisState::cut, Exchange::moves, CmisState::decide, CmisState::decide},
    {CmisState::deinitialise, Exchange::moves, CmisState::decide, CmisState::decide},
    {CmisState::set_grid, Exchange::moves, CmisState::decide, CmisState::decide},
    {CmisState::set_channel, Exchange::moves, CmisState::decide, CmisState::decide},
    {CmisState::set_fine, Exchange::moves, CmisState::decide, CmisState::decide},
    {CmisState::set_power, Exchange::moves, CmisState::decide, CmisState::decide},
    {CmisState::apply, Exchange::moves, CmisState::decide, CmisState::decide},
    {CmisState::initialise, Exchange::moves, CmisState::decide, CmisState::decide},
    {CmisState::enable, Exchange::moves, CmisState::decide, CmisState::decide},
};

}  // namespace

CmisDriver::CmisDriver(CmisProfile profile) : ModuleDriver(std::move(profile), kTable) {
  target_.reserve(1);  // fire() copies without allocating
  operation_.observation().proof = Proof::device;
}

Result<void> CmisDriver::check(const Setpoint& setpoint) const {
  LOOM_TRY(check_band(profile_, setpoint));
  const auto* laser = &std::get<TransmitterSetpoint>(setpoint);
  if (laser->power < profile_.power_min || laser->power > profile_.power_max) {
    return fail(ErrorCode::out_of_range, format_text("{}: power {} is outside {} to {}", profile_.name, to_string(laser->power),
                                                     to_string(profile_.power_min), to_string(profile_.power_max)));
  }
  if (const std::string never = why_never(); !never.empty()) {
    return fail(ErrorCode::unsupported, format_text("{}: {}", profile_.name, never));
  }
  if (const std::string not_this = why_not({laser->slot, laser->power, laser->emit}); !not_this.empty()) {
    return fail(ErrorCode::out_of_range, format_text("{}: {}", profile_.name, not_this));
  }
  return {};
}

Duration CmisDriver::lead(const Setpoint& setpoint) const {
  const bool is_known = advertised_ && why_too_slow().empty();
  const Duration off = is_known ? advertised_->turn_off : profile_.blank_max;
  const Duration tune = is_known ? advertised_->deinit + advertised_->init : profile_.retune_max;
  const Duration on = is_known ? advertised_->turn_on : profile_.enable_max;
  // What is waited for is asked for again after an eighth of the time that it took so far.
  const Duration moving = (off + tune + (emits(setpoint) ? on : Duration{})) * 9 / 8;
  return moving + kExchanges * profile_.exchange + kHoldOffs * kHoldOff;
}

std::vector<CmisSetting> CmisDriver::held_by(const Setpoint& setpoint) const {
  LOOM_ASSERT(std::holds_alternative<TransmitterSetpoint>(setpoint));
  const auto& laser = std::get<TransmitterSetpoint>(setpoint);
  return {{laser.slot, laser.power, laser.emit}};
}

/// An audit meets the module anew: it may have been pulled and another one plugged in.
void CmisDriver::begin() {
  if (operation_.is_preparation()) {
    aim_ahead();
  }
  writes_.fill(0);
  failures_ = 0;
  blocks_.begin();
  has_tuned_ = false;
  is_unproven_ = false;
  verdict_ = {};
  phase_ = Phase::none;
  const bool was_cut = blocks_.is_fresh(CmisBlock::control) && !is_enabled();
  is_cut_ = !operation_.is_fire() || target_.front().emit || was_cut;
  blocks_.make_stale(
      {CmisBlock::lower, CmisBlock::control, CmisBlock::status, CmisBlock::tuning, CmisBlock::flags, CmisBlock::samples});
  if (operation_.is_audit()) {
    blocks_.make_stale({CmisBlock::identity});
  }
}

CmisState CmisDriver::resolve(CmisState state, Instant now) { return state == CmisState::decide ? decide(now) : state; }

CmisState CmisDriver::decide(Instant now) { return operation_.is_audit() ? decide_audit() : decide_fire(now); }

CmisState CmisDriver::read(CmisBlock block) {
  asked_ = block;
  return CmisState::read;
}

CmisState CmisDriver::write(CmisState state) {
  unsigned& count = writes_[static_cast<std::size_t>(state)];
  phase_ = Phase::none;
  if (++count <= kWrites) {
    return state;
  }
  const Write wanted = write_of(state);
  return judge(Trouble::unheeded,
               format_text("{} does not read back as {:02X}h, written {} times", wanted.name, wanted.values.back(), kWrites));
}

/// Dark first where it is lit, then it is given up.
CmisState CmisDriver::judge(Trouble trouble, std::string words) {
  if (verdict_.empty()) {
    verdict_ = {trouble, std::move(words)};
  }
  const bool can_cut =
      blocks_.is_fresh(CmisBlock::control) && is_enabled() && writes_[static_cast<std::size_t>(CmisState::cut)] < kWrites;
  return can_cut ? write(CmisState::cut) : CmisState::rest;
}

/// Asks again after an eighth of the time that it took so far: minutes are not polled like milliseconds.
CmisState CmisDriver::wait(Phase phase, Instant now) {
  if (phase_ != phase) {
    phase_ = phase;
    phase_since_ = now;
  }
  if (now - phase_since_ >= limit_of(phase)) {
    return judge(Trouble::unsettled, waited_in_vain(phase));
  }
  constexpr Duration kSoonest = std::chrono::milliseconds{1};
  constexpr Duration kLatest = std::chrono::milliseconds{250};
  retry_.pause_until(now + std::clamp<Duration>((now - phase_since_) / 8, kSoonest, kLatest));
  blocks_.make_stale({CmisBlock::status});
  if (phase == Phase::lock || phase == Phase::light) {
    blocks_.make_stale({CmisBlock::tuning});
  }
  blocks_.make_stale({CmisBlock::lower});
  return read(CmisBlock::lower);
}

CmisState CmisDriver::decide_audit() {
  if (blocks_.disagreements() > kDisagreements) {
    return CmisState::rest;
  }
  for (const CmisBlock block : {CmisBlock::lower, CmisBlock::identity, CmisBlock::advertised}) {
    if (!blocks_.is_fresh(block) && (block == CmisBlock::lower || block == CmisBlock::identity || !lower_.is_flat)) {
      return read(block);
    }
  }
  if (lower_.is_flat || !advertised_ || !advertised_->is_tunable) {
    return CmisState::rest;  // it has no such pages
  }
  for (const CmisBlock block : {CmisBlock::limits, CmisBlock::control, CmisBlock::tuning, CmisBlock::status}) {
    if (!blocks_.is_fresh(block)) {
      return read(block);
    }
  }
  for (const CmisBlock block : {CmisBlock::observables, CmisBlock::samples}) {
    if (advertised_->tells_more && !blocks_.is_fresh(block)) {
      return read(block);
    }
  }
  return CmisState::rest;
}

/// What the target needs next, from what is known. Emission is cut before anything else is written.
CmisState CmisDriver::decide_fire(Instant now) {
  if (!is_cut_ && !blocks_[CmisBlock::control].empty()) {
    return write(CmisState::cut);
  }
  if (blocks_[CmisBlock::control].empty() && (!blocks_.is_fresh(CmisBlock::lower) || lower_.is_flat)) {
    return blocks_.is_fresh(CmisBlock::lower) ? judge(Trouble::misfit, why_never())
                                              : read(CmisBlock::lower);  // is there such a page at all?
  }
  if (!blocks_.is_fresh(CmisBlock::control)) {
    return read(CmisBlock::control);
  }
  if (operation_.is_preparation() && is_enabled()) {  // without power it emits nothing, whatever its output shall do
    if (!blocks_.is_fresh(CmisBlock::lower)) {
      return read(CmisBlock::lower);
    }
    if (lower_.state != ModuleState::low_power) {
      return CmisState::rest;
    }
  }
  if (!verdict_.empty()) {
    return judge(Trouble::none, {});
  }
  if (!target_.front().emit && is_enabled()) {
    return write(CmisState::cut);
  }
  if (blocks_.disagreements() > kDisagreements) {
    return judge(Trouble::garbage,
                 format_text("what it says of itself reads otherwise each time, {} times", blocks_.disagreements()));
  }
  for (auto part :
       {&CmisDriver::decide_module, &CmisDriver::decide_tuning, &CmisDriver::decide_path, &CmisDriver::decide_light}) {
    if (const auto next = (this->*part)(now)) {
      return *next;
    }
  }
  return CmisState::rest;
}

/// Is it there, is it who it must be, can it do what is asked, and has it power?
std::optional<CmisState> CmisDriver::decide_module(Instant now) {
  for (const CmisBlock block : {CmisBlock::lower, CmisBlock::identity, CmisBlock::advertised, CmisBlock::limits}) {
    if (!blocks_.is_fresh(block)) {
      return read(block);
    }
    if (std::string never = why_never(); !never.empty()) {
      return judge(Trouble::misfit, std::move(never));
    }
  }
  if (std::string not_this = why_not(target_.front()); !not_this.empty()) {
    return judge(Trouble::misfit, std::move(not_this));
  }
  if (lanes() == 0) {
    return judge(Trouble::misfit,
                 format_text("its host lane {} has no application (10h:{} reads AppSel 0): no data path carries the light",
                             profile_.lane + 1, cmis::kStagedConfig + profile_.lane));
  }
  if (lower_.state == ModuleState::ready) {
    return std::nullopt;
  }
  if (lower_.state == ModuleState::fault) {
    return judge(Trouble::broken, format_text("says ModuleFault, cause {}", lower_.fault_cause));
  }
  if (lower_.state != ModuleState::low_power) {
    return wait(Phase::power_up, now);
  }
  // Its defaults would light the default channel as soon as it has power.
  if (is_enabled()) {
    return write(CmisState::cut);
  }
  if ((control(cmis::kDeinit) & lanes()) != lanes()) {
    return write(CmisState::deinitialise);
  }
  const bool is_kept_low = (lower_.control & (cmis::kLowPowerAllowHw | cmis::kLowPowerRequest)) != 0;
  return is_kept_low ? write(CmisState::power_up) : wait(Phase::power_up, now);
}

/// Page 12h as wanted.
std::optional<CmisState> CmisDriver::decide_tuning(Instant now) {
  for (const CmisBlock block : {CmisBlock::tuning, CmisBlock::status}) {
    if (!blocks_.is_fresh(block)) {
      return read(block);
    }
  }
  const cmis::Choice wanted = *choice();
  const cmis::Tuning has = tuning();
  const bool other_grid = has.grid() != static_cast<unsigned>(wanted.grid);
  const bool other_channel = other_grid || has.channel != wanted.channel;
  const bool other_byte = other_grid || has.is_fine() != (wanted.fine != 0);
  const bool other_fine = wanted.fine != 0 && has.fine != wanted.fine;
  const bool other_power = limits_->has_power && has.power != target_.front().power.centi;
  if (other_channel || other_byte || other_fine || other_power) {
    if (is_enabled()) {
      return write(CmisState::cut);
    }
    if (!std::exchange(has_tuned_, true)) {
      return read(CmisBlock::flags);  // what an earlier tuning left there is cleared by reading it
    }
    if (other_channel && path() != PathState::deactivated) {
      return (control(cmis::kDeinit) & lanes()) != lanes() ? write(CmisState::deinitialise) : wait(Phase::deinit, now);
    }
    // Fine tuning and power may change in any steady state.
    const PathState state = path();
    if (state != PathState::deactivated && state != PathState::initialised && state != PathState::activated) {
      return wait(Phase::init, now);
    }
    blocks_.make_stale({CmisBlock::flags});
    return write(other_byte      ? CmisState::set_grid
                 : other_channel ? CmisState::set_channel
                 : other_fine    ? CmisState::set_fine
                                 : CmisState::set_power);
  }
  if (is_unproven_) {
    return read(CmisBlock::tuning);
  }
  if (has_tuned_ && !blocks_.is_fresh(CmisBlock::flags)) {
    return read(CmisBlock::flags);
  }
  const std::string complaint = has_tuned_ ? cmis::complaint_of(blocks_[CmisBlock::flags].front()) : std::string{};
  if (!complaint.empty()) {
    return judge(Trouble::refusing, format_text("12h:{} says {} after grid {}, channel {}, {} MHz beside it and {} were set",
                                                cmis::kTuningFlags + profile_.lane, complaint, to_string(wanted.grid),
                                                wanted.channel, wanted.fine, to_string(target_.front().power)));
  }
  return std::nullopt;
}

/// The data path out of DPDeactivated, with its output disabled or as it is lit already.
std::optional<CmisState> CmisDriver::decide_path(Instant now) {
  const PathState state = path();
  if (state == PathState::deactivated && !is_provisioned()) {
    const unsigned code = cmis::config_status(blocks_[CmisBlock::status], profile_.lane);
    if (code == cmis::kConfigInProgress) {
      return wait(Phase::apply, now);
    }
    const bool is_told = writes_[static_cast<std::size_t>(CmisState::apply)] > 0;
    return is_told && code > cmis::kConfigDone
               ? judge(Trouble::refusing, format_text("ApplyDPInit: {} (11h:{})", cmis::name_of_config_status(code),
                                                      cmis::kConfigStatus + profile_.lane / 2))
               : write(CmisState::apply);
  }
  if ((control(cmis::kDeinit) & lanes()) != 0) {
    return write(CmisState::initialise);
  }
  switch (state) {
    case PathState::initialised:
    case PathState::activated:
    case PathState::turning_on:
      return !target_.front().emit && state != PathState::initialised ? std::optional(wait(Phase::turn_off, now))
                                                                      : std::nullopt;
    case PathState::turning_off:
      return wait(Phase::turn_off, now);
    default:
      return wait(Phase::init, now);
  }
}

/// Locked in the dark, then lit, then locked in its own light.
std::optional<CmisState> CmisDriver::decide_light(Instant now) {
  const bool wants_light = target_.front().emit;
  if (!is_locked() && !(wants_light && profile_.tunes == Tunes::lit && path() != PathState::activated)) {
    return wait(wants_light && is_enabled() ? Phase::light : Phase::lock, now);
  }
  if (!wants_light) {
    return lack().empty() ? std::nullopt : std::optional(wait(Phase::turn_off, now));
  }
  if (!is_enabled()) {
    return write(CmisState::enable);
  }
  if (path() != PathState::activated) {
    return wait(Phase::turn_on, now);
  }
  return lack().empty() ? std::nullopt : std::optional(wait(Phase::light, now));
}

void CmisDriver::conclude() {
  if (operation_.is_preparation()) {
    verdict_ = {};
    return;
  }
  if (!operation_.is_audit()) {
    if (verdict_.empty()) {
      operation_.finish(true);
    } else {
      const Complaint verdict = std::exchange(verdict_, {});
      give_up(verdict.trouble, verdict.words);
    }
    return;
  }
  if (blocks_.disagreements() > kDisagreements) {
    give_up(Trouble::garbage,
            format_text("what it says of itself reads otherwise each time, {} times", blocks_.disagreements()));
    return;
  }
  const bool is_broken = lower_.state == ModuleState::fault;
  operation_.finish(!target_.empty() && lack().empty(), is_broken ? DeviceHealth::failed : DeviceHealth::ready);
  if (const std::string never = why_never(); !never.empty()) {
    operation_.struggle({Trouble::misfit, format_text("{}: {}", profile_.name, never)});
  } else if (const std::string sentence = astray(); !sentence.empty()) {
    operation_.struggle({Trouble::unlocked, format_text("{}: {}", profile_.name, sentence)});
  }
}

CmisProfile cmis_profile(const Fabric& fabric, const Device& device) {
  const DeviceProfileView keys(kCmis.model.keys, device.profile);
  CmisProfile profile;
  profile.take_module(fabric, device, keys);
  profile.power_min = profile.launch_power - Db{500};  // adjustment range, unless the module has a smaller one [K]
  profile.power_max = profile.launch_power + Db{300};
  profile.lane = static_cast<unsigned>(keys.integer("lane") - 1);
  return profile;
}

namespace {

constexpr ProfileKey kKeys[] = {
    {"reply_max", DurationKey{std::chrono::milliseconds{100}, std::chrono::milliseconds{1}, std::chrono::seconds{10}},
     "one access to its memory, worst case"},
    {"lane", IntegerKey{1, 1, 8}, "media lane whose laser it is; a coherent module has one"},
    {"frequency_tolerance", IntegerKey{1'000, 1, 10'000}, "of the frequency that it reports, MHz"},
    {"power_tolerance", IntegerKey{100, 1, 1'000}, "of the power that it reports, 0.01 dB"},
};

}  // namespace

constinit const DriverModel kCmis{
    {"cmis", DeviceRole::transmitter, "tunable coherent module (QSFP-DD, OSFP), CMIS 5.x", kKeys, nullptr, kMemorySchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<CmisDriver>(cmis_profile(fabric, device));
    }};

}  // namespace loom
