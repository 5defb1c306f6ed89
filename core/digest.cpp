// SPDX-License-Identifier: Apache-2.0
// Bytes into the digest, eight at a time, little-endian on every machine.
#include "core/digest.hpp"

namespace loom {

void Digest::add(std::string_view bytes) {
  add(static_cast<std::uint64_t>(bytes.size()));
  std::uint64_t word = 0;
  unsigned filled = 0;
  for (const char byte : bytes) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(byte)) << (8 * filled);
    if (++filled == 8) {
      add(word);
      word = 0;
      filled = 0;
    }
  }
  if (filled > 0) {
    add(word);
  }
}

}  // namespace loom
