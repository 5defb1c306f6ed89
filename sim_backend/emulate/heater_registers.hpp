// HeaterRegisters: the register map of a Waveshare Modbus analog output 8CH (B), 0-10 V, and what it says to a lawless
// request. A value and its rules; knows no socket. Source: Waveshare wiki, "Modbus RTU Analog Output 8CH".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace loom {

/// Modbus application protocol V1.1b3, section 7.
enum class ModbusException : std::uint8_t { function = 1, address = 2, value = 3, busy = 6, gateway_target = 11 };

class HeaterRegisters {
 public:
  static constexpr std::uint16_t kUart = 0x2000;
  static constexpr std::uint16_t kAddress = 0x4000;
  static constexpr std::uint16_t kVersion = 0x8000;
  static constexpr std::uint16_t kMillivoltMax = 10'000;

  HeaterRegisters(std::uint16_t channels, std::uint8_t unit);

  /// Nothing: lawful.
  std::optional<ModbusException> check_read(std::uint16_t address, std::uint16_t count) const;
  std::optional<ModbusException> check_write(std::uint16_t address, std::span<const std::uint16_t> values) const;

  /// Precondition of both: checked.
  std::vector<std::uint16_t> read(std::uint16_t address, std::uint16_t count) const;
  void write(std::uint16_t address, std::span<const std::uint16_t> values);

  /// Outputs are off after a power cycle; address and UART are kept.
  void power_up();

  std::uint8_t unit() const { return static_cast<std::uint8_t>(address_); }

 private:
  bool exists(std::uint16_t address, std::size_t count) const;
  const std::uint16_t& at(std::uint16_t address) const;

  std::vector<std::uint16_t> millivolts_;
  std::uint16_t uart_ = 0x0001;  ///< no parity, 9600 baud
  std::uint16_t address_;
  std::uint16_t version_ = 0x0064;  ///< 1.00
};

}  // namespace loom
