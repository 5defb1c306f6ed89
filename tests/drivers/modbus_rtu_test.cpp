// SPDX-License-Identifier: Apache-2.0
// Modbus RTU over a pseudo terminal: the bytes on the wire, and the late reply that must not answer the next request.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "drivers/bus/modbus_bus.hpp"
#include "tests/drivers/terminal.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

/// Appends the CRC of the Modbus serial line specification V1.02, section 6.2.2, low byte first.
std::string with_crc(std::string frame) {
  unsigned crc = 0xFFFF;
  for (const char byte : frame) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1) != 0 ? crc >> 1 ^ 0xA001 : crc >> 1;
    }
  }
  frame += static_cast<char>(crc & 0xFF);
  frame += static_cast<char>(crc >> 8);
  return frame;
}

std::string read_reply(char high, char low) { return with_crc(std::string{1, 3, 2, high, low}); }

Transaction registers(Registers order, milliseconds deadline = milliseconds{5000}) {
  Transaction transaction;
  transaction.bus_address = 1;
  transaction.order = std::move(order);
  transaction.deadline = deadline;
  return transaction;
}

}  // namespace

TEST_CASE("writes_the_bytes_that_the_heater_banks_manual_shows") {
  const Terminal terminal;
  ModbusBus bus{{Endpoint::Protocol::modbus_rtu, terminal.endpoint()}};
  std::string received;
  std::jthread device([&] {
    received = terminal.receive(8);
    terminal.deliver(received);  // function 06h is answered by its echo
  });
  CHECK(bus.execute(registers({0, 0, {1000}})).status == BusStatus::ok);
  device.join();
  CHECK(received == std::string("\x01\x06\x00\x00\x03\xE8\x89\x74", 8));
}

TEST_CASE("a_late_reply_on_a_serial_line_does_not_answer_the_next_request") {
  const Terminal terminal;
  ModbusBus bus{{Endpoint::Protocol::modbus_rtu, terminal.endpoint()}};
  CHECK(bus.execute(registers({0x8000, 1, {}}, milliseconds{50})).status == BusStatus::timeout);
  terminal.receive(8);
  terminal.deliver(read_reply(0, 100));  // late, and of the very form that the next request expects
  std::jthread device([&] {
    terminal.receive(8);
    terminal.deliver(read_reply(0, 7));
  });
  const BusReply reply = bus.execute(registers({0, 1, {}}));
  CHECK(reply.status == BusStatus::ok);
  CHECK(reply.words == std::vector<std::uint16_t>{7});
}

TEST_CASE("a_garbled_serial_reply_is_malformed_and_forgotten") {
  const Terminal terminal;
  ModbusBus bus{{Endpoint::Protocol::modbus_rtu, terminal.endpoint()}};
  std::jthread device([&] {
    terminal.receive(8);
    std::string garbled = read_reply(0, 7);
    garbled[4] = static_cast<char>(garbled[4] ^ 1);
    terminal.deliver(garbled);
    terminal.receive(8);
    terminal.deliver(read_reply(0, 9));
  });
  CHECK(bus.execute(registers({0, 1, {}}, milliseconds{300})).status == BusStatus::bad_check);
  CHECK(bus.execute(registers({0, 1, {}})).words == std::vector<std::uint16_t>{9});
}

TEST_CASE("a_broadcast_is_refused_rather_than_waited_for") {
  const Terminal terminal;
  ModbusBus bus{{Endpoint::Protocol::modbus_rtu, terminal.endpoint()}};
  Transaction broadcast = registers({0, 0, {1}});
  broadcast.bus_address = 0;
  CHECK(bus.execute(broadcast).status == BusStatus::exception);
}

}  // namespace loom
