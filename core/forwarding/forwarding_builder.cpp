// SPDX-License-Identifier: Apache-2.0
// Rows side by side, equal paths once.
#include "core/forwarding/forwarding_builder.hpp"

#include <algorithm>
#include <utility>

#include "core/result.hpp"

namespace loom {
namespace {

constexpr std::uint32_t kNoPath = ~0U;

std::uint64_t digest_of(std::span<const std::uint32_t> path) {
  std::uint64_t digest = 14'695'981'039'346'656'037U;  // FNV-1a, a rank at a time
  for (const std::uint32_t rank : path) {
    digest = (digest ^ rank) * 1'099'511'628'211U;
  }
  return digest;
}

std::vector<std::uint32_t> ranks_in_row(const ForwardingTable& table) {
  std::vector<std::uint32_t> count(table.rows());
  for (const std::uint32_t row : table.row_of) {
    ++count[row];
  }
  return count;
}

/// The row that has it: the last one that begins there or before.
std::uint32_t row_of_entry(const ForwardingTable& table, std::uint32_t entry) {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(table.first_entry, entry) - table.first_entry.begin()) - 1;
}

}  // namespace

ForwardedPairs ForwardingTable::pairs() const {
  ForwardedPairs found;
  const std::vector<std::uint32_t> ranks = ranks_in_row(*this);
  for (std::uint32_t number = 0; number < rows(); ++number) {
    const auto is_here = [&](std::uint32_t rank) { return row_of[rank] == number; };
    for (const Entry& entry : row(number)) {
      const std::span<const std::uint32_t> hops_between = path(entry.path);
      const std::uint32_t sources = ranks[number] - (is_here(entry.destination) ? 1 : 0);
      const auto on_path = static_cast<std::uint32_t>(std::ranges::count_if(hops_between, is_here));
      found.count += sources - (is_here(hops_between.back()) ? 1 : 0);  // the last one on the path hands over itself
      std::size_t longest = hops_between.size();
      if (sources == on_path) {  // nobody travels all of it
        const auto first = std::ranges::find_if(hops_between, is_here);
        longest = sources == 0 ? 0 : static_cast<std::size_t>(hops_between.end() - first) - 1;
      }
      found.hops_most = std::max(found.hops_most, longest == 0 ? 0 : static_cast<std::uint32_t>(longest + 1));
    }
  }
  return found;
}

ForwardingBuilder::ForwardingBuilder(ForwardingMode mode, std::vector<NodeId> nodes, std::vector<std::uint32_t> row_of) {
  LOOM_ASSERT(mode != ForwardingMode::none);
  LOOM_ASSERT(nodes.size() == row_of.size());
  table_.mode = mode;
  table_.nodes = std::move(nodes);
  table_.row_of = std::move(row_of);
  const std::uint32_t rows = table_.row_of.empty() ? 0 : *std::ranges::max_element(table_.row_of) + 1;
  table_.first_entry.assign(rows + std::size_t{1}, 0);
  table_.first_hop = {0};
  ranks_in_row_ = ranks_in_row(table_);
  only_rank_.resize(rows);
  last_path_with_.assign(table_.ranks(), kNoPath);
  for (std::uint32_t rank = 0; rank < table_.ranks(); ++rank) {
    only_rank_[table_.row_of[rank]] = rank;
  }
}

void ForwardingBuilder::add(std::uint32_t row, std::uint32_t destination, std::span<const std::uint32_t> through) {
  LOOM_ASSERT(row < table_.rows());
  LOOM_ASSERT(destination < table_.ranks());
  LOOM_ASSERT(std::ranges::find(through, destination) == through.end());
  if (ranks_in_row_[row] == 1) {
    const auto at = std::ranges::find(through, only_rank_[row]);
    through = at == through.end() ? through : through.subspan(static_cast<std::size_t>(at - through.begin()) + 1);
  }
  if (through.empty()) {
    return;
  }
  LOOM_ASSERT(row >= row_);
  close_rows(row);
  LOOM_ASSERT(table_.entries.size() == table_.first_entry[row] || table_.entries.back().destination < destination);
  table_.entries.push_back({destination, number_of(through)});
}

void ForwardingBuilder::add(const ForwardingTable& from, std::uint32_t first, std::uint32_t last) {
  LOOM_ASSERT(from.row_of == table_.row_of);
  LOOM_ASSERT(last <= from.entries.size());
  for (std::uint32_t entry = first, row = row_of_entry(from, first); entry < last; ++entry) {
    while (entry >= from.first_entry[row + std::size_t{1}]) {
      ++row;
    }
    add(row, from.entries[entry].destination, from.path(from.entries[entry].path));
  }
}

bool ForwardingBuilder::is_followed_by(const ForwardingTable& piece) const {
  if (piece.mode != table_.mode || piece.row_of != table_.row_of || piece.nodes != table_.nodes) {
    return false;
  }
  if (piece.empty() || table_.empty()) {
    return true;
  }
  const std::uint32_t row = row_of_entry(piece, 0);
  return row > row_ || (row == row_ && piece.entries.front().destination > table_.entries.back().destination);
}

ForwardingTable ForwardingBuilder::take() {
  close_rows(table_.rows());
  return std::move(table_);
}

void ForwardingBuilder::close_rows(std::uint32_t end) {
  while (row_ < end) {
    table_.first_entry[++row_] = static_cast<std::uint32_t>(table_.entries.size());
  }
}

std::uint32_t ForwardingBuilder::number_of(std::span<const std::uint32_t> path) {
  const std::uint64_t digest = digest_of(path);
  const auto [first, last] = known_paths_.equal_range(digest);
  for (auto known = first; known != last; ++known) {
    if (std::ranges::equal(table_.path(known->second), path)) {
      return known->second;
    }
  }
  const auto number = static_cast<std::uint32_t>(table_.first_hop.size() - 1);
  for (const std::uint32_t rank : path) {
    LOOM_ASSERT(rank < table_.ranks());
    const bool is_twice = std::exchange(last_path_with_[rank], number) == number;
    LOOM_ASSERT(!is_twice);
  }
  table_.hops.insert(table_.hops.end(), path.begin(), path.end());
  table_.first_hop.push_back(static_cast<std::uint32_t>(table_.hops.size()));
  known_paths_.emplace(digest, number);
  return number;
}

ForwardingTable piece_of(const ForwardingTable& of, std::uint32_t first, std::uint32_t last) {
  if (of.mode == ForwardingMode::none) {
    return {};
  }
  ForwardingBuilder piece(of.mode, of.nodes, of.row_of);
  piece.add(of, first, last);
  return piece.take();
}

}  // namespace loom
