// SPDX-License-Identifier: Apache-2.0
// The calls of the kernel, and nothing else.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "drivers/bus/trigger/phc_trigger.hpp"

namespace loom {
namespace {

/// FD_TO_CLOCKID of the kernel's documentation (Documentation/driver-api/ptp.rst and testptp.c): a clock by its descriptor.
clockid_t clock_of(int descriptor) {
  constexpr unsigned kClockFd = 3;
  return static_cast<clockid_t>(~static_cast<unsigned>(descriptor) << 3U | kClockFd);
}

class KernelPhcPort final : public PhcPort {
 public:
  ~KernelPhcPort() override {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  int open(const std::string& clock) override {
    descriptor_ = ::open(clock.c_str(), O_RDWR | O_CLOEXEC);
    return descriptor_ >= 0 ? 0 : errno;
  }
  int control(unsigned long request, void* argument) override {
    return ::ioctl(descriptor_, request, argument) == 0 ? 0 : errno;
  }
  int time(Instant& now) override {
    timespec time{};
    if (::clock_gettime(clock_of(descriptor_), &time) != 0) {
      return errno;
    }
    now = Instant{std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec}};
    return 0;
  }

 private:
  int descriptor_ = -1;
};

}  // namespace

std::unique_ptr<PhcPort> make_phc_port() { return std::make_unique<KernelPhcPort>(); }

}  // namespace loom
