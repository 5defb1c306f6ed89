// SPDX-License-Identifier: Apache-2.0
// libmodbus's errno, turned into what a driver understands.
#include "drivers/bus/modbus_bus.hpp"

#include <modbus/modbus.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {
namespace {

constexpr Duration kDefaultDeadline = std::chrono::milliseconds{500};
constexpr std::uint8_t kIllegalFunction = 1;  // Modbus application protocol V1.1b3, section 7
constexpr std::uint8_t kIllegalValue = 3;
constexpr std::uint8_t kBusy = 6;
constexpr std::uint8_t kNoSuchPath = 10;

struct Seconds {
  std::uint32_t whole = 0;
  std::uint32_t micro = 0;
};

/// libmodbus refuses 0 s 0 us as a response time-out.
Seconds seconds_of_timeout(Duration duration) {
  const std::int64_t micro = std::max<std::int64_t>(duration.count() / 1000, 1);
  return {static_cast<std::uint32_t>(micro / 1'000'000), static_cast<std::uint32_t>(micro % 1'000'000)};
}

modbus_t* new_context(const Endpoint& endpoint) {
  if (const auto* tcp = std::get_if<TcpEndpoint>(&endpoint.place)) {
    return modbus_new_tcp_pi(tcp->host.c_str(), std::to_string(tcp->port).c_str());
  }
  const auto& serial = std::get<SerialEndpoint>(endpoint.place);
  return modbus_new_rtu(serial.device.c_str(), serial.baud, serial.parity, 8, serial.stop_bits);
}

BusReply refused(std::uint8_t code) { return {BusStatus::exception, code, {}, {}, {}}; }

std::string place_of(const Endpoint& endpoint) {
  if (const auto* tcp = std::get_if<TcpEndpoint>(&endpoint.place)) {
    return format_text("{} port {}", tcp->host, tcp->port);
  }
  return std::get<SerialEndpoint>(endpoint.place).device;
}

/// libmodbus's own errors have names of their own; the rest are the system's.
std::string name_of(int error) {
  return error == EMBBADCRC       ? "wrong checksum"
         : error > MODBUS_ENOBASE ? modbus_strerror(error)
         : error == 0             ? "no answer"
                                  : describe_errno(error);
}

}  // namespace

void ModbusBus::Closer::operator()(_modbus* context) const {
  modbus_close(context);
  modbus_free(context);
}

ModbusBus::ModbusBus(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
ModbusBus::~ModbusBus() = default;

bool ModbusBus::connect(Duration deadline) {
  if (context_) {
    return true;
  }
  modbus_t* context = new_context(endpoint_);
  if (context == nullptr) {
    return false;
  }
  const Seconds timeout = seconds_of_timeout(deadline);
  modbus_set_response_timeout(context, timeout.whole, timeout.micro);
  if (modbus_connect(context) != 0) {
    modbus_free(context);
    return false;
  }
  context_.reset(context);
  return true;
}

void ModbusBus::close() { context_.reset(); }

/// The byte time-out is off, so that the response time-out governs the whole reply: a device that drips cannot stretch it.
bool ModbusBus::prepare(std::uint16_t unit, Duration deadline) {
  if (unit == 0 && endpoint_.protocol == Endpoint::Protocol::modbus_rtu) {
    return false;  // a broadcast: nobody answers it, libmodbus would wait
  }
  const Seconds timeout = seconds_of_timeout(deadline);
  modbus_set_response_timeout(context_.get(), timeout.whole, timeout.micro);
  modbus_set_byte_timeout(context_.get(), 0, 0);
  last_deadline_ = deadline;
  return modbus_set_slave(context_.get(), unit) == 0;
}

BusReply ModbusBus::execute(const Transaction& transaction) {
  const auto* order = std::get_if<Registers>(&transaction.order);
  if (order == nullptr) {
    return refused(kIllegalFunction);
  }
  if (order->count > MODBUS_MAX_READ_REGISTERS || order->values.size() > MODBUS_MAX_WRITE_REGISTERS ||
      (order->count == 0) == order->values.empty() || (order->is_input && order->count == 0)) {
    return refused(kIllegalValue);  // what the device would say; libmodbus would not even ask it
  }
  const Duration deadline = transaction.deadline > Duration{0} ? transaction.deadline : kDefaultDeadline;
  if (!make_ready(deadline)) {
    return failure(errno == 0 ? ENOTCONN : errno);
  }
  return prepare(transaction.bus_address, deadline) ? exchange(*order) : refused(kNoSuchPath);
}

BusReply ModbusBus::read_discrete(std::uint8_t unit, std::uint16_t input, Duration deadline) {
  if (!make_ready(deadline)) {
    return failure(errno == 0 ? ENOTCONN : errno);
  }
  if (!prepare(unit, deadline)) {
    return refused(kNoSuchPath);
  }
  std::uint8_t bit = 0;
  if (modbus_read_input_bits(context_.get(), input, 1, &bit) < 0) {
    return failure(errno);
  }
  BusReply reply;
  reply.words = {static_cast<std::uint16_t>(bit == 0 ? 0 : 1)};
  return reply;
}

bool ModbusBus::make_ready(Duration deadline) {
  errno = 0;
  if (!connect(deadline)) {
    return false;
  }
  if (late_reply_until_ != Instant{}) {
    listen_out(modbus_get_socket(context_.get()), late_reply_until_);
    late_reply_until_ = Instant{};
  }
  return true;
}

BusReply ModbusBus::exchange(const Registers& order) {
  BusReply reply;
  int done = 0;
  if (order.count > 0) {
    reply.words.resize(order.count);
    done = (order.is_input ? modbus_read_input_registers : modbus_read_registers)(context_.get(), order.address, order.count,
                                                                                  reply.words.data());
  } else if (order.values.size() == 1) {
    done = modbus_write_register(context_.get(), order.address, order.values.front());
  } else {
    done = modbus_write_registers(context_.get(), order.address, static_cast<int>(order.values.size()), order.values.data());
  }
  return done < 0 ? failure(errno) : reply;
}

/// Leaves the bus in a state in which the next request is answered by its own reply.
BusReply ModbusBus::failure(int error) {
  if (error > MODBUS_ENOBASE && error < MODBUS_ENOBASE + MODBUS_EXCEPTION_MAX) {
    const auto code = static_cast<std::uint8_t>(error - MODBUS_ENOBASE);
    return {code == kBusy ? BusStatus::nack : BusStatus::exception, code, {}, {}, {}};
  }
  const bool garbled = error == EMBBADCRC || error == EMBBADDATA || error == EMBBADEXC || error == EMBUNKEXC ||
                       error == EMBMDATA || error == EMBBADSLAVE;
  const bool serial = endpoint_.protocol == Endpoint::Protocol::modbus_rtu;
  if (serial && (garbled || error == ETIMEDOUT)) {
    late_reply_until_ = steady_now() + last_deadline_;
  } else {
    close();
  }
  const BusStatus status = error == EMBBADCRC   ? BusStatus::bad_check
                           : garbled            ? BusStatus::malformed
                           : error == ETIMEDOUT ? BusStatus::timeout
                                                : BusStatus::lost;
  const std::string cause =
      status == BusStatus::timeout ? std::string{} : format_text("{}: {}", place_of(endpoint_), name_of(error));
  return {status, 0, {}, {}, cause};
}

}  // namespace loom
