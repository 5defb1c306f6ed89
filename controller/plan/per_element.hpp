// SPDX-License-Identifier: Apache-2.0
// PerElement: a table of a fabric's elements of which few have anything in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace loom {

/// A row of its own for each element that was ever written to; every other one's is empty.
template <class Row>
class PerElement {
 public:
  explicit PerElement(std::size_t elements) : at_(elements, kNone) {}

  const Row& operator[](std::size_t element) const {
    static const Row empty{};
    return at_[element] == kNone ? empty : rows_[at_[element]];
  }
  /// For writing; rows that were got before may have moved.
  Row& operator[](std::size_t element) {
    if (at_[element] == kNone) {
      at_[element] = static_cast<std::uint32_t>(rows_.size());
      rows_.emplace_back();
    }
    return rows_[at_[element]];
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<std::uint32_t> at_;  ///< by element: index into rows_, or kNone
  std::vector<Row> rows_;
};

}  // namespace loom
