// SPDX-License-Identifier: Apache-2.0
// The state table of HeaterBankDriver and the machine that walks it.
#include "drivers/heater/heater_bank.hpp"

#include <algorithm>
#include <cmath>

#include "core/ring/ring.hpp"
#include "core/text/format_text.hpp"

namespace loom {
namespace {

constexpr unsigned kRounds = 3;              ///< of writing that read-back did not confirm, a fire
constexpr std::size_t kStatusRegisters = 2;  ///< an output

constexpr ProcedureRow<HeaterState> kTable[] = {
    // state                      exchange         then                 uncertain
    {HeaterState::rest, Exchange::none, HeaterState::rest, HeaterState::rest},
    {HeaterState::decide, Exchange::none, HeaterState::decide, HeaterState::decide},
    {HeaterState::identify, Exchange::asks, HeaterState::decide, HeaterState::identify},
    {HeaterState::reading_levels, Exchange::asks, HeaterState::decide, HeaterState::decide},
    {HeaterState::write, Exchange::moves, HeaterState::decide, HeaterState::decide},
    {HeaterState::soak, Exchange::none, HeaterState::reading_status, HeaterState::rest},
    {HeaterState::reading_status, Exchange::asks, HeaterState::rest, HeaterState::decide},
};

std::string hexadecimal(unsigned value) { return format_text("0x{:04X}", value); }

}  // namespace

HeaterBankDriver::HeaterBankDriver(HeaterProfile profile) : ReadBackDriver(std::move(profile), kTable) {
  target_.reserve(profile_.rings.size());  // fire() copies without allocating
}

Result<void> HeaterBankDriver::check(const Setpoint& setpoint) const {
  LOOM_TRY(check_heaters(profile_.name, profile_.rings, profile_.board.source(), setpoint));
  for (const RingResonance& wanted : std::get<FilterSetpoint>(setpoint).rings) {
    const RingFilter& ring = profile_.rings[wanted.channel];
    const double volts = drive_volts(ring, profile_.board.source(), wanted).value();
    const std::uint16_t counts = profile_.board.counts_of(volts, ring.heater_ohm);
    const Frequency nearest = resonance_of_volts(ring, profile_.board.volts_of(counts, ring.heater_ohm));
    const FrequencyOffset off = resonance_distance(ring, nearest, stand_of(ring, wanted));
    if (const FrequencyOffset limit{ring.fwhm.mhz / kRingWidthParts}; off > limit) {
      return fail(
          ErrorCode::out_of_range,
          format_text("{} channel {}: resonance {}: the nearest count, {}, leaves it {} MHz off, limit {} MHz (its width / {})",
                      profile_.name, wanted.channel, to_string(wanted.resonance), counts, off.mhz, limit.mhz, kRingWidthParts));
    }
  }
  return {};
}

/// Of a board that has been read before, which audits see to.
Duration HeaterBankDriver::lead(const Setpoint&) const {
  const bool single = !profile_.board.block_writes;
  const auto writes = static_cast<std::int64_t>(single ? profile_.rings.size() : 1);
  return (2 + writes + (profile_.board.status ? 1 : 0)) * profile_.exchange + profile_.settle_max;
}

/// Rings that the setpoint does not name are parked.
std::vector<HeaterLevel> HeaterBankDriver::held_by(const Setpoint& setpoint) const {
  std::vector<HeaterLevel> levels;
  for (const double volts : volts_by_channel(profile_.rings, setpoint)) {
    levels.push_back({levels.size(), profile_.board.counts_of(volts, profile_.rings[levels.size()].heater_ohm)});
  }
  return levels;
}

void HeaterBankDriver::begin() {
  rounds_ = 0;
  read_known_ = proven_ = status_known_ = false;
}

Instant HeaterBankDriver::ready_at() const { return state_ == HeaterState::soak ? soaked_at_ : retry_.resume_at(); }

HeaterState HeaterBankDriver::resolve(HeaterState state, Instant now) {
  const HeaterState next = state == HeaterState::decide ? decide() : state;
  if (next == HeaterState::reading_status && !profile_.board.status) {
    return HeaterState::rest;
  }
  if (next == HeaterState::soak) {
    soaked_at_ = warm_ ? now : now + profile_.settle_max;
  }
  return next;
}

/// What the target needs next, from what is known.
HeaterState HeaterBankDriver::decide() {
  if (profile_.board.identity && !identified_) {
    return HeaterState::identify;
  }
  if (!read_known_) {
    return HeaterState::reading_levels;
  }
  if (operation_.is_audit()) {
    return HeaterState::reading_status;
  }
  if (lost()) {
    return HeaterState::rest;
  }
  if (read_ == target_) {
    return proven_ ? HeaterState::soak : HeaterState::reading_levels;
  }
  rounds_ += proven_ ? 1 : 0;
  return rounds_ <= kRounds ? HeaterState::write : HeaterState::rest;
}

/// What is gone after a write is what the write is for.
std::optional<HeaterLevel> HeaterBankDriver::lost() const {
  return rounds_ > 0 ? std::nullopt : find_lost([this](const HeaterLevel& held) { return read_[held.channel] == held; });
}

std::string HeaterBankDriver::trouble(bool needed) const {
  for (std::size_t channel = 0; status_known_ && channel < profile_.rings.size(); ++channel) {
    const std::span<const std::uint16_t> words(&status_[channel * kStatusRegisters], kStatusRegisters);
    const bool is_hot = read_[channel].counts > 0 || (operation_.is_fire() && target_[channel].counts > 0);
    if (const std::string what = status_trouble(words); !what.empty() && is_hot == needed) {
      return format_text("{} on channel {} (its status is {} {})", what, channel, hexadecimal(words[0]), hexadecimal(words[1]));
    }
  }
  return {};
}

void HeaterBankDriver::conclude() {
  const HeaterBoard& board = profile_.board;
  const auto gone = operation_.is_audit() ? std::nullopt : lost();
  if (gone) {
    give_up(Trouble::unheeded,
            format_text("channel {} reads {}, held {} before (did its power go?); nothing was written: light may pass it still",
                        gone->channel, board.text_of(read_[gone->channel].counts), board.text_of(gone->counts)));
  } else if (!operation_.is_audit() && !is_proven()) {
    const auto [read, wanted] = std::mismatch(read_.begin(), read_.end(), target_.begin());
    give_up(Trouble::unheeded, format_text("channel {} reads {} after {} was written {} times", read->channel,
                                           board.text_of(read->counts), board.text_of(wanted->counts), kRounds));
  } else if (const std::string broken = trouble(true); !broken.empty()) {
    give_up(Trouble::broken, broken);
  } else {
    warm_ = warm_ || !operation_.is_audit();
    last_verified_.see(read_);
    operation_.finish(read_ == target_);
    if (const std::string idle = trouble(false); !idle.empty()) {
      operation_.struggle({Trouble::broken, format_text("{}: {}", profile_.name, idle + "; it is cold")});
    }
  }
}

HeaterBankDriver::Block HeaterBankDriver::to_write() const {
  Block block{0, target_.size()};
  while (block.first < block.last && read_[block.first] == target_[block.first]) {
    ++block.first;
  }
  while (block.last > block.first && read_[block.last - 1] == target_[block.last - 1]) {
    --block.last;
  }
  block.last = profile_.board.block_writes ? block.last : block.first + 1;
  return block;
}

Registers HeaterBankDriver::registers() const {
  const HeaterBoard& board = profile_.board;
  const std::size_t rings = profile_.rings.size();
  if (state_ == HeaterState::identify) {
    return {board.identity->address, static_cast<std::uint16_t>(board.identity->each_output ? rings : 1), {}};
  }
  if (state_ == HeaterState::reading_status) {
    return {*board.status, static_cast<std::uint16_t>(kStatusRegisters * rings), {}};
  }
  if (state_ != HeaterState::write) {
    return {board.base, static_cast<std::uint16_t>(rings), {}};
  }
  const Block block = to_write();
  Registers registers{static_cast<std::uint16_t>(board.base + block.first), 0, {}};
  for (std::size_t i = block.first; i < block.last; ++i) {
    registers.values.push_back(target_[i].counts);
  }
  return registers;
}

decltype(Transaction::order) HeaterBankDriver::order() const { return registers(); }

std::string HeaterBankDriver::question() const {
  if (state_ == HeaterState::write) {
    return "write of the bank";
  }
  const Registers asked = registers();
  const std::string_view what = state_ == HeaterState::identify         ? "version "
                                : state_ == HeaterState::reading_status ? "status "
                                                                        : "";
  return asked.count == 1 ? format_text("read of {}register {}", what, hexadecimal(asked.address))
                          : format_text("read of {}registers {} to {}", what, asked.address, asked.address + asked.count - 1);
}

Answer HeaterBankDriver::absorb(Instant now, const BusReply& reply) {
  if (state_ == HeaterState::write) {
    absorb_written();
    return Answer::understood;
  }
  if (reply.words.size() != registers().count) {
    return Answer::none;
  }
  if (state_ == HeaterState::identify) {
    return absorb_identity(reply);
  }
  if (state_ == HeaterState::reading_status) {
    status_ = reply.words;
    status_known_ = true;
    return Answer::understood;
  }
  absorb_levels(now, reply);
  return Answer::understood;
}

Answer HeaterBankDriver::absorb_identity(const BusReply& reply) {
  const HeaterBoard::Identity& expected = *profile_.board.identity;
  for (std::size_t i = 0; i < reply.words.size(); ++i) {
    const std::uint16_t word = reply.words[i];
    if (word < expected.least || word > expected.most) {
      give_up(
          Trouble::misfit,
          format_text("version register {} reads {}, expected {}{}: it is no {} (or say version: {} in its profile)",
                      hexadecimal(static_cast<unsigned>(expected.address + i)), hexadecimal(word), hexadecimal(expected.least),
                      expected.most == expected.least ? std::string{} : " to " + hexadecimal(expected.most),
                      profile_.board.name, word));
      return Answer::ended;
    }
  }
  identified_ = true;
  operation_.observation().identity.description =
      format_text("{}, version register {}", profile_.board.name, hexadecimal(reply.words.front()));
  return Answer::understood;
}

void HeaterBankDriver::absorb_levels(Instant now, const BusReply& reply) {
  read_.clear();
  auto& millivolts = operation_.reading<FilterObservation>().millivolts;
  millivolts.clear();
  for (const std::uint16_t counts : reply.words) {
    const RingFilter& ring = profile_.rings[read_.size()];
    millivolts.push_back(static_cast<std::int32_t>(std::lround(profile_.board.volts_of(counts, ring.heater_ohm) * 1e3)));
    read_.push_back({read_.size(), counts});
  }
  read_known_ = proven_ = true;
  operation_.observation().read_at = now;
}

/// It was answered; what it did is read back when nothing is left to write.
void HeaterBankDriver::absorb_written() {
  proven_ = status_known_ = warm_ = false;
  if (operation_.is_overtaken()) {
    return;  // target_ is not what was written any more; all is read anew
  }
  const Block block = to_write();
  std::copy(target_.begin() + static_cast<std::ptrdiff_t>(block.first),
            target_.begin() + static_cast<std::ptrdiff_t>(block.last),
            read_.begin() + static_cast<std::ptrdiff_t>(block.first));
}

Complaint HeaterBankDriver::misread(const BusReply& reply) const {
  return {Trouble::garbage, format_text("{} words where {} were asked", reply.words.size(), registers().count)};
}

/// Even where the answer of a write is lost the voltage may have changed; and who was out of reach may be another one now.
void HeaterBankDriver::mark_uncertain(Instant, const BusReply& reply) {
  if (state_ == HeaterState::write) {
    read_known_ = proven_ = status_known_ = false;
    warm_ = false;
  }
  identified_ = identified_ && reply.status != BusStatus::lost;
}

void HeaterBankDriver::forget() { identified_ = false; }

HeaterProfile heater_profile(const Fabric& fabric, const Device& device) {
  HeaterProfile profile;
  profile.take(device);
  profile.rings = rings_of(fabric, device);
  profile.board = heater_board_of(device);
  return profile;
}

constinit const DriverModel kHeaterBank{
    {"heater_bank", DeviceRole::filter, "bank of micro-ring heaters, outputs in Modbus registers over TCP or RTU",
     kHeaterBoardKeys, refuse_board, kRegisterSchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<HeaterBankDriver>(heater_profile(fabric, device));
    }};

}  // namespace loom
