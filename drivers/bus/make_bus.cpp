// SPDX-License-Identifier: Apache-2.0
// From an endpoint to the bus that speaks its protocol.
#include "drivers/bus/bus_device.hpp"
#include "drivers/bus/endpoint.hpp"
#include "drivers/bus/http/http_bus.hpp"
#include "drivers/bus/modbus_bus.hpp"
#include "drivers/bus/module/i2c_bus.hpp"
#include "drivers/bus/module/optoe_bus.hpp"
#include "drivers/bus/serial_bus.hpp"
#include "drivers/bus/tcp_bus.hpp"

namespace loom {

Result<std::unique_ptr<BusDevice>> make_bus(std::string_view text) {
  Result<Endpoint> endpoint = parse_endpoint(text);
  if (!endpoint) {
    return std::unexpected(std::move(endpoint).error());
  }
  if (endpoint->protocol == Endpoint::Protocol::serial) {
    return std::make_unique<SerialBus>(std::get<SerialEndpoint>(endpoint->place));
  }
  if (endpoint->protocol == Endpoint::Protocol::tcp) {
    return std::make_unique<TcpBus>(std::get<TcpEndpoint>(std::move(endpoint->place)));
  }
  if (endpoint->protocol == Endpoint::Protocol::http) {
    return std::make_unique<HttpBus>(std::get<TcpEndpoint>(std::move(endpoint->place)));
  }
  if (endpoint->protocol == Endpoint::Protocol::optoe) {
    return std::make_unique<OptoeBus>(std::get<FileEndpoint>(std::move(endpoint->place)).path);
  }
  if (endpoint->protocol == Endpoint::Protocol::i2c) {
    return std::make_unique<I2cBus>(std::get<FileEndpoint>(std::move(endpoint->place)).path, make_i2c_port());
  }
  return std::make_unique<ModbusBus>(std::move(*endpoint));
}

}  // namespace loom
