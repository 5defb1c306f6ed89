// SPDX-License-Identifier: Apache-2.0
// SerialPort: an open tty in raw mode. What is said over it is drivers/bus/stream.
#pragma once

#include "core/result.hpp"
#include "drivers/bus/endpoint.hpp"

namespace loom {

class SerialPort {
 public:
  /// Takes the tty for itself (TIOCEXCL), raw, 8 data bits. Errors: unreachable, naming the device.
  static Result<SerialPort> open(const SerialEndpoint& endpoint);
  SerialPort(SerialPort&& other) noexcept;
  SerialPort& operator=(SerialPort&& other) noexcept;
  ~SerialPort();

  /// From now on; what was heard before is dropped. Errors: unreachable.
  Result<void> set_baud(int baud);
  int descriptor() const { return descriptor_; }

 private:
  explicit SerialPort(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace loom
