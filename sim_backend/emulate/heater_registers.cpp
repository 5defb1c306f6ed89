// Which registers there are, and which values they take.
#include "sim_backend/emulate/heater_registers.hpp"

#include <algorithm>

namespace loom {

HeaterRegisters::HeaterRegisters(std::uint16_t channels, std::uint8_t unit) : millivolts_(channels, 0), address_(unit) {}

bool HeaterRegisters::exists(std::uint16_t address, std::size_t count) const {
  const bool outputs = address + count <= millivolts_.size();
  return count > 0 && (outputs || (count == 1 && (address == kUart || address == kAddress || address == kVersion)));
}

const std::uint16_t& HeaterRegisters::at(std::uint16_t address) const {
  switch (address) {
    case kUart:
      return uart_;
    case kAddress:
      return address_;
    case kVersion:
      return version_;
    default:
      return millivolts_[address];
  }
}

std::optional<ModbusException> HeaterRegisters::check_read(std::uint16_t address, std::uint16_t count) const {
  if (count < 1 || count > 125) {
    return ModbusException::value;
  }
  return exists(address, count) ? std::nullopt : std::optional{ModbusException::address};
}

std::optional<ModbusException> HeaterRegisters::check_write(std::uint16_t address,
                                                            std::span<const std::uint16_t> values) const {
  if (values.empty() || values.size() > 123) {
    return ModbusException::value;
  }
  if (!exists(address, values.size()) || address == kVersion) {
    return ModbusException::address;
  }
  for (const std::uint16_t value : values) {
    const bool lawful = address == kUart      ? (value & 0xFF) <= 7 && (value >> 8) <= 2
                        : address == kAddress ? value >= 1 && value <= 255
                                              : value <= kMillivoltMax;
    if (!lawful) {
      return ModbusException::value;
    }
  }
  return std::nullopt;
}

std::vector<std::uint16_t> HeaterRegisters::read(std::uint16_t address, std::uint16_t count) const {
  std::vector<std::uint16_t> values;
  for (std::uint16_t offset = 0; offset < count; ++offset) {
    values.push_back(at(static_cast<std::uint16_t>(address + offset)));
  }
  return values;
}

void HeaterRegisters::write(std::uint16_t address, std::span<const std::uint16_t> values) {
  if (address == kUart) {
    uart_ = values.front();
  } else if (address == kAddress) {
    address_ = values.front();
  } else {
    std::copy(values.begin(), values.end(), millivolts_.begin() + address);
  }
}

void HeaterRegisters::power_up() { std::fill(millivolts_.begin(), millivolts_.end(), std::uint16_t{0}); }

}  // namespace loom
