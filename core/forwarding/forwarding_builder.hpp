// SPDX-License-Identifier: Apache-2.0
// ForwardingBuilder makes a ForwardingTable entry by entry and keeps what a table promises.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/forwarding/forwarding_table.hpp"

namespace loom {

class ForwardingBuilder {
 public:
  /// `nodes`, `row_of`: by rank. Rows go from 0 to the greatest number in `row_of`. Preconditions: a mode that forwards, as
  /// many nodes as row numbers.
  ForwardingBuilder(ForwardingMode mode, std::vector<NodeId> nodes, std::vector<std::uint32_t> row_of);

  /// `through`: in the order of travel; empty is direct. In a row of one rank what lies before that rank is left out.
  /// Preconditions: ranks of the table; (row, destination) ascend from call to call; `through` has no rank twice and not the
  /// destination.
  void add(std::uint32_t row, std::uint32_t destination, std::span<const std::uint32_t> through);
  /// Entries [first, last) of a table with the same ranks and rows, counted over all of its rows. Preconditions: as for add().
  void add(const ForwardingTable& from, std::uint32_t first, std::uint32_t last);
  /// Whether all of `piece` may be added: it has the same mode, ranks and rows, and its entries come after those there are.
  bool is_followed_by(const ForwardingTable& piece) const;
  /// Once.
  ForwardingTable take();

 private:
  /// Rows from the open one to `end`, which is open then.
  void close_rows(std::uint32_t end);
  std::uint32_t number_of(std::span<const std::uint32_t> path);

  ForwardingTable table_;
  std::uint32_t row_ = 0;  ///< that is open
  std::vector<std::uint32_t> ranks_in_row_;
  std::vector<std::uint32_t> only_rank_;                               ///< by row: of a row of one rank
  std::vector<std::uint32_t> last_path_with_;                          ///< by rank
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_paths_;  ///< by a digest of their hops
};

/// The table of `of` with its entries [first, last) alone; of none, none.
ForwardingTable piece_of(const ForwardingTable& of, std::uint32_t first, std::uint32_t last);

}  // namespace loom
