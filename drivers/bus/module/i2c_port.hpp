// SPDX-License-Identifier: Apache-2.0
// I2cPort: the seam to i2c-dev. What is above it is tried without an adapter.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/time.hpp"

namespace loom {

/// One message of a combined transfer. A read is as long as `bytes`, which it fills.
struct I2cMessage {
  std::uint16_t address = 0;  ///< 7 bits
  bool is_read = false;
  std::vector<std::uint8_t> bytes;
};

class I2cPort {
 public:
  virtual ~I2cPort() = default;
  /// 0, or an errno: EOPNOTSUPP where the adapter has no combined transfers (SMBus only).
  virtual int open(const std::string& path) = 0;
  virtual void close() = 0;
  /// Repeated starts between the messages, one stop at the end. 0, or an errno. Blocks for the adapter's time-out at most,
  /// which is set to `limit` in steps of 10 ms.
  virtual int transfer(std::span<I2cMessage> messages, Duration limit) = 0;
};

/// ioctl(I2C_RDWR).
std::unique_ptr<I2cPort> make_i2c_port();

}  // namespace loom
