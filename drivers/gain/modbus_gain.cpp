// SPDX-License-Identifier: Apache-2.0
// Blocks of words.
#include "drivers/gain/modbus_gain.hpp"

#include <array>

#include "core/text/format_text.hpp"
#include "drivers/gain/gain_registers.hpp"

namespace loom {

using gain_stage::Register;

namespace {

std::int16_t to_signed(std::uint16_t word) { return static_cast<std::int16_t>(word); }

}  // namespace

ModbusGainDriver::ModbusGainDriver(const ModbusGainProfile& profile)
    : GainDriver(profile),
      base_(profile.base),
      count_(profile.tells_powers ? gain_stage::kWords : gain_stage::kWordsWithoutPowers) {}

/// The gain goes with the order that turns it on, which is one write; where it is on, its light goes from gain to gain.
decltype(Transaction::order) ModbusGainDriver::order() const {
  Registers registers;
  registers.address = base_;
  if (state_ == GainState::read) {
    registers.count = count_;
  } else {
    registers.values = {static_cast<std::uint16_t>(wants_on() ? 1 : 0), static_cast<std::uint16_t>(wanted_magnitude().centi)};
  }
  return registers;
}

std::string ModbusGainDriver::question() const {
  return state_ == GainState::read ? format_text("read of registers {} to {}", base_, base_ + count_ - 1)
                                   : std::string("write of on and gain");
}

Answer ModbusGainDriver::absorb(Instant now, const BusReply& reply) {
  if (state_ != GainState::read) {
    take_write();
    return Answer::understood;
  }
  if (reply.words.size() != count_) {
    return Answer::none;
  }
  const auto word = [&](Register address) { return reply.words[static_cast<std::size_t>(address)]; };
  GainWords words;
  words.is_on = word(Register::on) != 0;
  words.is_moving = (word(Register::status) & gain_stage::kMoving) != 0;
  words.is_broken = (word(Register::status) & gain_stage::kBroken) != 0;
  words.magnitude = Db{word(Register::present)};
  if (count_ == gain_stage::kWords) {
    words.input = Dbm{to_signed(word(Register::input))};
    words.output = Dbm{to_signed(word(Register::output))};
  }
  take_answer(now, words);
  return Answer::understood;
}

Complaint ModbusGainDriver::misread(const BusReply& reply) const {
  return {Trouble::garbage, format_text("{} words where {} were asked", reply.words.size(), count_)};
}

namespace {

constexpr std::array kKeys{
    ProfileKey{"register_base", IntegerKey{0, 0, 65'530}, "register that turns it on; the others follow"},
    ProfileKey{"tells_powers", FlagKey{true}, "it measures the light that comes to it and leaves it"}};

template <bool kIsAmplifier>
std::string refuse(const Fabric& fabric, const Device& device) {
  return refuse_gain(fabric, device, kIsAmplifier);
}

std::unique_ptr<Driver> make(const Fabric& fabric, const Device& device) {
  return std::make_unique<ModbusGainDriver>(modbus_gain_profile(fabric, device));
}

}  // namespace

ModbusGainProfile modbus_gain_profile(const Fabric& fabric, const Device& device) {
  const DeviceProfileView keys(kKeys, device.profile);
  ModbusGainProfile profile;
  static_cast<GainProfile&>(profile) = gain_profile(fabric, device);
  profile.base = static_cast<std::uint16_t>(keys.integer("register_base"));
  profile.tells_powers = keys.flag("tells_powers");
  return profile;
}

constinit const DriverModel kModbusVoa{
    {"modbus_voa", DeviceRole::gain_stage, "variable optical attenuator, registers over Modbus TCP or RTU", kKeys,
     refuse<false>, kRegisterSchemes},
    make};

constinit const DriverModel kModbusEdfa{
    {"modbus_edfa", DeviceRole::gain_stage, "fibre amplifier in gain mode, registers over Modbus TCP or RTU", kKeys,
     refuse<true>, kRegisterSchemes},
    make};

}  // namespace loom
