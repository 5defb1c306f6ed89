// SPDX-License-Identifier: Apache-2.0
// What CmisDriver reads and writes, and what it makes of it.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/pluggable/cmis.hpp"

namespace loom {

using cmis::ModuleState;
using cmis::Page;
using cmis::PathState;

namespace {

struct BlockRow {
  std::uint32_t offset;
  std::uint16_t count;
  std::string_view name;
};

BlockRow row_of(CmisBlock block, unsigned lane) {
  switch (block) {
    case CmisBlock::identity:
      return {cmis::at(Page::identity, 128), cmis::kIdentityBytes, "identity (00h:128)"};
    case CmisBlock::advertised:
      return {cmis::at(Page::advertised, 128), kPageBytes, "page 01h"};
    case CmisBlock::limits:
      return {cmis::at(Page::limits, 128), kPageBytes, "page 04h"};
    case CmisBlock::lower:
      return {0, cmis::kLowerBytes, "the lower memory"};
    case CmisBlock::control:
      return {cmis::at(Page::control, 128), cmis::kControlBytes, "data path control (10h:128)"};
    case CmisBlock::status:
      return {cmis::at(Page::status, 128), cmis::kStatusBytes, "data path status (11h:128)"};
    case CmisBlock::tuning:
      return {cmis::at(Page::tuning, 128), static_cast<std::uint16_t>(cmis::tuning_bytes(lane)), "tuning (12h:128)"};
    case CmisBlock::flags:
      return {cmis::at(Page::tuning, cmis::kTuningFlags + lane), 1, "tuning flags (12h:231)"};
    case CmisBlock::observables:
      return {cmis::at(Page::observables, 128), kPageBytes, "page 20h"};
    case CmisBlock::samples:
      return {cmis::at(Page::samples, 128), kPageBytes, "page 24h"};
  }
  return {};
}

bool is_remembered(CmisBlock block) {
  return block == CmisBlock::identity || block == CmisBlock::advertised || block == CmisBlock::limits ||
         block == CmisBlock::observables;
}

std::vector<std::uint8_t> big_endian(std::int64_t value) {
  return {static_cast<std::uint8_t>(value >> 8 & 0xFF), static_cast<std::uint8_t>(value & 0xFF)};
}

std::uint16_t word_in(const std::vector<std::uint8_t>& bytes, unsigned number) {
  const std::size_t index = number - 128;
  return index + 1 < bytes.size() ? static_cast<std::uint16_t>(bytes[index] << 8 | bytes[index + 1]) : std::uint16_t{0};
}

std::string limit_text(Duration limit) { return limit == kForever ? "50 minutes or more" : describe(limit); }

/// What its receiver makes of what comes to it.
void tell_signal(TransmitterObservation& reading, cmis::Bytes observables, cmis::Bytes samples, unsigned lane) {
  const auto osnr = cmis::sample_of(observables, samples, cmis::kOsnr, lane);
  const auto errors = cmis::sample_of(observables, samples, cmis::kPreFecBer, lane);
  const double ratio = errors ? std::min(cmis::float16_of(*errors), 1.0) : 0;
  reading.osnr = osnr ? std::optional(Db{std::min<std::int32_t>(*osnr, 1'000) * 10}) : std::nullopt;
  reading.pre_fec_errors = errors ? std::optional(static_cast<std::int64_t>(ratio * 1e15)) : std::nullopt;
}

}  // namespace

std::uint8_t CmisDriver::control(unsigned byte) const {
  const auto& bytes = blocks_[CmisBlock::control];
  return byte - 128 < bytes.size() ? bytes[byte - 128] : std::uint8_t{0};
}

std::uint8_t CmisDriver::lanes() const { return cmis::host_lanes(blocks_[CmisBlock::control], profile_.lane); }

cmis::Tuning CmisDriver::tuning() const {
  return cmis::read_tuning(blocks_[CmisBlock::tuning], profile_.lane).value_or(cmis::Tuning{});
}

std::optional<cmis::Choice> CmisDriver::choice() const {
  const FrequencyOffset spacing{profile_.channels.step_n * kGridStep.mhz};
  return limits_ && !target_.empty() ? cmis::choose(*limits_, centre_of(target_.front().slot), spacing) : std::nullopt;
}

CmisDriver::Write CmisDriver::write_of(CmisState state) const {
  const unsigned lane = profile_.lane;
  const auto byte = [](unsigned value) { return std::vector<std::uint8_t>{static_cast<std::uint8_t>(value)}; };
  const cmis::Choice wanted = choice().value_or(cmis::Choice{});
  switch (state) {
    case CmisState::power_up:
      return {cmis::kGlobalControl, byte(lower_.control & ~(cmis::kLowPowerAllowHw | cmis::kLowPowerRequest)),
              "LowPwrRequest (byte 26)"};
    case CmisState::cut:
      return {cmis::at(Page::control, cmis::kOutputDisable), byte(control(cmis::kOutputDisable) | lane_bit()),
              "OutputDisableTx (10h:130)"};
    case CmisState::enable:
      return {cmis::at(Page::control, cmis::kOutputDisable),
              byte(control(cmis::kOutputDisable) & static_cast<std::uint8_t>(~lane_bit())), "OutputDisableTx (10h:130)"};
    case CmisState::deinitialise:
      return {cmis::at(Page::control, cmis::kDeinit), byte(control(cmis::kDeinit) | lanes()), "DPDeinit (10h:128)"};
    case CmisState::initialise:
      return {cmis::at(Page::control, cmis::kDeinit), byte(control(cmis::kDeinit) & static_cast<std::uint8_t>(~lanes())),
              "DPDeinit (10h:128)"};
    case CmisState::apply:
      return {cmis::at(Page::control, cmis::kApplyInit), byte(lanes()), "ApplyDPInit (10h:143)"};
    case CmisState::set_grid: {
      const unsigned kept = tuning().grid_byte & 0x0FU & static_cast<unsigned>(~cmis::kFineEnable);
      return {cmis::at(Page::tuning, cmis::kGridByte + lane),
              byte(static_cast<unsigned>(wanted.grid) << 4 | kept | (wanted.fine != 0 ? cmis::kFineEnable : 0U)),
              "the grid (12h:128)"};
    }
    case CmisState::set_channel:
      return {cmis::at(Page::tuning, cmis::kChannel + 2 * lane), big_endian(wanted.channel), "the channel (12h:136)"};
    case CmisState::set_fine:
      return {cmis::at(Page::tuning, cmis::kFineOffset + 2 * lane), big_endian(wanted.fine), "fine tuning (12h:152)"};
    case CmisState::set_power:
      return {cmis::at(Page::tuning, cmis::kTargetPower + 2 * lane), big_endian(target_.front().power.centi),
              "target power (12h:200)"};
    default:
      return {};
  }
}

decltype(Transaction::order) CmisDriver::order() const {
  if (state_ == CmisState::read) {
    const BlockRow row = row_of(asked_, profile_.lane);
    return BytesAt{row.offset, row.count, {}};
  }
  Write write = write_of(state_);
  return BytesAt{write.offset, 0, std::move(write.values)};
}

std::string CmisDriver::question() const {
  if (state_ == CmisState::read) {
    return format_text("read of {}", row_of(asked_, profile_.lane).name);
  }
  const Write write = write_of(state_);
  std::string values;
  for (const std::uint8_t value : write.values) {
    values += format_text("{:02X}", value);
  }
  return format_text("write of {} <- {}h", write.name, values);
}

Complaint CmisDriver::misread(const BusReply& reply) const {
  return {Trouble::garbage,
          format_text("{} bytes where {} were asked", reply.bytes.size(), row_of(asked_, profile_.lane).count)};
}

Answer CmisDriver::absorb(Instant now, const BusReply& reply) {
  if (state_ != CmisState::read) {
    absorb_write();
    return Answer::understood;
  }
  if (reply.bytes.size() != row_of(asked_, profile_.lane).count) {
    return Answer::none;
  }
  absorb_block(now, reply.bytes);
  return Answer::understood;
}

void CmisDriver::absorb_block(Instant now, const std::vector<std::uint8_t>& bytes) {
  if (is_remembered(asked_)) {
    absorb_remembered(bytes);
    return;
  }
  blocks_.keep(asked_, bytes);
  if (asked_ == CmisBlock::lower) {
    const ModuleState before = lower_.state;
    lower_ = cmis::read_lower(bytes).value_or(cmis::Lower{});
    if (lower_.state != ModuleState::ready && before != lower_.state) {
      blocks_.make_stale({CmisBlock::control, CmisBlock::status, CmisBlock::tuning});  // it may have lost what it was told
    }
  }
  is_unproven_ = is_unproven_ && asked_ != CmisBlock::tuning;
  if (asked_ == CmisBlock::tuning || asked_ == CmisBlock::status) {
    tell(now);
  } else if (asked_ == CmisBlock::samples) {
    tell_signal(operation_.reading<TransmitterObservation>(), blocks_[CmisBlock::observables], blocks_[CmisBlock::samples],
                profile_.lane);
  }
}

/// Believed when it reads as before. Another identity is another module: nothing that was known holds.
void CmisDriver::absorb_remembered(const std::vector<std::uint8_t>& bytes) {
  const bool agrees = blocks_.remember(asked_, bytes);
  if (asked_ == CmisBlock::identity && !agrees) {
    identity_.reset();
    advertised_.reset();
    limits_.reset();
    blocks_.clear({CmisBlock::advertised, CmisBlock::limits, CmisBlock::observables});
    blocks_.make_all_stale();
  }
  if (!agrees) {
    return;
  }
  if (asked_ == CmisBlock::identity) {
    identity_ = cmis::read_identity(bytes);
    operation_.observation().identity = {identity_->serial,
                                         format_text("{} {} {}", identity_->vendor, identity_->part, identity_->revision)};
  } else if (asked_ == CmisBlock::advertised) {
    advertised_ = cmis::read_advertised(bytes);
  } else if (asked_ == CmisBlock::limits) {
    limits_ = cmis::read_limits(bytes);
    limits_are_damaged_ = !limits_.has_value();
  }
}

void CmisDriver::absorb_write() {
  const Write write = write_of(state_);
  switch (state_) {
    case CmisState::cut:
      is_cut_ = true;
      blocks_.make_stale({CmisBlock::lower, CmisBlock::control, CmisBlock::status});
      break;
    case CmisState::set_grid:
    case CmisState::set_channel:
    case CmisState::set_fine:
    case CmisState::set_power: {
      // Kept as written, so that the next one follows at once; all of them are read back together.
      const std::size_t first = write.offset - cmis::at(Page::tuning, 128);
      blocks_.overwrite(CmisBlock::tuning, first, write.values);
      is_unproven_ = true;
      // On its new grid the old channel may be none, which it flags: that is cleared before the new channel is set.
      has_tuned_ = has_tuned_ && state_ != CmisState::set_grid;
      break;
    }
    case CmisState::deinitialise:
    case CmisState::apply:
      blocks_.make_stale({CmisBlock::lower, CmisBlock::control, CmisBlock::status});
      break;
    default:
      blocks_.make_stale({CmisBlock::lower, CmisBlock::control, CmisBlock::status, CmisBlock::tuning});
      break;
  }
}

/// Whatever failed, the module may have been pulled or started anew: it is met again, and what it holds is read again.
void CmisDriver::mark_uncertain(Instant, const BusReply& reply) {
  constexpr unsigned kFailures = 16;  // a fire
  if (state_ != CmisState::read) {
    writes_[static_cast<std::size_t>(state_)] -= 1;  // the wire's fault, not the module's
    is_cut_ = is_cut_ || state_ == CmisState::cut;
  }
  if (operation_.is_fire() && ++failures_ > kFailures && verdict_.empty()) {
    verdict_ = {trouble_of(reply), format_text("{} exchanges failed on the way, the last was {}: {}", kFailures, question(),
                                               describe(reply, profile_.reply_deadline))};
  }
  blocks_.make_stale({CmisBlock::identity, CmisBlock::lower, CmisBlock::control, CmisBlock::status, CmisBlock::tuning});
  is_unproven_ = false;
}

void CmisDriver::forget() { blocks_.make_all_stale(); }

void CmisDriver::tell(Instant now) {
  auto& reading = operation_.reading<TransmitterObservation>();
  operation_.observation().read_at = now;
  const auto& status = blocks_[CmisBlock::status];
  if (blocks_.is_fresh(CmisBlock::tuning)) {
    const cmis::Tuning has = tuning();
    reading.frequency = has.current;
    reading.locked = (has.status & (cmis::kUnlocked | cmis::kTuningNow)) == 0;
    reading.status_warning = has.status;
  }
  if (blocks_.is_fresh(CmisBlock::status)) {
    const Dbm measured = cmis::power_of(word_in(status, cmis::kTxPower + 2 * profile_.lane));
    const Dbm received = cmis::power_of(word_in(status, cmis::kRxPower + 2 * profile_.lane));
    const PathState state = path();
    const bool is_lit = state == PathState::activated || state == PathState::turning_on || state == PathState::turning_off;
    reading.power = tells_light() ? measured : is_lit ? Dbm{tuning().power} : kNoLight;
    reading.emitting = is_lit || (tells_light() && measured > kNoLight);
    reading.received = advertised_ && advertised_->tells_rx_power ? std::optional(received) : std::nullopt;
    const bool has_failed = (status[cmis::kTxFailure - 128] & lane_bit()) != 0;
    reading.status_fatal =
        static_cast<std::uint16_t>((has_failed ? 0x100U : 0U) | (lower_.state == ModuleState::fault ? lower_.fault_cause : 0U));
  }
}

bool CmisDriver::tells_light() const { return advertised_ && advertised_->tells_tx_power; }

bool CmisDriver::is_provisioned() const {
  const auto& status = blocks_[CmisBlock::status];
  for (unsigned lane = 0; lane < cmis::kLanes; ++lane) {
    const bool is_ours = (lanes() >> lane & 1U) != 0;
    if (is_ours && (cmis::config_status(status, lane) != cmis::kConfigDone ||
                    status[cmis::kActiveConfig - 128 + lane] != control(cmis::kStagedConfig + lane))) {
      return false;
    }
  }
  return true;
}

bool CmisDriver::is_locked() const {
  const cmis::Tuning has = tuning();
  return (has.status & (cmis::kUnlocked | cmis::kTuningNow)) == 0 &&
         magnitude(has.current - centre_of(target_.front().slot)) <= profile_.frequency_tolerance;
}

/// Why no setpoint is lawful for the module, as far as it was read.
std::string CmisDriver::why_never() const {
  if (lower_.is_flat) {
    return "has flat memory (byte 2.7): no page to tune it by";
  }
  if (std::string stranger =
          identity_ ? stranger_of(profile_, identity_->serial, format_text("{} {}", identity_->vendor, identity_->part)) : "";
      !stranger.empty()) {
    return stranger;
  }
  if (advertised_ && !advertised_->is_tunable) {
    return "is not tunable (01h:155.6 is 0)";
  }
  if (advertised_ && !advertised_->can_disable_output) {
    return "cannot disable its output (01h:155.1 is 0): it could not be made dark in time";
  }
  if (limits_are_damaged_) {
    return "page 04h has a wrong checksum (04h:255): its limits are not known";
  }
  return why_too_slow();
}

/// The module's own worst cases against those that every plan rests on.
std::string CmisDriver::why_too_slow() const {
  if (!advertised_) {
    return {};
  }
  const auto sum = [](Duration a, Duration b) { return a == kForever || b == kForever ? kForever : a + b; };
  const Duration tune = sum(advertised_->deinit, advertised_->init);
  if (tune > profile_.retune_max) {
    return format_text("advertises up to {} for DPDeinit and {} for DPInit (01h:144), and the fabric has retune_max {}",
                       limit_text(advertised_->deinit), limit_text(advertised_->init), describe(profile_.retune_max));
  }
  if (advertised_->turn_off > profile_.blank_max) {
    return format_text("advertises up to {} for DPTxTurnOff (01h:168), and the fabric has blank_max {}",
                       limit_text(advertised_->turn_off), describe(profile_.blank_max));
  }
  if (advertised_->turn_on > profile_.enable_max) {
    return format_text("advertises up to {} for DPTxTurnOn (01h:168), and the fabric has enable_max {}",
                       limit_text(advertised_->turn_on), describe(profile_.enable_max));
  }
  return {};
}

/// Why this setpoint is beyond the module's own limits, as far as they were read.
std::string CmisDriver::why_not(const CmisSetting& setting) const {
  if (!limits_) {
    return {};
  }
  const Frequency wanted = centre_of(setting.slot);
  if (!cmis::choose(*limits_, wanted, FrequencyOffset{profile_.channels.step_n * kGridStep.mhz})) {
    return format_text("frequency {} is none that the module reaches: {} (page 04h)", to_string(wanted),
                       cmis::reach_of(*limits_));
  }
  const Dbm low{limits_->power.low};
  const Dbm high{limits_->power.high};
  if (limits_->has_power && (setting.power < low || setting.power > high)) {
    return format_text("power {} is outside what the module has, {} to {} (page 04h)", to_string(setting.power), to_string(low),
                       to_string(high));
  }
  return {};
}

/// What the module lacks of the target, in light; empty: nothing.
std::string CmisDriver::lack() const {
  const CmisSetting& wanted = target_.front();
  const auto wants = choice();
  const cmis::Tuning has = tuning();
  if (lower_.state != ModuleState::ready) {
    return format_text("its module state is {}", to_string(lower_.state));
  }
  if (!wants || has.grid() != static_cast<unsigned>(wants->grid) || has.channel != wants->channel) {
    return format_text("it is set to grid {}, channel {}", has.grid(), has.channel);
  }
  if (limits_->has_power && has.power != wanted.power.centi) {
    return format_text("it is set to {}", to_string(Dbm{has.power}));
  }
  const bool is_valid = (blocks_[CmisBlock::status][cmis::kOutputValid - 128] & lane_bit()) != 0;
  if (!wanted.emit) {
    return !is_enabled() && !is_valid && path() == PathState::initialised
               ? ""
               : format_text("its data path is {}", to_string(path()));
  }
  if (!is_enabled() || !is_valid || path() != PathState::activated) {
    return format_text("its data path is {} and its output {}", to_string(path()), is_valid ? "valid" : "not valid");
  }
  if (!is_locked()) {
    return format_text("it is at {}{}", to_string(has.current),
                       (has.status & cmis::kUnlocked) != 0 ? " and unlocked (12h:222.0)" : "");
  }
  const Dbm measured = cmis::power_of(word_in(blocks_[CmisBlock::status], cmis::kTxPower + 2 * profile_.lane));
  if (tells_light() && std::abs((measured - wanted.power).centi) > profile_.power_tolerance.centi) {
    return format_text("it emits {}, wanted {} +- {} cdB", to_string(measured), to_string(wanted.power),
                       profile_.power_tolerance.centi);
  }
  return {};
}

/// "emits at 193.12000 THz, 20.000 GHz off 193.10000 THz, and is unlocked"; empty: it does not, or shall not.
std::string CmisDriver::astray() const {
  const bool is_lit =
      blocks_.is_fresh(CmisBlock::status) && blocks_.is_fresh(CmisBlock::tuning) && path() == PathState::activated;
  if (target_.empty() || !is_lit || is_locked()) {
    return {};
  }
  const Frequency wanted = centre_of(target_.front().slot);
  const cmis::Tuning has = tuning();
  const FrequencyOffset off = magnitude(has.current - wanted);
  return format_text("emits at {}, {}.{:03d} GHz off {}{}", to_string(has.current), off.mhz / 1'000, off.mhz % 1'000,
                     to_string(wanted), (has.status & cmis::kUnlocked) != 0 ? ", and is unlocked" : "");
}

Duration CmisDriver::limit_of(Phase phase) const {
  const cmis::Advertised none;
  const cmis::Advertised& worst = advertised_ ? *advertised_ : none;
  const auto with_grace = [this](Duration limit) { return limit == kForever ? kForever : limit + profile_.grace; };
  switch (phase) {
    case Phase::power_up:
      return with_grace(worst.power_up);
    case Phase::deinit:
      return with_grace(worst.deinit + worst.turn_off);
    case Phase::apply:
    case Phase::init:
    case Phase::lock:
      return with_grace(worst.init + worst.deinit);
    case Phase::turn_off:
      return with_grace(worst.turn_off);
    case Phase::turn_on:
    case Phase::light:
      return with_grace(worst.turn_on);
    case Phase::none:
      break;
  }
  return profile_.grace;
}

std::string CmisDriver::waited_in_vain(Phase phase) const {
  const std::string within = " within " + limit_text(limit_of(phase));
  switch (phase) {
    case Phase::power_up:
      return format_text("its module state is {}, wanted Ready{}", to_string(lower_.state), within);
    case Phase::deinit:
      return format_text("its data path is {}, wanted DPDeactivated{}", to_string(path()), within);
    case Phase::apply:
      return format_text("ApplyDPInit is in progress still, wanted an end{}", within);
    case Phase::init:
      return format_text("its data path is {}, wanted DPInitialized{}", to_string(path()), within);
    case Phase::turn_off:
      return format_text("its data path is {} after its output was disabled, wanted DPInitialized{}", to_string(path()),
                         within);
    case Phase::turn_on:
      return format_text("its data path is {} after its output was enabled, wanted DPActivated{}", to_string(path()), within);
    case Phase::lock: {
      const cmis::Tuning has = tuning();
      return format_text("not locked at {}: 12h:{} reads {:02X}h, and it is at {}{}",
                         to_string(centre_of(target_.front().slot)), cmis::kTuningStatus + profile_.lane, has.status,
                         to_string(has.current), within);
    }
    case Phase::light:
      return format_text("{}{}", lack(), within);
    case Phase::none:
      break;
  }
  return {};
}

}  // namespace loom
