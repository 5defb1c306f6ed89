// SPDX-License-Identifier: Apache-2.0
// Two ways to pack one request.
#include "sim_backend/emulate/modbus_framing.hpp"

#include <algorithm>

namespace loom {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kRead = 0x03;
constexpr std::uint8_t kReadInputs = 0x04;
constexpr std::uint8_t kWriteOne = 0x06;
constexpr std::uint8_t kWriteMany = 0x10;
constexpr std::uint8_t kExceptionBit = 0x80;
constexpr std::uint16_t kReadMax = 125;   // V1.1b3 section 6.3
constexpr std::uint16_t kWriteMax = 123;  // section 6.12
constexpr std::size_t kTcpHead = 7;       // MBAP with the unit
constexpr std::size_t kPduMax = 253;
constexpr std::size_t kRtuMax = 256;
constexpr Duration kRtuGap = std::chrono::milliseconds{50};

std::uint16_t word_at(std::span<const std::uint8_t> bytes, std::size_t index) {
  return static_cast<std::uint16_t>(bytes[index] << 8 | bytes[index + 1]);
}

void append_word(Bytes& bytes, std::uint16_t word) {
  bytes.push_back(static_cast<std::uint8_t>(word >> 8));
  bytes.push_back(static_cast<std::uint8_t>(word & 0xFF));
}

/// Modbus over serial line V1.02, section 6.2.2: polynomial A001h, low byte first on the wire.
std::uint16_t crc_of(std::span<const std::uint8_t> bytes) {
  std::uint16_t crc = 0xFFFF;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = static_cast<std::uint16_t>((crc & 1) != 0 ? crc >> 1 ^ 0xA001 : crc >> 1);
    }
  }
  return crc;
}

/// The function's own part of a frame.
EmulatedRequest request_of(std::uint8_t unit, std::span<const std::uint8_t> pdu, std::span<const std::uint8_t> frame) {
  EmulatedRequest request;
  request.bus_address = unit;
  request.frame.assign(frame.begin(), frame.end());
  request.order = Registers{0, 1, {}};  // what the device is asked where the request itself is refused
  const auto refused = [&](ModbusException why) {
    request.exception = static_cast<std::uint8_t>(why);
    return request;
  };
  const std::uint8_t function = pdu.front();
  if (function != kRead && function != kReadInputs && function != kWriteOne && function != kWriteMany) {
    return refused(ModbusException::function);
  }
  if (pdu.size() < 5) {
    return refused(ModbusException::value);
  }
  const std::uint16_t address = word_at(pdu, 1);
  const std::uint16_t second = word_at(pdu, 3);
  if (function == kRead || function == kReadInputs) {
    if (second < 1 || second > kReadMax || pdu.size() != 5) {
      return refused(ModbusException::value);
    }
    request.order = Registers{address, second, {}, function == kReadInputs};
    return request;
  }
  Registers write{address, 0, {}};
  if (function == kWriteOne) {
    if (pdu.size() != 5) {
      return refused(ModbusException::value);
    }
    write.values.push_back(second);
  } else {
    if (second < 1 || second > kWriteMax || pdu.size() != 6U + 2U * second || pdu[5] != 2 * second) {
      return refused(ModbusException::value);
    }
    for (std::size_t index = 0; index < second; ++index) {
      write.values.push_back(word_at(pdu, 6 + 2 * index));
    }
  }
  request.order = std::move(write);
  return request;
}

bool is_damaged(const BusReply& reply) { return reply.status == BusStatus::malformed || reply.status == BusStatus::bad_check; }

/// Empty: nothing is said.
Bytes answer_of(std::uint8_t function, const EmulatedRequest& request, const BusReply& reply) {
  if (reply.status == BusStatus::timeout || reply.status == BusStatus::lost) {
    return {};
  }
  std::uint8_t exception = reply.status == BusStatus::exception ? reply.exception : request.exception;
  if (reply.status == BusStatus::nack) {
    exception = static_cast<std::uint8_t>(ModbusException::busy);
  }
  if (exception != 0) {
    return {static_cast<std::uint8_t>(function | kExceptionBit), exception};
  }
  const auto& registers = std::get<Registers>(request.order);
  Bytes pdu{function};
  if (registers.count > 0) {
    pdu.push_back(static_cast<std::uint8_t>(2 * reply.words.size()));
    for (const std::uint16_t word : reply.words) {
      append_word(pdu, word);
    }
    return pdu;
  }
  append_word(pdu, registers.address);
  append_word(pdu, function == kWriteOne ? registers.values.front() : static_cast<std::uint16_t>(registers.values.size()));
  return pdu;
}

class TcpFraming final : public Framing {
 public:
  void take(std::span<const std::uint8_t> bytes, Instant) override {
    input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    input_.insert(input_.end(), bytes.begin(), bytes.end());
  }
  std::optional<EmulatedRequest> next() override {
    const std::span<const std::uint8_t> rest = std::span(input_).subspan(begin_);
    if (is_lost_ || rest.size() < kTcpHead) {
      return std::nullopt;
    }
    const std::size_t length = word_at(rest, 4);  // unit and function's part
    if (word_at(rest, 2) != 0 || length < 2 || length > kPduMax + 1) {
      is_lost_ = true;  // where the next frame begins is not known
      return std::nullopt;
    }
    const std::size_t whole = kTcpHead - 1 + length;
    if (rest.size() < whole) {
      return std::nullopt;
    }
    begin_ += whole;
    return request_of(rest[kTcpHead - 1], rest.subspan(kTcpHead, length - 1), rest.first(whole));
  }
  Bytes answer(const EmulatedRequest& request, const BusReply& reply) override {
    const auto& asked = request.frame;
    Bytes pdu = answer_of(asked[kTcpHead], request, reply);
    if (pdu.empty()) {
      return {};
    }
    if (is_damaged(reply)) {
      pdu.front() ^= 0x40;
    }
    Bytes frame(asked.begin(), asked.begin() + 4);
    append_word(frame, static_cast<std::uint16_t>(pdu.size() + 1));
    frame.push_back(asked[kTcpHead - 1]);
    frame.insert(frame.end(), pdu.begin(), pdu.end());
    return frame;
  }
  bool is_lost() const override { return is_lost_; }

 private:
  Bytes input_;
  std::size_t begin_ = 0;
  bool is_lost_ = false;
};

class RtuFraming final : public Framing {
 public:
  void take(std::span<const std::uint8_t> bytes, Instant now) override {
    const bool rests = now - heard_ > kRtuGap && !length_of(std::span(input_).subspan(begin_));
    heard_ = now;
    input_.erase(input_.begin(), rests ? input_.end() : input_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    input_.insert(input_.end(), bytes.begin(), bytes.end());
  }
  std::optional<EmulatedRequest> next() override {
    while (begin_ < input_.size()) {
      const std::span<const std::uint8_t> rest = std::span(input_).subspan(begin_);
      const auto length = length_of(rest);
      if (length && is_sound(rest.first(*length))) {
        begin_ += *length;
        return request_of(rest[0], rest.subspan(1, *length - 3), rest.first(*length));
      }
      if (!length && rest.size() < kRtuMax) {
        break;  // the rest may come
      }
      ++begin_;  // no frame begins here
    }
    return std::nullopt;
  }
  Bytes answer(const EmulatedRequest& request, const BusReply& reply) override {
    const bool is_elsewhere =
        reply.status == BusStatus::exception && reply.exception == static_cast<std::uint8_t>(ModbusException::gateway_target);
    const Bytes pdu = is_elsewhere ? Bytes{} : answer_of(request.frame[1], request, reply);
    if (pdu.empty()) {
      return {};
    }
    Bytes frame{request.frame[0]};
    frame.insert(frame.end(), pdu.begin(), pdu.end());
    const std::uint16_t crc = static_cast<std::uint16_t>(crc_of(frame) ^ (is_damaged(reply) ? 0x0110 : 0));
    frame.push_back(static_cast<std::uint8_t>(crc & 0xFF));
    frame.push_back(static_cast<std::uint8_t>(crc >> 8));
    return frame;
  }

 private:
  static bool is_sound(std::span<const std::uint8_t> frame) {
    const std::uint16_t said = static_cast<std::uint16_t>(frame[frame.size() - 1] << 8 | frame[frame.size() - 2]);
    return crc_of(frame.first(frame.size() - 2)) == said;
  }
  /// Nothing: not yet known, or not all of it is there. A function that is not known is as long as what came.
  static std::optional<std::size_t> length_of(std::span<const std::uint8_t> rest) {
    if (rest.size() < 4) {
      return std::nullopt;
    }
    std::size_t length = 8;
    if (rest[1] == kWriteMany) {
      length = rest.size() > 6 ? 9U + rest[6] : kRtuMax;
    } else if (rest[1] != kRead && rest[1] != kReadInputs && rest[1] != kWriteOne) {
      return rest.size() < kRtuMax && is_sound(rest) ? std::optional(rest.size()) : std::nullopt;
    }
    return length <= rest.size() ? std::optional(length) : std::nullopt;
  }

  Bytes input_;
  std::size_t begin_ = 0;
  Instant heard_{};
};

}  // namespace

std::unique_ptr<Framing> make_modbus_tcp_framing() { return std::make_unique<TcpFraming>(); }
std::unique_ptr<Framing> make_modbus_rtu_framing() { return std::make_unique<RtuFraming>(); }

}  // namespace loom
