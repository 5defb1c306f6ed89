// SPDX-License-Identifier: Apache-2.0
// termios.
#include "drivers/bus/serial_port.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/text/format_text.hpp"
#include "drivers/bus/stream.hpp"

namespace loom {
namespace {

speed_t speed_of(int baud) {
  switch (baud) {
    case 1200:
      return B1200;
    case 2400:
      return B2400;
    case 4800:
      return B4800;
    case 9600:
      return B9600;
    case 19200:
      return B19200;
    case 38400:
      return B38400;
    case 57600:
      return B57600;
    case 115200:
      return B115200;
    case 230400:
      return B230400;
    case 460800:
      return B460800;
    case 921600:
      return B921600;
    default:
      return B0;  // parse_endpoint lets no other through
  }
}

bool set_up(int descriptor, const SerialEndpoint& endpoint) {
  termios line{};
  if (tcgetattr(descriptor, &line) != 0) {
    return false;
  }
  cfmakeraw(&line);
  line.c_cflag |= CLOCAL | CREAD;
  line.c_cflag &= ~static_cast<tcflag_t>(PARENB | PARODD | CSTOPB | CRTSCTS);
  line.c_cflag |= endpoint.parity == 'N' ? 0U : endpoint.parity == 'E' ? PARENB : PARENB | PARODD;
  line.c_cflag |= endpoint.stop_bits == 2 ? CSTOPB : 0U;
  line.c_cc[VMIN] = 0;
  line.c_cc[VTIME] = 0;
  const speed_t speed = speed_of(endpoint.baud);
  return cfsetispeed(&line, speed) == 0 && cfsetospeed(&line, speed) == 0 && tcsetattr(descriptor, TCSANOW, &line) == 0 &&
         tcflush(descriptor, TCIOFLUSH) == 0;
}

}  // namespace

Result<SerialPort> SerialPort::open(const SerialEndpoint& endpoint) {
  const int descriptor = ::open(endpoint.device.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  SerialPort port(descriptor);
  if (descriptor < 0 || !set_up(descriptor, endpoint) || ioctl(descriptor, TIOCEXCL) != 0) {
    return fail(ErrorCode::unreachable, format_text("{}: {}", endpoint.device, describe_errno(errno)));
  }
  return port;
}

Result<void> SerialPort::set_baud(int baud) {
  termios line{};
  const speed_t speed = speed_of(baud);
  if (tcgetattr(descriptor_, &line) != 0 || cfsetispeed(&line, speed) != 0 || cfsetospeed(&line, speed) != 0 ||
      tcsetattr(descriptor_, TCSANOW, &line) != 0 || tcflush(descriptor_, TCIFLUSH) != 0) {
    return fail(ErrorCode::unreachable, format_text("{} baud: {}", baud, describe_errno(errno)));
  }
  return {};
}

SerialPort::SerialPort(SerialPort&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

SerialPort& SerialPort::operator=(SerialPort&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

SerialPort::~SerialPort() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

}  // namespace loom
