// SPDX-License-Identifier: Apache-2.0
// Page select, then the bytes.
#include "drivers/bus/module/i2c_bus.hpp"

#include <array>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/bus/module/module_errno.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {
namespace {

constexpr std::uint16_t kLowestAddress = 0x03;  ///< I2C-bus specification, section 3.1.12: the others are reserved
constexpr std::uint16_t kHighestAddress = 0x77;
constexpr std::uint8_t kIllegalFunction = 1;
constexpr std::uint8_t kIllegalAddress = 2;
constexpr Duration kDefaultDeadline = std::chrono::milliseconds{500};

}  // namespace

BusReply I2cBus::execute(const Transaction& transaction) {
  const auto* order = std::get_if<BytesAt>(&transaction.order);
  if (order == nullptr) {
    return unlawful(kIllegalFunction, format_text("{} takes bytes at an offset only", path_));
  }
  if (transaction.connection != 0 && (!is_open_ || connection_ != transaction.connection)) {
    return connection_is_gone(path_);
  }
  if (!is_open_) {
    if (const int trouble = port_->open(path_); trouble != 0) {
      return failed_open(path_, trouble);
    }
    is_open_ = true;
    ++connection_;
  }
  BusReply reply = transfer(transaction, *order);
  reply.connection = connection_;
  if (reply.status == BusStatus::lost) {
    port_->close();
    is_open_ = false;
  }
  return reply;
}

BusReply I2cBus::transfer(const Transaction& transaction, const BytesAt& order) {
  const Duration limit = transaction.deadline > Duration{} ? transaction.deadline : kDefaultDeadline;
  const bool is_read = order.count > 0;
  const auto place = place_of(order.layout, order.offset);
  if (!place || !fits_page(order.layout, *place, is_read ? order.count : order.values.size())) {
    return unlawful(kIllegalAddress, format_text("offset {} lies in no page, or its bytes do not", order.offset));
  }
  const auto address = static_cast<std::uint16_t>(transaction.bus_address + (place->second_address ? 1 : 0));
  if (address < kLowestAddress || address > kHighestAddress) {
    return unlawful(kIllegalAddress, format_text("{}: {} is no I2C address, expected {} to {} (a module has {})", path_,
                                                 address, kLowestAddress, kHighestAddress, kModuleAddress));
  }
  if (is_paged(order.layout, *place)) {
    if (BusReply selected = select(address, order.layout, place->page, limit); selected.status != BusStatus::ok) {
      return selected;
    }
  }
  return is_read ? read(address, place->byte, order.count, limit) : write(address, place->byte, order.values, limit);
}

BusReply I2cBus::select(std::uint16_t address, PageLayout layout, std::uint8_t page, Duration limit) {
  const bool has_banks = layout == PageLayout::one_address;
  const std::uint8_t first = has_banks ? kBankSelect : kPageSelect;
  const std::vector<std::uint8_t> wanted = has_banks ? std::vector<std::uint8_t>{0, page} : std::vector<std::uint8_t>{page};
  for (const bool is_told : {false, true}) {
    BusReply there = read(address, first, wanted.size(), limit);
    if (there.status != BusStatus::ok || there.bytes == wanted) {
      return there;
    }
    if (is_told) {
      return unlawful(kIllegalAddress, format_text("{}: page {:02X}h was selected and page {:02X}h reads back: it is not there",
                                                   path_, page, there.bytes.back()));
    }
    // A bank that is right already is not told again: modules without banks need not take it.
    const bool bank_too = has_banks && there.bytes.front() != 0;
    const BusReply told =
        write(address, bank_too ? kBankSelect : kPageSelect, std::span(wanted).last(bank_too ? wanted.size() : 1), limit);
    if (told.status != BusStatus::ok) {
      return told;
    }
  }
  return {};
}

BusReply I2cBus::read(std::uint16_t address, std::uint8_t first, std::size_t count, Duration limit) {
  std::array<I2cMessage, 2> messages{{{address, false, {first}}, {address, true, std::vector<std::uint8_t>(count)}}};
  if (const int trouble = port_->transfer(messages, limit); trouble != 0) {
    return failed_transfer(format_text("{} address {:02X}h", path_, address), trouble);
  }
  BusReply reply;
  reply.bytes = std::move(messages[1].bytes);
  return reply;
}

BusReply I2cBus::write(std::uint16_t address, std::uint8_t first, std::span<const std::uint8_t> values, Duration limit) {
  std::array<I2cMessage, 1> messages{{{address, false, {first}}}};
  messages[0].bytes.insert(messages[0].bytes.end(), values.begin(), values.end());
  if (const int trouble = port_->transfer(messages, limit); trouble != 0) {
    return failed_transfer(format_text("{} address {:02X}h", path_, address), trouble);
  }
  return {};
}

}  // namespace loom
