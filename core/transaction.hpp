// SPDX-License-Identifier: Apache-2.0
// Transaction: what a bus lane executes for a driver, and what came back. The narrow waist of all hardware: tape, faults and
// simulation sit here, so the real driver runs above each of them. Bytes as well as words (CMIS writes single bytes).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/ids.hpp"
#include "core/time.hpp"

namespace loom {

/// Word registers (Modbus holding registers): read `count` words or write `values` from `address` on.
struct Registers {
  std::uint16_t address = 0;
  std::uint16_t count = 0;            ///< of a read; 0 = write
  std::vector<std::uint16_t> values;  ///< of a write
  bool is_input = false;              ///< of a read: input registers (Modbus function 04), which nobody writes
  bool operator==(const Registers&) const = default;
};

/// How the pages of a pluggable module lie behind one linear offset (core/module/module_pages.hpp).
enum class PageLayout : std::uint8_t {
  one_address,   ///< QSFP, CMIS
  two_addresses  ///< SFP: A0h, then A2h and its pages
};

/// Byte registers (EEPROM pages): linear offset.
struct BytesAt {
  std::uint32_t offset = 0;
  std::uint16_t count = 0;           ///< of a read; 0 = write
  std::vector<std::uint8_t> values;  ///< of a write
  PageLayout layout = PageLayout::one_address;
  bool operator==(const BytesAt&) const = default;
};

/// One request frame and its reply frame (ITLA, SCPI, ASCII dialects).
struct Frame {
  std::vector<std::uint8_t> request;
  std::uint16_t reply_bytes = 0;  ///< fixed length, or 0: until `terminator`
  std::string terminator;
  /// Not empty: a reply may have many lines, and ends with the first that is one of these (without its terminator).
  std::vector<std::string> last_lines{};
  /// Not empty: a reply may have several parts, each up to `terminator`, and ends with the first that has this text in it. What
  /// comes before it, or came before the request, is for nobody (autonomous messages of TL1).
  std::string answers{};
  bool operator==(const Frame&) const = default;
};

struct Transaction {
  DeviceId device;
  std::uint16_t bus_address = 0;
  std::variant<Registers, BytesAt, Frame> order;
  Duration deadline{};  ///< how long the lane may wait for the device
  /// 0, or the only connection on which this makes sense (BusReply::connection): `lost` on any other.
  std::uint32_t connection = 0;
  bool operator==(const Transaction&) const = default;
};

enum class BusStatus : std::uint8_t {
  ok,
  nack,       ///< the device said "not now" (I2C hold-off, Modbus 6)
  exception,  ///< the device refused; `exception` says why (Modbus code)
  timeout,    ///< no answer within the deadline
  malformed,  ///< an answer that is none
  lost,       ///< the bus itself is gone
  bad_check,  ///< an answer whose checksum is wrong
};

struct BusReply {
  BusStatus status = BusStatus::ok;
  std::uint8_t exception = 0;
  std::vector<std::uint16_t> words;
  std::vector<std::uint8_t> bytes;
  /// Of a failure, where the bus knows more than its status says: "/dev/ttyUSB0: Permission denied (errno 13)". Empty on
  /// success.
  std::string cause{};
  /// Which of the bus's connections answered: another one each time that it was lost and opened again. 0: it has none.
  std::uint32_t connection = 0;
  bool operator==(const BusReply&) const = default;
};

}  // namespace loom
