// SPDX-License-Identifier: Apache-2.0
// The state table of TableLaserDriver and what its words mean.
#include "drivers/transceiver/table_laser.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom {

using table_laser::Register;

namespace {

constexpr unsigned kRounds = 3;  ///< of writing that read-back did not confirm, a fire

std::int16_t to_signed(std::uint16_t word) { return static_cast<std::int16_t>(word); }
std::uint16_t to_word(std::int64_t number) { return static_cast<std::uint16_t>(number & 0xFFFF); }

constexpr ProcedureRow<TableLaserState> kTable[] = {
    // state                    exchange         then                     uncertain
    {TableLaserState::rest, Exchange::none, TableLaserState::rest, TableLaserState::rest},
    {TableLaserState::decide, Exchange::none, TableLaserState::decide, TableLaserState::decide},
    {TableLaserState::cut, Exchange::moves, TableLaserState::decide, TableLaserState::decide},
    {TableLaserState::read, Exchange::asks, TableLaserState::decide, TableLaserState::read},
    {TableLaserState::write, Exchange::moves, TableLaserState::decide, TableLaserState::decide},
    {TableLaserState::load, Exchange::moves, TableLaserState::decide, TableLaserState::decide},
    {TableLaserState::trigger, Exchange::moves, TableLaserState::decide, TableLaserState::decide},
};

}  // namespace

TableLaserDriver::TableLaserDriver(TableLaserProfile profile) : ReadBackDriver(std::move(profile), kTable) {
  target_.reserve(1);  // fire() copies without allocating
}

Result<void> TableLaserDriver::check(const Setpoint& setpoint) const {
  const auto* laser = std::get_if<TransmitterSetpoint>(&setpoint);
  if (laser == nullptr) {
    return fail(ErrorCode::unsupported, profile_.name + ": a laser takes laser setpoints only");
  }
  const std::int32_t channel = profile_.channels.channel_of(laser->slot);
  if (channel < 0 || (!profile_.tunable && channel != 0)) {
    return fail(ErrorCode::out_of_range,
                format_text("{}: frequency {} is not in its table of {} channels from {}", profile_.name,
                            to_string(centre_of(laser->slot)), profile_.tunable ? profile_.channels.count : 1,
                            to_string(centre_of(profile_.channels.slot(0)))));
  }
  if (laser->power < profile_.power_min || laser->power > profile_.power_max) {
    return fail(ErrorCode::out_of_range, format_text("{}: power {} is outside {} to {}", profile_.name, to_string(laser->power),
                                                     to_string(profile_.power_min), to_string(profile_.power_max)));
  }
  return {};
}

/// A read, a write, and reads until it has settled.
Duration TableLaserDriver::lead(const Setpoint&) const { return profile_.settle_max + 4 * profile_.exchange; }

std::vector<TableLaserWords> TableLaserDriver::held_by(const Setpoint& setpoint) const {
  LOOM_ASSERT(std::holds_alternative<TransmitterSetpoint>(setpoint));
  const auto& laser = std::get<TransmitterSetpoint>(setpoint);
  return {{laser.emit, to_word(profile_.channels.channel_of(laser.slot) + 1), to_signed(to_word(laser.power.centi))}};
}

/// A gate that was read shut when it was last settled need not be shut again: a module that starts anew is dark.
void TableLaserDriver::begin() {
  rounds_ = 0;
  const bool is_shut = is_read_ && !held().gate;
  is_cut_ = !operation_.is_fire() || target_.front().gate || is_shut;
  is_read_ = false;
}

TableLaserState TableLaserDriver::resolve(TableLaserState state, Instant now) {
  return state == TableLaserState::decide ? decide(now) : state;
}

/// What the target needs next, from what is known.
TableLaserState TableLaserDriver::decide(Instant now) {
  if (!is_cut_) {
    return TableLaserState::cut;
  }
  if (!is_read_) {
    return TableLaserState::read;
  }
  if (operation_.is_preparation()) {
    return waiting() == to_load() || ++rounds_ > kRounds ? TableLaserState::rest : TableLaserState::load;
  }
  const Lack lack = operation_.is_audit() ? Lack::nothing : this->lack();
  if (lack == Lack::nothing || lack == Lack::health) {
    return TableLaserState::rest;
  }
  if (lack == Lack::words || rounds_ == 0) {
    patience_since_ = now;
  }
  if (lack == Lack::words) {
    const bool waits = profile_.has_trigger && waiting() == target_.front();
    return ++rounds_ > kRounds ? TableLaserState::rest : waits ? TableLaserState::trigger : TableLaserState::write;
  }
  rounds_ = std::max(rounds_, 1U);
  if (now >= patience_since_ + patience()) {
    return TableLaserState::rest;
  }
  if (const Duration waited = now - patience_since_; waited > profile_.settle_max) {
    operation_.struggle(
        {Trouble::unsettled,
         format_text("{}: {}", profile_.name, format_text("{}; {} have gone by", sentence_of(lack), describe(waited)))});
  }
  // It moves within a microsecond or not at all: the longer that it has not, the less often it is asked.
  retry_.pause_until(now + std::max<Duration>(profile_.settle_max / 4, (now - patience_since_) / 4));
  return TableLaserState::read;
}

void TableLaserDriver::conclude() {
  if (operation_.is_preparation()) {
    if (waiting() == to_load()) {
      operation_.finish(true, operation_.observation().health);
    } else {
      give_up(Trouble::unheeded, format_text("what waits for its trigger does not read back as written, {} times", kRounds));
    }
    return;
  }
  Lack lack = target_.empty() ? Lack::words : this->lack();
  if (lack == Lack::tuning && !target_.front().gate) {
    lack = Lack::nothing;  // dark is what counts; it is asked again before it is lit
  }
  if (operation_.is_audit() || lack == Lack::nothing) {
    const bool is_broken = (word(Register::status) & table_laser::kBroken) != 0;
    operation_.finish(lack == Lack::nothing, is_broken ? DeviceHealth::failed : DeviceHealth::ready);
  } else {
    give_up(lack == Lack::words ? Trouble::unheeded : Trouble::unsettled, sentence_of(lack));
  }
}

decltype(Transaction::order) TableLaserDriver::order() const {
  Registers registers;
  if (state_ == TableLaserState::cut) {
    registers.values = {0};
  } else if (state_ == TableLaserState::write) {
    const TableLaserWords& wanted = target_.front();
    registers.values = {to_word(wanted.gate ? 1 : 0), wanted.channel, to_word(wanted.power)};
  } else if (state_ == TableLaserState::load) {
    const TableLaserWords next = to_load();
    registers.address = static_cast<std::uint16_t>(Register::next_gate);
    registers.values = {to_word(next.gate ? 1 : 0), next.channel, to_word(next.power)};
  } else if (state_ == TableLaserState::trigger) {
    registers.address = static_cast<std::uint16_t>(Register::trigger);
    registers.values = {1};
  } else {
    registers.count = profile_.word_count();
  }
  return registers;
}

std::string TableLaserDriver::question() const {
  switch (state_) {
    case TableLaserState::cut:
      return "write of the gate";
    case TableLaserState::write:
      return "write of gate, channel and power";
    case TableLaserState::load:
      return "write of what waits for its trigger";
    case TableLaserState::trigger:
      return "write of its trigger";
    default:
      return format_text("read of registers 0 to {}", profile_.word_count() - 1);
  }
}

Answer TableLaserDriver::absorb(Instant now, const BusReply& reply) {
  if (state_ != TableLaserState::read) {
    mark_uncertain(now, reply);
    is_cut_ = true;
    return Answer::understood;
  }
  if (reply.words.size() != profile_.word_count()) {
    return Answer::none;
  }
  std::ranges::copy(reply.words, words_.begin());
  is_read_ = true;
  auto& reading = operation_.reading<TransmitterObservation>();
  const std::uint16_t status = word(Register::status);
  const std::uint16_t channel = word(Register::channel);
  const bool is_known = (status & table_laser::kTuned) != 0 && channel >= 1 && channel <= profile_.channels.count;
  const FrequencyOffset error{to_signed(word(Register::frequency_error))};
  reading.frequency = is_known ? centre_of(profile_.channels.slot(channel - 1)) + error : Frequency{};
  reading.power = Dbm{to_signed(word(Register::output_power))};
  reading.emitting = (status & table_laser::kEmitting) != 0 || reading.power > kNoLight;
  reading.locked = (status & table_laser::kTuned) != 0;
  reading.status_fatal = status & table_laser::kBroken;
  operation_.observation().read_at = now;
  return Answer::understood;
}

Complaint TableLaserDriver::misread(const BusReply& reply) const {
  return {Trouble::garbage, format_text("{} words where {} were asked", reply.words.size(), profile_.word_count())};
}

/// Even where the answer of a write is lost it may have been obeyed.
void TableLaserDriver::mark_uncertain(Instant, const BusReply&) { is_read_ = is_read_ && state_ == TableLaserState::read; }

TableLaserWords TableLaserDriver::held() const {
  return {word(Register::gate) != 0, word(Register::channel), to_signed(word(Register::power))};
}

TableLaserWords TableLaserDriver::waiting() const {
  return {word(Register::next_gate) != 0, word(Register::next_channel), to_signed(word(Register::next_power))};
}

void TableLaserDriver::ask_prepare(bool withdraws) {
  withdraws_ = withdraws;
  operation_.ask_prepare();
}

/// Withdrawn: nothing waits.
TableLaserWords TableLaserDriver::to_load() const {
  return withdraws_ || staged_.empty() ? TableLaserWords{} : staged_.front();
}

TableLaserDriver::Lack TableLaserDriver::lack() const {
  const TableLaserWords& wanted = target_.front();
  const std::uint16_t status = word(Register::status);
  if (held() != wanted) {
    return Lack::words;
  }
  if (wanted.gate && (status & table_laser::kBroken) != 0) {
    return Lack::health;
  }
  const bool is_dark = (status & table_laser::kEmitting) == 0 && to_signed(word(Register::output_power)) <= kNoLight.centi;
  if (!wanted.gate && !is_dark) {
    return Lack::darkness;
  }
  if ((status & table_laser::kTuned) == 0) {
    return Lack::tuning;
  }
  return wanted.gate ? lack_of_light() : Lack::nothing;
}

TableLaserDriver::Lack TableLaserDriver::lack_of_light() const {
  if ((word(Register::status) & table_laser::kEmitting) == 0) {
    return Lack::light;
  }
  if (std::abs(to_signed(word(Register::frequency_error))) > profile_.frequency_tolerance.mhz) {
    return Lack::frequency;
  }
  const int error = to_signed(word(Register::output_power)) - target_.front().power;
  return std::abs(error) > profile_.power_tolerance.centi ? Lack::power : Lack::nothing;
}

std::string TableLaserDriver::sentence_of(Lack lack) const {
  const TableLaserWords& wanted = target_.front();
  const TableLaserWords has = held();
  const auto say = [](const TableLaserWords& words) {
    return format_text("gate {}, channel {}, {}", words.gate ? "open" : "shut", words.channel, to_string(Dbm{words.power}));
  };
  const std::string power = to_string(Dbm{to_signed(word(Register::output_power))});
  const std::string within = " within " + describe(patience());
  switch (lack) {
    case Lack::nothing:
      return {};
    case Lack::words:
      return format_text("reads {} after {} was written {} times", say(has), say(wanted), kRounds);
    case Lack::health:
      return "says that it is broken, and cannot emit";
    case Lack::darkness:
      return format_text("emits {} after its gate was shut, wanted no light{}", power, within);
    case Lack::tuning:
      return format_text("not tuned to channel {}{}", wanted.channel, within);
    case Lack::light:
      return format_text("dark on channel {} with its gate open, wanted light{}", wanted.channel, within);
    case Lack::frequency:
      return format_text("{} MHz beside channel {}, wanted +- {} MHz{}", to_signed(word(Register::frequency_error)),
                         wanted.channel, profile_.frequency_tolerance.mhz, within);
    case Lack::power:
      return format_text("emits {}, wanted {} +- {} cdB{}", power, to_string(Dbm{wanted.power}), profile_.power_tolerance.centi,
                         within);
  }
  return {};
}

TableLaserProfile table_laser_profile(const Fabric& fabric, const Device& device) {
  LOOM_ASSERT(device.elements.size() == 1);
  const auto* transmitter = std::get_if<Transmitter>(&fabric.element(device.elements.front()).kind);
  LOOM_ASSERT(transmitter != nullptr);
  TableLaserProfile profile;
  profile.take(device);
  profile.channels = transmitter->channels;
  profile.tunable = transmitter->tunable;
  profile.power_min = transmitter->launch_power - Db{500};  // adjustment range of the module [K]
  profile.power_max = transmitter->launch_power + Db{300};
  profile.settle_max = transmitter->retune_max + transmitter->blank_max;
  profile.has_trigger = DeviceProfileView(kTableLaser.model.keys, device.profile).flag("trigger");
  return profile;
}

namespace {

constexpr std::array kKeys{ProfileKey{
    "trigger", FlagKey{false},
    "it holds the next channel ready and switches to it by a word, or by an edge at its trigger input (triggers; no edge was "
    "tried on hardware)"}};

}  // namespace

constinit const DriverModel kTableLaser{
    {"table_laser", DeviceRole::transmitter,
     "tunable laser set by an index into its table (sampled gratings), registers of words", kKeys, nullptr, kRegisterSchemes},
    [](const Fabric& fabric, const Device& device) -> std::unique_ptr<Driver> {
      return std::make_unique<TableLaserDriver>(table_laser_profile(fabric, device));
    }};

}  // namespace loom
