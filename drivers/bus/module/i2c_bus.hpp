// SPDX-License-Identifier: Apache-2.0
// I2cBus: modules behind an adapter of i2c-dev. It turns a linear offset back into address, page and byte, and selects the page
// itself. It believes in no page that it selected before: another program on the adapter, or a module that started anew, would
// make it read and write elsewhere. Tried against a module made of code only; no adapter was at hand.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/module/module_pages.hpp"
#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/module/i2c_port.hpp"

namespace loom {

class I2cBus final : public BusDevice {
 public:
  I2cBus(std::string path, std::unique_ptr<I2cPort> port) : path_(std::move(path)), port_(std::move(port)) {}

  /// BytesAt only. bus_address: the module's address of 7 bits; an SFP has the next one too.
  BusReply execute(const Transaction& transaction) override;

 private:
  BusReply transfer(const Transaction& transaction, const BytesAt& order);
  /// ok: the page is there. Reads first, for a module takes time over every page that it is told.
  BusReply select(std::uint16_t address, PageLayout layout, std::uint8_t page, Duration limit);
  BusReply read(std::uint16_t address, std::uint8_t first, std::size_t count, Duration limit);
  BusReply write(std::uint16_t address, std::uint8_t first, std::span<const std::uint8_t> values, Duration limit);

  std::string path_;
  std::unique_ptr<I2cPort> port_;
  bool is_open_ = false;
  std::uint32_t connection_ = 0;
};

}  // namespace loom
