// SPDX-License-Identifier: Apache-2.0
// PortTable: which fibre is at each port of each element, in two flat arrays, since a fabric of a thousand nodes has a quarter
// of a million elements and every process holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ids.hpp"

namespace loom {

class PortTable {
 public:
  using Ports = std::span<const std::optional<FibreId>>;

  /// Ports without fibres. `ports_of(i)`: how many element i has.
  template <class PortsOf>
  void assign(std::size_t elements, PortsOf ports_of) {
    first_.resize(elements + 1);
    first_[0] = 0;
    for (std::size_t i = 0; i < elements; ++i) {
      first_[i + 1] = first_[i] + static_cast<std::uint32_t>(ports_of(i));
    }
    first_.shrink_to_fit();
    fibres_.assign(first_.back(), std::nullopt);
    fibres_.shrink_to_fit();
  }

  /// Precondition: the element has that port.
  void set(ElementId element, std::size_t port, FibreId fibre) { fibres_[first_[element.value] + port] = fibre; }

  /// Of an element, by its id's value: [port].
  Ports operator[](std::size_t element) const {
    return {fibres_.data() + first_[element], fibres_.data() + first_[element + 1]};
  }

  /// Elements.
  std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }

 private:
  std::vector<std::uint32_t> first_;  ///< [element]: where its ports begin; one more, where the last one's end
  std::vector<std::optional<FibreId>> fibres_;
};

}  // namespace loom
