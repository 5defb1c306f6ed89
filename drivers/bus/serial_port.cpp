// termios, poll, read, write.
#include "drivers/bus/serial_port.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

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

/// Waits for `events` on a descriptor. Errors as SerialPort's.
Result<void> wait_for(int descriptor, short events, Instant until) {
  const std::int64_t rest_us = std::max<std::int64_t>((until - steady_now()).count() / 1000, 0);
  const timespec rest{rest_us / 1'000'000, rest_us % 1'000'000 * 1000};
  pollfd port{descriptor, events, 0};
  const int ready = ppoll(&port, 1, &rest, nullptr);
  if (ready == 0) {
    return fail(ErrorCode::timed_out, "the serial line did not answer in time");
  }
  if (ready < 0 && errno != EINTR) {
    return fail(ErrorCode::unreachable, std::string{"the serial line cannot be waited for: "} + std::strerror(errno));
  }
  return {};
}

std::unexpected<Error> gone() {
  return fail(ErrorCode::unreachable,
              std::string{"the serial line is gone: "} + (errno != 0 ? std::strerror(errno) : "end of file"));
}

}  // namespace

Instant steady_now() { return Instant{Duration{std::chrono::steady_clock::now().time_since_epoch()}}; }

void listen_out(int descriptor, Instant until) {
  constexpr Duration kSilence = std::chrono::milliseconds{35};  // 3.5 characters at 1200 baud, the slowest that we speak
  std::array<char, 256> dropped{};
  while (wait_for(descriptor, POLLIN, until) && read(descriptor, dropped.data(), dropped.size()) > 0) {
    until = std::min(until, steady_now() + kSilence);
  }
}

Result<SerialPort> SerialPort::open(const SerialEndpoint& endpoint) {
  const int descriptor = ::open(endpoint.device.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  SerialPort port(descriptor);
  if (descriptor < 0 || !set_up(descriptor, endpoint) || ioctl(descriptor, TIOCEXCL) != 0) {
    return fail(ErrorCode::unreachable, "serial line " + endpoint.device + " cannot be opened: " + std::strerror(errno));
  }
  return port;
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

Result<void> SerialPort::write(std::span<const std::uint8_t> bytes, Instant until) {
  while (!bytes.empty()) {
    LOOM_TRY(wait_for(descriptor_, POLLOUT, until));
    errno = 0;
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EAGAIN && errno != EINTR) {
      return gone();
    }
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return {};
}

Result<std::vector<std::uint8_t>> SerialPort::read_some(std::size_t limit, Instant until) {
  while (true) {
    LOOM_TRY(wait_for(descriptor_, POLLIN, until));
    std::vector<std::uint8_t> bytes(limit);
    errno = 0;
    const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
    if (count > 0) {
      bytes.resize(static_cast<std::size_t>(count));
      return bytes;
    }
    if (errno != EAGAIN && errno != EINTR) {
      return gone();
    }
  }
}

}  // namespace loom
