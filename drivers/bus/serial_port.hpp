// SerialPort: an open tty in raw mode, and what both serial buses need of it. Blocking, with deadlines.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "drivers/bus/endpoint.hpp"

namespace loom {

/// CLOCK_MONOTONIC.
Instant steady_now();

/// Reads and forgets what still comes from a request that timed out: until it was spoken and is silent again, or `until`.
void listen_out(int descriptor, Instant until);

class SerialPort {
 public:
  /// Takes the tty for itself (TIOCEXCL), raw, 8 data bits. Errors: unreachable, naming the device.
  static Result<SerialPort> open(const SerialEndpoint& endpoint);
  SerialPort(SerialPort&& other) noexcept;
  SerialPort& operator=(SerialPort&& other) noexcept;
  ~SerialPort();

  int descriptor() const { return descriptor_; }
  /// Errors: timed_out, unreachable (the line is gone).
  Result<void> write(std::span<const std::uint8_t> bytes, Instant until);
  /// What is there, waiting for the first byte; at most `limit` bytes. Errors: timed_out, unreachable.
  Result<std::vector<std::uint8_t>> read_some(std::size_t limit, Instant until);

 private:
  explicit SerialPort(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace loom
