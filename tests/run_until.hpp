// SPDX-License-Identifier: Apache-2.0
// A loop that runs on the test's own thread until something is so.
#pragma once

#include <algorithm>
#include <asio/io_context.hpp>
#include <chrono>

namespace loom::test {

/// False: it was not so within `patience`.
template <class Condition>
bool run_until(asio::io_context& io, Condition is_done, std::chrono::milliseconds patience = std::chrono::seconds{20}) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!is_done()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
    io.restart();
    io.run_one_until(std::min(deadline, std::chrono::steady_clock::now() + std::chrono::milliseconds{5}));
  }
  return true;
}

}  // namespace loom::test
