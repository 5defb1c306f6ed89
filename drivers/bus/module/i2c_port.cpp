// SPDX-License-Identifier: Apache-2.0
// The calls of i2c-dev, and nothing else.
#include "drivers/bus/module/i2c_port.hpp"

#include <fcntl.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace loom {
namespace {

class DevicePort final : public I2cPort {
 public:
  ~DevicePort() override { close(); }

  int open(const std::string& path) override {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor_ < 0) {
      return errno;
    }
    unsigned long functions = 0;
    const int trouble = ioctl(descriptor_, I2C_FUNCS, &functions) != 0 ? errno
                        : (functions & I2C_FUNC_I2C) == 0              ? EOPNOTSUPP
                                                                       : 0;
    if (trouble != 0) {
      close();
    }
    return trouble;
  }
  void close() override {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
    descriptor_ = -1;
    limit_ = 0;
  }
  int transfer(std::span<I2cMessage> messages, Duration limit) override {
    const auto ticks =
        static_cast<unsigned long>(std::max<Duration::rep>(1, limit / std::chrono::milliseconds{10}));  // i2c-dev: 10 ms
    if (ticks != limit_ && ioctl(descriptor_, I2C_TIMEOUT, ticks) == 0) {
      limit_ = ticks;
    }
    std::vector<i2c_msg> raw;
    for (I2cMessage& message : messages) {
      raw.push_back({message.address, static_cast<__u16>(message.is_read ? I2C_M_RD : 0),
                     static_cast<__u16>(message.bytes.size()), message.bytes.data()});
    }
    i2c_rdwr_ioctl_data transfer{raw.data(), static_cast<__u32>(raw.size())};
    return ioctl(descriptor_, I2C_RDWR, &transfer) < 0 ? errno : 0;
  }

 private:
  int descriptor_ = -1;
  unsigned long limit_ = 0;
};

}  // namespace

std::unique_ptr<I2cPort> make_i2c_port() { return std::make_unique<DevicePort>(); }

}  // namespace loom
