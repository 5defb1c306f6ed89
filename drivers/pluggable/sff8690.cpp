// SPDX-License-Identifier: Apache-2.0
// The states of Sff8690Driver, and what it reads and writes.
#include "drivers/pluggable/sff8690.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/pluggable/cmis_pages.hpp"

namespace loom {
namespace {

constexpr unsigned kWrites = 3;
constexpr unsigned kFailures = 16;
constexpr unsigned kDisagreements = 8;

constexpr ProcedureRow<SffState> kTable[] = {
    {SffState::rest, Exchange::none, SffState::rest, SffState::rest},
    {SffState::decide, Exchange::none, SffState::decide, SffState::decide},
    {SffState::read, Exchange::asks, SffState::decide, SffState::decide},
    {SffState::cut, Exchange::moves, SffState::decide, SffState::decide},
    {SffState::calm, Exchange::moves, SffState::decide, SffState::decide},
    {SffState::tune, Exchange::moves, SffState::decide, SffState::decide},
    {SffState::enable, Exchange::moves, SffState::decide, SffState::decide},
};

struct BlockRow {
  std::uint32_t offset;
  std::uint16_t count;
  std::string_view name;
};
constexpr BlockRow kBlocks[] = {
    {sff::at_a0(0), sff::kIdentityBytes, "identity (A0h:0)"},
    {sff::at_a2(sff::kLimitsFirst), sff::kLimitsBytes, "limits (A2h 02h:128)"},
    {sff::at_a2(sff::kMonitorFirst), sff::kMonitorBytes, "monitors (A2h:96)"},
    {sff::at_a2(sff::kTuningFirst), sff::kTuningBytes, "tuning (A2h 02h:144)"},
    {sff::at_a2(sff::kFlags), 1, "latched flags (A2h 02h:172)"},
};
constexpr std::string_view kNames[] = {"",
                                       "",
                                       "",
                                       "soft TX disable (A2h:110)",
                                       "dither and self tuning (A2h 02h:151)",
                                       "channel or wavelength (A2h 02h:144)",
                                       "soft TX disable (A2h:110)"};

}  // namespace

Sff8690Driver::Sff8690Driver(SffProfile profile) : ModuleDriver(std::move(profile), kTable) {
  target_.reserve(1);  // fire() copies without allocating
  operation_.observation().proof = Proof::device;
}

Result<void> Sff8690Driver::check(const Setpoint& setpoint) const {
  LOOM_TRY(check_band(profile_, setpoint));
  const auto* laser = &std::get<TransmitterSetpoint>(setpoint);
  if (std::abs((laser->power - profile_.launch_power).centi) > profile_.power_tolerance.centi) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: power {} asked of a module that has {} +- {} cdB", profile_.name, to_string(laser->power),
                            to_string(profile_.launch_power), profile_.power_tolerance.centi));
  }
  if (const std::string never = why_never(); !never.empty()) {
    return fail(ErrorCode::unsupported, format_text("{}: {}", profile_.name, never));
  }
  if (const std::string not_this = why_not(laser->slot); !not_this.empty()) {
    return fail(ErrorCode::out_of_range, format_text("{}: {}", profile_.name, not_this));
  }
  return {};
}

Duration Sff8690Driver::lead(const Setpoint& setpoint) const {
  const Duration moving = profile_.blank_max + profile_.retune_max + (emits(setpoint) ? profile_.enable_max : Duration{});
  return moving * 9 / 8 + 20 * profile_.exchange;
}

std::vector<SffSetting> Sff8690Driver::held_by(const Setpoint& setpoint) const {
  LOOM_ASSERT(std::holds_alternative<TransmitterSetpoint>(setpoint));
  const auto& laser = std::get<TransmitterSetpoint>(setpoint);
  return {{laser.slot, laser.emit}};
}

void Sff8690Driver::begin() {
  if (operation_.is_preparation()) {
    aim_ahead();
  }
  writes_.fill(0);
  failures_ = 0;
  blocks_.begin();
  has_cleared_ = false;
  verdict_ = {};
  phase_ = Phase::none;
  const bool was_cut = blocks_.is_fresh(SffBlock::monitor) && !is_enabled();
  is_cut_ = !operation_.is_fire() || target_.front().emit || was_cut;
  blocks_.make_stale({SffBlock::monitor, SffBlock::tuning, SffBlock::flags});
  if (operation_.is_audit()) {
    blocks_.make_stale({SffBlock::identity});  // it may have been pulled and another one plugged in
  }
}

SffState Sff8690Driver::read(SffBlock block) {
  asked_ = block;
  return SffState::read;
}

SffState Sff8690Driver::write(SffState state) {
  phase_ = Phase::none;
  if (++writes_[static_cast<std::size_t>(state)] <= kWrites) {
    return state;
  }
  return judge(Trouble::unheeded,
               format_text("{} does not read back as written, {} times", kNames[static_cast<std::size_t>(state)], kWrites));
}

/// Dark first where it is lit, then it is given up.
SffState Sff8690Driver::judge(Trouble trouble, std::string words) {
  if (verdict_.empty()) {
    verdict_ = {trouble, std::move(words)};
  }
  const bool can_cut =
      blocks_.is_fresh(SffBlock::monitor) && is_enabled() && writes_[static_cast<std::size_t>(SffState::cut)] < kWrites;
  return can_cut ? write(SffState::cut) : SffState::rest;
}

SffState Sff8690Driver::wait(Phase phase, Instant now) {
  if (phase_ != phase) {
    phase_ = phase;
    phase_since_ = now;
  }
  const Duration limit = profile_.grace + (phase == Phase::dark    ? profile_.blank_max
                                           : phase == Phase::tuned ? 2 * profile_.retune_max
                                                                   : profile_.enable_max);
  if (now - phase_since_ >= limit) {
    return judge(Trouble::unsettled, format_text("{} within {}", lack(), describe(limit)));
  }
  retry_.pause_until(
      now + std::clamp<Duration>((now - phase_since_) / 8, std::chrono::milliseconds{1}, std::chrono::milliseconds{250}));
  blocks_.make_stale({SffBlock::tuning});
  return read(SffBlock::monitor);
}

SffState Sff8690Driver::decide(Instant now) {
  const bool is_audit = operation_.is_audit();
  if (!is_cut_ && !blocks_[SffBlock::monitor].empty()) {
    return write(SffState::cut);
  }
  if (!blocks_.is_fresh(SffBlock::monitor)) {
    return read(SffBlock::monitor);
  }
  if (operation_.is_preparation() && (is_enabled() || tx_power() > kNoLight)) {
    return SffState::rest;
  }
  if (!verdict_.empty()) {
    return judge(Trouble::none, {});
  }
  if (!is_audit && !target_.front().emit && is_enabled()) {
    return write(SffState::cut);
  }
  if (blocks_.disagreements() > kDisagreements) {
    return judge(Trouble::garbage, "what it says of itself reads otherwise each time");
  }
  for (const SffBlock block : {SffBlock::identity, SffBlock::limits, SffBlock::tuning}) {
    if (!blocks_.is_fresh(block)) {
      return read(block);
    }
    if (std::string never = why_never(); !never.empty()) {
      return is_audit ? SffState::rest : judge(Trouble::misfit, std::move(never));
    }
  }
  if (is_audit) {
    return SffState::rest;
  }
  std::string not_this = why_not(target_.front().slot);
  return not_this.empty() ? decide_light(now) : judge(Trouble::misfit, std::move(not_this));
}

SffState Sff8690Driver::decide_light(Instant now) {
  const bool wants_light = target_.front().emit;
  if (!is_calm() || !is_set()) {
    if (is_enabled()) {
      return write(SffState::cut);
    }
    if (tx_power() > kNoLight) {
      return wait(Phase::dark, now);
    }
    if (!std::exchange(has_cleared_, true)) {
      return read(SffBlock::flags);
    }
    blocks_.make_stale({SffBlock::flags});
    return write(!is_calm() ? SffState::calm : SffState::tune);
  }
  if (has_cleared_ && !blocks_.is_fresh(SffBlock::flags)) {
    return read(SffBlock::flags);
  }
  if (has_cleared_ && (blocks_[SffBlock::flags].front() & sff::kBadChannel) != 0) {
    return judge(Trouble::refusing,
                 format_text("says that it has no channel for {} (A2h 02h:172.4)", to_string(centre_of(target_.front().slot))));
  }
  const bool is_dark = !is_enabled() && tx_power() <= kNoLight;
  if (!wants_light && !is_dark) {
    return wait(Phase::dark, now);
  }
  const bool locks_later = wants_light && profile_.tunes == Tunes::lit && !is_enabled();
  if (!is_locked() && !locks_later) {
    return wait(is_enabled() && profile_.tunes == Tunes::dark ? Phase::light : Phase::tuned, now);
  }
  if (wants_light && !is_enabled()) {
    return write(SffState::enable);
  }
  return lack().empty() ? SffState::rest : wait(Phase::light, now);
}

void Sff8690Driver::conclude() {
  if (operation_.is_preparation()) {
    verdict_ = {};
    return;
  }
  if (operation_.is_fire()) {
    if (verdict_.empty()) {
      operation_.finish(true);
    } else {
      const Complaint verdict = std::exchange(verdict_, {});
      give_up(verdict.trouble, verdict.words);
    }
    return;
  }
  if (!verdict_.empty()) {
    const Complaint verdict = std::exchange(verdict_, {});
    give_up(verdict.trouble, verdict.words);
    return;
  }
  const std::string never = why_never();
  const bool is_known = never.empty() && !target_.empty();
  operation_.finish(is_known && lack().empty());
  const bool is_lit = is_known && target_.front().emit && is_enabled() && tx_power() > kNoLight;
  if (!never.empty()) {
    operation_.struggle({Trouble::misfit, format_text("{}: {}", profile_.name, never)});
  } else if (is_lit && !is_locked()) {
    operation_.struggle({Trouble::unlocked, format_text("{}: {}", profile_.name, "emits, and " + lack())});
  }
}

std::uint8_t Sff8690Driver::byte_of(SffBlock block, unsigned first, unsigned byte) const {
  const auto& bytes = blocks_[block];
  return byte - first < bytes.size() ? bytes[byte - first] : std::uint8_t{0};
}

std::pair<std::uint32_t, std::vector<std::uint8_t>> Sff8690Driver::write_of(SffState state) const {
  constexpr std::uint8_t kKept = 0x08;  // soft rate select
  const auto keeps = static_cast<std::uint8_t>(status() & kKept);
  const auto big_endian = [](std::uint16_t word) {
    return std::vector<std::uint8_t>{static_cast<std::uint8_t>(word >> 8), static_cast<std::uint8_t>(word & 0xFF)};
  };
  switch (state) {
    case SffState::cut:
      return {sff::at_a2(sff::kStatus), {static_cast<std::uint8_t>(keeps | sff::kSoftDisable)}};
    case SffState::enable:
      return {sff::at_a2(sff::kStatus), {keeps}};
    case SffState::calm:
      return {sff::at_a2(sff::kManners), {sff::kDitherOff}};
    case SffState::tune: {
      const Frequency wanted = centre_of(target_.front().slot);
      const auto channel = limits_ && limits_->by_channel ? sff::channel_of(*limits_, wanted) : std::nullopt;
      return channel ? std::pair{sff::at_a2(sff::kChannel), big_endian(*channel)}
                     : std::pair{sff::at_a2(sff::kWavelength), big_endian(sff::wavelength_of(wanted))};
    }
    default:
      return {};
  }
}

decltype(Transaction::order) Sff8690Driver::order() const {
  if (state_ == SffState::read) {
    const BlockRow& row = kBlocks[static_cast<std::size_t>(asked_)];
    return BytesAt{row.offset, row.count, {}, PageLayout::two_addresses};
  }
  auto [offset, values] = write_of(state_);
  return BytesAt{offset, 0, std::move(values), PageLayout::two_addresses};
}

std::string Sff8690Driver::question() const {
  return state_ == SffState::read ? format_text("read of {}", kBlocks[static_cast<std::size_t>(asked_)].name)
                                  : format_text("write of {}", kNames[static_cast<std::size_t>(state_)]);
}

Complaint Sff8690Driver::misread(const BusReply& reply) const {
  return {Trouble::garbage,
          format_text("{} bytes where {} were asked", reply.bytes.size(), kBlocks[static_cast<std::size_t>(asked_)].count)};
}

Answer Sff8690Driver::absorb(Instant now, const BusReply& reply) {
  if (state_ != SffState::read) {
    is_cut_ = is_cut_ || state_ == SffState::cut;
    blocks_.make_stale({SffBlock::monitor});
    blocks_.make_stale({SffBlock::tuning});
    return Answer::understood;
  }
  if (reply.bytes.size() != kBlocks[static_cast<std::size_t>(asked_)].count) {
    return Answer::none;
  }
  absorb_block(now, reply.bytes);
  return Answer::understood;
}

/// I2C has no checksum: what is remembered was read twice alike.
void Sff8690Driver::absorb_block(Instant now, const std::vector<std::uint8_t>& bytes) {
  const bool is_remembered = asked_ == SffBlock::identity || asked_ == SffBlock::limits;
  bool agrees = true;
  if (is_remembered) {
    agrees = blocks_.remember(asked_, bytes);
  } else {
    blocks_.keep(asked_, bytes);
  }
  if (asked_ == SffBlock::identity && !agrees) {
    identity_.reset();
    limits_.reset();
    identity_is_damaged_ = false;
    blocks_.clear({SffBlock::limits});
    blocks_.make_all_stale();
  } else if (asked_ == SffBlock::identity) {
    identity_ = sff::read_identity(bytes);
    identity_is_damaged_ = !identity_;
    if (identity_) {
      operation_.observation().identity = {identity_->serial,
                                           format_text("{} {} {}", identity_->vendor, identity_->part, identity_->revision)};
    }
  } else if (asked_ == SffBlock::limits && agrees) {
    limits_ = sff::read_limits(bytes);
  }
  if (is_remembered || asked_ == SffBlock::flags) {
    return;
  }
  auto& reading = operation_.reading<TransmitterObservation>();
  operation_.observation().read_at = now;
  reading.power = tx_power();
  reading.emitting = is_enabled() || tx_power() > kNoLight;
  reading.received = cmis::power_of(sff::word_at(blocks_[SffBlock::monitor], sff::kMonitorFirst, sff::kRxPower));
  reading.status_fatal = status() & sff::kTxFault;
  if (blocks_.is_fresh(SffBlock::tuning)) {
    reading.frequency = frequency();
    reading.status_warning = byte_of(SffBlock::tuning, sff::kTuningFirst, sff::kTuningStatus);
    reading.locked = (reading.status_warning & sff::kBusy) == 0;
  }
}

void Sff8690Driver::mark_uncertain(Instant, const BusReply& reply) {
  if (state_ != SffState::read) {
    writes_[static_cast<std::size_t>(state_)] -= 1;
    is_cut_ = is_cut_ || state_ == SffState::cut;
  }
  blocks_.make_stale({SffBlock::identity, SffBlock::monitor, SffBlock::tuning, SffBlock::flags});
  if (operation_.is_fire() && ++failures_ > kFailures && verdict_.empty()) {
    verdict_ = {trouble_of(reply), format_text("{} exchanges failed on the way, the last was {}: {}", kFailures, question(),
                                               describe(reply, profile_.reply_deadline))};
  }
}

std::string Sff8690Driver::why_never() const {
  if (identity_is_damaged_) {
    return "A0h has a wrong checksum (bytes 63 and 95): who it is is not known";
  }
  if (std::string stranger =
          identity_ ? stranger_of(profile_, identity_->serial, format_text("{} {}", identity_->vendor, identity_->part)) : "";
      !stranger.empty()) {
    return stranger;
  }
  if (identity_ && (!identity_->is_tunable || !identity_->has_pages)) {
    return "is not tunable (A0h 65.6 or 64.4 is 0)";
  }
  return limits_ && !limits_->by_channel && !limits_->by_wavelength ? "can be tuned neither by channel nor by wavelength" : "";
}

std::string Sff8690Driver::why_not(FrequencySlot slot) const {
  if (!limits_) {
    return {};
  }
  const Frequency wanted = centre_of(slot);
  if (limits_->by_channel && sff::channel_of(*limits_, wanted)) {
    return {};
  }
  const auto [low, high] = std::minmax(limits_->first, limits_->last);
  const FrequencyOffset beside = magnitude(sff::frequency_of_wavelength(sff::wavelength_of(wanted)) - wanted);
  if (limits_->by_wavelength && wanted >= low && wanted <= high && beside <= profile_.frequency_tolerance) {
    return {};
  }
  return format_text("frequency {} is none that the module has: {} to {} in steps of {} MHz (A2h 02h:132)", to_string(wanted),
                     to_string(low), to_string(high), limits_->grid.mhz);
}

Dbm Sff8690Driver::tx_power() const {
  return cmis::power_of(sff::word_at(blocks_[SffBlock::monitor], sff::kMonitorFirst, sff::kTxPower));
}

Frequency Sff8690Driver::frequency() const {
  const auto& bytes = blocks_[SffBlock::tuning];
  const FrequencyOffset error{static_cast<std::int16_t>(sff::word_at(bytes, sff::kTuningFirst, sff::kFrequencyError)) * 100LL};
  const std::uint16_t channel = sff::word_at(bytes, sff::kTuningFirst, sff::kChannel);
  if (!limits_ || (limits_->by_channel && channel == 0)) {
    return {};
  }
  return (limits_->by_channel ? limits_->first + FrequencyOffset{(channel - 1) * limits_->grid.mhz}
                              : sff::frequency_of_wavelength(sff::word_at(bytes, sff::kTuningFirst, sff::kWavelength))) +
         error;
}

bool Sff8690Driver::is_set() const {
  const auto [offset, values] = write_of(SffState::tune);
  const unsigned byte = offset == sff::at_a2(sff::kChannel) ? sff::kChannel : sff::kWavelength;
  return sff::word_at(blocks_[SffBlock::tuning], sff::kTuningFirst, byte) == (values[0] << 8 | values[1]);
}

/// Dither and self tuning are off, where the module has them.
bool Sff8690Driver::is_calm() const {
  const std::uint8_t manners = byte_of(SffBlock::tuning, sff::kTuningFirst, sff::kManners);
  return (!limits_->has_dither || (manners & sff::kDitherOff) != 0) &&
         (!limits_->self_tunes || (manners & sff::kSelfTuning) == 0);
}

bool Sff8690Driver::is_locked() const {
  return (byte_of(SffBlock::tuning, sff::kTuningFirst, sff::kTuningStatus) & sff::kBusy) == 0 &&
         magnitude(frequency() - centre_of(target_.front().slot)) <= profile_.frequency_tolerance;
}

std::string Sff8690Driver::lack() const {
  const SffSetting& wanted = target_.front();
  if (!limits_ || !is_set() || !is_calm()) {
    return format_text("it is not set to {}", to_string(centre_of(wanted.slot)));
  }
  if (!is_locked()) {
    return format_text("it is at {}, wanted {}, and A2h 02h:168 reads {:02X}h", to_string(frequency()),
                       to_string(centre_of(wanted.slot)), byte_of(SffBlock::tuning, sff::kTuningFirst, sff::kTuningStatus));
  }
  if (!wanted.emit) {
    return !is_enabled() && tx_power() <= kNoLight ? "" : format_text("it emits {}, wanted no light", to_string(tx_power()));
  }
  if (!is_enabled() || (status() & (sff::kDisabled | sff::kTxFault)) != 0) {
    return format_text("A2h:110 reads {:02X}h: disabled or in fault, wanted light", status());
  }
  return std::abs((tx_power() - profile_.launch_power).centi) <= profile_.power_tolerance.centi
             ? ""
             : format_text("it emits {}, wanted {} +- {} cdB", to_string(tx_power()), to_string(profile_.launch_power),
                           profile_.power_tolerance.centi);
}

namespace {

constexpr ProfileKey kKeys[] = {
    {"reply_max", DurationKey{std::chrono::milliseconds{100}, std::chrono::milliseconds{1}, std::chrono::seconds{10}},
     "one access to its memory, worst case"},
    {"frequency_tolerance", IntegerKey{2'500, 100, 10'000}, "of the frequency error that it reports, MHz"},
    {"power_tolerance", IntegerKey{200, 1, 1'000}, "of the power that it has, 0.01 dB"},
};

}  // namespace

SffProfile sff_profile(const Fabric& fabric, const Device& device) {
  SffProfile profile;
  profile.take_module(fabric, device, DeviceProfileView(kKeys, device.profile));
  return profile;
}

constinit const DriverModel kSff8690{
    {"sff8690", DeviceRole::transmitter, "tunable SFP+, SFF-8690 rev. 1.5", kKeys, nullptr, kMemorySchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<Sff8690Driver>(sff_profile(fabric, device));
    }};

}  // namespace loom
