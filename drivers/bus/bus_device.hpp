// SPDX-License-Identifier: Apache-2.0
// BusDevice: one real bus that executes one transaction at a time and blocks for at most its deadline. It never retries:
// retries belong to the driver above. One thread owns it.
#pragma once

#include <memory>
#include <string_view>

#include "core/result.hpp"
#include "core/time.hpp"
#include "core/transaction.hpp"

namespace loom {

/// Of a transaction that has none.
inline constexpr Duration kUsualDeadline = std::chrono::milliseconds{500};

class BusDevice {
 public:
  virtual ~BusDevice() = default;
  /// Blocks for at most the transaction's deadline (kUsualDeadline if it has none), once more that long on a serial line whose
  /// last transaction timed out. Opens what is closed. Never throws, never answers a request with the reply of another one.
  virtual BusReply execute(const Transaction& transaction) = 0;
};

/// Registers: `modbus-tcp://host:port`, `modbus-rtu:///dev/ttyUSB0?baud=9600&parity=N`. Frames: `tcp://host:port`,
/// `serial:///dev/ttyUSB0?baud=9600`. Frames of core/text/http_text.hpp: `http://host`, `http://host:port`. Bytes of a module's
/// pages: `optoe:///sys/bus/i2c/devices/11-0050/eeprom`, `i2c:///dev/i2c-11`.
/// Touches no device yet. Errors: invalid_config, naming the endpoint and what is wrong with it.
Result<std::unique_ptr<BusDevice>> make_bus(std::string_view endpoint);

}  // namespace loom
