// SPDX-License-Identifier: Apache-2.0
// Digest: an order-sensitive 64-bit hash of everything that happened. Same seed, same digest, under every compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace loom {

class Digest {
 public:
  void add(std::uint64_t word) {
    state_ ^= word + 0x9e3779b97f4a7c15ULL + (state_ << 6) + (state_ >> 2);
    state_ *= 0xff51afd7ed558ccdULL;
    state_ ^= state_ >> 32;
  }
  void add(std::string_view bytes);
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x6c6f6f6d6c6f6f6dULL;
};

}  // namespace loom
