// SPDX-License-Identifier: Apache-2.0
// ModuleBlocks: what was read of a pluggable module, block by block, and which of it holds still. I2C has no checksum, so what
// is remembered of a module (who it is, what it can do) is believed when it has read twice alike. It knows no layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace loom {

/// `Block`: an enumeration of `kCount` blocks, from 0.
template <class Block, std::size_t kCount>
class ModuleBlocks {
 public:
  using Bytes = std::vector<std::uint8_t>;

  const Bytes& operator[](Block block) const { return bytes_[index(block)]; }
  bool is_fresh(Block block) const { return fresh_[index(block)]; }

  /// Believed at once: what changes by itself.
  void keep(Block block, Bytes bytes) {
    bytes_[index(block)] = std::move(bytes);
    fresh_[index(block)] = true;
  }
  /// Believed when it reads as it did before; false: it did not.
  bool remember(Block block, const Bytes& bytes) {
    Bytes& known = bytes_[index(block)];
    const bool agrees = known == bytes;
    disagreements_ += agrees || known.empty() ? 0U : 1U;
    known = bytes;
    fresh_[index(block)] = agrees;
    return agrees;
  }
  /// What was written stands there from `first` on. Precondition: it has been read that far.
  void overwrite(Block block, std::size_t first, const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), bytes_[index(block)].begin() + static_cast<std::ptrdiff_t>(first));
  }
  void make_stale(std::initializer_list<Block> blocks) {
    for (const Block block : blocks) {
      fresh_[index(block)] = false;
    }
  }
  void make_all_stale() { fresh_.fill(false); }
  /// As if it had never been read.
  void clear(std::initializer_list<Block> blocks) {
    for (const Block block : blocks) {
      bytes_[index(block)].clear();
    }
    make_stale(blocks);
  }
  /// Readings of what is remembered that differed, since begin().
  unsigned disagreements() const { return disagreements_; }
  void begin() { disagreements_ = 0; }

 private:
  static constexpr std::size_t index(Block block) { return static_cast<std::size_t>(block); }

  std::array<Bytes, kCount> bytes_;
  std::array<bool, kCount> fresh_{};
  unsigned disagreements_ = 0;
};

}  // namespace loom
