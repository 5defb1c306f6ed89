// SPDX-License-Identifier: Apache-2.0
// Terminal: a pseudo terminal whose other end a test plays by hand: it receives and says bytes, blocking.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "drivers/bus/endpoint.hpp"

namespace loom {

class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(master_ >= 0);
    REQUIRE(grantpt(master_) == 0);
    REQUIRE(unlockpt(master_) == 0);
  }
  ~Terminal() { close(master_); }
  SerialEndpoint endpoint() const { return {ptsname(master_), 9600, 'N', 1}; }
  int master() const { return master_; }
  std::string receive(std::size_t count) const {
    std::string received;
    char byte = 0;
    while (received.size() < count && read(master_, &byte, 1) == 1) {
      received += byte;
    }
    return received;
  }
  void deliver(std::string_view text) const {
    // No REQUIRE: Catch assertions are not for other threads, and some tests speak from one.
    LOOM_ASSERT(write(master_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

 private:
  int master_;
};

}  // namespace loom
